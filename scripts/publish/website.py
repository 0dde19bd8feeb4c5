#!/usr/bin/env python3
"""Writes the guides and the pages that they link to as HTML: build/site/index.html. It opens from a file, and loads
nothing from elsewhere.

  website.py [HANDOUT]    of a handout, in its folder site

The report is among the pages. A handout has none. Links to files that are no pages become plain words. The pages are
those of one text, so the same texts give the same bytes.
Exit: 0 written, 1 it cannot be written, 77 cmark-gfm, which reads Markdown, is missing.
"""

import html
import os
import pathlib
import posixpath
import re
import shutil
import sys

import labtools_here  # noqa: F401
from labtools.files import BUILD, ROOT, steps
from labtools.guide import without_comments
from labtools.process import fail, run
from page.parts import html_of, need_cmark, style, whole

START, COURSE = "README.md", "exercises/README.md"


class Page:
    """One text, and the HTML of its body."""

    def __init__(self, lab, path):
        self.path = path
        self.folder = posixpath.dirname(path)
        markdown = without_comments((lab / path).read_text(encoding="utf-8"))
        self.sections, self.title = [], path

        def heading(match):
            level, inner = match.groups()
            title = html.unescape(re.sub(r"<[^>]*>", "", inner))  # without tags
            # As GitHub names it; no other heading of the page has this name.
            name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            if level == "1":
                self.title = title
            if level == "2":
                self.sections.append((name, title))
            return f'<h{level} id="{html.escape(name)}">{inner}</h{level}>'

        self.body = re.sub(r"<h([1-6])>(.*?)</h\1>", heading, html_of(markdown), flags=re.DOTALL)
        self.body = re.sub(r"<table>.*?</table>", r'<div class="wide">\g<0></div>', self.body, flags=re.DOTALL)
        # GitHub leaves Markdown in a summary as it is; here code is code.
        self.body = re.sub(r"<summary>.*?</summary>", lambda match: re.sub(r"`([^`]+)`", r"<code>\1</code>", match[0]),
                           self.body, flags=re.DOTALL)

    def target(self, address):
        """The path, from the lab's top, and the anchor of a link; None if it leads out of the lab."""
        if re.match(r"[a-z]+:|#", address):
            return None
        path, _, anchor = html.unescape(address).partition("#")
        return posixpath.normpath(posixpath.join(self.folder, path)), anchor

    def linked(self):
        """The texts that it links to."""
        found = filter(None, map(self.target, re.findall(r'<a href="([^"]*)"', self.body)))
        return [path for path, _ in found if path.endswith(".md")]

    def file(self):
        """Where it goes in the site: in the same place as its text."""
        if self.path.endswith("README.md"):
            return posixpath.join(self.folder, "index.html")
        return self.path[:-3] + ".html"

    def way_to(self, file):
        """The link from here to another file of the site."""
        return html.escape(posixpath.relpath(file, self.folder or "."))


def collect(lab, guides):
    """The pages: the start, the course, the guides, and whatever these link to."""
    pages, waiting = {}, [START, COURSE, *guides]
    for path in waiting:  # which grows
        if path not in pages and (lab / path).is_file():
            pages[path] = Page(lab, path)
            waiting += pages[path].linked()
    return pages


def with_links(page, pages, pictures):
    """The page's body, its links to texts as links to pages. Notes the pictures that it shows."""

    def link(match):
        address, inner = match.groups()
        target = page.target(address)
        if target is None:
            return match[0]
        path, anchor = target
        if path not in pages:
            return inner
        return f'<a href="{page.way_to(pages[path].file())}{"#" + html.escape(anchor) if anchor else ""}">{inner}</a>'

    def picture(match):
        path, _ = page.target(match[1])
        pictures.add(path)
        # On a phone it is better seen by itself.
        return f'<a class="picture" href="{page.way_to(path)}">{match[0]}</a>'

    body = re.sub(r'<a href="([^"]*)">(.*?)</a>', link, page.body, flags=re.DOTALL)
    return re.sub(r'<img src="([^"]*)"[^>]*>', picture, body)


def navigation(page, pages, guides, report):
    """The links at the top: start, course, report, steps."""

    def entry(file, text, title=""):
        here = ' aria-current="page"' if file == page.file() else ""
        title = f' title="{html.escape(title)}"' if title else ""
        return f'<a href="{page.way_to(file)}"{here}{title}>{text}</a>'

    links = [entry("index.html", "Start"), entry(pages[COURSE].file(), "Course")]
    if report:
        links.append(entry("report.html", "Report"))
    numbers = [entry(pages[path].file(), posixpath.basename(pages[path].folder)[:2], pages[path].title)
               for path in guides]
    return f'<p>{" ".join(links)}</p> <p class="steps"><span>Steps</span> {" ".join(numbers)}</p>'


def contents(page):
    """Links to the sections of a page that has several."""
    if len(page.sections) < 3:
        return ""
    return '<nav class="contents">' + " ".join(f'<a href="#{html.escape(name)}">{html.escape(title)}</a>'
                                               for name, title in page.sections) + "</nav>\n"


def neighbours(page, pages, row):
    """Links to the page before and the page after, if it is one of a row."""
    if page.path not in row:
        return ""
    at = row.index(page.path)
    near = [("previous", path) for path in row[max(0, at - 1):at]] + [("next", path) for path in row[at + 1:at + 2]]
    links = (f'<a class="{name}" href="{page.way_to(pages[path].file())}"><small>{name.capitalize()}</small> '
             f'{html.escape(pages[path].title)}</a>' for name, path in near)
    return f'<nav class="neighbours">{" ".join(links)}</nav>'


def write_site(lab, out):
    """All of it, in the empty folder `out`; returns what to say of it."""
    guides = [f"exercises/{name}/README.md" for name, *_ in steps(lab)]
    pages = collect(lab, guides)
    row = [START, COURSE, *guides]
    report = (lab / "solutions").is_dir()
    if report:
        run([sys.executable, pathlib.Path(__file__).with_name("report.py")],
            env=os.environ | {"OUT": str(out / "report.html")})
    (out / "style.css").write_text(style("site"), encoding="utf-8")
    pictures = set()
    for page in pages.values():
        body = with_links(page, pages, pictures)
        above, first, below = body.partition("<h2 ")
        file = out / page.file()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(whole(
            title=html.escape(page.title), style=f'<link rel="stylesheet" href="{page.way_to("style.css")}">',
            header=f"<nav>{navigation(page, pages, guides, report)}</nav>",
            body=above + contents(page) + first + below, footer=neighbours(page, pages, row)), encoding="utf-8")
    for picture in sorted(pictures):
        (out / picture).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(lab / picture, out / picture)
    return f"{len(pages)} pages{' with the report' if report else ''}"


def main():
    handout = pathlib.Path(sys.argv[1]).absolute() if sys.argv[1:] else None
    lab, out = (handout, handout / "site") if handout else (ROOT, BUILD / "site")
    need_cmark()
    aside = out.with_name(".site.partial")
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        said = write_site(lab, aside)
        shutil.rmtree(out, ignore_errors=True)
        aside.rename(out)
    except OSError as error:
        fail(f"{error.filename or out}: {error.strerror}")
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    print(f"{out / 'index.html'}: {said}")


if __name__ == "__main__":
    main()
