"""Promises about the package as a whole: imports, kernels, the README."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import paretodepth
from tests.data import ROOT

PACKAGE = Path(paretodepth.__file__).parent
KERNELS = sorted((PACKAGE / "_kernels").glob("[!_]*.py"))


def modules_after(statement):
    code = f"import sys; {statement}; print(*{{name.split('.')[0] for name in sys.modules}})"
    return set(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.name)
def test_a_kernel_file_is_closed(path):
    # numba's cache does not notice an edit in another file.
    tree = ast.parse(path.read_text())
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert {name for name in imported if name.startswith("paretodepth")} <= {"paretodepth._kernels"}
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert functions
    decorated = {name: [ast.unparse(node) for node in function.decorator_list] for name, function in functions.items()}
    for name, decorators in decorated.items():
        # Python itself runs what is overloaded, where compilation is off.
        is_overloaded = [f"overload({name})"] in decorated.values()
        assert decorators in ([] if is_overloaded else ["compiled"], ["intrinsic"], [f"overload({name[9:]})"])


@pytest.mark.slow
def test_importing_the_package_or_its_command_line_loads_no_heavy_library():
    heavy = {"numba", "sklearn", "scipy", "numpy", "pandas", "matplotlib"}
    assert not modules_after("import paretodepth") & heavy
    assert not modules_after("import paretodepth.cli") & heavy
    assert not modules_after("from paretodepth.tables import read_table") & {"numba", "sklearn", "scipy"}


@pytest.mark.slow
def test_importing_the_detector_compiles_nothing():
    code = (
        "from paretodepth import ParetoDepthDetector\n"
        "from paretodepth._kernels import neighbors, splits, two_criteria\n"
        "modules = (neighbors, splits, two_criteria)\n"
        "kernels = [f for m in modules for f in vars(m).values() if hasattr(f, 'signatures')]\n"
        "assert len(kernels) > 10 and not any(kernel.signatures for kernel in kernels)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"NUMBA_DISABLE_JIT": "0"})


def test_public_names_are_those_the_package_lists():
    assert dir(paretodepth) == [
        "AdviceWarning",
        "Criterion",
        "Explanation",
        "Findings",
        "Fronts",
        "ParetoDepthDetector",
        "Suggestion",
        "criteria_to_toml",
        "detect",
        "explain",
        "fit",
        "front_numbers",
        "score",
        "suggest",
        "watch",
    ]
    for name in paretodepth.__all__:
        assert getattr(paretodepth, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'Front'"):
        _ = paretodepth.Front


@pytest.mark.slow
def test_the_readme_code_runs_and_prints_what_it_says():
    readme = (ROOT / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert len(code.strip().splitlines()) <= 12
    shown = re.findall(r"print\(.*#\s*(.*)", code)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == shown


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().split()) <= 500
