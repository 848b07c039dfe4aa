"""Array types used in the whole package."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ArrayLike",
    "BoolArray",
    "FloatArray",
    "HashArray",
    "IndexArray",
    "IntArray",
    "MaskArray",
    "PolicyArray",
]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
IndexArray: TypeAlias = NDArray[np.signedinteger[Any]]
"""Row pointers and column indices of sparse arrays: 32 or 64 bits, depending on size."""
HashArray: TypeAlias = NDArray[np.uint64]
BoolArray: TypeAlias = NDArray[np.bool_]
MaskArray: TypeAlias = NDArray[np.uint8]
"""Sets of at most eight actions, one bit per action."""
PolicyArray: TypeAlias = NDArray[Any]
"""A policy: `(N, S)` actions in the smallest integer type, or `(N, S, A)` probabilities."""
