"""The site: Sphinx reads the pages of this folder, the docstrings and the gallery. Run with ``make docs``."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

project = "paretodepth"
author = "the paretodepth developers"
project_copyright = f"{author}; BSD-3-Clause"
release = version = version_of("paretodepth")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
]
# The gallery brings files beside its pages that are no pages.
exclude_patterns = ["_build", "criteria.in.md", "gallery/**/*.md5", "gallery/**/*.json", "gallery/**/*.py"]
# In docstrings a name in single backticks is a name of the package, if there is such a one.
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf: dict[str, Any] = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "thumbnail_size": (520, 220),
    "filename_pattern": r"/plot_",
    "within_subsection_order": "gallery_order.by_story",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "plot_gallery": True,
    "abort_on_example_error": True,
    # That page would load a script from elsewhere.
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "paretodepth"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
# Summaries are fetched, which a browser refuses for files: search must work offline.
html_show_search_summary = False
# Pages that stand alone in the navigation need no list of neighbors.
html_sidebars = {page: [] for page in ("index", "get-started", "concepts", "comparison", "changelog", "cite")}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "paretodepth", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc", "sg_download_links"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# What pages link to as files of the repository, and where the site has it.
ON_THE_SITE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
OUTSIDE = re.compile(r"\]\((?:\.\./)+(examples/gallery/)?([\w.]+\.(?:md|py))(#[\w-]+)?\)")


def inside(link: re.Match[str]) -> str:
    """Return the link to a page of the site in place of one to a file beside docs/."""
    in_gallery, name, anchor = link[1], link[2], link[3] or ""
    if in_gallery:
        return f"](/gallery/{name.removesuffix('.py')}.rst)"
    return f"](/{ON_THE_SITE[name]}{anchor})" if name in ON_THE_SITE else link[0]


def link_inside(app: Any, docname: str, source: list[str]) -> None:
    """Let links that work on a code host lead to the site's own pages."""
    if not docname.startswith("gallery/"):
        source[0] = OUTSIDE.sub(inside, source[0])


def leave_out_fields(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out a named tuple's fields: the Attributes section of its docstring tells them."""
    return True if type(member).__name__ == "_tuplegetter" else None


def setup(app: Any) -> None:
    """Connect the two."""
    app.connect("source-read", link_inside)
    app.connect("autodoc-skip-member", leave_out_fields)
