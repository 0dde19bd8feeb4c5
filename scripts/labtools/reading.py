"""What `make guide`, `make hint` and `make predict` print of a step's guide, fitted into the terminal.

  reading.py VERB STEP WORDS    VERB: guide, hint, predict, or compared (the section "Your predictions", for make check);
                                STEP: 04_jacobi_kernel, or clinic/transpose; WORDS: how a user names it, STEP=04

scripts/verbs say which variables each of them takes.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

from labtools.files import ROOT
from labtools.guide import Guide, Layout, with_answers
from labtools.process import fail, print_for_people
from labtools.progress import is_done, kept, remember, rows

CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


class Reader:
    """A guide, and the terminal that it is fitted into."""

    def __init__(self, step, words):
        self.step, self.words, self.name = step, words, f"exercises/{step}/README.md"
        self.guide = Guide((ROOT / self.name).read_text(encoding="utf-8", errors="replace"), words)
        self.answers = kept("predictions.tsv").get(step, [])
        self.columns = max(30, min(80, shutil.get_terminal_size((80, 24)).columns))
        self.styled = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"

    def fitted(self, markdown):
        return Layout(self.columns, self.styled, f"exercises/{self.step}").text(markdown)

    def compared(self):
        """The guide's table of predictions, with the learner's own."""
        print(self.fitted(with_answers(self.guide.compared(), self.answers)))


def part_to_show(reader):
    """What of the guide SHOW names: a word of its sections, a fold's number, "all", or nothing."""
    wanted, folds, words = os.environ.get("SHOW", ""), len(reader.guide.folds), reader.guide.words()
    if not wanted:
        return ""
    for word in ["all", *words]:  # "hint" and "Hints" are also accepted
        if len(wanted) >= 3 and word.startswith(wanted.lower()):
            return word
    if re.fullmatch("[0-9]{1,3}", wanted) and 1 <= int(wanted) <= folds:
        return str(int(wanted))
    return fail(f"SHOW={wanted}: must be a fold, 1 to {folds}, or one of: {' '.join([*words, 'all'])}" if folds else
                f"SHOW={wanted}: {reader.name} has no folds", 2)


def show_guide(reader):
    part, folds = part_to_show(reader), len(reader.guide.folds)
    markdown = with_answers(reader.guide.shown(part), reader.answers)
    if folds and not part:
        markdown += (f"\n\nThe parts [1] to [{folds}] are folded. To open one: make guide {reader.words} SHOW=1. SHOW=all opens "
                     f"all of them. SHOW=WORD opens those of one section; the words are {', '.join(reader.guide.words())}.")
    text = reader.fitted(markdown)
    if not sys.stdout.isatty():
        print(text)
        return
    pager = os.environ.get("PAGER") or ("less -FRX" if shutil.which("less") else "cat")
    with tempfile.TemporaryFile() as file:  # leaving the pager early is no error
        file.write(f"{text}\n".encode())
        file.seek(0)
        sys.exit(subprocess.run(["sh", "-c", pager], stdin=file, check=False).returncode)


def show_hints(reader):
    step, count, wanted = reader.step, len(reader.guide.hints), os.environ.get("HINT") or "next"
    if not re.fullmatch("next|all|[0-9]{1,3}", wanted):
        fail(f"HINT={wanted}: must be a number, or all", 2)
    if not count:
        if wanted.isdigit():
            fail(f"HINT={wanted}: {reader.name} has no hints", 2)
        print(f"{step}: its guide has no hints")
        return

    def hint(k):
        return f"{step}: hint {k} of {count}\n{reader.fitted(reader.guide.hint(k))}"

    if wanted == "all":
        print("\n\n".join(map(hint, range(1, count + 1))))
        return
    seen = kept("hints.tsv").get(step, ["0"])[0]
    k = int(wanted) if wanted != "next" else 1 + (int(seen) if re.fullmatch("[0-9]{1,3}", seen) else 0)  # it may be edited
    if wanted == "next" and k > count:
        print(f"{step}: you have seen {'the one hint' if count == 1 else f'all {count} hints'}\n"
              f"Once more from the first: make hint {reader.words} HINT=1")
        return
    if not 1 <= k <= count:
        fail(f"HINT={wanted}: {step} has hints 1 to {count}", 2)
    print(hint(k), flush=True)
    remember("hints.tsv", step, str(k))
    print(f"\nThe next one: make hint {reader.words}" if k < count else
          f"\nThat was the last one. From the first: make hint {reader.words} HINT=1")


def read_answer(old):
    """A new answer, or the old one; None at the end of the input."""
    if old != "-":
        print(f"   Your answer: {old}", flush=True)
    try:
        line = input("   > " if sys.stdin.isatty() else "")
    except EOFError:
        return None
    return CONTROL.sub(" ", line).strip(" ") or old


def predict(reader):
    step, asked = reader.step, reader.guide.questions()
    if not asked:
        fail(f"{reader.name} has no questions to predict", 2)
    sys.stdin.reconfigure(errors="replace")
    with contextlib.suppress(ImportError):
        import readline  # pylint: disable=import-outside-toplevel  # input() edits lines with it
        readline.parse_and_bind(r'"\C-c": "\C-a\C-k\C-d"')  # the end, as Ctrl-D is: as a signal it would also reach make
    answers = reader.answers = (reader.answers + ["-"] * len(asked))[:len(asked)]
    print(f"{step}: {len(asked)} predictions. An empty line keeps an answer, Ctrl-C stops.")
    for k, question in enumerate(asked):
        print(f"\n{reader.fitted(f'{k + 1}. {question}')}", flush=True)
        answer = read_answer(answers[k])
        if answer is None and sys.stdin.isatty():
            print()
            break
        if answer not in (None, answers[k]):
            answers[k] = answer
            if not remember("predictions.tsv", step, *answers):
                sys.exit(4)
    print()
    if any(is_done(row) for row in rows() if row.step == step):
        reader.compared()
        return
    none = [str(k + 1) for k, answer in enumerate(answers) if answer == "-"]
    count = len(asked) - len(none)
    print(f"Answers kept: {count} of {len(asked)}{f' (none to {chr(44).join(none)})' if none and count else ''}. "
          f"make predict {reader.words} {'goes on' if none else 'asks again'}.")
    print(textwrap.fill("When the step is done, the measured answers are shown here. To see them now: make guide "
                        f"{reader.words} SHOW=predictions", 80, subsequent_indent="  "))


def main():
    verb, step, words = sys.argv[1:]
    sys.argv[0] = f"{'check' if verb == 'compared' else verb}.sh"  # as messages name it
    print_for_people()
    {"guide": show_guide, "hint": show_hints, "predict": predict, "compared": Reader.compared}[verb](Reader(step, words))


if __name__ == "__main__":
    main()
