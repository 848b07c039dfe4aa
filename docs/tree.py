"""Writes the tree of modules into docs/design.md: each module with the first line of its docstring.

Run `python docs/tree.py` after adding, moving or describing a module; a test compares the page with the code.
"""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "sojourn"
PAGE = Path(__file__).parent / "design.md"
BEGIN, END = "<!-- tree: begin -->\n", "<!-- tree: end -->"


def first_line(module: Path) -> str:
    """Return the first line of a module's docstring, without its final full stop."""
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].removesuffix(".")


def tree() -> str:
    """Return the tree as Markdown: a heading per top-level folder and a line per module."""
    folders = sorted({path.parent for path in SOURCE.rglob("*.py")})
    lines = []
    for folder in folders:
        place = folder.relative_to(SOURCE).as_posix()
        title = "sojourn" if place == "." else place
        lines += ["", f"**`{title}/`** {first_line(folder / '__init__.py')}", ""]
        modules = [path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py"]
        lines += [f"- `{path.name}`: {first_line(path)}" for path in modules]
    return "\n".join(lines) + "\n\n"


def with_tree(page: str) -> str:
    """Return the text of the page with the present tree in it."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + tree() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(with_tree(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
