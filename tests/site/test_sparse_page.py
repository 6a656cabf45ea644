"""The page on sparse rows shows every tensor of the notebook that it follows, digit for digit."""

from test_pages import numbers, outputs, printed

PAGE = "tutorials/sparse-row-is-a-sum"
TABLE = [
    [0.2753, 0.6012, -0.7758, 0.4877],
    [-0.4799, 0.9522, 1.6895, -0.7348],
    [1.0987, -0.0538, -0.6264, -1.1798],
    [-0.2704, 0.8823, -0.6534, -0.2049],
    [-0.7768, 0.1396, 0.5873, -1.7623],
    [0.6802, 1.6255, -0.2280, 1.4884],
    [0.1690, 2.7113, -0.1665, -0.8009],
    [-0.0663, 0.2883, -1.2854, -0.0727],
    [0.4348, -0.2138, 0.1903, -1.4876],
    [-0.3714, -0.6321, 0.5146, -1.1418],
]
LINEAR = [
    [0.1443, -0.1548, -0.3186, 0.0693],
    [0.4708, -0.4276, 0.4181, 0.3375],
    [-0.4092, 0.4163, -0.4208, -0.0187],
]
SCORES = [-0.1743, 0.8889, -0.8300]


def test_tensors_of_the_notebook_stand_in_the_outputs_in_order(pages):
    """The table, one row, two lookups with their shapes, both weights, and both results."""
    shown = iter([numbers(text) for text in outputs(pages[PAGE])])
    transposed = [list(column) for column in zip(*LINEAR, strict=True)]
    for shape, tensor in [
        ([], TABLE),
        ([], [TABLE[9]]),
        (["3", "4"], [TABLE[k] for k in (3, 2, 0)]),
        (["2", "2", "4"], [TABLE[k] for k in (1, 3, 0, 1)]),
        ([], LINEAR),
        (["1.", "0.", "1.", "0."], [SCORES]),
        ([], transposed),
        ([], [SCORES]),
    ]:
        assert shape + printed(tensor) in shown, f"not shown, or not in this place: {tensor}"


def test_only_results_that_can_be_trained_remember_their_history(pages):
    """The Linear's result has a grad_fn, that of the frozen Embedding none, as in the notebook."""
    scores = [text for text in outputs(pages[PAGE]) if "-0.1743,  0.8889, -0.8300" in text]
    assert "grad_fn=<MmBackward0>" in scores[0]
    assert "grad_fn" not in scores[1]
