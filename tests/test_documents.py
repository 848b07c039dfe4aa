"""Tests of the documents: code blocks print what the pages show, links resolve, versions agree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from markdown_it import MarkdownIt

import sojourn

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
WIDTH = re.compile(r"(certified to|certified width|width) \d(?:\.\d+)?e-\d+")
"""The width of a certified bracket depends on rounding and so on the machine; it is not compared."""

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def place(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks_of(document: Path) -> list[tuple[str, str, str]]:
    """Return (kind, code, shown output) of each Python block and of each command whose output is shown."""
    found = BLOCK.findall(document.read_text(encoding="utf-8"))
    return [(kind, code, output) for kind, code, output in found if kind == "python" or output]


@pytest.mark.parametrize("document", [page for page in DOCUMENTS if blocks_of(page)], ids=place)
def test_code_blocks_print_what_the_document_shows(document, tmp_path, monkeypatch, capfd):
    """A page is one program: its blocks run in order and share variables and a working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")
    names = {"__name__": "__main__"}
    for kind, code, output in blocks_of(document):
        if kind == "python":
            exec(compile(code, "<page>", "exec"), names)
        else:
            for line in code.splitlines():
                subprocess.run(line.removeprefix("$ "), shell=True, check=False, stderr=subprocess.STDOUT)
        printed = capfd.readouterr()
        assert printed.err == ""
        assert WIDTH.sub(r"\1", printed.out) == WIDTH.sub(r"\1", output), code


@pytest.mark.parametrize("document", DOCUMENTS, ids=place)
def test_code_fits_the_width_of_a_page(document):
    blocks = re.findall(
        r"^```(?:python|py|console|toml)\n(.*?)^```", document.read_text(), re.DOTALL | re.MULTILINE
    )
    assert [line for block in blocks for line in block.splitlines() if len(line) > 84] == []


@pytest.mark.parametrize("folder", ["tutorials", "how-to"])
def test_tutorials_and_how_to_pages_have_code_blocks(folder):
    pages = list((ROOT / "docs" / folder).glob("*.md"))
    assert len(pages) >= 3
    assert all(blocks_of(page) for page in pages)


@pytest.mark.parametrize("document", [*DOCUMENTS, ROOT / "CONTRIBUTING.md"], ids=place)
def test_links_to_files_resolve(document):
    for target in LINK.findall(document.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=place)
def test_subscripts_are_not_parsed_as_emphasis(document):
    parts = MarkdownIt().enable("table").parse(document.read_text(encoding="utf-8"))
    inside = [token for part in parts for token in part.children or ()]
    assert not [token for token in inside if token.type == "em_open" and token.markup == "_"]


def test_every_public_folder_has_a_reference_page():
    pages = {path.stem for path in (ROOT / "docs" / "reference").glob("*.md")} - {"index"}
    public = {name for name in sojourn.__all__ if isinstance(getattr(sojourn, name), ModuleType)}
    assert pages == public | {"sb3"}  # needs the extra sb3, so that the package itself does not load it
    contents = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8").split()
    assert pages <= set(contents)


def test_the_version_is_the_same_everywhere():
    version = sojourn.__version__
    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"version: {version}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_lock_file_contains_no_address():
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert not re.search(r"https?:|file:|--index|--find-links|--extra-index", text)
