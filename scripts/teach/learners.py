"""What is known of learners: from their working copies, which are only read, and from files of `make handin`.

Nothing of theirs is run or trusted: no symbolic link is followed, of a file only the first bytes are read, texts lose
what is not printable, and a mistake that the catalogue does not have is called unknown."""

import collections
import contextlib
import errno
import functools
import os
import stat

from labtools.files import ROOT, steps
from labtools.numbers import number
from labtools.process import attempt, fail
from labtools.progress import last_lines, rows_of
from mistakes import NOT_COMPILED, UNKNOWN, catalogue

MOST_BYTES = 1 << 20
MOST_NAME = 24
LINK = "a symbolic link, which is not followed"
KNOWN = catalogue()
# What a verdict begins with, and the state of a cell.
STATES = {"done": "done", "right": "right", "goal missed": "right", "does not compile": "wrong", "wrong": "wrong",
          "edited": "edited"}


class Unreadable(Exception):
    """Why something of a learner's cannot be read, in words."""


# A learner's step. state: unchanged, edited (and not checked since), wrong, right or done.
Cell = collections.namedtuple("Cell", "state mistake when ms")
Learner = collections.namedtuple("Learner", "name cells")  # {step's name: Cell}


def class_folder(what):
    """The folder that $DIR names; `what` should be in it."""
    folder = os.environ.get("DIR", "")
    if not folder:
        fail(f"which class? Say DIR=FOLDER, with {what}", 2)
    if not os.path.isdir(folder):
        fail(f"DIR={folder}: is no folder", 2)
    if os.path.isdir(os.path.join(folder, "exercises")):
        fail(f"DIR={folder}: is a working copy itself; name the folder that has those of the class", 2)
    return folder


def number_of(name, default, most):
    """A whole number from the environment."""
    text = os.environ.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= most):
        fail(f"{name}={text}: must be a whole number from 1 to {most}", 2)
    return int(text)


def plain(text, most=MOST_NAME):
    """At most so many printable characters."""
    text = "".join(letter if letter.isprintable() else "?" for letter in text[:most + 1])
    return text if len(text) <= most else text[:most - 1] + "…"


def read_inside(folder, *parts):
    """The bytes of a file in a folder; no part of its name may be a symbolic link. None if it is not there."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.ExitStack() as open_ones:
        try:
            handle = None
            for part in (folder, *parts):
                handle = os.open(part, flags, dir_fd=handle)
                open_ones.callback(os.close, handle)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unreadable(f"{'/'.join(parts)}: {LINK if error.errno == errno.ELOOP else error.strerror}") from None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable(f"{'/'.join(parts)} is no file")
        with os.fdopen(os.dup(handle), "rb") as file:
            data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Unreadable(f"{'/'.join(parts)} has more than {MOST_BYTES >> 20} MiB")
    return data


def when(text):
    """A date as `make check` writes it, or nothing."""
    return text if len(text) == 16 and text.replace("-", "").replace(":", "").replace(" ", "").isdigit() else ""


def milliseconds(text):
    value = number(text[:30])
    return value if value is not None and 0 < value < 1e9 else None


def cell_of(verdict, mistake, date, ms=""):
    """The cell of a verdict of `make check`, or of a state of `make progress`."""
    state = next((state for begin, state in STATES.items() if verdict.startswith(begin)), "unchanged")
    mistake = NOT_COMPILED if verdict == "does not compile" else mistake if mistake in KNOWN else UNKNOWN
    return Cell(state, mistake if state == "wrong" else "", when(date), milliseconds(ms))


def parts_of_handin(data):
    """({step's name, or "# name": the fields of its line}, {path: code}) of a file of `make handin`."""
    if not data.startswith(b"# handin\t"):
        raise Unreadable("no working copy, and no file of make handin")
    table, *parts = data.split(b"\n# code\t")
    code = {}
    for part in parts:
        path, *lines = part.split(b"\n")
        code[path.decode(errors="replace")] = b"".join(line[2:] + b"\n" for line in lines if line[:2] == b"> ")
    return last_lines(table), code


def each_in(folder, of_folder, of_handin):
    """([what the two make of each working copy, its path and name, and of the bytes of each file of `make handin`],
    [what cannot be read, a line each])."""
    found, troubles = [], []
    for name in sorted(name for name in os.listdir(folder) if not name.startswith(".")):
        path = os.path.join(folder, name)
        try:
            if os.path.islink(path):
                raise Unreadable(LINK)
            found.append(of_folder(path, name) if os.path.isdir(path) else of_handin(read_inside(folder, name) or b""))
        except Unreadable as error:
            troubles.append(f"{plain(name, 60)}: {plain(str(error), 160)}")
    return found, troubles


def handed_out():
    """{step's name: its exercise as it is handed out} of the teacher's own lab."""
    starts = {}
    for name, *_ in steps():
        code, out, error = attempt([ROOT / "scripts/lib/start.sh", name])
        if code != 0:
            raise Unreadable(error.strip())
        starts[name] = out.encode()
    return starts


def learners_in(folder, starts):
    """([Learner], [what cannot be read, a line each]); starts: handed_out()."""

    def of_folder(path, name):
        found = rows_of(functools.partial(read_inside, path), starts)
        if all(row.state == "missing" for row in found):
            raise Unreadable("has no exercises: no working copy of the lab")
        return Learner(plain(name), {row.step: cell_of(row.state, row.mistake, row.date, row.ms) for row in found})

    def of_handin(data):
        table, _ = parts_of_handin(data)
        cells = {}
        for step in starts:
            state, date, _, mistake, ms, *_ = table.get(step, ["unchanged"] + ["-"] * 6)
            cells[step] = cell_of(state, mistake, date, ms)
        return Learner(plain(table.get("# name", ["?"])[0]) or "?", cells)

    return each_in(folder, of_folder, of_handin)
