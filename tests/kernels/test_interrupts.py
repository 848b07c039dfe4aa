"""Ctrl-C during a kernel raises KeyboardInterrupt."""

from __future__ import annotations

import gc
import inspect
import itertools
import signal
import threading
import time

import pytest
from numba.core import event

import sojourn as sj
from sojourn import _kernels
from sojourn._kernels import _jit
from sojourn._kernels._interrupts import interruptible, stopped_between_passes

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")

LAW, PROBLEM = sj.Fixed(2_500), sj.mdps.garnet(1500, 5, 50)
AGENT = sj.UCBVI(sj.Geometric(0.9), sj.PaperBonus(0.01))


def learn():
    sj.learn(AGENT, sj.mdps.river_swim(12), sj.Geometric(0.9), episodes=100_000)


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Load the kernels, so that the tests interrupt these and not the compiler."""
    sj.plan(PROBLEM, LAW)
    sj.learn(AGENT, sj.mdps.river_swim(12), sj.Geometric(0.9), episodes=10)


@pytest.fixture
def alarm():
    """Make SIGALRM act like Ctrl-C."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("work", [lambda: sj.plan(PROBLEM, LAW), learn], ids=["plan", "learn"])
def test_ctrl_c_raises_keyboard_interrupt(work, alarm):
    for k in range(12):
        signal.setitimer(signal.ITIMER_REAL, 0.01 + 0.013 * k)
        begun = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.perf_counter() - begun < 20


def test_the_exception_of_any_signal_handler_is_raised():
    def fail(*_):
        raise SystemExit(143)

    before = signal.signal(signal.SIGALRM, fail)
    try:
        for _ in range(3):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(SystemExit):
                sj.plan(PROBLEM, LAW)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_signals_are_handled_when_the_kernel_has_returned(alarm):
    done = []

    @interruptible
    def kernel():
        signal.raise_signal(signal.SIGALRM)
        done.append(True)

    with pytest.raises(KeyboardInterrupt):
        kernel()
    assert done
    assert signal.getsignal(signal.SIGALRM) is signal.default_int_handler


def test_of_several_signals_in_one_kernel_ctrl_c_is_not_lost():
    handled = []

    def fail(*_):
        handled.append(True)
        raise TimeoutError

    @interruptible
    def kernel():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, fail)
    try:
        with pytest.raises(KeyboardInterrupt):
            kernel()
        assert handled
        assert signal.getsignal(signal.SIGALRM) is fail
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_thread_can_be_stopped_between_the_passes_of_the_compiler():
    compiled, stopped = _jit.inlined(lambda x: 2.0 * x), []

    def stop():
        raise InterruptedError

    def work():
        with stopped_between_passes(stop):
            try:
                compiled(3.0)
            except InterruptedError:
                stopped.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert stopped
    assert compiled(3.0) == 6.0


@pytest.mark.parametrize("decorate", [_jit.kernel, _jit.inlined])
def test_ctrl_c_in_a_callback_of_llvm_is_raised(decorate, monkeypatch, alarm):
    from llvmlite.binding import ExecutionEngine

    def double(x):
        return 2.0 * x

    def interrupt(*arguments):
        monkeypatch.undo()  # once
        signal.raise_signal(signal.SIGALRM)
        return ExecutionEngine._find_module_ptr(*arguments)

    for _ in range(2):  # the second kernel is loaded from the cache
        compiled = decorate(double)
        monkeypatch.setattr(ExecutionEngine, "_find_module_ptr", interrupt)
        with pytest.raises(KeyboardInterrupt):
            compiled(3.0)
        assert compiled(3.0) == 6.0


def test_ctrl_c_just_after_llvm_has_linked_a_module_does_no_harm(monkeypatch, alarm):
    from llvmlite.binding import linker

    link = linker.ffi.lib.LLVMPY_LinkModules

    def link_and_interrupt(*arguments):
        monkeypatch.undo()  # once
        failed = link(*arguments)
        signal.raise_signal(signal.SIGALRM)  # Python does not know yet that one of the modules is gone
        return failed

    class FFI:
        OutputString = linker.ffi.OutputString

        class lib:  # noqa: N801 - as in llvmlite
            LLVMPY_LinkModules = staticmethod(link_and_interrupt)

    monkeypatch.setattr(linker, "ffi", FFI)
    compiled = _jit.inlined(lambda x: 2.0 * x)
    with pytest.raises(KeyboardInterrupt):
        compiled(3.0)
    gc.collect()  # would free it twice, and crash
    assert compiled(3.0) == 6.0


def test_a_kernel_can_be_compiled_again_after_ctrl_c_in_any_pass(alarm):
    class Interrupt(event.Listener):
        def on_start(self, event):
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGALRM)

        def on_end(self, event):
            pass

    def compile_and_interrupt(at):
        inner = _jit.inlined(lambda x: 2.0 * x)
        compiled = _jit.inlined(lambda x: inner(x) + at)
        listener = Interrupt()
        listener.left = at
        with event.install_listener("numba:run_pass", listener):
            try:
                compiled(3.0)
            except KeyboardInterrupt:
                assert compiled(3.0) == 6.0 + at
                return True
        return False

    n_passes = next(at for at in itertools.count(1, 7) if not compile_and_interrupt(at))
    assert n_passes > 30


def test_kernels_that_return_a_tuple_with_arrays_or_enums_are_interruptible():
    numbers = {"int", "float", "bool"}
    checked = 0
    for name in _kernels.__all__:
        function = getattr(_kernels, name)
        plain = inspect.unwrap(function)
        returned = str(plain.__annotations__["return"]) if inspect.isfunction(plain) else ""
        if not returned.startswith("tuple["):
            continue
        parts = {part.strip() for part in returned.removeprefix("tuple[").removesuffix("]").split(",")}
        assert parts <= numbers or inspect.isfunction(function), name
        checked += 1
    assert checked >= 5


def test_the_update_of_a_learner_with_a_generator_survives_signals():
    # Numba converts the generator by calling Python, where an exception would crash it.
    law, mdp, n_interrupts = sj.Geometric(0.9), sj.mdps.river_swim(6), 0
    sj.learn(sj.PSRL(law), mdp, law, episodes=1)

    def fail(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, fail)
    try:
        for i in range(400):
            try:
                signal.setitimer(signal.ITIMER_REAL, 5e-4 + 1e-5 * i)
                while True:
                    sj.learn(sj.PSRL(law), mdp, law, episodes=1)
            except TimeoutError:
                n_interrupts += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert n_interrupts == 400
