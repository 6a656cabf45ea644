"""Tiny language models of transformers with random weights, and their input."""

import torch
import transformers
from torch import nn

VOCAB_SIZE = 40
IDS = torch.tensor([[5, 2, 7, 3], [1, 4, 0, 6]])
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
DECODER = {
    "vocab_size": VOCAB_SIZE,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": None,
}
# Model, configuration, and its options.
NETWORKS = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {"vocab_size": VOCAB_SIZE, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 16, "bos_token_id": 0, "eos_token_id": 1}),
    "llama": ("LlamaForCausalLM", "LlamaConfig", DECODER),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", DECODER | {"tie_word_embeddings": True}),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", DECODER | {"head_dim": 8, "tie_word_embeddings": True}),
    "bart": ("BartForConditionalGeneration", "BartConfig", {"vocab_size": VOCAB_SIZE, "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 16}),
    "t5": ("T5ForConditionalGeneration", "T5Config", {"vocab_size": VOCAB_SIZE, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2, "decoder_start_token_id": 0}),
    "bert": ("BertModel", "BertConfig", {"vocab_size": VOCAB_SIZE, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}),
}  # fmt: skip
TIED = ["gpt2", "qwen2", "gemma3", "bart", "t5"]


def make_network(name):
    """Return a model in evaluation mode, every parameter of which changes its output."""
    model_name, config_name, options = NETWORKS[name]
    torch.manual_seed(0)
    config = getattr(transformers, config_name)(**options)
    model = getattr(transformers, model_name)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))
    return model


def make_input(model):
    """Return the keyword arguments of a model, with padding at the end of a row."""
    arguments = {"input_ids": IDS, "attention_mask": MASK}
    if model.config.is_encoder_decoder:
        arguments["decoder_input_ids"] = IDS
    return arguments


def list_layers(model, kind=nn.Module):
    """Return the names of the modules of a kind that hold parameters, in order."""
    return [
        n
        for n, m in model.named_modules()
        if isinstance(m, kind) and [*m.parameters(recurse=False)]
    ]
