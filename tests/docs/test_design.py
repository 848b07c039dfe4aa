"""The design page shows the tree of modules as it is."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
SOURCE = DOCS.parent / "src" / "sojourn"


def load_tree_script():
    spec = importlib.util.spec_from_file_location("docs_tree", DOCS / "tree.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_design_page_shows_the_present_tree():
    page = (DOCS / "design.md").read_text(encoding="utf-8")
    assert load_tree_script().with_tree(page) == page, "run python docs/tree.py"


def test_every_path_on_the_design_page_exists():
    page = (DOCS / "design.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)*/(?:[a-z_0-9]+\.pyi?)?)(?::\w+)?`", page)
    assert len(named) > 60
    assert [path for path in named if not (SOURCE / path).exists() and path != "sojourn/"] == []


def test_no_folder_has_more_than_about_fifteen_modules():
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    crowded = {folder.name: len(list(folder.glob("_[a-z]*.py"))) for folder in folders}
    assert {name: n for name, n in crowded.items() if n > 16} == {}
