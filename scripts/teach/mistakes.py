"""The catalogue of mistakes (validate/explain/mistakes), in words for a whole class."""

import re

import labtools_here  # noqa: F401
from labtools.files import ROOT

ENTRY = re.compile(r'^ +\{"([a-z0-9_]+)",([^"{}]*)((?:"(?:[^"\\]|\\.)*"\s*)*)', re.MULTILINE)
CHOICE = re.compile(r"\{\?[^{}|]*\|([^{}|]*)(?:\|([^{}|]*))?\}")
WORDS = {"n": "n", "sweep": "the sweep", "copy": "the copy", "host": "main", "wrong_pass": "",
         "where": "the boundary", "does": "reads or writes", "array": "an array"}
NOT_COMPILED, UNKNOWN = "does_not_compile", "unknown"


def choice(match):
    """Of two short alternatives both, of two long ones the first; what is only sometimes said is left out."""
    first, second = match.groups()
    if second is None:
        return ""
    return f"{first} or {second}" if len(first.split()) < 4 and len(second.split()) < 4 else first


def for_all(words):
    """The words of an entry without what is only known of one program."""
    words = words.replace("{does} {where}", "{does} outside of")
    words = re.sub(r"\{(\w+)\}", lambda gap: WORDS.get(gap[1], "…"), words)
    while CHOICE.search(words):
        words = CHOICE.sub(choice, words)
    words = re.sub(r" ?\([^()]*…[^()]*\)|^at line … | (at|before|around) line …", "", words)
    words = words.replace("line …", "a line")
    return re.sub(r"…(?: ?…)+", "…", words).rstrip(" .:;,…") if len(re.findall(r"\w+", words)) > 3 else ""


def catalogue():
    """{name: sentence}. An entry without words of its own is said by its name."""
    found = {NOT_COMPILED: "It does not compile. Begin with the first error.",
             UNKNOWN: "The check names no cause. Begin with the points or the residuals that it says are wrong."}
    for path in sorted((ROOT / "validate/explain/mistakes").glob("*/*.cpp")):
        for name, _, literals in ENTRY.findall(path.read_text(encoding="utf-8")):
            words = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals)).replace('\\"', '"')
            words = for_all(words)
            if not words or words[0] in "…,:":  # the words before it are known of one program only
                words = f"{name.replace('_', ' ')}: {words.lstrip('…. ,:;')}".rstrip(": ")
            first = words.split()[0]
            found[name] = (words if "_" in first else words[0].upper() + words[1:]) + "."
    return found
