"""Build the package's wheel into the site, where notebooks and readers install it from."""

from hatchling.builders.wheel import WheelBuilder
from sphinx.application import Sphinx
from sphinx.config import Config

from _extensions.paths import ROOT, is_source_language, root_address

NAME = "lookup_matmul-{version}-py3-none-any.whl"


def wheel_address(app: Sphinx) -> str:
    """Return the URL of the wheel, or its file name if the site has no address."""
    return f"{root_address(app.config)}{NAME.format(version=app.config.release)}"


def add_wheel_links(_app: Sphinx, config: Config) -> None:
    """Define ``{{ wheel }}``, a link for pages of the top folder, and ``{{ install }}``."""
    name = NAME.format(version=config.release)
    folder = "" if is_source_language(config) else "../"
    config.myst_substitutions |= {
        "wheel": f'<a href="{folder}{name}" download>{name}</a>',
        "install": f"```sh\npython -m pip install {name}\n```",
    }


def build_wheel(app: Sphinx, exception: Exception | None) -> None:
    """Build the wheel, but not with warnings, which may concern a file in it."""
    is_english_site = app.builder.name == "html" and is_source_language(app.config)
    if is_english_site and not (exception or app._warncount):
        for outdated in app.outdir.glob(NAME.format(version="*")):  # of an earlier version
            outdated.unlink()
        list(WheelBuilder(str(ROOT)).build(directory=str(app.outdir), versions=["standard"]))
