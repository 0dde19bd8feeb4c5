#!/usr/bin/env python3
"""Keeps exercises and solutions consistent.

An exercise is the solution of the step that it begins with, under a banner of its own and with TODO(NN) comment
blocks put in. A TODO block is a comment line that starts with "// TODO(NN)" and the comment lines after
it whose text is indented by at least three blanks.

    exercises.py --check    say what does not hold (exit 1); an exercise that was edited since
                            the last commit is a learner's, and is only named (exit 77)
    exercises.py --write    write every exercise anew: its own banner and TODO blocks, in today's code of
                            the solution before
"""

import argparse
import itertools
import re
import sys

import labtools_here  # noqa: F401
from labtools.files import ROOT, step_named, steps
from labtools.process import fail, printed_by

SKIPPED = 77


def split_banner(text):
    """(the comment lines at the top, the rest), as lists of lines."""
    lines = text.splitlines()
    banner = list(itertools.takewhile(lambda line: line.startswith("//"), lines))
    return banner, lines[len(banner):]


def split_todos(lines, number):
    """Takes the TODO(number) blocks out of lines: (the lines left, [(position in them, block)])."""
    rest, todos, inside = [], [], False
    for line in lines:
        if begins := re.match(rf"\s*// TODO\({number}\)", line):
            todos.append((len(rest), []))
        inside = begins or inside and re.match(r"\s*//   ", line)
        (todos[-1][1] if inside else rest).append(line)
    return rest, todos


def edited_since_commit(path):
    """True where git knows the file and it differs from the last commit."""
    return printed_by(["git", "-C", ROOT, "status", "--porcelain", "--", path]).startswith((" M", "M", "AM"))


def exercise_of(step):
    return ROOT / "exercises" / step.name / step.source


def solution_of(step):
    return ROOT / "solutions" / step.name / step.source


def solution_before(step):
    """The solution that an exercise begins with: of the first step, which has no task, its own."""
    return solution_of(step if step.before == "-" else step_named(step.before))


def problems_of(step):
    """(what does not hold of a step's files, what keeps its exercise from being the solution before it, a banner and TODO
    blocks apart)."""
    exercise, solution = exercise_of(step), solution_of(step)
    missing = [path for path in (exercise, solution, exercise.parent / "README.md") if not path.is_file()]
    found = [f"{path.relative_to(ROOT)}: missing" for path in missing]
    if exercise in missing or solution in missing:
        return found, []
    text = solution.read_text()
    if "TODO" in text:
        found.append(f"{solution.relative_to(ROOT)}: a solution with a TODO")
    if f"kDefaultN = {step.n};" not in text:
        found.append(f"{solution.relative_to(ROOT)}: kDefaultN is not {step.n}, as lab/steps.tsv has it")
    number, path, text, of_exercise = step.name[:2], exercise.relative_to(ROOT), exercise.read_text(), []
    if not text.startswith(f"// {step.name}: "):
        of_exercise.append(f"{path}: its banner must begin with '// {step.name}: '")
    body, todos = split_todos(split_banner(text)[1], number)
    if not todos and step.before != "-":
        of_exercise.append(f"{path}: has no TODO({number})")
    before = solution_before(step)
    if before.is_file() and body != split_banner(before.read_text())[1]:
        of_exercise.append(f"{path}: without banner and TODO({number}) blocks it is not solutions/{before.parent.name}; "
                           "`scripts/publish/exercises.py --write` makes it so")
    return found, of_exercise


def check():
    wrong, edited, names = [], [], {step.name for step in steps()}
    for step in steps():
        found, of_exercise = problems_of(step)
        wrong += found
        if of_exercise and edited_since_commit(exercise_of(step)):  # a learner's work, not a mistake of ours
            edited.append(f"{exercise_of(step).relative_to(ROOT)}: you have worked on it, so it is not compared with "
                          f"its starting point (`git checkout -- exercises/{step.name}` brings that back)")
        else:
            wrong += of_exercise
    wrong += [f"{folder.relative_to(ROOT)}: is not in lab/steps.tsv" for kind in ("exercises", "solutions")
              for folder in sorted((ROOT / kind).iterdir())
              if folder.is_dir() and folder.name not in names | {"pictures", "clinic", "slides"}]
    for line in wrong + edited:
        print(line)
    if not wrong + edited:
        print(f"{len(names)} steps: every exercise is the solution before it, banner and TODO blocks apart")
    return 1 if wrong else SKIPPED if edited else 0


def write():
    for step in steps():
        exercise = exercise_of(step)
        target = split_banner(solution_before(step).read_text())[1]
        banner, body = split_banner(exercise.read_text())
        old, todos = split_todos(body, step.name[:2])
        # A block is anchored at the line that follows it: that line's text, and which of its kind it is.
        blocks = {}
        for position, block in todos:
            text = old[position] if position < len(old) else None
            blocks.setdefault((text, old[:position].count(text)), []).extend(block)
        lines = []
        for position, line in enumerate(target):
            lines += blocks.pop((line, target[:position].count(line)), [])
            lines.append(line)
        if blocks:
            fail(f"{exercise.relative_to(ROOT)}: the line that a TODO block stands before is gone: "
                 f"{[text for text, _ in blocks]}")
        exercise.write_text("\n".join(banner + lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true")
    what.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    return check() if arguments.check else write()


if __name__ == "__main__":
    sys.exit(main())
