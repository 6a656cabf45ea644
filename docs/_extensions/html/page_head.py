"""Select the scripts of each page, write its Content-Security-Policy, and trim templates."""

import base64
from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

# Sets the color scheme before the first paint: the reader's choice, or the system's.
SCHEME_SCRIPT = (
    'try{var m=localStorage.getItem("mode")}catch(e){}'
    'm=m=="light"||m=="dark"?m:"auto";'
    "(function(d){d.mode=m;"
    'd.theme=m!="auto"?m:matchMedia("(prefers-color-scheme:dark)").matches?"dark":"light"'
    "})(document.documentElement.dataset)"
)
DIGEST = base64.b64encode(sha256(SCHEME_SCRIPT.encode()).digest()).decode()
# Matplotlib writes the colors of a figure as style attributes; images in style sheets are data.
POLICY = {
    "default-src": "'none'",
    "script-src": f"'self' 'sha256-{DIGEST}'",
    "style-src": "'self'",
    "style-src-attr": "'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",  # what is typed into a field stays in the browser
}
# A page loads a script only if its body contains the mark; None means never. These are the site's.
SCRIPTS = {
    "scripts/pydata-sphinx-theme.js": "",
    "keyboard.js": "",
    "explorer.js": "<lookup-explorer",
    "memory.js": 'id="fig-budget"',
    "frames.js": "data-steps=",
    "votes.js": "data-votes=",
    "choices.js": 'class="choices',
    "terms.js": "#term-",
}
MARKS: dict[str, str | None] = {
    **SCRIPTS,
    "clipboard.min.js": 'class="highlight',
    "copybutton.js": 'class="highlight',
    "design-tabs.js": "sd-tab-set",
    "doctools.js": None,  # folds the rows of a module index, which this site does not have
    "translations.js": None,  # messages of Sphinx's own search
    "sphinx_highlight.js": None,  # highlights results of Sphinx's own search
}


def trim_templates(app: Sphinx) -> None:
    """Drop the lines of templates that only have a statement, and the space before these."""
    if isinstance(app.builder, StandaloneHTMLBuilder):
        environment = app.builder.templates.environment
        environment.trim_blocks = environment.lstrip_blocks = True


def select_scripts(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Drop inline scripts and scripts that the page does not use, and write the policy."""
    body = context.get("body", "")
    scripts = context["script_files"]
    context["script_files"] = []
    for script in scripts:
        mark = MARKS.get(Path(script.filename or "").name, "")
        if script.filename and mark is not None and mark in body:
            script.attributes.setdefault("defer", "defer")
            context["script_files"].append(script)
    context["scheme_script"] = SCHEME_SCRIPT
    context["policy"] = "; ".join(f"{name} {value}" for name, value in POLICY.items())
