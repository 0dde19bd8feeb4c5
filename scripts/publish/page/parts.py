"""Parts of the pages: Markdown as HTML, figures, tables."""

import html
import pathlib
import shutil
import string
import subprocess

from labtools.charts import STYLE
from labtools.numbers import number, significant
from labtools.process import fail
from labtools.table import Table

FOLDER = pathlib.Path(__file__).parent


def style(page):
    return STYLE + "".join((FOLDER / f"{name}.css").read_text(encoding="utf-8") for name in ("base", page))


def whole(**parts):
    return string.Template((FOLDER / "page.html").read_text(encoding="utf-8")).substitute(parts)


def need_cmark():
    if not shutil.which("cmark-gfm"):
        fail("cmark-gfm, which reads Markdown, is missing: package cmark-gfm", 77)


def html_of(markdown):
    return subprocess.run(["cmark-gfm", "--unsafe", "-e", "table"], input=markdown, capture_output=True, text=True,
                          encoding="utf-8", check=True).stdout


def text(words):
    return html.escape(str(words), quote=True)


def find_table(folders, name):
    """The first of the folders' tables that has rows; None if there is none. What was measured without a GPU, some steps on
    the CPU, gives way to what was published."""
    for folder in folders:
        if (folder / name).is_file():
            table = Table(folder / name)
            if table.rows and (table.fact("gpu") != "none" or folder == folders[-1]):
                return table
    return None


def figure(chart):
    return f'<figure class="chart">{chart.svg()}</figure>'


def missing(what, how):
    return f'<p class="missing"><strong>Not measured yet:</strong> {text(what)} <code>{text(how)}</code> does.</p>'


def source(table):
    """Which machine, when, and which file."""
    more = "".join(f", {words}{table.facts[key]}" for key, words in (
        ("compute_capability", "compute capability "), ("cpu", "CPU "), ("ncu", "ncu ")) if table.facts.get(key))
    words = (f"{table.fact('gpu', 'no GPU')}, CUDA {table.fact('cuda')}, driver {table.fact('driver')}{more}, "
             f"{table.fact('date', 'no date')} ({table.name()})")
    return f'<p class="source">Measured on {text(words)}</p>'


def cell(value, unit="", digits=3):
    value = number(value)
    return "–" if value is None else text(significant(value, digits) + unit)


def column(title, key, write=cell):
    """A column of data_table() that shows the cells `key`."""
    return title, lambda row: write(row.get(key))


def data_table(title, columns, rows):
    """A table: [(title, row -> HTML)]."""
    head = "".join(f"<th>{text(name)}</th>" for name, _ in columns)
    body = "".join("<tr>" + "".join(f'<td data-title="{text(name)}"><span>{of(row)}</span></td>'
                                    for name, of in columns) + "</tr>" for row in rows)
    return (f"<details open><summary>{text(title)}</summary><table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table></details>")
