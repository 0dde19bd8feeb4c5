#!/usr/bin/env python3
"""Makes one HTML file per lecture of exercises/slides/: build/slides/NAME.html. It opens from a file, and
loads nothing.

A line --- separates two slides. A comment is a note for the speaker. Numbers are those of the tables
(blocks/inline.py). In the browser: arrow keys or blanks turn the pages, n shows the notes, and printing gives a page
per slide.

Exit: 0 written, 1 it cannot be written, 2 bad usage, 77 cmark-gfm, which reads Markdown, is missing.
"""

import base64
import html
import pathlib
import re
import string

import labtools_here  # noqa: F401
from blocks.inline import MARKED, replace_numbers
from labtools.files import BUILD, ROOT
from labtools.process import fail, must_write
from page.parts import html_of, need_cmark

TEMPLATE = pathlib.Path(__file__).resolve().parent / "page/slides.html"
NOTE = re.compile(r"<!--(.*?)-->", re.DOTALL)
PICTURE = re.compile(r'src="([^":]+\.svg)"')


def slide(markdown, folder):
    """The HTML of one slide, with its notes."""
    notes = " ".join(" ".join(note.split()) for note in NOTE.findall(markdown))
    body = html_of(NOTE.sub("", markdown))

    def inlined(match):
        data = (folder / html.unescape(match[1])).read_bytes()
        return f'src="data:image/svg+xml;base64,{base64.b64encode(data).decode("ascii")}"'

    return f"<section>{PICTURE.sub(inlined, body)}<aside>{html.escape(notes)}</aside></section>"


def lecture(path):
    text, wrong = replace_numbers(path.read_text(encoding="utf-8"))
    if wrong:
        fail(f"{path}: {wrong[0][0]}: {wrong[0][1]}")
    slides = [slide(part, path.parent) for part in re.split(r"^---$", MARKED.sub(r"\2", text), flags=re.MULTILINE)]
    title = re.search(r"^# (.*)$", text, re.MULTILINE)
    return string.Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=html.escape(title[1] if title else path.stem), slides="\n".join(slides)), len(slides)


def main():
    need_cmark()
    for path in sorted((ROOT / "exercises/slides").glob("*.md")):
        out = BUILD / f"slides/{path.stem}.html"
        page, count = lecture(path)
        must_write(out, page)
        print(f"{out}: {count} slides")


if __name__ == "__main__":
    main()
