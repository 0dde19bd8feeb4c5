"""The catalogue of mistakes (validate/explain/mistakes), in words for a whole class."""

import re

from labtools.files import ROOT

ENTRY = re.compile(r'^ +\{"([a-z0-9_]{4,})",(?=\s*(?:Strength::|kForbidden|kHarmless))', re.MULTILINE)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
LITERALS = re.compile(rf"(?:{LITERAL.pattern}\s*)+")
CHOICE = re.compile(r"\{\?[^{}|]*\|([^{}|]*)(?:\|([^{}|]*))?\}")
WORDS = {"n": "n", "wrong_pass": "", "where": "the boundary", "does": "reads or writes", "array": "an array",
         "kernel": "a kernel", "what": "reads or writes", "named": "outside of an array", "place": "shared memory",
         "left_out": "the sweep or the copy leaves out points, and old values stay there", "points": "some points",
         "lines": "some rows or columns", "columns": "some columns", "rows": "some rows", "are": "are", "have": "have",
         "hold": "holds", "letter": "x or y", "point": "another point", "call": "a call", "sum": "the sum",
         "name": "a variable", "who": "", "same": "i and j come from one index",
         "cause": "a root, a square or a divisor is missing",
         "entry": "an entry of the tile", "begin": "after", "pass": "a pass", "target": "memory",
         "said": "an exchange with a rank that is not there", "asked": "what adds up the squares"}
# Where only the words of one program say anything.
OWN = {"block_of_another_shape": "cub::BlockReduce is made for a block of another shape than the launch gives",
       "index_outside_of_partial_sums": "A kernel reads or writes outside of the array of partial sums",
       "race": "Two runs give different fields: a race",
       "race_in_a_pass": "In a pass of several sweeps two runs give different fields: a race",
       "race_with_a_ring_or_streams": "Two runs give different fields: a race of rows that arrive while others are used",
       "residual_of_a_cycle": "The field is right, and the residual of a cycle has another formula",
       "row_outside_of_the_slab": "A kernel reads or writes rows that the rank does not hold",
       "sum_is_not_set": "A kernel adds to a sum that nothing has set to 0 before",
       "sweep_reaches_no_point": "The sweep reaches no point: is its kernel launched?",
       "thread_without_a_point": "A thread without an interior point is not kept out",
       "too_few_bytes_are_allocated": "An allocation is too small for n * n floats",
       "update_of_a_constant": "A point becomes a constant",
       "update_of_a_point_beside": "A point becomes what another one should become",
       "update_reads_the_new_field": "The sweep reads the field that it writes",
       "wrong_update": "A point is not 0.25 of east, north, west and south each",
       "wrong_update_of_some_points": "Some rows or columns are not 0.25 of their four neighbours each"}
NOT_COMPILED, UNKNOWN = "does_not_compile", "unknown"


def choice(match):
    """Of two short alternatives both, of two long ones the first; what is only sometimes said is left out."""
    first, second = match.groups()
    if second is None:
        return ""
    return f"{first} or {second}" if len(first.split()) < 4 and len(second.split()) < 4 else first


def for_all(words):
    """The words of an entry without what is only known of one program."""
    words = re.sub(r",? at \{lines\},?", "", words.replace("{does} {where}", "{does} outside of"))
    words = words.replace("point {point}", "{point}")
    words = re.sub(r"\{(rows|lines|columns)\} wrong", r"{\1} are wrong", words)
    words = re.sub(r"\{(\w+)\}", lambda gap: WORDS.get(gap[1], "…"), words)
    while CHOICE.search(words):
        words = CHOICE.sub(choice, words)
    words = re.sub(r" ?\([^()]*…[^()]*\)|^at line … | (at|before) line …", "", words)
    words = re.sub(r"(…|\d) some ", r"\1 ", words.replace("line …", "a line"))
    return words.rstrip(" .:;,…") if len(re.findall(r"\w+", words)) > 3 else ""


def catalogue():
    """{name: sentence}. An entry without words of its own is said by its name."""
    found = {NOT_COMPILED: "It does not compile. Begin with the first error.",
             UNKNOWN: "The check names no cause. Begin with the points or the residuals that it says are wrong."}
    for path in sorted((ROOT / "validate/explain/mistakes").glob("*/*.cpp")):
        text = path.read_text(encoding="utf-8")
        for entry in ENTRY.finditer(text):
            name = entry[1]
            literals = LITERALS.search(text, entry.end())[0]  # the first ones after its name
            words = OWN.get(name) or for_all("".join(LITERAL.findall(literals)))
            if not words or words[0] in "…,:":  # the words before it are known of one program only
                words = f"{name.replace('_', ' ')}: {words.lstrip('…. ,:;')}".rstrip(": ")
            first = words.split()[0]
            found[name] = (words if re.search("[_.A-Z]", first) else words[0].upper() + words[1:]) + "."
    return found
