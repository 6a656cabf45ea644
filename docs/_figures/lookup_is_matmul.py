"""Rows of two numbers that move while a table is trained."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import torch

from lookup_matmul.figures import sheet
from lookup_matmul.figures.axes import TEXT_OUTLINE

SIZE = 330.0
MARGIN = 46.0  # it has room for a name
COLORS = (sheet.MARK, sheet.OTHER, sheet.INK)
CHARACTER = 6.4  # mean width
SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)])
GAPS = np.array([(7, 0), (7, 0), (0, 7), (0, 7), (3, 3), (3, 3), (3, 3), (3, 3)])  # to the edge
MARKERS = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", "M-4 -4h8v8h-8z", "M-5 4L0 -5L5 4z")


def draw_training(
    tables: Mapping[int, torch.Tensor], names: Sequence[str], groups: Sequence[int]
) -> sheet.Drawing:
    """Draw the rows of a table after several training steps; the page shows one step at a time.

    ``tables`` maps steps to tables of shape (number of names, 2); ``groups`` are from 0 to 2.
    """
    frames = torch.stack([*tables.values()]).double().numpy()
    low = frames.min((0, 1))
    high = frames.max((0, 1))
    scale = (SIZE - 2 * MARGIN) / (high - low).max()
    points = (frames - low) * scale + (SIZE - (high - low) * scale) / 2  # y upward
    places = place_names(points, names)
    lines = []
    markers = []
    texts = []
    for k, (name, group) in enumerate(zip(names, groups, strict=True)):
        x = points[:, k, 0]
        y = SIZE - points[:, k, 1]
        start = f'x1="{x[0]:.1f}" y1="{y[0]:.1f}"'
        color = COLORS[group]
        marker = MARKERS[group]
        lines.append(
            f'<line {start} {_write_frames(x2=x, y2=y)} style="stroke: {color}; opacity: 0.5"/>'
        )
        markers.append(
            f'<path d="{marker}" transform="translate({x[-1]:.1f} {y[-1]:.1f})" '
            f'data-frames="translate;{_join_values(x, y)}" style="fill: {color}"/>'
        )
        name_frames = _write_frames(x=places[:, k, 0], y=SIZE - places[:, k, 1] + 4)
        texts.append(f'<text {name_frames} style="fill: {color}">{escape(name)}</text>')
    steps = ", ".join(map(str, tables))
    alt = f"{len(names)} points with names, at the steps {steps} of a training."
    elements = (
        f'<rect x="0.5" y="0.5" width="{SIZE - 1}" height="{SIZE - 1}" '
        f'style="fill: none; stroke: {sheet.LINE}"/>'
        f"<g>{''.join(lines)}</g><g>{''.join(markers)}</g>"
        f'<g text-anchor="middle" style="'
        f'font-size: {sheet.FONT_SIZE:g}px; {TEXT_OUTLINE}">{"".join(texts)}</g>'
    )
    return sheet.to_steps(SIZE, SIZE, tables, alt, elements)


def draw_pushes(
    pushes: torch.Tensor, names: Sequence[str], kinds: Sequence[str], bold_names: Sequence[str]
) -> sheet.Drawing:
    """Draw the push on each row as an arrow from one point; equally many names are of each kind.

    ``pushes`` has shape (number of names, 2). Only ``bold_names`` and the kinds are written.
    """
    page = sheet.Sheet(SIZE, 1.0)  # rows of a point each
    vectors = pushes.double().numpy() * (1, -1)  # y downward
    vectors = vectors * (SIZE / 2 - MARGIN) / np.abs(vectors).max()
    center = np.array([SIZE / 2, 30 - vectors[:, 1].min()])
    left_name = min(bold_names, key=lambda name: vectors[names.index(name), 0])
    size = len(names) // len(kinds)

    def write(vector: np.ndarray, name: str, color: str, bold: bool) -> None:
        x, y = center + vector + 12 * vector / np.linalg.norm(vector)
        is_left = name == left_name if bold else vector[0] < 0
        page.text(x, y, name, color, "end" if is_left else "start", bold)

    for k, (name, vector) in enumerate(zip(names, vectors, strict=True)):
        page.arrow(tuple(center), tuple(center + vector), COLORS[k // size])
        if name in bold_names:
            write(vector, name, COLORS[k // size], bold=True)
    for k, kind in enumerate(kinds):
        group = vectors[k * size : (k + 1) * size]
        if not {*bold_names} & {*names[k * size : (k + 1) * size]}:
            write(group[np.linalg.norm(group, axis=1).argmax()], kind, COLORS[k], bold=False)
    degrees = np.degrees(np.arctan2(-vectors[:, 1], vectors[:, 0])).round()
    directions = [f"{name} {degree:.0f}°" for name, degree in zip(names, degrees, strict=True)]
    return page.to_drawing(f"Arrows from one point, and their directions: {', '.join(directions)}.")


def place_names(points: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return the middle of each name, nearer to its point than to any other and clear of names.

    ``points`` has shape (frames, names, 2), as the result. A name stays where it was in the frame
    before, unless another place is better.
    """
    frames = []
    halves = np.array([(CHARACTER * len(name) / 2, 6.0) for name in names])
    offsets = SIDES * (halves[:, None] + GAPS)  # of each name at each of its places
    choice = np.zeros(len(names), dtype=int)
    every = np.arange(len(names))
    for frame in points:
        for k in [*every] * 6:  # each name again, after the others have moved
            spots = frame[k] + offsets[k]
            labels = frame + offsets[every, choice]
            overlap = halves[k] + halves - np.abs(spots[:, None] - labels)
            hidden = (np.delete(overlap, k, axis=1) > 0).all(2).sum(1)
            strays = sum(_measure_strays(spots, half, frame, k) for half in (halves[k], 0.0))
            outside = ((spots < halves[k]) | (spots > SIZE - halves[k])).any(1)
            moves = np.arange(len(SIDES)) != choice[k]
            choice[k] = np.argmin(3.0 * (hidden + strays) + 9.0 * outside + 0.5 * moves)
        frames.append(frame + offsets[every, choice])
    return np.stack(frames)


def _measure_strays(
    spots: np.ndarray, half: np.ndarray | float, points: np.ndarray, k: int
) -> np.ndarray:
    """Return for each spot of name ``k`` how many points seem to own it: 0 if only its own does.

    Distances are to a box with half the width and height ``half``, or to its middle if that is 0.
    """
    away = np.linalg.norm(np.maximum(np.abs(spots[:, None] - points) - half, 0), axis=2)
    lead = np.delete(away, k, axis=1) - away[:, [k]]
    strays: np.ndarray = np.clip(1 - lead / 4, 0, 2).sum(1)
    return strays


def _write_frames(**values: np.ndarray) -> str:
    """Return attributes with their last values, and those of all steps for ``frames.js``."""
    last = " ".join(f'{name}="{numbers[-1]:.1f}"' for name, numbers in values.items())
    return f'{last} data-frames="{" ".join(values)};{_join_values(*values.values())}"'


def _join_values(*values: np.ndarray) -> str:
    return ";".join(" ".join(f"{x:.0f}" for x in row) for row in zip(*values, strict=True))
