"""Tests of what the documentation takes from the code: figures, commands, docstrings and links."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
import typer
from docutils import nodes
from docutils.utils import new_document

from sojourn.cli._app import app

DOCS = Path(__file__).parents[2] / "docs"


def load(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def figures():
    return load(DOCS / "figures.py")


@pytest.mark.parametrize(
    "name",
    [
        "overview",
        "plan-strips",
        "plan-map",
        "agents",
        "researcher",
        "practitioner",
        "scientist",
        "monotone",
        "round-robin-one",
        "round-robin-best",
        "round-robin-profiles",
        "value-of-the-law",
        "heads",
        "deep",
    ],
)
def test_stored_figures_hold_the_numbers_that_the_code_computes(figures, name):
    _, data = figures.FIGURES[name]()
    root = ElementTree.parse(DOCS / "figures" / f"{name}.svg").getroot()
    (description,) = root.iter("{http://purl.org/dc/elements/1.1/}description")
    kept, now = json.loads(description.text), figures.numbers(data)
    assert kept.keys() == now.keys(), "run python docs/figures.py to draw them again"
    for key, values in now.items():
        if isinstance(values[0], str):
            assert kept[key] == values
        else:
            assert kept[key] == pytest.approx(values, rel=1e-4)


def test_every_figure_is_on_a_page(figures):
    drawn = {path.stem for path in (DOCS / "figures").glob("*.svg")}
    assert drawn == set(figures.FIGURES) | {f"{name}-narrow" for name in figures.STACKED}
    drawn -= {f"{name}-narrow" for name in figures.STACKED}
    pages = [page.read_text(encoding="utf-8") for page in (*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md"))]
    for name in drawn:
        assert any(f"figures/{name}.svg)" in page for page in pages), name


def test_phones_get_figures_with_panels_below_each_other():
    phones = load(DOCS / "_sphinx" / "phones.py")
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.image(uri="figures/overview.svg", alt="a log"))
    document += nodes.paragraph("", "", nodes.image(uri="figures/researcher.svg", alt="regret"))
    environment = SimpleNamespace(srcdir=DOCS, doc2path=lambda _: DOCS / "index.md", docname="index")
    phones.add_narrow_figures(SimpleNamespace(env=environment), document)
    found = [(image["uri"], image["alt"], image["classes"]) for image in document.findall(nodes.image)]
    assert found == [
        ("figures/overview.svg", "a log", ["wide"]),
        ("figures/overview-narrow.svg", "a log", ["narrow"]),
        ("figures/researcher.svg", "regret", []),
    ]


def test_every_command_and_option_is_documented():
    text = load(DOCS / "_sphinx" / "commands.py").commands_text()
    group = typer.main.get_command(app)
    assert group.commands
    for name, command in group.commands.items():
        section = re.search(rf"^## sojourn {name}$(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)[1]
        assert command.help.split("\n")[0] in section
        for parameter in command.params:
            if not getattr(parameter, "hidden", False):
                longest = max(parameter.opts, key=len)
                assert (longest if longest.startswith("-") else parameter.metavar) in section
        assert section.count("\n$ sojourn") >= 1
    assert "<!-- all commands -->" in (DOCS / "command-line.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "escaped"),
    [
        ("With H* layers and |γ − γ'| small.", r"With H\* layers and \|γ − γ'\| small."),
        ("Shape `(S, A)`, see `law.tail`.", "Shape ``(S, A)``, see ``law.tail``."),
        ("Q_h(s, a) and 2**53, `a*b`", r"Q_h(s, a) and 2\*\*53, ``a*b``"),
        ("a name_ at its end_", r"a name\_ at its end\_"),
    ],
)
def test_markup_in_docstrings_is_escaped(line, escaped):
    assert load(DOCS / "_sphinx" / "docstrings.py").escape_line(line) == escaped


def test_doctests_in_docstrings_are_not_escaped():
    lines = ["Words*", "", ">>> 2**3 | 1", "9", "", "More*"]
    load(DOCS / "_sphinx" / "docstrings.py").escape(None, lines)
    assert lines == [r"Words\*", "", ">>> 2**3 | 1", "9", "", r"More\*"]


def test_unlisted_pages_are_added_to_the_contents(tmp_path):
    class Application:
        srcdir = tmp_path

    for name in ("index", "listed", "new"):
        (tmp_path / f"{name}.md").write_text("# A page\n")
    source = ["listed\n<!-- all other pages of this folder -->\nlast"]
    load(DOCS / "_sphinx" / "guides.py").list_other_pages(Application, "index", source)
    assert source == ["listed\nnew\nlast"]


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("sj.plan", "sojourn.planning.plan"),
        ("plan", None),  # also just a word
        ("LawDiscount", "sojourn.envs.LawDiscount"),
        ("sj.UCBVI(law, sj.PaperBonus(0.01))", "sojourn.agents.UCBVI"),
        ("sojourn.testing.check_law", "sojourn.testing.check_law"),
        ("law.tail", None),
        ("(S, A)", None),
        (
            "estimate_mean",
            "sojourn.learning.estimate_mean",
        ),  # where it is defined
    ],
)
def test_names_in_running_text_link_to_the_reference(text, full):
    links = load(DOCS / "_sphinx" / "links.py")
    places = ("planning.plan", "envs.LawDiscount", "agents.UCBVI", "testing.check_law")
    exported_twice = ("experiments.estimate_mean", "learning.estimate_mean")
    known = links.targets({f"sojourn.{place}": None for place in places + exported_twice})
    assert links.target_of(text, known) == full


def test_every_example_is_shown_on_the_examples_page():
    text = (DOCS / "examples.md").read_text(encoding="utf-8")
    for path in (DOCS.parent / "examples").glob("*.py"):
        assert f"[{path.name}](../examples/{path.name})" in text
        assert f"```{{literalinclude}} ../examples/{path.name}\n" in text


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("T^{p/(2p−1)}.", "T[p/(2p−1)]."),
        ("Σ_{h ≤ H} r_h", "Σ{h ≤ H} r{h}"),
        ("(S³A)^((2p−1)/(2(p−1))), q^((h−1)^s)", "(S³A)[(2p−1)/(2(p−1))], q[(h−1)[s]]"),
        ("γ^(h−1) and h^−1.4, V^π(x)", "γ[h−1] and h[−1.4], V[π](x)"),
        ("Π_{j=2}^h V^{π_k}", "Π{j=2}[h] V[π{k}]"),
        ("π_∞, n_states, 01_first.py and H*", "π{∞}, n_states, 01_first.py and H*"),
    ],
)
def test_formulas_get_superscripts_and_subscripts(text, page):
    formulas = load(DOCS / "_sphinx" / "formulas.py")

    def shown(part):
        inside = "".join(map(shown, part.children)) if part.children else part.astext()
        return {"superscript": f"[{inside}]", "subscript": f"{{{inside}}}"}.get(part.tagname, inside)

    assert "".join(map(shown, formulas.typeset(text))) == page


def test_every_page_says_for_whom_it_is():
    pages = [*DOCS.glob("*.md"), *DOCS.glob("how-to/*.md"), *DOCS.glob("tutorials/*.md")]
    for page in pages:
        if page.stem != "index":
            assert page.read_text(encoding="utf-8").split("\n")[2].startswith("*For "), page
