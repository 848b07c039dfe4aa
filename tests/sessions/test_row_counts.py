from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sojourn.sessions import _row_counts
from sojourn.sessions.reading._tables import CsvColumn, CsvText

wholes = st.sampled_from([1, 2, 3, 2**31, 2**31 + 1, 2**40, 2**52, 2**53])
rows = st.tuples(wholes, st.booleans(), wholes, st.sampled_from([0, 1, 999, 70_000]))


@settings(max_examples=200, deadline=None)
@given(st.lists(rows, min_size=1, max_size=60), st.integers(1, 20), st.integers(2, 50))
def test_equal_rows_are_counted_however_they_are_split(rows, piece, min_buffered):
    # Lengths, entries and groups of 54, 53 and 17 bits do not fit into one 64-bit word; small ones do.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_row_counts, "_MIN_BUFFERED", min_buffered)
        counts = _row_counts.RowCounts()
        for first in range(0, len(rows), piece):
            lengths, observed, entry, group = (
                np.array(part) for part in zip(*rows[first : first + piece], strict=True)
            )
            counts.add(lengths, observed, np.minimum(entry, lengths), group)
        found = counts.take_rows()
    columns = (found.lengths, found.observed, found.entry, found.group)
    distinct = list(zip(*(column.tolist() for column in columns), strict=True))
    assert len(set(distinct)) == len(distinct)
    expected = Counter((n, seen, min(entry, n), group) for n, seen, entry, group in rows)
    assert dict(zip(distinct, found.counts.tolist(), strict=True)) == expected
    assert found.lengths.tolist() == sorted(found.lengths.tolist())
    assert found.lengths.dtype == found.entry.dtype == found.group.dtype == found.counts.dtype == np.int64


def make_column(cells):
    """Return a column with one row per cell."""
    text = b"".join(cell + b"\n" for cell in cells)
    buffer = np.frombuffer(text, dtype=np.uint8)
    stops = np.cumsum([len(cell) + 1 for cell in cells]) - 1
    starts = np.append(0, stops[:-1] + 1)
    return CsvColumn(CsvText(buffer, has_quotes=False, decimal_comma=False), starts, stops)


digits = st.text("0123456789", max_size=22).map(str.encode)
decimals = st.floats(-1e9, 1e9).map(lambda x: repr(x).encode())
almost_digits = digits | decimals | digits.map(lambda cell: cell + b".0") | st.binary(max_size=20)
almost_digits = almost_digits.filter(lambda cell: b"\n" not in cell)


@settings(max_examples=300, deadline=None)
@given(st.lists(almost_digits, min_size=1, max_size=30))
def test_vectorized_parsing_agrees_with_parsing_one_by_one(cells):
    column = make_column(cells)
    values, plain = column.wholes()
    for cell, value, is_plain in zip(cells, values.tolist(), plain.tolist(), strict=True):
        whole = cell.removesuffix(b".0")
        assert is_plain == (whole.isdigit() and len(whole) <= 18 and int(whole) <= 2**53)
        assert not is_plain or value == int(whole)
    numbers, exact = column.decimals()
    for cell, number, is_exact in zip(cells, numbers.tolist(), exact.tolist(), strict=True):
        found = re.fullmatch(rb"-?(\d+)(?:\.(\d+))?", cell)
        assert is_exact == (found is not None and len(found[1]) + len(found[2] or b"") <= 15)
        assert not is_exact or number == float(cell)
    words, where = column.words()
    assert [words[i] for i in where.tolist()] == [cell.decode("utf-8", "surrogateescape") for cell in cells]
    assert len(set(column._hashes(column._first_bytes()).tolist())) == len(set(cells))
