"""The symptom pages: each entry is whole, and each text is what torch says, here and in other versions."""

import json
import re
import sys

import pytest
import torch
from oldest import LOWEST
from served import ROOT
from wordings import cells, is_reproduction

sys.path.append(str(ROOT / "docs" / "_extensions"))
from search.wordings import recordings, release, same_words, spans

DOCS = ROOT / "docs"
SOURCES = sorted((DOCS / "symptoms").glob("*.md"))
# What the lowest torch says in other words, or as another type, which the page shows beside them.
OTHERWISE = {
    "F.cross_entropy(ids, torch.zeros(3, 4))",
    "(used_before.sum() + layer(ids).sum()).backward()",
    "torch.optim.AdamW(layer.parameters()).step()",
}
ENTRIES = {
    f"{path.stem}: {part.splitlines()[0]}": part
    for path in SOURCES
    for part in re.split(r"^## ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
    if not part.startswith("Exercise")
}
# What people meet, as torch 2.13 words it.
MET = [
    "index out of range in self",
    "Class values must be smaller than num_classes.",
    "Class values must be non-negative.",
    "one_hot is only applicable to index tensor of type LongTensor.",
    "mat1 and mat2 shapes cannot be multiplied",
    "mat1 and mat2 must have the same dtype, but got Long and Float",
    "expected m1 and m2 to have the same dtype, but got: long int != float",
    "embedding(): argument 'indices' (position 2) must be Tensor, not list",
    "'weight' must be 2-D",
    "cannot assign 'torch.FloatTensor' as parameter 'weight' (torch.nn.Parameter or None expected)",
    "a view of a leaf Variable that requires grad is being used in an in-place operation.",
    "size mismatch for weight: copying a param with shape torch.Size([4, 5]) from checkpoint, ",
    'Missing key(s) in state_dict: "head.weight".',
    "Padding_idx must be within num_embeddings",
    "Can not infer total number of classes from empty tensor.",
    "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument.",
    "offsets has to be a 1D Tensor but got None",
    "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, found offsets of type <class 'torch.Tensor'>",
    "Index 0 of input takes value 4 which is not in the valid range [0, 4)",
    "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got 1",
    "offsets[-1] can not be greater than input's length 3 but got offsets[-1] of 9",
    "embedding_bag: If per_sample_weights (torch.Size([2])) is not None, then it must have the same shape as the input (torch.Size([3]))",
    "per_sample_weights is only supported for mode='sum'",
    "embedding_backward: scale_grad_by_freq not supported with sparse gradients",
    "Could not run 'aten::linalg_vector_norm' with arguments from the 'SparseCPU' backend.",
    "add(sparse, dense) is not supported. Use add(dense, sparse) instead.",
    "weight_decay option is not compatible with sparse gradients",
    "Adam does not support sparse gradients",
    "SparseAdam does not support dense gradients",
    "Expected floating point type for target with class probabilities, got Long",
    "'numpy.ndarray' object has no attribute 'dim'",
    "can't optimize a non-leaf Tensor",
    "index out of bounds: 0 <= tmp2 < 4L",
    "one_hot: Class values must be smaller than num_classes.",
    "CUDA error: device-side assert triggered",
    "vectorized gather kernel index out of bounds",
    "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor [4, 5] at index 0",
    "EmbeddingBag and Linear disagree",
    "The tied padding row is not zero",
    "My loss is much higher than with one-hot",
    "A table without a layer accepts the id −1",
    "Offsets that fall raise nothing",
    "A tied model trains differently after loading",
    "The gradient of a frequent row stops growing",
    "Expected all tensors to be on the same device",
    "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be 4",
    "\"log_softmax_lastdim_kernel_impl\" not implemented for 'Long'",
    "CUDA out of memory. Tried to allocate",
]  # fmt: skip


@pytest.mark.parametrize("said", MET)
def test_what_people_meet_stands_in_the_list(pages, said):
    """In straight quotes and as printed, so that the browser's search finds it without the box."""
    assert said in " ".join(pages["symptoms"].select_one("article").get_text().split())


def test_there_are_many_entries_and_the_list_has_them_all(pages):
    """Each is linked once, with a cause that is a sentence."""
    listed = pages["symptoms"].select("ul.symptoms > li")
    assert len(listed) == len(ENTRIES) >= 45
    for item in listed:
        assert item.select_one("a")["href"].endswith(f"#{item['id']}")
        assert item.select("p")[1].get_text().endswith("."), item.get_text()
    old = ["index-out-of-range-in-self", "cuda-error-device-side-assert-triggered"]
    assert {*old} <= {item["id"] for item in listed}, "an address that others may have kept"


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_is_whole(name):
    """It shows the fault in at most six lines, numbers the causes, repairs in a cell, and says why."""
    text = ENTRIES[name]
    assert re.search(r"^1\. ", text, re.MULTILINE), "no numbered causes"
    _, repaired = text.split("\nRepaired", 1)
    assert "```{code-cell}" in repaired, "the repair is not run"
    assert re.search(r"^(.* )?Why: \[", text, re.MULTILINE), "no link to the reason"
    fault = re.findall(r"^```\{code-cell\}.*\n((?:.*\n)*?)^```$", text, re.MULTILINE)
    if not name.startswith("inputs: `CUDA"):
        lines = [line for line in fault[0].splitlines() if line and not line.startswith(":")]
        assert len(lines) <= 6, "the reproduction is long"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_every_reproduction_was_recorded_with_this_torch(path):
    """And says today what was recorded, numbers and addresses aside."""
    here = [r for r in recordings(DOCS) if release(r["torch"]) == release(torch.__version__)]
    if not here:
        pytest.skip(f"no recording of torch {torch.__version__}")
    for options, code in cells(path):
        if not is_reproduction(options):
            continue
        assert code in here[0]["said"], f"run nox -s wordings; not recorded:\n{code}"
        if "recorded" not in options:
            expected = json.loads(re.search(r'^:expect: (".*")$', options, re.MULTILINE)[1])
            known = LOWEST and code.splitlines()[-1] in OTHERWISE
            assert same_words(here[0]["said"][code], expected) is not known, code


def test_the_lowest_and_the_pinned_torch_were_tried():
    """The files say with what and when, and no repair failed."""
    found = recordings(DOCS)
    tried = {r["torch"].partition("+")[0] for r in found}
    lowest = re.search(r'"torch>=([\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))[1]
    pinned = re.search(r"^torch==([\d.]+)", (ROOT / "constraints.txt").read_text("utf-8"), re.M)[1]
    assert {f"{lowest}.0", pinned} <= tried
    for recording in found:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", recording["made"])
        assert recording["python"]
        assert recording["failed"] == {}
        assert not re.search(r"(^|[\s(])/\w", json.dumps([*recording["said"].values()]))


def test_words_that_changed_are_shown_with_their_versions(pages):
    """Under the error, and in the list, where the box finds a text of another version."""
    table = next(
        t for t in pages["symptoms/training"].select("table.wordings") if "AdamW" in t.get_text()
    )
    rows = [[cell.get_text() for cell in row.select("td")] for row in table.select("tbody tr")]
    assert rows == [
        ["2.6.0", "2.6.0", "RuntimeError: AdamW does not support sparse gradients"],
        ["2.13.0", "2.15.0", "as above"],
    ]
    assert "AdamW does not support sparse gradients" in pages["symptoms"].get_text()
    quiet = pages["symptoms/inputs"].select_one("p.wordings").get_text()
    assert quiet == "Worded so in torch 2.6.0, 2.13.0 and 2.15.0."


@pytest.mark.parametrize(
    ("found", "expected", "same"),
    [
        ("E: a 2x3", "E: a 4x5", True),
        ("E: at 0x7ffe1a", "E: at 0x1b", True),
        ("E: a", "E: a b", False),
        ("E: a b", "E: a", False),
        ("E: a b\nc", "E: a…", True),
        ("E: a b c", "E: a…c", True),
        ("E: x a b", "E: a…", False),
        ("E: (a)", "E: .a.", False),
    ],
)
def test_messages_are_compared_whole(found, expected, same):
    """Numbers and addresses aside; only a written ellipsis leaves something out."""
    assert same_words(found, expected) is same


def test_versions_with_the_same_words_are_one_span():
    """Since the first and until the last that was tried; one without the cell says nothing."""
    said = ["E: old", "E: new 1", "E: new 2", None, "no error"]
    recorded = [
        {"torch": f"2.{i}.0+cpu", "said": {"f()": words} if words else {}}
        for i, words in enumerate(said)
    ]
    assert spans("f()", "E: new 7", recorded) == [
        ("2.0.0", "2.0.0", "E: old"),
        ("2.1.0", "2.2.0", "E: new 7"),
        ("2.4.0", "2.4.0", "no error"),
    ]
