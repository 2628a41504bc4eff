"""Check a built site: every link inside it leads somewhere, and it loads nothing else.

`python docs/check_links.py site` prints what is wrong, and fails if anything is. Sphinx
checks what authors write; this checks the pages that came out, navigation included.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

# Attributes whose address the browser fetches by itself, by tag.
LOADED = {
    "script": "src", "img": "src", "source": "src", "iframe": "src", "video": "src",
    "audio": "src", "embed": "src", "object": "data",
}  # fmt: skip
# Kinds of <link> that only name another page.
NAMES_ONLY = {"canonical", "index", "search", "next", "prev", "author", "help", "top"}


class Page(NamedTuple):
    """What a page offers and asks for.

    anchors : ids and names that a fragment can point to
    links : addresses that a reader may follow
    loads : addresses that the browser fetches
    """

    anchors: set[str]
    links: list[str]
    loads: list[str]


class Reader(HTMLParser):
    """Collects anchors, links and loaded files of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.page = Page(set(), [], [])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag offers or asks for."""
        found = {name: value for name, value in attrs if value is not None}
        self.page.anchors.update(found[name] for name in found.keys() & {"id", "name"})
        if tag == "a" and "href" in found:
            self.page.links.append(found["href"])
        elif tag == "link" and "href" in found:
            names_only = set(found.get("rel", "").split()) <= NAMES_ONLY
            (self.page.links if names_only else self.page.loads).append(found["href"])
        elif LOADED.get(tag, "") in found:
            self.page.loads.append(found[LOADED[tag]])


def read_page(path: Path) -> Page:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def problems(site: Path) -> list[str]:
    """Return one sentence for everything that is wrong with the pages of a folder."""
    pages = {
        path.resolve(): read_page(path)
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts  # templates of the theme
    }
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for address in page.links + page.loads:
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if address in page.loads:
                    found.append(f"{name} loads {address} from the network")
                continue
            target = (
                (path.parent / unquote(parts.path)).resolve() if parts.path else path
            )
            if not target.is_file():
                found.append(f"{name} links to {address}, which does not exist")
            elif parts.fragment and target in pages:
                if unquote(parts.fragment) not in pages[target].anchors:
                    found.append(f"{name} links to {address}: no such anchor")
    for path in sorted(site.rglob("*.css")):
        for word in ("url(http", "url('http", 'url("http', "@import url(//"):
            if word in path.read_text(encoding="utf-8"):
                found.append(f"{path.relative_to(site)} loads a file from the network")
    if not pages:
        found.append(f"{site} has no pages")
    return found


if __name__ == "__main__":
    complaints = problems(Path(sys.argv[1]))
    print("\n".join(complaints) or "all links lead somewhere")
    sys.exit(bool(complaints))
