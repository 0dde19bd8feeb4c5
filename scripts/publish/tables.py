#!/usr/bin/env python3
"""Writes measured numbers into README.md and the guides: no number there is typed by hand.

Each text has pairs of markers, and what stands between them comes from a file:
    <!-- ladder:begin -->  ...  <!-- ladder:end -->      the ladder (README.md), results/h200/ladder.tsv; and so
    <!-- speedups:begin --> ... <!-- speedups:end -->    its steps next to the CPU
    <!-- measured:begin -->  ...  <!-- measured:end -->  the tables of steps 05 to 13 (exercises/NN_name/README.md), of
                                                         kernels.tsv, tuning.tsv and large.tsv
    <!-- profile:begin --> ... <!-- profile:end -->      what `make nsys` or `make ncu` print of a report in results/h200/profiles
    <!-- scaling:begin --> ... <!-- scaling:end -->      (steps 14 and 15) results/h200/scaling.tsv;
                                                         scaling.svg is drawn next to it
    <!-- counters:begin --> ... <!-- counters:end -->    (lab/cpu/README.md) results/h100/counters.tsv
    <!-- tracer:begin --> ... <!-- tracer:end -->        (lab/trace/README.md) results/h200/tracer.tsv
    <!-- mistakes:begin --> ... <!-- mistakes:end -->    (validate/tests/bank/README.md)
                                                     validate/tests/bank/found_on_cpu/09_shared_tile.tsv
    <!--= ladder["04"].ms | ms -->57.7 ms<!--=-->    (any text) one number within a sentence: scripts/publish/blocks/inline.py

    tables.py --write    bring the texts up to date
    tables.py --check    exit 1, naming the texts, if they are not
"""

import argparse
import sys

import labtools_here  # noqa: F401
from blocks import inline, ladder, measured, scaling, tools
import scaling_table
from labtools.files import RESULTS, ROOT, by_cycles, step_named
from labtools.table import Table


def blocks():
    """{text: {name of the markers: lines between them}}."""
    table = Table(RESULTS / "ladder.tsv")
    found = {"README.md": {"ladder": ladder.ladder_block(table), "speedups": ladder.speedups_block(table)},
             "lab/trace/README.md": {"tracer": tools.tracer_block()},
             "lab/cpu/README.md": {"counters": tools.counters_block()},
             "validate/tests/bank/README.md": {"mistakes": tools.mistakes_block()}}
    for row in table.rows:
        step = row["step"]
        of_guide = found.setdefault(f"exercises/{step}/README.md", {})
        if step_named(step).needs == "ranks":
            of_guide["scaling"] = scaling.scaling_block(step)
        if not by_cycles(step):
            if step[:2] >= "02":
                of_guide["profile"] = tools.profile_block(step)
            if "05" <= step[:2] < "14":
                of_guide["measured"] = measured.measured_block(step)
    return found


def brought_up_to_date(text, of_text):
    """(the text with its blocks and numbers as they are measured, what is wrong with it)."""
    wrong = []
    for name, lines in of_text.items():
        begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
        if begin not in text or end not in text:
            wrong.append(f"has no {begin.strip()} ... {end}")
            continue
        before, _, rest = text.partition(begin)
        text = before + begin + "\n".join(lines) + "\n" + rest[rest.index(end):]
    text, mistaken = inline.replace_numbers(text)
    return text, wrong + [f"{expression}: {why}" for expression, why in mistaken]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    wrong, of_texts = [], blocks()
    texts = {*of_texts, *(str(path.relative_to(ROOT)) for path in (ROOT / "exercises").rglob("*.md"))}
    new = {name: brought_up_to_date((ROOT / name).read_text(), of_texts.get(name, {})) for name in sorted(texts)}
    new["results/h200/scaling.svg"] = scaling_table.picture(RESULTS / "scaling.tsv"), []
    for name, (text, mistaken) in new.items():
        path = ROOT / name
        wrong += [f"{name}: {words}" for words in mistaken]
        if path.is_file() and path.read_text() == text:
            continue
        if arguments.check:
            wrong.append(f"{name}: its numbers are not the measured ones; run `make tables`")
        else:
            path.write_text(text)
            print(f"{name}: written")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
