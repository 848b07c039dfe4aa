"""Laws from text, as in TOML files and on the command line, and back."""

from __future__ import annotations

import ast
import functools
import math
import re
import reprlib
from collections.abc import Callable
from typing import Any

from sojourn._validation import check_arguments, did_you_mean
from sojourn.laws._base import MAX_STEP, LengthLaw
from sojourn.laws.estimates._empirical import Empirical
from sojourn.laws.estimates._kaplan_meier import KaplanMeier
from sojourn.laws.families._beta_geometric import BetaGeometric
from sojourn.laws.families._discrete_weibull import DiscreteWeibull
from sojourn.laws.families._fixed import Fixed
from sojourn.laws.families._geometric import Geometric
from sojourn.laws.families._log_logistic import LogLogistic
from sojourn.laws.families._log_normal import LogNormal
from sojourn.laws.families._mixture import Mixture
from sojourn.laws.families._negative_binomial import NegativeBinomial
from sojourn.laws.families._polynomial import Polynomial
from sojourn.laws.families._quasi_hyperbolic import QuasiHyperbolic
from sojourn.laws.families._tabulated import Tabulated
from sojourn.laws.families._uniform import Uniform

__all__ = ["LAWS", "law_to_text", "parse_law", "parse_stored_law"]

_ReadTable = Callable[[str], LengthLaw]
"""Returns the law of a file that a text names."""

LAWS: dict[str, type[LengthLaw]] = {
    "fixed": Fixed,
    "geometric": Geometric,
    "uniform": Uniform,
    "polynomial": Polynomial,
    "quasi_hyperbolic": QuasiHyperbolic,
    "negative_binomial": NegativeBinomial,
    "discrete_weibull": DiscreteWeibull,
    "log_logistic": LogLogistic,
    "log_normal": LogNormal,
    "beta_geometric": BetaGeometric,
    "mixture": Mixture,
    "tabulated": Tabulated,
    "empirical": Empirical,
    "kaplan_meier": KaplanMeier,
}
"""Every law by the name that `parse_law` takes."""

_WORDS = {"nan": math.nan, "inf": math.inf, "infinity": math.inf, "true": True, "false": False}
"""Words that stand for a number or a boolean, in upper or lower case."""

_MAX_CHARACTERS = 1_000_000
_MAX_DEPTH = 32
# Possessive, and only from the start of a word, so that the time is not quadratic in the length of the text.
_NAME = r"(?<![A-Za-z0-9_-])[A-Za-z_][A-Za-z0-9_]*+(?:-[A-Za-z0-9_]++)*+"
_SHORT, _FORMATTED = 10_000, re.compile(r"""[fF][rR]?["']""")
"""Python needs minutes to parse long formatted strings, so only short texts may contain their beginning."""

_STRING_OR_CALL = re.compile(rf"""("[^"\n]*"|'[^'\n]*')|({_NAME})(?=\s*\()""")


def parse_law(text: str) -> LengthLaw:
    """Return the law that a text describes, such as "polynomial(p=1.4, offset=20)".

    Names may be in upper or lower case, with or without `_` and `-`. Arguments are positional or named, and
    may be laws themselves. `repr(law)` parses back to an equal law, and `tabulated("file.csv")` reads a long
    table from a file. The text is never executed.

    Args:
        text: A law, written as in Python.

    Raises:
        ValueError: If the text is not a law; one line says what is wrong.

    Example:
        >>> parse_law("Quasi-Hyperbolic(0.7, gamma=0.95)")
        QuasiHyperbolic(beta=0.7, gamma=0.95)
        >>> parse_law("geometrc(0.9)")
        Traceback (most recent call last):
            ...
        ValueError: Unknown law 'geometrc'. Did you mean 'geometric'?
    """
    return _parse(text, Tabulated.from_csv)


@functools.lru_cache(maxsize=32)  # not more: a law of a million characters takes 20 MB
def parse_stored_law(text: str) -> LengthLaw:
    """Return a law that a file of Sojourn names; unlike `parse_law`, this reads no other file.

    Such files have laws written out, so that a law that names a file never occurs in them.

    Raises:
        ValueError: If the text is not such a law; one clause says so.
    """
    try:
        return _parse(text, _refuse_file)
    except (ArithmeticError, MemoryError, TypeError, ValueError) as error:
        raise ValueError(f"its law {str(text)[:60]!r} cannot be read") from error


def _refuse_file(name: str) -> LengthLaw:
    raise ValueError(f"tabulated must have numbers here; got the file {_shown(name)}.")


def _parse(text: str, read_table: _ReadTable) -> LengthLaw:
    if not isinstance(text, str):
        raise TypeError(f"law must be a text such as 'geometric(0.95)'; got {text!r}.")
    if len(text) > _MAX_CHARACTERS:
        raise ValueError(
            f"law must be at most {_MAX_CHARACTERS:,} characters; got {len(text):,}. "
            "Put a long table in a file: tabulated('file.csv')."
        )
    stripped = text.strip()
    if re.fullmatch(_NAME, stripped):
        return _make(stripped, [], {}, read_table)
    law = _value(_tree(stripped), 0, read_table)
    if not isinstance(law, LengthLaw):
        raise ValueError(f"law must be a law such as 'geometric(0.95)'; got {_shown(stripped)}.")
    return law


def law_to_text(law: LengthLaw, *, remedy: str = "") -> str:
    """Return a text from which `parse_law` makes an equal law.

    Args:
        law: Any law.
        remedy: A sentence that is added to the error message.

    Raises:
        ValueError: If there is no such text, as for a law class that is not part of Sojourn.

    Example:
        >>> from sojourn.laws import Geometric
        >>> law_to_text(Geometric(0.9))
        'Geometric(gamma=0.9)'
    """
    text = repr(law)
    try:
        is_read_back = parse_law(text) == law
    except (TypeError, ValueError):
        is_read_back = False
    if not is_read_back:
        message = f"law must be one that parse_law reads back; got {reprlib.repr(law)}. {remedy}"
        raise ValueError(message.rstrip())
    return text


def _tree(text: str) -> ast.expr:
    if len(text) > _SHORT and _FORMATTED.search(text):
        raise ValueError(f"law must have no formatted strings (f'…'); got {_shown(text)}.")
    # Names may contain '-', which Python reads as minus; quoted text is not changed.
    plain = _STRING_OR_CALL.sub(lambda found: found[1] or found[2].replace("-", "_"), text)
    try:
        return ast.parse(plain, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        what = _cut(error.msg) if isinstance(error, SyntaxError) else "it is nested too deeply"
        raise ValueError(
            f"law must be written like 'geometric(0.95)'; got {_shown(text)} ({what})."
        ) from None


def _value(node: ast.expr, depth: int, read_table: _ReadTable) -> Any:
    if depth > _MAX_DEPTH:
        raise ValueError(f"law must be nested at most {_MAX_DEPTH} deep.")
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, bool)):
        if isinstance(node.value, int) and node.value > MAX_STEP:
            raise ValueError("law must hold no whole number above 2**53.")
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        number = _value(node.operand, depth + 1, read_table)
        if isinstance(number, (int, float)):
            return -number if isinstance(node.op, ast.USub) else number
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_value(item, depth + 1, read_table) for item in node.elts]
    if isinstance(node, ast.Name):
        word = _WORDS.get(node.id.lower())
        return word if word is not None else _make(node.id, [], {}, read_table)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if any(keyword.arg is None for keyword in node.keywords):
            raise ValueError("law must name its arguments; got **.")
        positional = [_value(argument, depth + 1, read_table) for argument in node.args]
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg in named:
                raise ValueError(f"{node.func.id} got {keyword.arg} twice.")
            named[str(keyword.arg)] = _value(keyword.value, depth + 1, read_table)
        return _make(node.func.id, positional, named, read_table)
    try:
        shown = _shown(ast.unparse(node))
    except RecursionError:
        shown = "a long expression"
    raise ValueError(f"law must be made of laws, numbers, lists and quoted text; got {shown}.")


def _make(name: str, positional: list[Any], named: dict[str, Any], read_table: _ReadTable) -> LengthLaw:
    known = {_plain(key): key for key in LAWS}
    if _plain(name) not in known:
        nearest = did_you_mean(_plain(name), known)
        for plain, key in known.items():
            nearest = nearest.replace(repr(plain), repr(key))
        raise ValueError(f"Unknown law {_shown(name)}.{nearest}")
    key = known[_plain(name)]
    law = LAWS[key]
    file = positional[0] if positional else named.get("lengths")
    if isinstance(file, str) and law in (Empirical, KaplanMeier):
        raise ValueError(
            f"{key} takes lengths, not a file; got {_shown(file)}. Only tabulated reads a file, of survival; "
            f"from Python, pass {law.__name__} the columns of yours."
        )
    given = check_arguments(key, law, positional, named)
    if law is Tabulated and isinstance(given["survival"], str):
        return read_table(given["survival"])
    return law(**given)


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _shown(text: str) -> str:
    return repr(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
