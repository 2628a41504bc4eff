"""How Sphinx builds the site; `make docs` runs it.

The pages are plain Markdown that can be read on the repository's host as well. Three
folders are generated and not under version control: `gallery/` from `examples/`,
`reference/api/` from the docstrings, and `project/` from the pages at the root of the
repository. Nothing is fetched from the network, unless `TRUEAXIS_DOCS_INTERSPHINX=1`
asks for links into the pages of NumPy, SciPy and scikit-learn.
"""

import importlib
import os
import re
import shutil
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

import trueaxis

DOCS = Path(__file__).parent
ROOT = DOCS.parent
HOST = "https://github.com/trueaxis/trueaxis"
MODULES = ("datasets", "diagnostics", "plots", "report")

project = "trueaxis"
author = "The trueaxis developers"
copyright = author
version = release = trueaxis.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_click",
    "sphinx_copybutton",
]
root_doc = "index"
exclude_patterns = ["_templates", "gallery/backreferences"]
templates_path = ["_templates"]

# Markdown. Headings get the anchors that the repository's host gives them.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
highlight_language = "none"  # of blocks that do not name one: commands and output

# Docstrings. What stands in single backquotes is a link if it names something public.
default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
nitpicky = True


def names_by_case() -> dict[str, str]:
    """Return files for functions whose name differs from a class only in its case."""
    files = {}
    for module in MODULES:
        names = importlib.import_module(f"trueaxis.{module}").__all__
        for name in names:
            if name.islower() and name in {n.lower() for n in names if n != name}:
                full = f"trueaxis.{module}.{name}"
                files[full] = f"{full}-function"
    return files


autosummary_filename_map = names_by_case()

if os.environ.get("TRUEAXIS_DOCS_INTERSPHINX") == "1":
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

# Examples whose name begins with plot_ are run; one that fails stops the build. Others
# are scripts that the README and the tutorial use.
TOPICS = ("first_steps", "choices", "cells", "fields", "in_use", "limits")
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "ignore_pattern": r"^(?!plot_)",
    "subsection_order": ExplicitOrder([*(f"../examples/{t}" for t in TOPICS), "*"]),
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("trueaxis",),
    "show_signature": False,
    "capture_repr": (),  # what is printed, but not what the last line returns
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "download_all_examples": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "trueaxis"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
# Pages without others below them have nothing to show at the left.
html_sidebars = {page: [] for page in ("index", "tutorial", "methods", "for-*")}
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": "trueaxis",
        "alt_text": "trueaxis",
    },
    "icon_links": [{"name": "Source", "url": HOST, "icon": "fa-brands fa-github"}],
    "header_links_before_dropdown": 5,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Pages at the root of the repository, and their names on the site.
ROOT_PAGES = {
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "CODE_OF_CONDUCT.md": "code-of-conduct",
    "SECURITY.md": "security",
}
LINK = re.compile(r"\]\((?!\w+:|#|/)([^)#\s]+)(#[^)\s]*)?\)")


def copy_root_pages(app) -> None:
    """Copy the pages at the root of the repository to where Sphinx finds them."""
    folder = DOCS / "project"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, page in ROOT_PAGES.items():
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, folder / f"{page}.md")


def redirect_links(app, docname: str, source: list[str]) -> None:
    """Let links to files of the repository lead to pages of the site, or to the host.

    In the repository, links are relative to the file, and lead anywhere in it.
    """
    copied = docname.startswith("project/")
    home = ROOT if copied else (DOCS / docname).parent

    def redirected(match: re.Match[str]) -> str:
        target = (home / match[1]).resolve().relative_to(ROOT).as_posix()
        if not (ROOT / target).exists():
            return match[0]  # MyST says what is wrong with it
        if target.endswith(".csv"):
            return match[0]  # a table to download, from the site itself
        if target in ROOT_PAGES:
            target = f"/project/{ROOT_PAGES[target]}.md"
        elif target == "examples":
            target = "/gallery/index.rst"
        elif target.startswith("docs/"):
            target = target.removeprefix("docs")
        else:
            return f"]({HOST}/blob/main/{target})"
        return f"]({target}{match[2] or ''})"

    source[0] = LINK.sub(redirected, source[0])


def is_skipped(app, what, name, member, skip, options) -> bool | None:
    """Leave out methods of scikit-learn, whose docstrings link into its own pages."""
    module = getattr(getattr(member, "fget", member), "__module__", None) or ""
    return True if module.startswith(("sklearn", "numpy")) else None


def escape_underscores(app, what, name, obj, options, lines: list[str]) -> None:
    """Escape the last underscore in shapes, where docutils sees links otherwise."""
    lines[:] = [re.sub(r"(?<=[ (]n_)(\w+)_(?=[,)])", r"\1\_", line) for line in lines]


def literal_if_unknown(app, env, node, contnode):
    """Show a name in backquotes as it is if nothing public is called that."""
    return contnode if node.get("reftype") == "obj" else None


def setup(app) -> None:
    app.connect("builder-inited", copy_root_pages)
    app.connect("source-read", redirect_links)
    app.connect("autodoc-skip-member", is_skipped)
    app.connect("autodoc-process-docstring", escape_underscores, priority=600)
    app.connect("missing-reference", literal_if_unknown)
