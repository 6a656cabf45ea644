"""How far measurements lie from what was predicted for them."""

from collections.abc import Mapping

from matplotlib import style
from matplotlib.ticker import FixedLocator, FuncFormatter

from lookup_matmul.figures.palette import INK, PICK, QUIET
from lookup_matmul.figures.plots import KINDS, PLOT, check_logarithmic, check_spread, list_axes
from lookup_matmul.figures.svg import Drawing, finish

LARGEST = 24


def draw_distances(
    ratios: Mapping[str, Mapping[str, tuple[float, float, float]]],
    band: tuple[float, float],
    *,
    x_label: str,
    alt: str,
) -> Drawing:
    """Draw measured over predicted, a line for each name, and the band that was aimed at.

    Parameters
    ----------
    ratios : collections.abc.Mapping
        Name of 1 to 24 lines, and on each (low, middle, high) of up to four kinds,
        in this order and above zero.
    band : tuple
        From where to where a ratio is as wished.
    x_label : str
        What the logarithmic axis shows.
    alt : str
        The story of the drawing in words, made from the same numbers.

    Returns
    -------
    Drawing
        The lines below each other, the kinds named above them.

    Raises
    ------
    ValueError
        If there is too much to draw, a ratio is out of order,
        or a ratio or the band is not above zero.

    Examples
    --------
    >>> found = {"lookup": {"hot": (0.9, 1.0, 1.1), "cold": (0.8, 1.2, 1.5)}}
    >>> draw_distances(found, (0.67, 1.5), x_label="measured / predicted", alt="All within.")
    All within.
    """
    kinds = list(dict.fromkeys(kind for line in ratios.values() for kind in line))
    if not 1 <= len(ratios) <= LARGEST or not 1 <= len(kinds) <= len(KINDS):
        raise ValueError(
            f"ratios has {len(ratios)} lines with {len(kinds)} kinds, "
            f"expected 1 to {LARGEST} and 1 to {len(KINDS)}."
        )
    for name, line in ratios.items():
        for spread in line.values():
            check_spread(name, spread, log=True)
    check_logarithmic("band", band)
    with style.context(PLOT):
        ax = list_axes(x_label, len(ratios), 32, above=22, below=42)
        ax.spines["left"].set_visible(False)
        ax.set_xscale("log")
        ends = [
            end for line in ratios.values() for low, _, high in line.values() for end in (low, high)
        ]
        ax.set_xlim(min([*ends, band[0] / 2]) / 1.1, max([*ends, band[1] * 2]) * 1.1)
        across = ax.get_yaxis_transform()  # x as a share of the width, y in lines
        for y, (name, line) in enumerate(ratios.items()):
            ax.text(0, y + 0.26, name, transform=across, color=INK, va="center")
            # A piece of band for each line, so that no name stands on it.
            foot = y + 0.5 + 0.16 * (len(kinds) + 0.5)
            ax.fill_betweenx([y + 0.5, foot], *band, color=PICK, alpha=0.6, lw=0)
            ax.vlines(1, y + 0.5, foot, color=QUIET, lw=1, ls=":")
            for kind, (low, middle, high) in line.items():
                colour, _, marker = KINDS[k := kinds.index(kind)]
                at = y + 0.62 + 0.16 * k
                ax.plot(
                    [low, high], [at, at], color=colour, lw=3, alpha=0.55, solid_capstyle="butt"
                )
                label = kind if kind not in ax.get_legend_handles_labels()[1] else None
                ax.plot(middle, at, marker=marker, color=colour, ms=5, ls="", label=label)
        ax.xaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1, 2, 5, 10, 20]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_locator(FixedLocator([]))
        ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=4, borderaxespad=0.1)
        return finish(ax, alt)
