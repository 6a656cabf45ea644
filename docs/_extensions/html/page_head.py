"""Gives each page the scripts that it uses, all deferred, and the policy that allows no others.

Every template in ``docs/_templates`` says what it leaves out of the theme, and until when.
"""

import base64
from hashlib import sha256
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

# The scheme is known before anything is painted: as chosen, or as the system has it.
SCHEME_SCRIPT = (
    'try{var m=localStorage.getItem("mode")}catch(e){}'
    'm=m=="light"||m=="dark"?m:"auto";'
    "(function(d){d.mode=m;"
    'd.theme=m!="auto"?m:matchMedia("(prefers-color-scheme:dark)").matches?"dark":"light"'
    "})(document.documentElement.dataset)"
)
# The font of the formulas is there before they are laid out, so that no line moves afterwards.
FORMULA_SCRIPT = "document.fonts.load('1em \"STIX Two Math\"')"
# Matplotlib writes the colors of a drawing as style attributes; pictures in CSS are data.
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "style-src-attr": "'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
}
# These are loaded only where the page's text has the mark, those without one nowhere.
MARKS = {
    "clipboard.min.js": 'class="highlight',
    "copybutton.js": 'class="highlight',
    "design-tabs.js": "sd-tab-set",
    "explorer.js": "<lookup-explorer",
    "symptoms.js": 'class="symptom-box"',
    "doctools.js": None,  # folds the rows of a module index, which this site does without
    "translations.js": None,  # words of Sphinx's own search
    "sphinx_highlight.js": None,  # marks what Sphinx's search found; its link is an inline script
}


def select_scripts(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Keep the page's scripts but those that it does not use, and no inline ones."""
    body = context.get("body", "")
    kept = []
    for script in context["script_files"]:
        name = str(script.filename or "").rpartition("/")[2]
        mark = MARKS.get(name, "")
        if name and mark is not None and mark in body:
            script.attributes.setdefault("defer", "defer")
            kept.append(script)
    context["script_files"] = kept
    context["scheme_script"] = SCHEME_SCRIPT
    context["formula_script"] = FORMULA_SCRIPT if "<math" in body else ""
    context["policy"] = policy(SCHEME_SCRIPT, context["formula_script"])


def policy(*inline: str) -> str:
    """Allow what the page loads, and of scripts within it these alone."""
    digests = (base64.b64encode(sha256(text.encode()).digest()).decode() for text in inline if text)
    scripts = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in digests)])
    rules = POLICY | {"script-src": scripts}
    return "; ".join(f"{what} {where}" for what, where in rules.items())
