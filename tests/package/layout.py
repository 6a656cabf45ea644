"""What a reader expects of the texts, cells and arrows of a sheet, whatever it shows."""

import re
from itertools import combinations, pairwise, product
from xml.etree.ElementTree import Element

import numpy as np
from matplotlib.transforms import Bbox

NARROW = re.compile(r"[ .,:;'|()\[\]fijlrtI-]")  # half as wide as other characters


def text_box(node: Element, anchor: str) -> Bbox:
    """Return the estimated extent of a text, in a font such as Helvetica with 11 points."""
    text, x, y = node.text or "", float(node.attrib["x"]), float(node.attrib["y"])
    width = 6.2 * len(text) - 3.1 * len(NARROW.findall(text))
    anchor = (re.findall(r"text-anchor: (\w+)", node.get("style") or "") or [anchor])[0]
    left = x - width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
    return Bbox.from_bounds(left, y - 7.9, width, 7.9)


def shape_box(node: Element) -> Bbox:
    """Return the extent of a rectangle, or the middle of a dot."""
    x, y = (float(node.get(name) or node.attrib[f"c{name}"]) for name in "xy")
    return Bbox.from_bounds(x, y, float(node.get("width", 0)), float(node.get("height", 0)))


def contains(a: Bbox, b: Bbox) -> bool:
    """Return whether the second box is in the first, up to the rounding of coordinates."""
    return a.padded(0.2).count_contains(b.get_points()) == 2


def stroke(path: Element) -> np.ndarray:
    """Return points along a line, or along the arc of an arrow without its head."""
    numbers = re.findall(r"-?\d+(?:\.\d+)?", path.attrib["d"])
    corners, t = np.array(numbers, dtype=float).reshape(-1, 2), np.linspace(0, 1, 21)[:, None]
    if "Q" in path.attrib["d"]:
        return (1 - t) ** 2 * corners[0] + 2 * t * (1 - t) * corners[1] + t**2 * corners[2]
    return np.concatenate([(1 - t) * start + t * end for start, end in pairwise(corners)])


def assert_apart(texts: dict[Element, Bbox]) -> None:
    """Check that no text covers another, except an equal one."""
    for a, b in combinations(texts, 2):
        assert a.text == b.text or not texts[a].overlaps(texts[b]), f"{a.text!r} covers {b.text!r}"


def assert_layout(
    page: Bbox, texts: dict[Element, Bbox], rects: list[Element], paths: list[Element]
) -> None:
    """Check that no text or cell is hidden, and that texts and arrows are where they belong."""
    assert_apart(texts)
    cells, strokes = {rect: shape_box(rect) for rect in rects}, [*map(stroke, paths)]
    assert all(page.padded(0.2).count_contains(points) == len(points) for points in strokes)
    for a, b in combinations(cells.values(), 2):
        assert contains(a, b) or contains(b, a) or not a.padded(-0.3).overlaps(b), f"{a} covers {b}"
    middles = [page.width / 2, *(np.mean([p.min(0), p.max(0)], axis=0)[0] for p in strokes)]
    for a, b in product(cells.values(), repeat=2):  # cells of a row, or one cell
        middles += [(a.x0 + b.x1) / 2] if a.x0 <= b.x0 and abs(a.y0 - b.y0) < 1 else []
    contents: dict[Element, list[Bbox]] = {}
    for node, box in texts.items():
        assert "--figure-fill" not in (node.get("style") or ""), f"{node.text!r} is too pale"
        assert not any(map(box.count_contains, strokes)), f"a line crosses {node.text!r}"
        if owners := [rect for rect, cell in cells.items() if cell.overlaps(box)]:
            rect = min(owners, key=lambda rect: cells[rect].width * cells[rect].height)
            assert contains(cells[rect], box), f"{node.text!r} leaves its cell"
            contents.setdefault(rect, []).append(box)
            for k in re.findall(r"--figure-stroke-(\d)", node.get("style") or ""):
                assert f"--figure-fill-{k}" in rect.attrib["style"], f"{node.text!r} is not id {k}"
        elif "anchor" not in (node.get("style") or ""):
            distances = np.abs(np.array(middles) - (box.x0 + box.x1) / 2)
            assert distances.min() < 1.5, f"{node.text!r} is above the middle of nothing"
    for rect, boxes in contents.items():
        distance = np.mean(boxes, axis=(0, 1)) - np.mean(cells[rect], axis=0)
        assert np.abs(distance).max() < 0.6, f"a text is not centered in {cells[rect]}"
    for path, points in zip(paths, strokes, strict=True):
        if cells and "Q" in path.attrib["d"]:  # without cells, arrows are vectors
            assert max(points[-1] - points[0]) > 5, "an arrow leads neither right nor down"
            color = (re.findall(r"--figure-stroke-\d", path.get("style") or "") or [""])[0]
            boxes = [b for n, b in (texts | cells).items() if color in (n.get("style") or "")]
            for x, y in points[[0, -1]]:  # beside the middle of a row, if it has the color of an id
                heights = [abs((b.y0 + b.y1) / 2 - y) for b in boxes if b.padded(30).contains(x, y)]
                assert min(heights, default=99) < (2 if color else 99), f"arrow at {x}, {y}"
