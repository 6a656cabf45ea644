# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "tokenizers==0.23.3"]
# ///
"""Where a tokenizer's ids leave its number of tokens: holes, added tokens and padding."""

from crossing_questions import attempt
from tokenizers import Tokenizer, models, pre_tokenizers


def make(vocabulary, unknown="red"):
    """Return a tokenizer of words with these ids."""
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def padded(**options):
    """Return the ids of a batch of two texts that is padded."""
    (tokenizer := make({"red": 0, "blue": 1})).enable_padding(**options)
    return [encoding.ids for encoding in tokenizer.encode_batch(["red blue", "blue"])]


holes = make({"red": 0, "blue": 1, "pink": 5})
more = make({"red": 0, "blue": 1, "pink": 5})
more.add_tokens(["<new>"])
results = {
    "holes": {"tokens": holes.get_vocab_size(), "largest id": max(holes.get_vocab().values())},
    "a token added to it": {"tokens": more.get_vocab_size(), "its id": more.token_to_id("<new>")},
    "padded by default": padded(),
    "padded with pad_id=-1": attempt(lambda: padded(pad_id=-1)),
    "unknown, a name that the vocabulary has": holes.encode("green").ids,
    "unknown, a name that it has not": attempt(
        lambda: make({"red": 0}, unknown="[UNK]").encode("green").ids
    ),
}
