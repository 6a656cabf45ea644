"""Times, tables and strangers' text become Markdown that shows them as they are."""

import re

import pytest

from lookup_matmul.costs import escaped, in_unit


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (1e-12, "0.00100 ns"),
        (9.996e-10, "1.00 ns"),
        (9.996e-7, "1.00 µs"),
        (205e-6, "205 µs"),
        (0.9999, "1.00 s"),
        (9.9996, "10.0 s"),
    ],
)
def test_a_time_has_three_digits_and_a_unit(seconds, text):
    """Rounded before the unit is chosen."""
    assert in_unit(seconds) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>", r"\<script\>"),
        ("![](https://example.org/a.png)", r"\!\[\](https://example.org/a.png)"),
        ("{raw}`<b>x</b>`", r"\{raw\}\`\<b\>x\</b\>\`"),
        ("$x$ a | b ~~c~~ **d** _e_", r"\$x\$ a \| b \~\~c\~\~ \*\*d\*\* \_e\_"),
        (r"\\ &lt; [^1]", r"\\\\ \&lt; \[\^1\]"),
        ("2.13.0+cu130", "2.13.0+cu130"),
        ("::: {note}", r"::: \{note\}"),
        ("a\n\n# b", "a # b"),
    ],
)
def test_escaped_text_is_shown_as_it_is(text, shown):
    """Each mark that could be markup stands behind a backslash, on one line."""
    assert escaped(text) == shown
    assert re.sub(r"\\(\W|_)", r"\1", shown) == " ".join(text.split())
