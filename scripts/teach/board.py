#!/usr/bin/env python3
"""Shows how far a class is: a table learner x step, and the mistakes that most people make right now. `make class`.

  DIR=FOLDER      has the learners' working copies, or files of `make handin`; it is only read
  OUT=board.html  also writes a page for the projector, which reloads itself
  INTERVAL=S      seconds between two looks (default 5), until Ctrl-C
  ONCE=1          looks once

Exit: 0, 2 bad usage, 4 OUT cannot be written."""

import collections
import html
import itertools
import os
import pathlib
import shutil
import string
import sys
import textwrap
import time

import labtools_here  # noqa: F401
from labtools.numbers import significant
from labtools.process import fail, must_write
from learners import Unreadable, class_folder, handed_out, learners_in, number_of
from mistakes import catalogue

SIGNS = {"unchanged": "·", "edited": "~", "right": "r", "done": "✓"}
ON_PAGE = 6  # mistakes
LETTERS = string.ascii_uppercase


class Board:
    """What is shown of a class at one moment."""

    def __init__(self, learners, troubles):
        self.learners, self.troubles = learners, troubles
        count = collections.Counter((cell.mistake, step[:2]) for learner in learners
                                    for step, cell in learner.cells.items() if cell.state == "wrong")
        order = sorted(count, key=lambda key: (-count[key], key[1], key[0]))
        # (letter, name, step's number, how many people), the most frequent first.
        self.mistakes = [(LETTERS[k] if k < len(LETTERS) else "x", *key, count[key]) for k, key in enumerate(order)]
        self.letters = {(name, step): letter for letter, name, step, _ in self.mistakes}
        touched = {step for learner in learners for step, cell in learner.cells.items() if cell.state != "unchanged"}
        steps = sorted(learners[0].cells) if learners else []
        # Up to the step after the last one that anybody has begun.
        self.steps = steps[:max([steps.index(step) + 2 for step in touched], default=2)]

    def sign(self, step, cell):
        return SIGNS.get(cell.state) or self.letters[cell.mistake, step[:2]]

    def latest(self, learner):
        """(step's number, cell) of the learner's last check; None without one."""
        checked = [(cell.when, step[:2], cell) for step, cell in learner.cells.items() if cell.when]
        return max(checked, key=lambda one: one[:2])[1:] if checked else None

    def head(self):
        done = sum(cell.state == "done" for learner in self.learners for cell in learner.cells.values())
        people = len(self.learners)
        return f"{people} learner{'s' * (people != 1)}, {done} step{'s' * (done != 1)} done"


def said(number):
    return "1 person" if number == 1 else f"{number} people"


def as_text(board, sentences, height, look):
    """The board for a terminal, in its width or 80 columns. With a `height`, what does not fit is shown in turn."""
    columns = shutil.get_terminal_size().columns
    wide = max([len(learner.name) for learner in board.learners], default=0)
    lines = [f"{board.head()}, {time.strftime('%H:%M:%S')}", "",
             " " * wide + "".join(f" {step[:2]}" for step in board.steps) + "  last check"]
    shown, more, mistakes = board.learners, [], board.mistakes[:len(LETTERS)]
    if height:
        mistakes = mistakes[:min(ON_PAGE, height // 10)]
    room = max(height - 3 * len(mistakes) - 8, 5) if height else len(shown)
    if len(shown) > room:
        first = look % -(-len(shown) // room) * room
        shown = shown[first:first + room]
        more = [f"learners {first + 1} to {first + len(shown)} of {len(board.learners)}; the others in turn"]
    for learner in shown:
        line = learner.name.ljust(wide)
        line += "".join(f"  {board.sign(step, learner.cells[step])}" for step in board.steps)
        if latest := board.latest(learner):
            step, cell = latest
            line += f"  {cell.when[11:]} {step} {cell.mistake or cell.state}"
        times = [f"{step[:2]}: {significant(cell.ms)} ms" for step, cell in sorted(learner.cells.items()) if cell.ms]
        line += f"  ({', '.join(times[-2:])})" if times else ""
        lines.append(line if len(line) <= columns else line[:columns - 1] + "…")
    lines += [*more, "", "· unchanged  ~ edited, not checked since  A wrong  r right, not yet done  ✓ done", ""]
    for letter, name, step, people in mistakes:
        lines += [f"{letter}  {step} {name}: {said(people)}",
                  *textwrap.wrap(sentences[name], columns, initial_indent="   ", subsequent_indent="   ")]
    for trouble in board.troubles:
        lines += textwrap.wrap(trouble, columns, subsequent_indent="   ")
    if height:
        lines = [*lines[:height - 2], "Ctrl-C ends this; ONCE=1 looks once."]
    return "\n".join(lines) + "\n"


def table(board, learners):
    """The HTML of some rows of the table."""
    rows = ["<tr><th></th>" + "".join(f"<th>{step[:2]}</th>" for step in board.steps) + "<th></th></tr>"]
    for learner in learners:
        cells = []
        for step in board.steps:
            cell = learner.cells[step]
            words = f"{cell.mistake or cell.state} {cell.when}" + (f", {significant(cell.ms)} ms" if cell.ms else "")
            cells.append(f'<td class="{cell.state}" title="{html.escape(words)}">{board.sign(step, cell)}</td>')
        if latest := board.latest(learner):
            fast = f" · {significant(latest[1].ms)} ms" if latest[1].ms else ""
            cells.append(f'<td class="when">{html.escape(latest[1].when[11:])}{fast}</td>')
        rows.append(f'<tr><th class="name">{html.escape(learner.name)}</th>{"".join(cells)}</tr>')
    return f"<table>{''.join(rows)}</table>"


def as_page(board, sentences, interval):
    """The board for a projector, 1280 x 800: up to 15 learners in one table, more in two."""
    half = len(board.learners) if len(board.learners) <= 15 else (len(board.learners) + 1) // 2
    tables = [table(board, part) for part in (board.learners[:half], board.learners[half:]) if part]
    items = [f'<li><b class="wrong">{letter}</b> <b>{step}, {said(people)}:</b> {html.escape(sentences[name])}</li>'
             for letter, name, step, people in board.mistakes[:ON_PAGE]]
    items += [f'<li class="trouble">{html.escape(trouble)}</li>' for trouble in board.troubles[:ON_PAGE]]
    page = string.Template(pathlib.Path(__file__).with_name("board.html").read_text(encoding="utf-8"))
    return page.substitute(interval=interval, learners=board.head(), time=time.strftime("%H:%M:%S"),
                           tables="".join(tables), mistakes=f"<ul>{''.join(items)}</ul>")


def main():
    folder, interval = class_folder("working copies or files of make handin"), number_of("INTERVAL", 5, 3600)
    out, once = os.environ.get("OUT"), os.environ.get("ONCE") or "0"
    if once not in ("0", "1"):
        fail(f"ONCE={once}: must be 1 or 0", 2)
    sys.stdout.reconfigure(encoding="utf-8")
    starts, sentences = handed_out(), catalogue()
    on_screen = once == "0" and sys.stdout.isatty()
    for look in itertools.count():
        try:
            board = Board(*learners_in(folder, starts))
        except OSError as error:
            fail(f"DIR={folder}: {error.strerror}", 2)
        if not board.learners:
            fail(f"DIR={folder}: no working copy of the lab is in it, and no file of make handin", 2)
        if out:
            must_write(pathlib.Path(out), as_page(board, sentences, interval), f"OUT={out}", 4)
        height = shutil.get_terminal_size().lines if on_screen else None
        print(("\033[H\033[2J" if on_screen else "") + as_text(board, sentences, height, look), end="", flush=True)
        if once == "1":
            return
        time.sleep(interval)


if __name__ == "__main__":
    try:
        main()
    except Unreadable as error:
        fail(str(error))
    except KeyboardInterrupt:
        sys.exit(0)  # as it says itself
