"""Data frames of pandas, which is not a dependency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["data_frame"]


def data_frame(columns: Mapping[str, Any]) -> DataFrame:
    """Return columns as a pandas data frame.

    Raises:
        ImportError: If pandas is not installed; one line says how to install it.
    """
    try:
        import pandas as pd  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("pandas is not installed; install it with: pip install pandas.") from error
    return pd.DataFrame(dict(columns))
