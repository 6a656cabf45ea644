"""Sphinx settings of the site; sessions in noxfile.py build it with ``-n -W --keep-going``."""

import sys
from hashlib import sha256
from importlib.metadata import version as installed
from pathlib import Path
from platform import python_version

from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "docs"))

project = "Lookup ≡ Matmul"
author = "the Lookup ≡ Matmul developers"
copyright = f"2026, {author}"
release = WheelBuilder(str(ROOT)).metadata.version  # of the wheel that notebooks install
html_baseurl = ""  # the site's address, ending in a slash: canonical links, 404 page, Colab
html_context = {"repository": ""}  # OWNER/NAME on GitHub: edit and report buttons, Binder
extensions = [
    "_extensions",  # its table EVENTS lists this site's steps
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinxcontrib.bibtex",
]
locale_dirs = ["locale"]
languages = {"zh_CN": "zh"}  # the folder of each language below build/html; AUTHORING says more
gettext_compact = False  # a catalog for each page
gettext_additional_targets = ["index"]  # index terms, for the search
translation_progress_classes = "untranslated"  # site.css marks these paragraphs
templates_path = ["_templates"]  # each template says what it changes in the theme

# The cache of executed pages has a folder for each set of versions and of kernel settings. What a
# page read of the package is recorded when it runs; see _extensions/run/pages.py.
RUN = ROOT / "docs" / "_extensions" / "run"
SCRIPTS = [RUN / f"{name}.py" for name in ("kernel", "requirements", "settings")]
SETTINGS = [ROOT / "constraints.txt", *SCRIPTS, *sorted((RUN / "observer").rglob("*.py"))]
KEY = [f"{python_version()} {installed('torch')}".encode(), *(p.read_bytes() for p in SETTINGS)]
nb_execution_cache_path = str(ROOT / "build" / "executed" / sha256(b"\0".join(KEY)).hexdigest())
nb_execution_mode = "cache"
nb_execution_timeout = 120
nb_render_markdown_format = "myst"  # tables in the Markdown that a cell returns
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "dollarmath", "substitution"]
myst_heading_anchors = 3

napoleon_preprocess_types = True
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autosummary_generate = False  # pages of this site document the listed names
python_use_unqualified_type_names = True
maximum_signature_line_length = 80  # longer signatures have a line for each parameter
# torch and SciPy define these in private modules and document them under other names.
autodoc_type_aliases = {
    **{f"nn.{name}": f"torch.nn.{name}" for name in ("Embedding", "Linear", "Module")},
    "sparse.csr_array": "scipy.sparse.csr_array",
    "Layer": "Layer",  # the name of the alias instead of its members
    "Rows": "Rows",
}
# Plain-text inventories of the few names linked to, so that a build needs no network.
intersphinx_mapping = {
    "python": ("https://docs.python.org/3/", "inventories/python.txt"),
    "torch": ("https://docs.pytorch.org/docs/stable/", "inventories/torch.txt"),
    "numpy": ("https://numpy.org/doc/stable/", "inventories/numpy.txt"),
    "scipy": ("https://docs.scipy.org/doc/scipy/", "inventories/scipy.txt"),
}

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["_static", "_figures"]  # which has scripts beside the drawings that they drive
exclude_patterns = ["*.py", "__pycache__"]  # of these folders
html_favicon = "_static/favicon.svg"
html_css_files = ["site.css", "frame.css", "explorer.css", "search.css"]
html_math_renderer = "mathml"
html_domain_indices = False
html_use_index = False  # the search has these terms
html_theme_options = {
    "article_footer_items": ["page-links"],
    "article_header_end": ["language", "take-away", "article-header-buttons"],
    "footer_content_items": ["copyright", "about-build"],
    "collapse_navbar": True,  # the pages below a page are listed on it
    "primary_sidebar_end": [],  # the theme's place for advertisements
    "navbar_persistent": [],  # the sidebar has the search field already
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
}
html_copy_source = False  # MyST-NB would add raw outputs
copybutton_selector = "div:not(.output) > div.highlight pre"
copybutton_prompt_text = r">>> |\.\.\. |\$ "  # only the input of a doctest is copied
copybutton_prompt_is_regexp = True
