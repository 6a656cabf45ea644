"""A tree of questions, each of which ends in a choice or leads to the next one."""

from collections.abc import Mapping, Sequence

from lookup_matmul.figures.sheet import INK, MARK, PICK, QUIET, Drawing, Sheet

LEFT = 2.0
RIGHT = 194.0
BOX_WIDTH = 156.0
BOX_HEIGHT = 1.9
ROW_HEIGHT = 19.0
STEP = BOX_HEIGHT + 1.1  # from one question to the next, with room for the arrow and its answer

# Text, answer that ends here, its choice, the other answer, and the section that explains both.
Question = tuple[str, str, str, str, str]
Group = tuple[Sequence[Question], str, str]  # questions, the last choice, its section


class _Sheet(Sheet):
    def box(self, x: float, row: float, text: str, section: str, is_choice: bool = False) -> None:
        """Draw a box around lines of text, all of which leads to a section of the page."""
        colors = (PICK, MARK) if is_choice else ("none", INK)
        self.cell(x, row, BOX_WIDTH, height=BOX_HEIGHT, colors=colors, stroke_width=1.2)
        first = len(self._texts)
        lines = text.split("\n")
        for k, line in enumerate(lines):
            middle = row + BOX_HEIGHT / 2 + 0.75 * (k - (len(lines) - 1) / 2)
            self.text(x + BOX_WIDTH / 2, middle, line, bold=is_choice)
        area = f'<rect x="{x:g}" y="{row * ROW_HEIGHT:g}" width="{BOX_WIDTH:g}" '
        area += f'height="{BOX_HEIGHT * ROW_HEIGHT:g}" fill="none" pointer-events="all"/>'
        texts = "".join(self._texts[first:])
        self._texts[first:] = [f'<a href="#{section}">{area}{texts}</a>']


def draw_questions(groups: Mapping[str, Group]) -> Drawing:
    """Draw the questions of each heading, in which one answer leads right, and the choice below.

    Each box is a link to its section.
    """
    sheet = _Sheet(RIGHT + BOX_WIDTH + 2, ROW_HEIGHT)
    sentences = list[str]()
    y = 0.0
    for heading, (questions, last_choice, last_section) in groups.items():
        sheet.text(LEFT, y + 0.5, heading, QUIET, "start")
        y += 1.1
        for question, ending, choice, leading, section in questions:
            number = len(sentences) + 1
            sheet.box(LEFT, y, f"{number}. {question}", section)
            sheet.box(RIGHT, y, choice, section, is_choice=True)
            middle = y + BOX_HEIGHT / 2
            below = y + BOX_HEIGHT
            sheet.arrow((LEFT + BOX_WIDTH, middle), (RIGHT, middle))
            sheet.text((LEFT + BOX_WIDTH + RIGHT) / 2, middle - 0.4, ending)
            sheet.arrow((LEFT + 24, below), (LEFT + 24, y + STEP))
            sheet.text(LEFT + 32, below + 0.5, leading, anchor="start")
            target = last_choice if question == questions[-1][0] else f"question {number + 1}"
            sentences.append(f"{number}. {question} {ending}: {choice}; {leading}: {target}.")
            y += STEP
        sheet.box(LEFT, y, last_choice, last_section, is_choice=True)
        y += BOX_HEIGHT + 0.6
    return sheet.to_drawing(" ".join(sentences).replace("\n", " "))
