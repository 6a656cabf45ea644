"""The colors of all figures: one for each role, and one for each id."""

# Drawn with these; a page may replace each by its CSS property of the same name.
ROLES = {
    "--figure-ink": "#1f2328",
    "--figure-quiet": "#5b626b",
    "--figure-line": "#8c959f",
    "--figure-pick": "#ffe2b0",
    "--figure-mark": "#9a3b00",
    "--figure-other": "#0550ae",
}
INK, QUIET, LINE, PICK, MARK, OTHER = ROLES.values()

# Dark enough for text and outlines on white, and light enough to write on, in pairs.
STROKES = ["#0a52a8", "#963a02", "#116329", "#6f42c1", "#a40e26", "#0e6b74", "#7d4e00", "#99286e"]
FILLS = ["#dcefff", "#ffe3b3", "#d6f5dc", "#ebdfff", "#ffdcd8", "#cdf3f4", "#fbeeb0", "#ffdcee"]
COLORS = (
    ROLES
    | {f"--figure-stroke-{k}": color for k, color in enumerate(STROKES)}
    | {f"--figure-fill-{k}": color for k, color in enumerate(FILLS)}
)
# As which each is written: the page's own, or else the one that was drawn with.
PAINTS = {color: f"var({name}, {color})" for name, color in COLORS.items()}


def colors_of(token: int) -> tuple[str, str]:
    """Return fill and stroke of an id, the same in every figure; they repeat after eight."""
    return FILLS[token % len(FILLS)], STROKES[token % len(STROKES)]
