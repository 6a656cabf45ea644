"""The colors of all figures: one for each role, and a pair for each id."""

# Defaults; a page may override each with the CSS property of the same name.
ROLES = {
    "--figure-ink": "#1f2328",
    "--figure-quiet": "#5b626b",
    "--figure-line": "#8c959f",
    "--figure-pick": "#ffe2b0",
    "--figure-mark": "#9a3b00",
    "--figure-other": "#0550ae",
}
INK, QUIET, LINE, PICK, MARK, OTHER = ROLES.values()

# Each stroke is dark enough for text on white; the fill at its index is light enough to write on.
STROKES = ["#0a52a8", "#963a02", "#116329", "#6f42c1", "#a40e26", "#0e6b74", "#7d4e00", "#99286e"]
FILLS = ["#dcefff", "#ffe3b3", "#d6f5dc", "#ebdfff", "#ffdcd8", "#cdf3f4", "#fbeeb0", "#ffdcee"]
COLORS = (
    ROLES
    | {f"--figure-stroke-{k}": color for k, color in enumerate(STROKES)}
    | {f"--figure-fill-{k}": color for k, color in enumerate(FILLS)}
)
# What an SVG contains for each color: the page's property, with the default as its fallback.
CSS_VALUES = {color: f"var({name}, {color})" for name, color in COLORS.items()}


def id_colors(token: int) -> tuple[str, str]:
    """Return the fill and the stroke of an id; they repeat after eight ids."""
    return FILLS[token % len(FILLS)], STROKES[token % len(STROKES)]
