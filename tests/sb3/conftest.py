"""Torch with one thread: networks in these tests are small."""

import contextlib

with contextlib.suppress(ModuleNotFoundError):  # the tests are left out without it
    import torch

    torch.set_num_threads(1)
