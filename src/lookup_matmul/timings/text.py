"""Text from elsewhere: what a recording may hold of it, and how a page shows it."""

from __future__ import annotations

import re

LONGEST = 300
REFUSED = (
    "<>{}|`"  # markup
    r"\x00-\x1f\x7f-\x9f\u2028\u2029"  # control characters and ends of lines
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # of no width, or turning the line around
    r"\ud800-\udfff"  # halves of characters
)
PLAIN = f"^[^{REFUSED}]+$"
PLAIN_IN_WORDS = (
    f"one line of at most {LONGEST} characters, without control characters and < > {{ }} | `"
)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
INSTEAD = str.maketrans("<>{}|`", "‹›()/'")


def plain(text: str) -> str:
    """Write the first line of a message as a recording may hold it, with marks that look alike."""
    line = next(iter(text.strip().splitlines()), "")
    return re.sub(f"[{REFUSED}]", "?", line.translate(INSTEAD))[: LONGEST - 100]


def escaped(text: str) -> str:
    r"""Write text so that Markdown shows it as it is and reads no markup in it.

    Parameters
    ----------
    text : str
        Any text, such as a device's name in somebody else's recording.

    Returns
    -------
    str
        One line, with a backslash before whatever has a meaning in Markdown, for a sentence,
        a list or a cell of a table.

    Examples
    --------
    >>> print(escaped("NVIDIA H200 ![](https://example.org) <script> 0|1"))
    NVIDIA H200 \!\[\](https://example.org) \<script\> 0\|1
    """
    line = " ".join(text.split())
    line = re.sub(r"[\\`*_{}\[\]<>|~$!&^]", r"\\\g<0>", line)
    # What begins a line could begin a heading, a list, a directive or a comment.
    line = re.sub(r"^[#+\-:=%(\"'@/;,.?)]", r"\\\g<0>", line)
    return re.sub(r"^(\d+)([.)])(?=\s|$)", r"\1\\\2", line)
