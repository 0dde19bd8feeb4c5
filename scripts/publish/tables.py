#!/usr/bin/env python3
"""Writes measured numbers into README.md and the guides: no number there is typed by hand.

Each text has pairs of markers, and what stands between them comes from a file:
    <!-- ladder:begin -->  ...  <!-- ladder:end -->      the whole table (README.md), results/h200/ladder.tsv
    <!-- measured:begin -->  ...  <!-- measured:end -->  one step's (exercises/NN_name/README.md), all of the files below,
                                                         and the others of results/h200
    <!-- profile:begin --> ... <!-- profile:end -->      what `make nsys` or `make ncu` print of a report in results/h200/profiles
    <!-- scaling:begin --> ... <!-- scaling:end -->      (steps 14 and 15) results/h200/scaling.tsv;
                                                         scaling.svg is drawn next to it. README.md: some words of it
    <!-- counters:begin --> ... <!-- counters:end -->    (lab/cpu/README.md) results/h200/counters.tsv
    <!-- clinic:begin --> ... <!-- clinic:end -->        (exercises/clinic/README.md) results/h200/clinic.tsv
    <!-- tracer:begin --> ... <!-- tracer:end -->        (lab/trace/README.md) results/h200/tracer.tsv
    <!-- mistakes:begin --> ... <!-- mistakes:end -->    (validate/tests/bank/README.md)
                                                     validate/tests/bank/found_on_cpu/09_shared_tile.tsv
    <!--= ladder["04"].ms | ms -->57.7 ms<!--=-->    (any text) one number within a sentence: scripts/publish/blocks/inline.py

    tables.py --write    bring the texts up to date
    tables.py --check    exit 1, naming the texts, if they are not
"""

import argparse
import re
import sys

import labtools_here  # noqa: F401
from blocks import inline, ladder, measured, scaling, tools
from blocks.published import CLINIC, COUNTERS, LADDER, MISTAKES, PROFILES, SCALING, TRACER, WRITTEN_BY
from labtools import scaling_table
from labtools.files import ROOT, STEPS


def replace_block(text, name, lines):
    """text with what stands between the markers of `name` replaced; None if there are no markers."""
    pattern = re.compile(rf"(<!-- {name}:begin -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
    if not pattern.search(text):
        return None
    return pattern.sub(lambda match: match.group(1) + "\n".join(lines) + "\n" + match.group(2), text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    for needed, written_by in WRITTEN_BY.items():
        if not needed.is_file():
            sys.exit(f"tables.py: {needed.relative_to(ROOT)} is missing: `{written_by}` writes it")

    facts, serial, rows = ladder.read_ladder()
    cpu = ROOT / "lab/cpu/README.md"
    blocks = [(ROOT / "README.md", "ladder", LADDER, ladder.ladder_block(facts, serial, rows)),
              (ROOT / "README.md", "scaling", SCALING, scaling.scaling_words()),
              (ROOT / "lab/trace/README.md", "tracer", TRACER, tools.tracer_block()),
              (cpu, "counters", COUNTERS, tools.counters_block()),
              (ROOT / "exercises/clinic/README.md", "clinic", CLINIC, tools.clinic_block()),
              (ROOT / "validate/tests/bank/README.md", "mistakes", MISTAKES, tools.mistakes_block())]
    for row in rows:
        blocks.append((ROOT / "exercises" / row["step"] / "README.md", "measured", LADDER, measured.measured_block(facts, row)))

    for step in STEPS.values():
        guide = ROOT / "exercises" / step / "README.md"
        if guide.is_file() and step not in {row["step"] for row in rows}:
            several = ", as one rank on one GPU. On several:" if "<!-- scaling:begin -->" in guide.read_text() else "."
            blocks.append((guide, "measured", LADDER, [f"Not in the ladder yet{several}"]))
        if guide.is_file() and "<!-- profile:begin -->" in guide.read_text():
            blocks.append((guide, "profile", PROFILES, tools.profile_block(step)))
        if guide.is_file() and (step[:2] == "15" or "<!-- scaling:begin -->" in guide.read_text()):
            blocks.append((guide, "scaling", SCALING, scaling.scaling_block(step)))

    wrong = []
    drawn, path = scaling_table.picture(SCALING), SCALING.with_suffix(".svg")
    if not path.is_file() or path.read_text() != drawn:
        if arguments.check:
            wrong.append(f"{path.relative_to(ROOT)}: is not drawn from {SCALING.relative_to(ROOT)}; run `make tables`")
        else:
            scaling_table.plot(path.parent)

    def bring_up_to_date(path, text, new, stale):
        if new != text and arguments.check:
            wrong.append(f"{path.relative_to(ROOT)}: {stale}; run `make tables`")
        elif new != text:
            path.write_text(new)
            print(f"{path.relative_to(ROOT)}: written")

    for path, name, source, lines in blocks:
        text = path.read_text() if path.is_file() else ""
        new = replace_block(text, name, lines)
        if new is None:
            wrong.append(f"{path.relative_to(ROOT)}: has no <!-- {name}:begin --> ... <!-- {name}:end -->")
        else:
            bring_up_to_date(path, text, new, f"its numbers are not those of {source.relative_to(ROOT)}")
    for path in [ROOT / "README.md", *sorted((ROOT / "exercises").rglob("*.md"))]:
        text = path.read_text()
        new, mistaken = inline.replace_numbers(text)
        wrong += [f"{path.relative_to(ROOT)}: {expression}: {why}" for expression, why in mistaken]
        bring_up_to_date(path, text, new, "a number within its sentences is not the measured one")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
