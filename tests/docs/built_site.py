"""The site as built: its links lead somewhere, and a browser shows it without asking anybody else for anything.

Part of ``make test-all``, which builds the site first. Elsewhere the file's name keeps it out.
"""

import os
import shutil
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import sync_playwright

from tests.data import ROOT

pytestmark = pytest.mark.slow

SITE = ROOT / "docs" / "_build" / "html"
SHOWN = (
    "index.html",
    "get-started.html",
    "how-to/thresholds.html",
    "gallery/index.html",
    "gallery/plot_pedestrians.html",
    "api/index.html",
    "api/generated/paretodepth.ParetoDepthDetector.html",
)
WIDTHS = (1400, 390)
# The theme hides what is too wide, so the page itself never gets wider: what is read must end within the screen.
# Code and tables scroll by themselves.
CUT_OFF = """[...document.querySelectorAll(':is(article, .prev-next-area) :is(h1, h2, h3, p, li, dt, dt *)')]
    .filter(element => !element.closest('pre, table, .sphx-glr-thumbcontainer, .headerlink, .visually-hidden'))
    .filter(element => element.getBoundingClientRect().right > innerWidth + 1 || element.scrollWidth > innerWidth)
    .map(element => element.textContent.trim().slice(0, 60))"""


class Page(HTMLParser):
    """What a page links to, what it loads, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attributes if value}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.loaded += [given["src"]] if "src" in given else []
        is_loaded = tag == "link" and not {"index", "search", "next", "prev", "canonical"} & set(given["rel"].split())
        self.loaded += [given["href"]] if is_loaded else []


@cache
def page_of(path):
    return Page(path)


def anchors_of(path):
    return page_of(path).anchors if path.suffix == ".html" and path.is_file() else set()


@pytest.fixture(scope="module")
def paths():
    found = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)
    assert len(found) > 60, "build the site first: make docs"
    return found


def test_every_link_and_anchor_leads_somewhere(paths):
    lost = []
    for path in paths:
        for link in page_of(path).links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            place = (path.parent / unquote(url.path)).resolve() if url.path else path
            has_anchor = not url.fragment or unquote(url.fragment) in anchors_of(place)
            if not place.is_file() or not has_anchor:
                lost.append((path.name, link))
    assert lost == []


def test_every_page_loads_only_files_of_the_site(paths):
    for path in paths:
        for source in page_of(path).loaded:
            url = urlsplit(source)
            assert not url.netloc, f"{path.name} loads {source}"
            assert url.scheme == "data" or (path.parent / unquote(url.path)).is_file(), f"{path.name} loads {source}"


def test_every_example_can_be_had_as_a_script_and_as_a_notebook(paths):
    examples = [path for path in paths if path.parent.name == "gallery" and path.stem.startswith("plot_")]
    assert len(examples) >= 12
    for path in examples:
        endings = {Path(urlsplit(link).path).suffix for link in page_of(path).links}
        assert {".py", ".ipynb"} <= endings
        assert any("sphx_glr_" in source for source in page_of(path).loaded), f"{path.name} has no picture"


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=os.environ.get("PARETODEPTH_BROWSER") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture
def opened(browser):
    """Open a page of the site at a width, and fail in the end if it complained or asked anybody else."""
    complaints, contexts = [], []

    def note_request(request):
        if urlsplit(request.url).scheme not in ("file", "data", "blob"):
            complaints.append(f"asked for {request.url}")

    def open_page(name, width, scheme="light"):
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url}"))
        page.on("request", note_request)
        page.goto(f"{SITE.as_uri()}/{name}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", SHOWN)
def test_a_page_shows_as_it_should(opened, name, width):
    page = opened(name, width)
    assert page.locator("h1").first.is_visible()
    page.evaluate("for (const image of document.images) image.loading = 'eager'")
    page.wait_for_function("[...document.images].every(image => image.complete)")
    assert page.evaluate("[...document.images].filter(image => !image.naturalWidth).map(image => image.src)") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT_OFF) == []


def test_the_site_is_dark_for_those_who_like_it_so(opened):
    def brightness(scheme):
        page = opened("index.html", 1400, scheme)
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in color.removeprefix("rgb(").removesuffix(")").split(",")[:3])

    assert brightness("light") > 700
    assert brightness("dark") < 150


def test_search_works_offline(opened):
    page = opened("search.html?q=haversine", 1400)
    page.wait_for_selector("#search-results li a")
    assert "Criteria" in page.locator("#search-results").inner_text().split("\n")
