"""Promises about a release and about what development installs, read from the files that make them."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.data import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements-dev.txt").read_text()
LOCKED_GROUPS = ("dev", "docs", "build")


def asked_for():
    """Return what pyproject.toml asks for in development."""
    extras, groups = PROJECT["project"]["optional-dependencies"], PROJECT["dependency-groups"]
    listed = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    for entries in (*extras.values(), *(groups[name] for name in LOCKED_GROUPS)):
        listed += entries
    return [requirement for requirement in map(Requirement, listed) if requirement.name != PROJECT["project"]["name"]]


def locked():
    """Return the locked versions of each package, one for each system or Python that differs, and their hashes."""
    versions = {}
    for entry in LOCK.replace("\\\n", " ").splitlines():
        pinned, *hashes = re.split(r"\s+--hash=", entry.strip())
        requirement = Requirement(pinned)
        (specifier,) = requirement.specifier
        assert specifier.operator == "=="
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in hashes), requirement.name
        versions.setdefault(canonicalize_name(requirement.name), []).append(specifier.version)
    return versions


@pytest.mark.parametrize("requirement", asked_for(), ids=str)
def test_the_lock_has_what_is_asked_for_in_a_version_that_is_allowed(requirement):
    versions = locked()[canonicalize_name(requirement.name)]
    assert all(version in requirement.specifier for version in versions), "run: make lock"


def test_the_lock_leaves_it_to_each_machine_where_packages_come_from():
    assert "://" not in LOCK
    assert "index" not in LOCK


def test_all_files_tell_the_same_version():
    version = PROJECT["project"]["version"]
    for name, pattern in (
        ("CITATION.cff", r"^version: (.+)$"),
        ("docs/cite.md", r"^  version = \{(.+)\},$"),
        ("CHANGELOG.md", r"^## (\d[^ ]*)"),
    ):
        assert re.findall(pattern, (ROOT / name).read_text(), flags=re.MULTILINE)[0].strip('"') == version, name


def test_classifiers_name_the_pythons_that_the_workflow_tests():
    prefix = "Programming Language :: Python :: 3."
    named = [entry.removeprefix(prefix) for entry in PROJECT["project"]["classifiers"] if entry.startswith(prefix)]
    (matrix,) = re.findall(r"python: \[(.+)\]", (ROOT / ".github" / "workflows" / "tests.yml").read_text())
    assert [f'"3.{minor}"' for minor in named] == matrix.split(", ")


def test_the_wheel_holds_the_package_alone():
    # Studies, tests and docs are in the sdist; `.ci/release-check` looks into the built files.
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"] == {"packages": ["src/paretodepth"]}
