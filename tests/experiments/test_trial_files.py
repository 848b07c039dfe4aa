"""Trial files are read in two ways, quick and general: whatever the bytes are, both give one verdict."""

from __future__ import annotations

import functools
import io
import json
import random
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from experiments.forge import SETTINGS, sound_arrays

from sojourn._files import pack_archive
from sojourn.experiments import RESULTS_VERSION, Trial
from sojourn.experiments.spec._agent_settings import to_text
from sojourn.experiments.trials import _archive
from sojourn.experiments.trials._archive import defect_of_content, read_trial
from sojourn.experiments.trials._quick_archive import array_of, read_members
from sojourn.learning import spread_by_ratios

END, ENTRY, LOCAL = struct.Struct("<4s4H2IH"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s5H3I2H")
INTERESTING = (0, 1, 2, 8, 12, 20, 45, 99, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)

Arrays = dict[str, Any]


def sound_trials() -> list[tuple[Trial, dict[str, Any], Arrays]]:
    """Return trials that recorded every episode and checkpoints, with sound headers and arrays."""
    whole, few = sound_arrays(40), SETTINGS | {"episodes": 40, "record": {"checkpoints": 8}}
    sums: Arrays = {"checkpoints": spread_by_ratios(40, 8)}
    for name in whole.keys() - {"starts"}:
        sums[f"sum_{name}"] = np.cumsum(whole[name])[sums["checkpoints"] - 1]
    found = []
    for settings, arrays in ((SETTINGS, sound_arrays()), (few, sums)):
        trial = Trial(to_text(settings), 7)
        header = {"format": "sojourn trial 1", "results": RESULTS_VERSION}
        header |= {"settings": json.loads(trial.settings), "seed": trial.seed, "problem": "RiverSwim(3)"}
        found.append((trial, header, arrays))
    return found


def flip_bytes(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut_or_insert(content: bytes, rng: random.Random) -> bytes:
    i, j = sorted(rng.choices(range(len(content) + 1), k=2))
    added = rng.choice([b"", b"\0", b"PK\5\6", content[i:j], content[-22:], content])
    return rng.choice([content[:i] + content[j:], content[:i] + added + content[i:], added + content])


def edit_zip_field(content: bytes, rng: random.Random) -> bytes:
    """Set one field of one header of the archive, and the same field of the other header if there is one."""
    changed = bytearray(content)
    form, mark = rng.choice([(END, b"PK\5\6"), (ENTRY, b"PK\1\2"), (LOCAL, b"PK\3\4")])
    places = [i for i in range(len(content)) if content.startswith(mark, i)]
    place = rng.choice(places)
    fields = list(form.unpack_from(content, place))
    i = rng.randrange(1, len(fields))
    largest = 0xFFFF if form.unpack(b"\xff" * form.size)[i] == 0xFFFF else 0xFFFFFFFF
    near = fields[i] + rng.choice([-1, 1])
    fields[i] = rng.choice([near, *INTERESTING]) & largest
    form.pack_into(changed, place, *fields)
    return bytes(changed)


def zip_again(members: list[tuple[str, bytes]], rng: random.Random) -> bytes:
    """Write an archive as another program might."""
    packed = io.BytesIO()
    stored = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
    with zipfile.ZipFile(packed, "w", stored) as archive:
        archive.comment = rng.choice([b"", b"", b"PK\5\6", b"x"])
        for name, data in members:
            info = zipfile.ZipInfo(name)
            info.compress_type, info.extra = stored, rng.choice([b"", b"", struct.pack("<2H", 7, 0)])
            with archive.open(info, "w", force_zip64=rng.random() < 0.5) as file:
                file.write(data)
    return packed.getvalue()


def change_members(content: bytes, rng: random.Random) -> bytes:
    """Duplicate, rename, reorder, drop or damage members."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    name, data = members.pop(rng.randrange(len(members)))
    others = rng.choice(members)[1]
    new = {
        "twice": [(name, data), (name, data)],
        "two different": [(name, data), (name, others)],
        "another first": [(name, others), (name, data)],
        "without its ending": [(name.removesuffix(".npy"), data)],
        "with two endings": [(f"{name}.npy", data)],
        "both": [(name.removesuffix(".npy"), others), (name, data)],
        "null": [(f"{name}\0x", data)],
        "dropped": [],
        "moved": [(name, data)],
        "longer": [(name, data + b"\0" * 8)],
        "shorter": [(name, data[:-8])],
        "damaged": [(name, flip_bytes(data, rng))],
    }
    where = rng.randint(0, len(members))
    chosen = new[rng.choice(list(new))]
    return zip_again([*members[:where], *chosen, *members[where:]], rng)


def numpy_form(members: list[tuple[bytes, bytes]]) -> bytes:
    """Write members in the exact form that NumPy gives archives, whatever their names and their content."""
    content, entries = b"", b""
    for name, data in members:
        packer = zlib.compressobj(wbits=-15)
        packed, crc = packer.compress(data) + packer.flush(), zlib.crc32(data)
        begin = len(content)
        content += LOCAL.pack(b"PK\3\4", 45, 0, 8, 0, 33, crc, 2**32 - 1, 2**32 - 1, len(name), 20) + name
        content += struct.pack("<2H2Q", 1, 16, len(data), len(packed)) + packed
        sizes = (crc, len(packed), len(data), len(name))
        entries += ENTRY.pack(b"PK\1\2", 813, 45, 0, 8, 0, 33, *sizes, 0, 0, 0, 0, 0o600 << 16, begin) + name
    n = len(members)
    return content + entries + END.pack(b"PK\5\6", 0, 0, n, n, len(entries), len(content), 0)


def change_numpy_members(content: bytes, rng: random.Random) -> bytes:
    """Change the names or the content of members, and keep the form that NumPy writes."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name.encode(), archive.read(name)) for name in archive.namelist()]
    i = rng.randrange(len(members))
    name, data = members[i]
    changes = [
        (name, flip_bytes(data, rng)),
        (name, data + bytes(8)),
        (name, data[:-8]),
        (name, rng.choice(members)[1]),
        (rng.choice(members)[0], data),
        (name.removesuffix(b".npy"), data),
        (name + b".npy", data),
        (name.replace(b".npy", b"\0.npy"), data),
        (name.upper(), data),
        (name, data),
    ]
    members[i] = rng.choice(changes)
    return numpy_form(members)


VALUES = (-1, 0, 1, 2**31, 2**62, -(2**63), 1e99, 1e101, 1.7e308, np.inf, -np.inf, np.nan, -0.0)


def change_arrays(header: dict[str, Any], arrays: Arrays, rng: random.Random) -> bytes:
    """Change the shape, the type, the length or a value of an array; the archive is NumPy's."""
    name = rng.choice(sorted(arrays))
    array = arrays[name]

    def with_value(value: float) -> Any:
        changed = array.copy()
        with np.errstate(invalid="ignore"):
            changed[rng.randrange(changed.size)] = np.float64(value).astype(changed.dtype)
        return changed

    types = ("<i8", ">i8", "<i4", "|i1", "<u8", "<f8", ">f8", "<f4", "<c16", "|b1", "<U3", "|S3", "<M8[s]")
    changes: list[Callable[[], Any]] = [
        lambda: array.astype(rng.choice(types)),
        lambda: rng.choice([array[:, None], array[None, :], array[:1], array[:0], array[0], array[:-1]]),
        lambda: np.append(array, array[-1:]),
        lambda: np.resize(array, rng.choice([1, 8, 40, 41])),
        lambda: with_value(rng.choice(VALUES)),
        lambda: with_value(rng.choice(VALUES)),
        lambda: np.flip(array),
        lambda: arrays[rng.choice(sorted(arrays))],
    ]
    changed = arrays | {name: rng.choice(changes)()}
    if rng.random() < 0.1:
        changed = {key: changed[key] for key in rng.sample(sorted(changed), rng.randint(1, len(changed)))}
    return pack_archive(header, changed)


def change_header(header: dict[str, Any], arrays: Arrays, rng: random.Random) -> bytes:
    """Change the line of JSON that describes the trial."""
    text = json.dumps(header)
    i = rng.randrange(len(text))
    names = ["", "x" * 300, 'a"', "\\", "é", "\x00", "\ud800", '", "seed": 8, "problem": "x', "\n", "\x7f"]
    changes = [
        text[:i] + rng.choice(['"', " ", "\\", "0", "}", "é", "\0"]) + text[i:],
        text[:i] + text[i + 1 :],
        text.replace('"problem": "RiverSwim(3)"', f'"problem": "{rng.choice(names)}"'),
        json.dumps(header | {"problem": rng.choice([*names, 3, None, []])}),
        json.dumps(header | {"seed": rng.choice([7.0, 8, True, "7", 2**70])}),
        json.dumps(header | {"results": rng.choice([RESULTS_VERSION + 1, 3.0, None])}),
        json.dumps(header | {"more": 1}),
        json.dumps(header, indent=1),
        json.dumps(header, separators=(",", ":")),
        text[:-1] + rng.choice([', "seed": 7}', ', "seed": 8}', ', "settings": {}}', "} ", "}\0"]),
    ]
    member = io.BytesIO()
    np.lib.format.write_array(member, np.array(rng.choice(changes)))
    content = pack_archive(header, arrays)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name.encode(), archive.read(name)) for name in archive.namelist()]
    return numpy_form([(name, member.getvalue() if name == b"about.npy" else data) for name, data in members])


def read_in_general(content: bytes, trial: Trial) -> Arrays | None:
    try:
        return read_trial(content, trial.key).arrays
    except ValueError:
        return None


def read_quickly(content: bytes, trial: Trial) -> Arrays | None:
    if not _archive._is_surely_sound(content, trial):
        return None
    kinds, members = _archive._layout(trial.settings).kinds, read_members(content) or {}
    return {name: array_of(member, kinds[name]) for name, member in members.items() if name != "about"}


def test_both_ways_to_read_refuse_half_a_text_as_name():
    trial, header, arrays = sound_trials()[0]
    half = json.dumps(header | {"problem": "x"}).removesuffix('x"}') + "}"
    named: dict[str, Any] = {**arrays, "about": np.array(half)}
    packed = io.BytesIO()
    np.savez_compressed(packed, **named)
    assert read_in_general(packed.getvalue(), trial) is None
    assert defect_of_content(packed.getvalue(), trial) == "it is not a trial file"


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("trial", "header", "arrays"), sound_trials(), ids=["episodes", "checkpoints"])
def test_both_ways_to_read_agree_on_mutated_files(trial, header, arrays):
    rng, content = random.Random(20), pack_archive(header, arrays)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name.encode(), archive.read(name)) for name in archive.namelist()]
    assert _archive._is_surely_sound(content, trial)
    assert _archive._is_surely_sound(numpy_form(members), trial)
    ways = (flip_bytes, cut_or_insert, edit_zip_field, change_members, change_numpy_members)
    mutations = [functools.partial(way, content, rng) for way in ways]
    mutations += [functools.partial(way, header, arrays, rng) for way in (change_arrays, change_header)]
    verdicts: Counter[str] = Counter()
    for i in range(700):
        mutated = mutations[i % len(mutations)]()
        found = read_in_general(mutated, trial)
        quick = read_quickly(mutated, trial)
        assert (defect_of_content(mutated, trial) == "") == (found is not None)
        if quick is not None:
            assert found is not None, mutations[i % len(mutations)]
            assert {name: array.dtype for name, array in quick.items()} == {
                name: array.dtype for name, array in found.items()
            }
            assert all(quick[name].tobytes() == found[name].tobytes() for name in found)
        verdicts["refused" if found is None else "read in general" if quick is None else "read quickly"] += 1
    # Some of each, or the test shows nothing.
    assert set(verdicts) == {"refused", "read in general", "read quickly"}
    assert min(verdicts.values()) >= 30, verdicts


def test_the_quick_way_leaves_large_members_to_the_general_way():
    # The general way refuses arrays that are packed too much; a run must not take them for sound.
    packed = io.BytesIO()
    np.savez_compressed(packed, rewards=np.zeros(1_000_000))
    assert read_members(packed.getvalue()) is None
    small = io.BytesIO()
    np.savez_compressed(small, rewards=np.zeros(1_000))
    assert list(read_members(small.getvalue())) == ["rewards"]
