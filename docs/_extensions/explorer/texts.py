"""Texts of the explorer: its example, its switches, its tables, and links to explanations."""

WORDS = ["snows", "today", "it", "rains"]
SWITCHES = {
    "mode": ("compute", {"forward": "forward", "backward": "backward", "bag": "a weighted bag"}),
    "condition": (
        "break it",
        {
            "": "intact",
            "nan": "plant NaN",
            "inf": "plant ∞",
            "zero": "plant −0",
            "bfloat16": "round to bfloat16",
            "tf32": "cut to TF32",
            "second": "add a second 1",
            "counts": "forget the counts",
        },
    ),
}
TITLES = {  # of the input, the result of the lookup and the result of the product
    "forward": ["table W", "look up: copy rows", "multiply: X W"],
    "backward": ["upstream gradient G", "look up: add rows in", "multiply: Xᵀ G"],
    "bag": ["table W", "bag: add rows", "multiply: x W"],
}
OPTION_TITLES = ["price in $, mass in kg"]  # that pages give by :title:
GUESSES = {  # what readers guess; explorer.js computes the answer
    "lookup": "The product multiplies 60 times. How many times does the lookup?",
    "zeros": "How many are by zero?",
    "nan": "How many NaN in the product?",
    "row": "What will row 2 be?",
    "total": "What does the cart cost?",
}
# For each value of a switch: a sentence, and the text and the label of a link to the explanation.
WHY = {
    "forward": (
        "One times a row is the row, and adding zeros changes nothing.",
        "The proof, and its four conditions",
        "stops-theorem",
    ),
    "backward": (
        "What arrives for an id is added into its row, and an id that occurs twice adds up.",
        "Why a backward pass adds rows",
        "backward-derivation",
    ),
    "bag": (
        "Each factor multiplies its row, and the results are added.",
        "How far two sums can be apart",
        "bags-bound",
    ),
    "nan": (
        "Zero times NaN is NaN, so the product has it in a whole column; the lookup only where it "
        "was read. Choose a number of the upper table, and the NaN goes there.",
        "NaN runs down its column",
        "stops-nonfinite",
    ),
    "inf": (
        "Zero times infinity is NaN, so the product has NaN in that column wherever its factor is "
        "zero; the lookup multiplies nothing by zero. Choose a number of the upper table, and the "
        "infinity goes there.",
        "Why weights have to be finite",
        "stops-nonfinite",
    ),
    "zero": (
        "A copied −0 keeps its sign, an added one loses it, since −0 + 0 is +0. Choose a number of "
        "the upper table, and the −0 goes there.",
        "A zero can lose its sign",
        "stops-signed-zero",
    ),
    "bfloat16": (
        "Under autocast to bfloat16 the product gets its numbers rounded to 16 bits; "
        "the lookup keeps all 32. The last table shows the differences.",
        "What autocast shortens",
        "stops-precision",
    ),
    "tf32": (
        "The product gets its numbers without their last 13 bits; the lookup keeps all 32. "
        "The last table shows the differences.",
        "What TF32 shortens",
        "stops-precision",
    ),
    "second": (
        "The first one-hot row has two ones, so the product adds two rows of the table.",
        "More than a single 1",
        "stops-one",
    ),
    "counts": (
        "The lookup gets the ids without their counts, and adds each row once.",
        "Multiply by the counts",
        "sums-values",
    ),
    "range": (
        "If the one-hot rows come from a comparison, the product gives zeros and no error.",
        "An id without a row",
        "stops-range",
    ),
}
