"""Ctrl-C during a kernel raises `KeyboardInterrupt`, as it does everywhere else in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

__all__ = ["interruptible"]

F = TypeVar("F", bound=Callable[..., Any])


def interruptible(kernel: F) -> F:
    """Wrap a kernel that returns a tuple with arrays or enums in it; for calls from Python only.

    A signal that arrives during a kernel is handled when numba converts the result, because converting an
    array or an enum runs Python code. If the result is a tuple, numba returns it in spite of the exception,
    and Python raises `SystemError` instead. This wrapper raises the exception of the signal's handler. Other
    kernels need no wrapper, and kernels must not return named tuples: numba would crash.
    """

    @functools.wraps(kernel)
    def call(*arguments: Any) -> Any:
        try:
            return kernel(*arguments)
        except SystemError as error:
            cause: BaseException = error
            while isinstance(cause, SystemError) and cause.__cause__ is not None:
                cause = cause.__cause__
            raise cause.with_traceback(error.__traceback__) from None

    return cast(F, call)
