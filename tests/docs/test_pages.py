"""The pages, read as files: their code runs, their links lead somewhere, and every public name has its place."""

import ast
import doctest
import importlib
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from paretodepth.cli import app
from tests.data import ROOT

DOCS = ROOT / "docs"
MADE = ("_build", "gallery", "generated")
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if not set(path.relative_to(DOCS).parts) & set(MADE) and path.name != "criteria.in.md"
)
WRITTEN = [*PAGES, *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "SECURITY"))]
EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("*.py"))
PUBLIC = (
    "",
    ".datasets",
    ".distributed",
    ".streaming",
    ".streaming.river",
    ".tables",
    ".fronts",
    ".plots",
)
FENCE = re.compile(r"^```.*?^```", flags=re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def blocks(path, language):
    """Return the code of a page in one language, block by block."""
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(path):
    """Return the anchors that a code host and the site give to a page's headings."""
    headings = re.findall(r"^#{1,6} (.+)$", FENCE.sub("", path.read_text()), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.fixture
def newcomers_folder(tmp_path, monkeypatch):
    """Go to a folder with two tables, and return it."""
    for name in ("invoices.csv", "new.csv"):
        shutil.copy(ROOT / "examples" / "invoices.csv", tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
def test_the_commands_to_get_started_do_what_they_say(newcomers_folder):
    lines = [shlex.split(line) for block in blocks(DOCS / "get-started.md", "sh") for line in block.splitlines()]
    install, *commands = lines
    assert install[:2] == ["pip", "install"]
    assert len(commands) == 4
    for program, *arguments in commands:
        assert program == "paretodepth"
        place = arguments.index(">") if ">" in arguments else len(arguments)
        result = CliRunner().invoke(app, arguments[:place], catch_exceptions=False)
        assert result.exit_code == 0
        if place < len(arguments):
            (newcomers_folder / arguments[-1]).write_text(result.stdout)
    assert len((newcomers_folder / "scores.csv").read_text().splitlines()) == 401
    assert "</html>" in (newcomers_folder / "report.html").read_text()


@pytest.mark.parametrize("path", [path for path in PAGES if blocks(path, "pycon")], ids=name_of)
def test_the_code_of_a_page_prints_what_it_says(path, newcomers_folder):
    globs = {}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for number, block in enumerate(blocks(path, "pycon")):
        test = doctest.DocTestParser().get_doctest(block, globs, f"{name_of(path)}, block {number}", str(path), 0)
        runner.run(test, clear_globs=False)
        globs |= test.globs
    assert runner.tries > 0
    assert runner.failures == 0


@pytest.mark.parametrize("path", [path for path in PAGES if blocks(path, "python")], ids=name_of)
def test_code_that_cannot_run_here_is_python_at_least(path):
    for block in blocks(path, "python"):
        assert ast.parse(block).body


@pytest.mark.parametrize("path", WRITTEN, ids=name_of)
def test_links_within_the_repository_lead_somewhere(path):
    for link in LINK.findall(FENCE.sub("", path.read_text())):
        target, _, anchor = link.partition("#")
        if "://" in target:
            continue
        place = (path.parent / target).resolve() if target else path
        assert place.exists(), f"{name_of(path)} links to {target}, which is not there"
        assert not anchor or anchor in anchors(place), f"{name_of(path)} links to {link}, a heading that is not there"


def test_every_page_is_in_the_navigation_once():
    listed = []
    for path in PAGES:
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```", path.read_text(), flags=re.DOTALL | re.MULTILINE):
            entries = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed += [(path.parent / f"{entry}.md").resolve() for entry in entries if not entry.startswith("gallery")]
    assert sorted(listed) == sorted(path for path in PAGES if path.name != "index.md" or path.parent != DOCS)


def documented_names():
    """Return the full names on the API page."""
    names, module = [], ""
    for line in (DOCS / "api" / "index.md").read_text().splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            names.append(f"{module}.{line.strip()}")
    return names


def test_every_public_name_is_documented_exactly_once():
    def found(name):
        module, _, attribute = name.rpartition(".")
        return getattr(importlib.import_module(module), attribute)

    modules = [importlib.import_module(f"paretodepth{name}") for name in PUBLIC]
    public = {id(getattr(module, name)): f"{module.__name__}.{name}" for module in modules for name in module.__all__}
    documented = [id(found(name)) for name in documented_names()]
    assert len(documented) == len(set(documented))
    assert set(documented) == set(public), {name for key, name in public.items() if key not in documented}


def test_every_example_of_the_gallery_has_a_title_and_its_place():
    order = ast.parse((DOCS / "gallery_order.py").read_text())
    (story,) = (ast.literal_eval(node.value) for node in order.body if isinstance(node, ast.Assign))
    assert sorted(story) == [path.name for path in EXAMPLES]
    assert len(EXAMPLES) >= 12
    for path in EXAMPLES:
        _, title, rule, *_ = ast.get_docstring(ast.parse(path.read_text()), clean=False).splitlines()
        assert len(title) == len(rule), path.name
        assert set(rule) == {"="}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_ends_with_a_picture(path: Path):
    assert path.read_text().endswith("plt.show()\n")
