#!/usr/bin/env python3
"""Writes one HTML page of all that has been measured: build/report.html. It opens from a file, and loads nothing.

The ladder, the roofline, what is known of each kernel, the scaling and the bandwidth come from results/local if
they have been measured on this machine, else from results/h200; the page says which. The last section is the
learner's own: what `make predict`, `make check` and `make progress` have kept.

  OUT=FILE       another file
  RESULTS=DIR    tables of that folder alone; what it has no table of is left out
Exit: 0 written, 1 it cannot be written, 2 bad usage.
"""

import datetime
import os
import pathlib

import labtools_here  # noqa: F401
from labtools.files import BUILD, RESULTS, ROOT, by_cycles, steps
from labtools.process import fail, must_write
from page.own import own_section
from page.parts import find_table, style, text, whole
from page.sections import (bandwidth_section, kernels_section, ladder_section, roofline_section, scaling_section,
                           solution_section)


def page(sections, tiles, about):
    """The page: its sections [(name, title, lead, HTML)], and what it says in tiles."""
    summary = "".join(f"<div>{text(words)}<br><b>{text(value)}</b><br>{text(where)}</div>" for words, value, where in tiles)
    links = "".join(f'<a href="#{name}">{text(title)}</a>' for name, title, *_ in sections)
    return whole(
        title="The Jacobi porting lab: report", style=f"<style>{style('report')}</style>",
        header=f"<h1>From a serial code to the GPU, step by step</h1>\n<p>{text(about)}</p>\n<nav>{links}</nav>" +
               (f'<div class="tiles">{summary}</div>' if summary else ""),
        body="".join(f'<section id="{name}"><h2>{text(title)}</h2><p class="lead">{text(lead)}</p>{content}</section>'
                     for name, title, lead, content in sections),
        footer="Made by <code>make report</code>. Nothing here is loaded from elsewhere. 1 GB = 10⁹ bytes.")


def main():
    results, out = os.environ.get("RESULTS"), pathlib.Path(os.environ.get("OUT") or BUILD / "report.html")
    if results and not os.path.isdir(results):
        fail(f"RESULTS={results}: there is no such folder", 2)

    listed = [step for step in steps() if not by_cycles(step.name)]
    folders = [pathlib.Path(results)] if results else [ROOT / "results/local", RESULTS]
    ladder, kernels, bandwidth, scaling = (find_table(folders, f"{name}.tsv")
                                           for name in ("ladder", "kernels", "bandwidth", "scaling"))
    # What was counted on one machine is held against that machine's ceilings.
    beside = [kernels.path.parent] if kernels else folders
    ceilings, clinic = (find_table(beside, f"{name}.tsv") for name in ("bandwidth", "clinic"))

    experiments = find_table([ladder.path.parent] if ladder else folders, "experiments.tsv")
    tiles, sections = [], []
    titles = {step.name: step.title for step in listed}
    for name, title, lead, section, table, *more in (
            ("ladder", "The ladder", "What each step bought.", ladder_section, ladder, listed, tiles),
            ("solution", "The time to the solution", "Ask first whether a kernel should run so often.",
             solution_section, ladder, experiments),
            ("roofline", "The roofline", "How near each kernel comes to what the machine can do.",
             roofline_section, kernels, ceilings, titles, clinic),
            ("kernels", "The kernels", "What the profiler knows of them.", kernels_section, kernels, ceilings),
            ("scaling", "Several GPUs", "How steps 14 and 15 scale.", scaling_section, scaling),
            ("bandwidth", "The machine's own speed", "The ceilings that everything is compared with.",
             bandwidth_section, bandwidth)):
        try:
            if table:
                sections.append((name, title, lead, section(table, *more)))
        except (KeyError, ValueError) as error:
            fail(f"{table.name()}: is not what it should be: {error!r}")
    sections.append(("own", "Your own steps",
                     "Your predictions, times and kernels, compared with the measured ones and the solutions.",
                     own_section()))
    if ladder:
        tiles.append(("measured on", ladder.fact("gpu", "no GPU").replace("NVIDIA ", ""),
                      f"{ladder.fact('date', 'no date')}, {ladder.name().rpartition('/')[0]}"))
    tables = [table for table in (ladder, kernels, scaling, bandwidth) if table]
    if ceilings and bandwidth and ceilings.path != bandwidth.path:
        tables.append(ceilings)
    about = f"The Jacobi porting lab, as far as it has been measured; written on {datetime.date.today()}. "
    published = [table for table in tables if table.path.parent == RESULTS]
    if published and not results:
        which, here = ("Times", "nothing") if len(published) == len(tables) else ("Some times", "not everything")
        about += (f"{which} and counts are the published ones of results/h200 ({published[0].fact('gpu')}): {here} has been "
                  "measured here, in results/local.")
    must_write(out, page(sections, tiles, about))
    print(out)


if __name__ == "__main__":
    main()
