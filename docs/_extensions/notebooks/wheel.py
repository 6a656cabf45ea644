"""Lays the package on the site as a wheel, which a notebook that was taken away installs."""

from hatchling.builders.wheel import WheelBuilder
from sphinx.application import Sphinx
from sphinx.config import Config

from _extensions.paths import ROOT

NAME = "lookup_matmul-{version}-py3-none-any.whl"


def address(app: Sphinx) -> str:
    """Give the wheel's address on the site, or its name alone if nobody said where the site is."""
    return f"{app.config.html_baseurl}{NAME.format(version=app.config.release)}"


def add_wheel_links(_app: Sphinx, config: Config) -> None:
    """Let the pages beside it link to it, ``{{ wheel }}``, and say how it is installed."""
    name = NAME.format(version=config.release)
    config.myst_substitutions |= {
        "wheel": f'<a href="{name}" download>{name}</a>',
        "install": f"```sh\npython -m pip install {name}\n```",
    }


def build_wheel(app: Sphinx, exception: Exception | None) -> None:
    """Build it with hatchling itself: no isolated environment, so no network.

    Not where the build has failed: what it warns of may be a file that the wheel would hold.
    """
    if exception or app._warncount or app.builder.name != "html":
        return
    list(WheelBuilder(str(ROOT)).build(directory=str(app.outdir), versions=["standard"]))
