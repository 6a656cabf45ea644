# /// script
# dependencies = ["torch==2.13.0", "transformers==5.24.0", "peft==0.21.2", "safetensors==0.8.0"]
# ///
"""Which table a tied head multiplies by under peft: in training, after merging, in the file."""

from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import load_file
from transformers import LlamaConfig, LlamaForCausalLM

SIZES = {"vocab_size": 100, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1}
SETTINGS = [
    ("target_modules", ["embed_tokens"]),
    ("target_modules", ["lm_head"]),
    ("trainable_token_indices", [1, 2, 3]),
    ("modules_to_save", ["embed_tokens"]),
]
IDS = torch.randint(100, (2, 8), generator=torch.Generator().manual_seed(1))


def moves(model, start):
    """Return how far the table of the embedding has moved, and that of the head."""
    tables = model.model.embed_tokens(torch.arange(100)), model.lm_head(torch.eye(16)).T
    return [round((table - start).abs().max().item(), 4) for table in tables]


def train(**options):
    """Return what becomes of the two tables of a tied model, trained for five steps."""
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**SIZES, num_attention_heads=2, tie_word_embeddings=True))
    start = model.lm_head.weight.detach().clone()
    options = {"target_modules": ["q_proj"]} | options
    adapted = get_peft_model(model, LoraConfig(r=4, **options))
    trained = {n: p for n, p in adapted.named_parameters() if p.requires_grad}
    new = {".".join(n.split(".")[2:]): [*p.shape, bool(p.any())] for n, p in trained.items()}
    optimizer = torch.optim.Adam(adapted.parameters(), lr=0.05)
    for _ in range(5):
        optimizer.zero_grad()
        adapted(IDS, labels=IDS).loss.backward()
        optimizer.step()
    result = {"trained: shape, any not zero": new, "in training": moves(model, start)}
    logits = adapted(IDS).logits
    merged = adapted.merge_and_unload()
    change = ((merged(IDS).logits - logits).norm() / logits.norm()).item()
    result |= {"merged": moves(merged, start), "relative change of logits": round(change, 3)}
    with TemporaryDirectory() as folder:
        merged.save_pretrained(folder)
        names = sorted(load_file(Path(folder, "model.safetensors")))
        result["in the file"] = [n for n in names if "embed" in n or "head" in n]
        loaded = LlamaForCausalLM.from_pretrained(folder)
    return result | {"loaded": moves(loaded, start), "tied": loaded.config.tie_word_embeddings}


results = {f"{name}={value}": train(**{name: value[:]}) for name, value in SETTINGS}
for name, value in (SETTINGS[0], SETTINGS[3]):
    options = {name: value[:1], "ensure_weight_tying": True}
    results[f"{name}={value}, ensure_weight_tying=True"] = train(**options)
