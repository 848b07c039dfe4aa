"""The store: file names, damage of every kind, links, locks, concurrent writers."""

from __future__ import annotations

import contextlib
import errno
import io
import multiprocessing
import os
import random
import shutil
import socket
import stat
import time
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiments.conftest import contents
from experiments.harm import WAYS, damage
from experiments.tasks import open_stores

from sojourn import _files
from sojourn._files import pack_archive
from sojourn.errors import MemoryLimitError, SojournWarning
from sojourn.experiments import (
    Store,
    ThisProcess,
    load_results,
    read_experiment,
    run_experiment,
    take_inventory,
    verify_store,
)
from sojourn.experiments._run import _set_aside_trials
from sojourn.experiments.store import _store
from sojourn.experiments.store._marker import MARKER, MARKER_CONTENT, VERSION, marker_content
from sojourn.experiments.store._stored_file import StoredFile, content_hash
from sojourn.experiments.trials._archive import read_trial


@pytest.mark.parametrize("how", [*WAYS, "exchanged"])
@pytest.mark.parametrize("kind", ["trials", "experiments", MARKER])
def test_damage_is_found_and_repaired_by_the_next_run(store, write, kind, how):
    experiment, sound = read_experiment(write()), contents(store)
    rng = random.Random(f"{kind} {how}")
    for _ in range(3):
        files = [*(store / "trials").iterdir(), *(store / "experiments").iterdir(), store / MARKER]
        of_kind = [path for path in sorted(files) if kind in (path.name, path.parent.name)]
        if not damage(rng.choice(of_kind), how, rng, sorted(files)):
            continue
        assert verify_store(store).findings
        report = run_experiment(experiment, store, executor=ThisProcess())
        assert report.notes
        assert contents(store) == sound
        assert verify_store(store).findings == ()


@pytest.mark.parametrize("how", WAYS)
def test_a_damaged_timing_log_is_neither_a_finding_nor_repaired(store, write, how):
    log = Store(store).timings
    log.path.write_bytes(b"\x00" * 50 + log.path.read_bytes() + b'{"trial": "')
    damage(log.path, how, random.Random(0))
    damaged = log.path.read_bytes()
    assert verify_store(store).findings == ()
    report = run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert (report.reused, report.played, report.notes) == (9, 0, ())
    assert log.path.read_bytes() == damaged
    log.append("f" * 32, 2.0)  # readable although the line before it has no end
    assert log.read()["f" * 32] == 2.0


def test_timing_logs_of_version_0_1_0_are_read(store):
    log = Store(store).timings
    assert len(log.read()) == 9
    log.path.write_text(
        f'0b0fa5d9 {{"trial": "{"a" * 32}", "seconds": 1.5}}\n1234abcd {{"trial": "b", "seconds": null}}\n'
        '{"trial": "c", "seconds": NaN}\n{"trial": "d", "seconds": -1}\n{"trial"\n[]\n7\n'
        f'{{"trial": "e", "seconds": 1{"0" * 400}}}\n{{"trial": "f", "seconds": 1e308}}\n'
    )
    assert log.read() == {"a" * 32: 1.5}


def test_runs_go_on_without_a_timing_log_that_can_be_written(store, write, monkeypatch):
    (store / "timings.log").unlink()
    sound = contents(store)
    for path in list((store / "trials").iterdir())[:2]:
        path.unlink()
    open_file = os.open

    def refuse(path, *rest):
        if str(path).endswith("timings.log"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return open_file(path, *rest)

    monkeypatch.setattr(os, "open", refuse)
    assert run_experiment(read_experiment(write()), store, executor=ThisProcess()).played == 2
    assert contents(store) == sound


def test_damage_is_not_read_as_a_result(store):
    path = next(iter((store / "trials").iterdir()))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(
        ValueError,
        match=r"npz is damaged: its content does not match .*\. Delete it and run the experiment again\.$",
    ):
        load_results(store)


def test_damaged_files_are_kept_under_new_names(store, write):
    path = next(iter((store / "trials").iterdir()))
    path.write_bytes(b"not what it was")
    report = run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert report.played == 1
    assert (store / "damaged" / f"{path.name}.1").read_bytes() == b"not what it was"
    path.write_bytes(b"once more")
    run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert (store / "damaged" / f"{path.name}.2").read_bytes() == b"once more"


def test_another_trials_content_under_a_good_hash_is_found(store):
    first, second = sorted((store / "trials").iterdir())[:2]
    content = first.read_bytes()
    second.rename(second.with_name(f"{second.name[:32]}-{content_hash(content)}.npz"))
    second.with_name(f"{second.name[:32]}-{content_hash(content)}.npz").write_bytes(content)
    assert [finding.what for finding in verify_store(store).findings] == ["it holds another trial"]


def test_two_results_of_one_trial_are_reported(store):
    first = min((store / "trials").iterdir())
    about = {"format": "sojourn trial 1"}
    other = pack_archive(about, {"a": np.zeros(3)})
    (store / "trials" / f"{first.name[:32]}-{content_hash(other)}.npz").write_bytes(other)
    found = {finding.what for finding in verify_store(store).findings}
    assert found == {"it is not a trial file"}  # the other one is sound, and counts
    assert verify_store(store).trials == len(list((store / "trials").iterdir())) - 1


def test_different_sound_results_of_one_trial_are_played_again(store, write):
    before = contents(store)
    first = min((store / "trials").iterdir())
    header, arrays = read_trial(first.read_bytes(), first.name[:32])
    other = pack_archive(header, arrays | {"price": arrays["price"] + 1e-6})
    first.with_name(f"{first.name[:32]}-{content_hash(other)}.npz").write_bytes(other)
    assert [one.path.name[:32] for one in verify_store(store).findings] == [first.name[:32]]
    refused = pytest.raises(ValueError, match=r"is one of 2 different results of the same trial\. Run")
    with pytest.warns(SojournWarning, match="not the only result"), refused:
        load_results(store)
    report = run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert (report.played, len(report.notes)) == (1, 2)
    assert len(list((store / "damaged").iterdir())) == 2
    assert verify_store(store).findings == ()
    assert contents(store) == before


def test_what_is_not_a_file_among_older_manifests_is_found_and_set_aside(store, write, tmp_path):
    manifest = next(iter((store / "experiments").iterdir()))
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    os.utime(victim, (10**9, 10**9))
    folder = manifest.with_name(f"{manifest.name[:33]}{'0' * 32}.json")
    folder.mkdir()
    os.utime(folder, (10**9, 10**9))
    link = manifest.with_name(f"{manifest.name[:33]}{'1' * 32}.json")
    link.symlink_to(victim)
    os.utime(link, (10**9, 10**9), follow_symlinks=False)
    assert {finding.what for finding in verify_store(store).findings} == {"it is not a file"}
    run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert verify_store(store).findings == ()
    assert [one.name for one in (store / "experiments").iterdir()] == [manifest.name]
    assert victim.stat().st_mtime == 10**9


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/b", "nul\\u0000", ".", "..", "con", "x" * 90])
def test_names_never_become_paths(write, tmp_path, name):
    inside = tmp_path / "deep" / "inside"
    inside.mkdir(parents=True)
    text = write().read_text().replace("[agents.chance]", '[agents."../../chance"]')
    spec = write(text=f'name = "{name}"\n{text}')
    run_experiment(read_experiment(spec), inside / "store", executor=ThisProcess())
    assert {path.name for path in tmp_path.iterdir()} == {"deep", "tiny.toml"}
    assert [path.name for path in inside.iterdir()] == ["store"]
    plain = set("0123456789abcdef-.npzjson")
    for folder in ("trials", "experiments"):
        assert all(set(path.name) <= plain for path in (inside / "store" / folder).iterdir())
    assert len(load_results(inside / "store")) == 9


@pytest.mark.parametrize("part", ["trials", "experiments", "damaged", "timings.log", MARKER])
def test_parts_that_are_links_are_refused(store, write, tmp_path, part):
    outside = tmp_path / "outside"
    if (store / part).exists():
        (store / part).rename(outside)
    else:
        outside.mkdir()
    (store / part).symlink_to(outside)
    before = sorted(outside.rglob("*")) if outside.is_dir() else outside.read_bytes()
    with pytest.raises(ValueError, match="must not be a link"):
        run_experiment(read_experiment(write()), store, executor=ThisProcess())
    with pytest.raises(ValueError, match="must not be a link"):
        verify_store(store)
    assert before == (sorted(outside.rglob("*")) if outside.is_dir() else outside.read_bytes())


def test_a_trial_that_is_a_link_is_damaged(store, write, tmp_path):
    path = min((store / "trials").iterdir())
    path.rename(tmp_path / "elsewhere.npz")
    path.symlink_to(tmp_path / "elsewhere.npz")
    before = (tmp_path / "elsewhere.npz").read_bytes()
    assert verify_store(store).findings
    assert run_experiment(read_experiment(write()), store, executor=ThisProcess()).played == 1
    assert not path.is_symlink()
    assert (tmp_path / "elsewhere.npz").read_bytes() == before


def test_folders_that_are_not_stores_are_refused(tmp_path, write):
    experiment = read_experiment(write())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    with pytest.raises(ValueError, match="must be a store of 'sojourn run', or an empty or new folder"):
        run_experiment(experiment, tmp_path / "mine")
    with pytest.raises(ValueError, match="must be a folder; it is a file"):
        run_experiment(experiment, tmp_path / "tiny.toml")
    with pytest.raises(ValueError, match="must be a store of 'sojourn run'; there is none"):
        load_results(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_runs_that_begin_together_on_a_new_store_do_not_stop_each_other(tmp_path):
    spawn = multiprocessing.get_context("spawn")
    begin, errors = spawn.Barrier(4), spawn.SimpleQueue()
    opening = [spawn.Process(target=open_stores, args=(tmp_path, 30, begin, errors)) for _ in range(4)]
    for process in opening:
        process.start()
    for process in opening:
        process.join(60.0)
    assert [process.exitcode for process in opening] == [0] * 4
    assert [errors.get() for _ in range(120) if not errors.empty()] == []
    assert all((tmp_path / str(i) / MARKER).read_bytes() == MARKER_CONTENT for i in range(30))


@pytest.mark.parametrize("left", [f".{MARKER}.ab12cd34.tmp", MARKER])
def test_a_run_killed_while_it_wrote_the_marker_is_no_obstacle(write, tmp_path, left):
    store = tmp_path / "store"
    store.mkdir()
    (store / left).write_bytes(MARKER_CONTENT[:5])
    report = run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert (report.played, report.notes) == (9, ())
    assert [path.name for path in store.glob("*json*")] == [MARKER]
    assert verify_store(store).findings == ()


def test_a_lost_marker_is_written_again(store, write):
    (store / MARKER).unlink()
    assert [finding.what for finding in verify_store(store).findings] == ["it is missing"]
    report = run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert report.played == 0
    assert report.notes == (f"{store / MARKER} was damaged or missing, and was written again.",)
    assert verify_store(store).findings == ()


def test_a_marker_is_rewritten_in_place(store):
    # A run that holds a lock on it must be visible to runs that start later.
    with Store(store).writing():
        before = (store / MARKER).stat().st_ino
        (store / MARKER).write_bytes(b"damaged")
        with Store(store).writing() as access:
            assert (access.is_alone, access.marker_was_rebuilt) == (False, True)
        assert (store / MARKER).read_bytes() == MARKER_CONTENT
        assert (store / MARKER).stat().st_ino == before


def test_only_a_run_that_is_alone_deletes_temporary_files(store):
    left = store / "trials" / ".x.npz.0123abcd.tmp"
    left.touch()
    assert [finding.what for finding in verify_store(store).findings] == [
        "a run that was killed left this temporary file"
    ]
    with Store(store).writing():
        assert not left.exists()
        left.touch()
        with Store(store).writing():
            assert left.exists()  # it may belong to the other run
        assert left.exists()
        assert verify_store(store).findings == ()
    assert not left.exists()


def test_new_folders_and_moved_files_are_synced(tmp_path, monkeypatch):
    synced, sync = [], os.fsync

    def record(handle):
        synced.append(os.fstat(handle).st_ino)
        sync(handle)

    monkeypatch.setattr(os, "fsync", record)
    store = Store(tmp_path / "new" / "store")
    with store.writing():
        assert {path.stat().st_ino for path in (tmp_path, tmp_path / "new", store.folder)} <= set(synced)
        path = store.folder / "trials" / "odd"
        path.touch()
        synced.clear()
        kept = store.set_aside(path)
    folders = (store.folder, store.folder / "trials", kept.parent)
    assert {folder.stat().st_ino for folder in folders} <= set(synced)


def test_locks_use_a_file_open_for_writing_if_possible(store, monkeypatch):
    modes, lock = [], _store.lock_file

    def record(file, **how):
        modes.append(file.mode)
        return lock(file, **how)

    monkeypatch.setattr(_store, "lock_file", record)
    assert not Store(store).is_being_written()
    open_file = os.open

    def refuse(path, flags, *rest):
        if flags & os.O_RDWR:
            raise OSError(errno.EROFS, "Read-only file system", str(path))
        return open_file(path, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)
    assert not Store(store).is_being_written()
    assert modes == ["rb+", "rb"]


@pytest.mark.parametrize("call", ["open", "read"])
def test_a_trial_that_cannot_be_read_is_not_called_damaged(store, write, monkeypatch, call):
    experiment, before = read_experiment(write()), contents(store)
    unreadable = min((store / "trials").iterdir())
    with monkeypatch.context() as patch:
        make_unreadable(patch, unreadable, call)
        with pytest.raises(OSError, match=f"Input/output error.*{unreadable.name}"):
            run_experiment(experiment, store, executor=ThisProcess())
        (finding,) = verify_store(store).findings
        assert (finding.path, finding.what) == (unreadable, "it cannot be read: Input/output error")
        with pytest.raises(OSError, match="Input/output error"):
            load_results(store)
    assert contents(store) == before
    assert not (store / "damaged").exists()


def make_unreadable(patch, path, call):
    """Make opening or reading a file fail as on a broken disk."""
    failure = OSError(errno.EIO, os.strerror(errno.EIO))
    open_file, file_io = os.open, io.FileIO

    def fail_to_open(name, *rest):
        if str(name) == str(path):
            raise failure
        return open_file(name, *rest)

    class Failing(file_io):
        def read(self, *size):
            if str(self.name) == str(path):
                raise failure
            return super().read(*size)

    if call == "open":
        patch.setattr(os, "open", fail_to_open)
    else:
        patch.setattr(_files.io, "FileIO", Failing)


def test_another_trials_content_is_neither_kept_nor_loaded(store, write, tmp_path):
    class Confused(ThisProcess):
        def run(self, function, jobs):
            found = list(super().run(function, jobs))
            for outcome, other in zip(found, (*found[1:-1], found[0]), strict=False):
                yield replace(outcome, content=other.content)
            yield replace(found[-1], content=b"no archive")

    report = run_experiment(read_experiment(write()), tmp_path / "new", executor=Confused())
    assert (report.played, len(report.failures)) == (0, 9)
    reasons = {failure.reason.partition(": ")[2] for failure in report.failures[:8]}
    assert reasons == {"it holds another trial"}
    assert not list((tmp_path / "new" / "trials").iterdir())
    first, second = sorted((store / "trials").iterdir())[:2]
    first.unlink()
    second.rename(second.with_name(first.name[:33] + second.name[33:]))
    with pytest.raises(ValueError, match="is damaged: it holds another trial"):
        load_results(store)


def test_unknown_files_are_reported_and_left_alone(store, write):
    (store / "trials" / "notes.txt").write_text("mine")
    assert [finding.what for finding in verify_store(store).findings] == ["it does not belong to the store"]
    run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert (store / "trials" / "notes.txt").read_text() == "mine"


def test_files_of_a_run_that_is_writing_are_not_unknown(store, monkeypatch):
    def listed(folder, known=Path.iterdir):
        (store / "trials" / f"{'0' * 32}-{'0' * 32}.npz").touch()  # added after other listings
        return [*known(folder), folder / ".renamed.0123abcd.tmp"]

    monkeypatch.setattr(Path, "iterdir", listed)
    assert Store(store).unknown_files() == []


def test_only_archives_count_as_trials(store):
    before = Store(store).trial_keys()
    (store / "trials" / f"{'0' * 32}-{'0' * 32}.json").touch()
    (store / "experiments" / f"{'0' * 32}-{'0' * 32}.npz").touch()
    assert Store(store).trial_keys() == before == {file.key for file in Store(store).trials()}
    assert len(Store(store).unknown_files()) == 2


@pytest.mark.parametrize("ahead", [1e6, 1.4e10])  # disks store the latest they can
def test_a_manifest_dated_in_the_future_does_not_hide_a_later_one(store, write, ahead):
    (first,) = (store / "experiments").iterdir()
    os.utime(first, (time.time() + ahead, time.time() + ahead))
    run_experiment(read_experiment(write(("seeds = 3", "seeds = 2"))), store, executor=ThisProcess())
    (second,) = (store / "experiments").iterdir()
    assert second != first
    assert verify_store(store).experiments == (("tiny", 6, 6),)
    assert len(load_results(store)) == 6


def test_a_full_disk_leaves_a_sound_store(write, tmp_path, monkeypatch):
    experiment, folder = read_experiment(write()), tmp_path / "store"
    write_to, calls = os.fsync, 0

    def full_after_a_while(handle):
        nonlocal calls
        calls += 1
        if calls > 12:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_to(handle)

    monkeypatch.setattr(os, "fsync", full_after_a_while)
    with pytest.raises(OSError, match="No space left on device"):
        run_experiment(experiment, folder, executor=ThisProcess())
    monkeypatch.undo()
    verdict = verify_store(folder)
    assert verdict.findings == ()
    assert 0 < verdict.trials < 9
    report = run_experiment(experiment, folder, executor=ThisProcess())
    assert report.played == 9 - verdict.trials


def test_declared_sizes_are_checked_before_anything_is_allocated(store, tmp_path):
    name = min((store / "trials").iterdir())
    for lie in ("shape", "size"):
        packed = io.BytesIO()
        with zipfile.ZipFile(name) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
            for info in old.infolist():
                content = old.read(info.filename)
                if info.filename == "regret.npy" and lie == "shape":
                    content = content.replace(b"(20,)", b"(9" + b"9" * 9 + b",)")[: len(content)]
                new.writestr(info.filename, content)
        content = packed.getvalue()
        if lie == "size":  # the directory at the end says how large a member becomes
            place = content.rindex(b"regret.npy") - 46 + 24
            content = content[:place] + (2**31 - 1).to_bytes(4, "little") + content[place + 4 :]
        with pytest.raises(ValueError, match="it is not a trial file"):
            read_trial(content, name.name[:32])


def test_a_store_can_be_moved(store, tmp_path):
    shutil.move(store, tmp_path / "elsewhere")
    assert verify_store(tmp_path / "elsewhere").findings == ()
    assert len(load_results(tmp_path / "elsewhere")) == 9


@pytest.mark.parametrize("reader", [load_results, verify_store])
def test_stores_of_another_version_are_refused(store, write, reader):
    (store / MARKER).write_bytes(marker_content(VERSION + 1))
    said = r"is a store of another version of Sojourn: it has the format 2, and this one reads 1\.$"
    with pytest.raises(ValueError, match=said):
        reader(store)
    with pytest.raises(ValueError, match=said):
        run_experiment(read_experiment(write()), store, executor=ThisProcess())
    # A flipped bit is damage and not another version: the checksum does not match.
    (store / MARKER).write_bytes(MARKER_CONTENT.replace(b"store 1", b"store 3"))
    assert [finding.what for finding in verify_store(store).findings] == [
        "its content is not that of a store's marker"
    ]
    assert run_experiment(read_experiment(write()), store, executor=ThisProcess()).played == 0


def stand_in(path, what):
    """Replace a file by something that is not a file, or by a huge one."""
    path.unlink(missing_ok=True)
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "socket":
        with socket.socket(socket.AF_UNIX) as listener, contextlib.chdir(path.parent):
            listener.bind(path.name)
    elif what == "device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o644, os.makedev(1, 5))  # zeros without end
            path.open("rb").close()
        except OSError:
            pytest.skip("devices cannot be made here")
    else:
        with path.open("wb") as file:
            file.truncate(10 << 30)


ODD = ["pipe", "folder", "socket", "device", "endless"]


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("folder", ["trials", "experiments"])
def test_anything_but_a_file_counts_as_damage(store, write, folder, what):
    sound = contents(store)
    path = min((store / folder).iterdir())
    stand_in(path, what)
    begun = time.monotonic()
    assert [finding.path for finding in verify_store(store).findings] == [path]
    with pytest.raises(ValueError, match="is damaged"):
        load_results(store)
    report = run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert time.monotonic() - begun < 5.0
    assert report.played == (folder == "trials")
    assert contents(store) == sound
    assert verify_store(store).findings == ()


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("part", [MARKER, "timings.log"])
def test_a_marker_or_log_that_is_not_a_file_is_refused(store, write, part, what):
    stand_in(store / part, what)
    experiment = read_experiment(write())
    begun = time.monotonic()
    if what != "endless":
        for read in (load_results, verify_store, lambda folder: run_experiment(experiment, folder)):
            with pytest.raises(ValueError, match=rf"{part} must be a file; it is something else\.$"):
                read(store)
    else:
        found = [finding.path for finding in verify_store(store).findings]
        assert found == ([store / part] if part == MARKER else [])
        assert run_experiment(experiment, store, executor=ThisProcess()).played == 0
        assert verify_store(store).findings == ()
    assert time.monotonic() - begun < 5.0


@pytest.mark.parametrize("what", ODD)
def test_a_spec_that_is_not_a_file_is_refused(tmp_path, what):
    stand_in(tmp_path / "odd.toml", what)
    said = "must be at most 100 kB" if what == "endless" else r"must be a TOML file; it is something else\.$"
    with pytest.raises(ValueError, match=said):
        read_experiment(tmp_path / "odd.toml")


def test_a_file_in_place_of_a_folder_is_refused(store):
    shutil.rmtree(store / "experiments")
    (store / "experiments").touch()
    with pytest.raises(ValueError, match=r"experiments must be a folder; it is something else\.$"):
        verify_store(store)


def test_large_files_are_hashed_piece_by_piece(tmp_path):
    content = bytes(40 << 20)
    file = StoredFile(str(tmp_path), f"{'0' * 32}-{content_hash(content)}.npz")
    file.path.write_bytes(content)
    del content
    tracemalloc.start()
    try:
        assert file.is_sound()
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_a_manifest_that_a_run_replaces_between_listing_and_reading_is_not_damage(store, monkeypatch):
    (manifest,) = Store(store).manifests()
    listed = [[replace(manifest, name=manifest.name[:33] + 32 * "0" + ".json")]]
    plain = Store.manifests
    monkeypatch.setattr(Store, "manifests", lambda self: listed.pop() if listed else plain(self))
    assert verify_store(store).findings == ()
    assert not listed
    listed.append([replace(manifest, name=manifest.name[:33] + 32 * "0" + ".json")])
    assert len(load_results(store)) == 9


def test_the_newer_of_two_manifests_counts(store, write):
    # As after a crash between writing one and removing the other.
    (old,) = Store(store).manifests()
    before = old.path.read_bytes()
    changed = write(("seeds = 3", "seeds = 2"))
    run_experiment(read_experiment(changed), store, executor=ThisProcess())
    assert len(load_results(store)) == 6
    (new,) = Store(store).manifests()
    for seconds, expected in ((1.0, 9), (-1.0, 6)):
        old.path.write_bytes(before)
        now = new.path.stat().st_mtime + seconds
        os.utime(old.path, (now, now))
        with pytest.warns(SojournWarning) if expected == 6 else contextlib.nullcontext():
            assert len(load_results(store)) == expected
        assert verify_store(store).findings == ()
    run_experiment(read_experiment(changed), store, executor=ThisProcess())
    assert [path.name for path in (store / "experiments").iterdir()] == [new.name]
    old.path.write_bytes(before)
    os.utime(old.path, (1, 1))
    run_experiment(read_experiment(write()), store, executor=ThisProcess())  # runs again, so it counts
    assert [path.name for path in (store / "experiments").iterdir()] == [old.name]


def test_files_that_another_run_moved_or_repaired_are_left_alone(store, write):
    kept = Store(store)
    inventory = take_inventory(read_experiment(write()), kept)
    first, second, third = kept.trials()[:3]
    sound = second.path.read_bytes()
    first.path.unlink()
    third.path.write_bytes(b"")
    (note,) = _set_aside_trials(kept, replace(inventory, done=frozenset(), damaged=(first, second, third)))
    assert note.endswith("is played again: its content does not match the hash in its name.")
    assert second.path.read_bytes() == sound
    assert [path.read_bytes() for path in (store / "damaged").iterdir()] == [b""]


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b"no JSON",
        b'{"name": "x", "cells": [{}]}',
        b"[" * 100_000,
        b'{"name": "tiny", "cells": [], "x": ' + b"[" * 200 + b"]" * 200 + b"}",
        b'{"name": 1, "cells": 2}',
        b'{"name": "tiny", "cells": [{"learner": 3, "varied": {}, "trials": []}]}',
        b'{"name": "tiny", "cells": [{"learner": {"a": 1}, "varied": {}, "trials": []}]}',
        b'{"name": "tiny", "cells": [{"learner": "a", "varied": [], "trials": []}]}',
        b'{"name": "tiny", "cells": [{"learner": "a", "varied": {}, "trials": "00"}]}',
        b'{"name": "tiny", "cells": [{"learner": "a", "varied": {}, "trials": ["../x"]}]}',
        b'{"name": "tiny", "cells": [{"learner": "\\ud800", "varied": {}, "trials": []}]}',
        b'{"name": "tiny", "cells": {}}',
        b'{"name": "\\ud800", "cells": []}',
        b"[]",
        b"7",
    ],
)
def test_a_manifest_that_is_none_is_reported_and_replaced(store, write, content):
    (file,) = Store(store).manifests()
    file.path.unlink()
    (store / "experiments" / f"{file.key}-{content_hash(content)}.json").write_bytes(content)
    with pytest.raises(
        ValueError,
        match=r"json is damaged: it is not the manifest of an experiment\. Run the experiment again\.$",
    ):
        load_results(store)
    assert [finding.what for finding in verify_store(store).findings] == [
        "it is not the manifest of an experiment"
    ]
    report = run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert [note.partition(" was set aside")[0] for note in report.notes] == ["A damaged manifest"]
    assert verify_store(store).findings == ()
    assert len(load_results(store)) == 9


def test_a_manifest_under_another_experiments_name_is_reported(store):
    (file,) = Store(store).manifests()
    file.path.rename(file.path.with_name("0" * 32 + file.name[32:]))
    assert [finding.what for finding in verify_store(store).findings] == [
        "it is the manifest of another experiment"
    ]


def test_a_damaged_marker_with_a_hard_link_is_not_overwritten(tmp_path):
    precious, store = tmp_path / "precious.txt", tmp_path / "store"
    precious.write_text("mine")
    store.mkdir()
    (store / "sojourn-store.json").hardlink_to(precious)
    with pytest.raises(ValueError, match="has another name, a hard link; remove it first"):
        Store(store).marker.write()
    assert precious.read_text() == "mine"


def test_timings_are_not_written_through_a_hard_link(tmp_path):
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    (tmp_path / "timings.log").hardlink_to(precious)
    Store(tmp_path).timings.append("0" * 32, 1.0)
    assert precious.read_text() == "mine"


def test_a_temporary_file_that_cannot_be_deleted_stops_no_run(store, monkeypatch):
    left = store / "trials" / ".x.npz.0123abcd.tmp"
    left.touch()

    def refuse(path, missing_ok=False):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(_store.Path, "unlink", refuse)
    with Store(store).writing() as access:
        assert access.is_alone


def test_stores_with_odd_names_are_refused(write, tmp_path):
    experiment = read_experiment(write())
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    dangling = r"link must be a folder; it is a link to .*gone, which does not exist\.$"
    with pytest.raises(ValueError, match=dangling):
        run_experiment(experiment, tmp_path / "link", executor=ThisProcess())
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    for use in (lambda: run_experiment(experiment, odd, executor=ThisProcess()), lambda: load_results(odd)):
        with pytest.raises(ValueError, match=r"must have a name in UTF-8; rename it\.$"):
            use()
    assert not odd.exists()


def test_a_complete_store_that_may_only_be_read_is_complete(store, write, monkeypatch):
    fewer, more = (read_experiment(write(("seeds = 3", f"seeds = {n}"))) for n in (2, 4))
    experiment, open_file = read_experiment(write()), os.open

    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    def refuse_writing(path, flags, *rest, **options):
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            refuse()
        return open_file(path, flags, *rest, **options)

    for name in ("utime", "unlink", "rename", "replace", "mkdir", "chmod"):
        monkeypatch.setattr(os, name, refuse)
    monkeypatch.setattr(os, "open", refuse_writing)
    for _ in range(2):
        report = run_experiment(experiment, store, executor=ThisProcess())
        assert (report.total, report.reused, report.played, report.notes) == (9, 9, 0, ())
    report = run_experiment(replace(fewer, name="fewer"), store, executor=ThisProcess())
    note = "cannot be written to: reports and exports show 'fewer' as the store lists it, if at all."
    assert (report.total, report.reused, report.played) == (6, 6, 0)
    assert report.notes == (f"{store} {note}",)
    with pytest.raises(OSError, match="Read-only file system"):
        run_experiment(more, store, executor=ThisProcess())


@pytest.mark.parametrize(("umask", "mode"), [(0o077, 0o600), (0o002, 0o664)])
def test_files_of_a_store_have_the_permissions_that_the_umask_leaves(write, tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        run_experiment(read_experiment(write()), tmp_path / "store", executor=ThisProcess())
    finally:
        os.umask(before)
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert len(files) == 9 + 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {mode}


def test_two_runs_that_replace_each_others_manifest_leave_one(tmp_path, monkeypatch):
    store = Store(tmp_path / "store")
    with store.writing():
        first = store.add_manifest({"name": "same", "cells": [], "source": "1"})
        delete = Path.unlink

        def delete_both(path, missing_ok=False):  # as if the other run deleted ours while we delete its own
            for one in [*path.parent.iterdir()] if path == first else [path]:
                delete(one, missing_ok=missing_ok)

        monkeypatch.setattr(Path, "unlink", delete_both)
        assert store.add_manifest({"name": "same", "cells": [], "source": "2"}).exists()
    assert len(store.manifests()) == 1


def test_only_names_that_runs_give_count_as_temporary_files(store, write):
    own = store / ".notes.tmp"
    own.write_text("precious")
    assert Store(store).temporary_files() == []
    run_experiment(read_experiment(write()), store, executor=ThisProcess())
    assert own.read_text() == "precious"


def test_a_sound_trial_is_not_set_aside_where_memory_is_short(store, write, monkeypatch):
    before = contents(store)

    def short(*_):
        raise MemoryLimitError("it", 1 << 30, 1 << 20, "read it on a larger machine")

    monkeypatch.setattr("sojourn._files.check_fits", short)
    monkeypatch.setattr("sojourn.experiments.trials._archive.read_members", lambda content: None)
    for use in (verify_store, lambda folder: run_experiment(read_experiment(write()), folder)):
        with pytest.raises(MemoryLimitError):
            use(store)
    assert contents(store) == before
    assert not (store / "damaged").exists()
