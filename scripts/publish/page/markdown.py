"""Markdown as HTML, for the pages and the slides."""

import shutil
import subprocess

from labtools.process import fail


def need_cmark():
    if not shutil.which("cmark-gfm"):
        fail("cmark-gfm, which reads Markdown, is missing: package cmark-gfm", 77)


def html_of(markdown):
    return subprocess.run(["cmark-gfm", "--unsafe", "-e", "table"], input=markdown, capture_output=True, text=True,
                          encoding="utf-8", check=True).stdout
