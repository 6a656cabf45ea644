"""Connect this site's steps to Sphinx: ``EVENTS`` lists them in the order in which they run.

No other file calls ``app.connect``. Handlers of one event run by ascending priority; Sphinx, the
theme and the other extensions use 500 unless a comment says otherwise.
"""

import gc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import pybtex.plugin
from myst_parser.mdit_to_docutils import base
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

from _extensions import explorer, report
from _extensions.claims import folds, ledger
from _extensions.claims import page as claims
from _extensions.html import mathml, page_head, published, site_files, terms, writer
from _extensions.language import builder, messages
from _extensions.notebooks import notebooks, wheel
from _extensions.run import execute, guard, pages
from _extensions.search import index
from _extensions.symptoms import lists as symptoms

EVENTS: list[tuple[str, int, Callable[..., Any]]] = [
    ("config-inited", 0, guard.lock_build),  # before Sphinx loads the doctrees of the last build
    ("config-inited", 515, builder.set_base_address),
    ("config-inited", 520, published.add_repository_links),
    ("config-inited", 530, wheel.add_wheel_links),
    ("config-inited", 540, pages.start_records),
    ("builder-inited", 510, messages.write_script_messages),
    ("builder-inited", 520, page_head.trim_templates),
    ("builder-inited", 530, published.check_addresses),
    ("env-get-outdated", 510, guard.reread_after_failure),
    ("env-get-outdated", 515, execute.find_pages_with_other_outputs),
    ("env-before-read-docs", 510, guard.purge_outdated),
    ("env-before-read-docs", 520, builder.move_raw_outputs),
    ("env-before-read-docs", 530, execute.execute_pages),
    ("source-read", 0, pages.replace_source),  # before any other extension sees the text
    ("source-read", 510, report.warn_of_findings),
    ("doctree-read", 520, messages.translate_drawings),
    ("doctree-read", 525, messages.detach_messages),
    ("doctree-read", 530, claims.record_claims),
    ("doctree-read", 540, symptoms.record_entries),  # after checks are folded
    ("doctree-read", 550, explorer.wrap_figures),
    ("env-updated", 510, ledger.find_pages_with_totals),
    ("env-updated", 520, symptoms.find_pages_with_lists),
    ("write-started", 500, guard.lock_site),
    ("doctree-resolved", 300, index.store_entries),  # before lists repeat text of other pages
    ("doctree-resolved", 510, ledger.fill_in_totals),
    ("doctree-resolved", 520, symptoms.fill_in_lists),
    ("doctree-resolved", 530, mathml.keep_punctuation_with_formulas),
    ("doctree-resolved", 540, terms.define_links),
    ("html-collect-pages", 510, index.write_index),
    ("html-collect-pages", 520, published.collect_404_page),
    # Before the theme drops the templates that render nothing.
    ("html-page-context", 410, builder.add_language_links),
    ("html-page-context", 430, notebooks.write_page_copies),
    ("html-page-context", 440, index.insert_finder),
    ("html-page-context", 450, published.add_page_description),
    ("html-page-context", 900, page_head.select_scripts),  # after the theme added its scripts
    ("build-finished", 0, guard.lock_site),  # of a build that writes no page
    ("build-finished", 910, wheel.build_wheel),  # after the theme copied its files
    ("build-finished", 930, published.complete_404_page),
    ("build-finished", 935, published.write_lists),
    ("build-finished", 938, site_files.quiet_scripts),
    ("build-finished", 940, site_files.write_style_sheets),
    ("build-finished", 945, builder.mark_english_links),
    ("build-finished", 950, guard.release_build),
    ("build-finished", 999, report.print_result),
]


def setup(app: Sphinx) -> dict[str, int]:
    """Register handlers, nodes, directives and scripts; no extension here reads in parallel."""
    gc.set_threshold(100_000, 50, 100)  # collections took a tenth of the time
    app.setup_extension("myst_nb")
    # pybtex reads the files of all distributions for each citation and each source.
    pybtex.plugin.entry_points = cache(pybtex.plugin.entry_points)
    # MyST makes the settings of an empty document for each page and each translated message.
    base.get_default_settings = cache(base.get_default_settings)  # type: ignore
    app.add_config_value("languages", {}, "env", dict)
    app.add_builder(builder.TranslationBuilder, override=True)
    app.add_source_parser(messages.GlueAwareParser, override=True)
    for event, priority, handler in EVENTS:
        app.connect(event, handler, priority)
    for script in page_head.SCRIPTS:
        app.add_js_file(script, loading_method="defer")
    app.add_node(folds.fold, html=(folds.visit_fold, folds.depart_fold))
    app.add_node(explorer.explorer, html=(explorer.visit, explorer.depart))
    app.add_directive("explorer", explorer.Explorer)
    app.add_directive("ledger", ledger.Ledger)
    app.add_directive("symptom-entries", symptoms.Entries)
    app.add_directive("symptom-versions", symptoms.Versions)
    app.add_html_math_renderer("mathml", (mathml.visit_inline, None), (mathml.visit_block, None))
    app.set_translator("html", writer.AccessibleTranslator)
    PygmentsBridge.html_formatter = writer.CodeFormatter
    # Sphinx reads every page again when this number changes, so it is a digest of these files.
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    return {"env_version": crc32(b"".join(path.read_bytes() for path in sources)) or 1}
