"""What a whole consists of, as bars of parts."""

from collections.abc import Mapping

from matplotlib import style

from lookup_matmul.figures.palette import FILLS, INK, STROKES
from lookup_matmul.figures.plots import PLOT, check_finite, list_axes
from lookup_matmul.figures.svg import Drawing, finish

# A pattern tells the parts apart where colours cannot be told; of lines, since each dot of a dotted
# one is drawn as a path, 260 kB for a drawing.
PATTERNS = ["", "////", "----", "\\\\\\\\", "xxxx"]


def draw_parts(
    wholes: Mapping[str, Mapping[str, float]], *, x_label: str, alt: str, totals: bool = True
) -> Drawing:
    """Draw a bar for each whole, composed of its parts.

    Parameters
    ----------
    wholes : collections.abc.Mapping
        Name of each whole, 1 to 8, and its parts: name and size, not below zero.
        Up to five different names of parts; each has one colour and pattern in all bars.
    x_label : str
        What the sizes are, with their unit.
    alt : str
        The story of the drawing in words, made from the same numbers.
    totals : bool
        Whether the sum of its parts follows the name of each whole.

    Returns
    -------
    Drawing
        The bars below each other, their names above them, and a legend of the parts.

    Raises
    ------
    ValueError
        If there is too much to draw, or a size is negative or not finite.

    Examples
    --------
    >>> step = {"Linear": {"forward": 8.0, "backward": 6.0}, "bag": {"backward": 9.0}}
    >>> draw_parts(step, x_label="time [ms]", alt="The Linear takes 14 ms, the bag 9.")
    The Linear takes 14 ms, the bag 9.
    """
    names = list(dict.fromkeys(part for parts in wholes.values() for part in parts))
    if not 1 <= len(wholes) <= 8 or not 1 <= len(names) <= len(PATTERNS):
        raise ValueError(
            f"wholes has {len(wholes)} bars with {len(names)} different parts, "
            f"expected 1 to 8 and 1 to {len(PATTERNS)}."
        )
    if any(size < 0 for parts in wholes.values() for size in parts.values()):
        raise ValueError("a part has a negative size, expected none below zero.")
    for whole, parts in wholes.items():
        check_finite(repr(whole), parts.values())
    with style.context(PLOT | {"hatch.linewidth": 0.6}):
        legend = 18 * -(-len(names) // 2)
        ax = list_axes(x_label, len(wholes), 42, above=legend, below=44)
        for k, (whole, parts) in enumerate(wholes.items()):
            left = 0.0
            for part, size in parts.items():
                j = names.index(part)
                (bar,) = ax.barh(k + 0.68, size, 0.5, left)
                bar.set(facecolor=FILLS[j], edgecolor=STROKES[j], hatch=PATTERNS[j], lw=0.8)
                if part not in ax.get_legend_handles_labels()[1]:
                    bar.set_label(part)
                left += size
            title = f"{whole}: {left:.3g}" if totals else whole
            ax.text(0, k + 0.22, title, color=INK, va="center")
        ax.spines["left"].set_visible(False)  # it would strike the names
        ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, borderaxespad=0.1)
        return finish(ax, alt)
