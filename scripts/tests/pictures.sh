#!/usr/bin/env bash
# The guides' pictures can be read: well formed, described, small, on their own, with text that is large enough; and
# they say what the solutions do. Each is its own source: edit the SVG.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3
make_temp

lab=$temp/lab
cat >"$temp/look.py" <<'END'
"""look.py FILE...: says what makes an SVG hard to read, or no picture on its own."""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
# On a phone, 320 px wide, text should be 8 px high. These are too wide for that: one turns the phone.
WIDE = {"thread_map_before", "thread_map_after", "warp_sectors", "reduction_tree", "tile_with_halo", "page_migration", "one_page"}
SHAPES = {SVG + name for name in ("svg", "title", "desc", "rect", "path", "circle", "text")}


def look(path):
    text = path.read_text()
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        yield f"is not well formed: {error}"
        return
    if len(text.encode()) >= 30000:
        yield "is 30 KB or larger"
    for name in ("title", "desc"):
        if not root.findtext(SVG + name, "").strip():
            yield f"has no <{name}>"
    if re.search(r"href|url\(|@import|://(?!www\.w3\.org/2000/svg\")", text):
        yield "refers to something outside"
    for tag in {element.tag for element in root.iter()} - SHAPES:
        yield f"has a {tag}"
    values = [(name, value) for element in root.iter() for name, value in element.attrib.items()]
    colours = {value for name, value in values if name in ("fill", "stroke")} - {"none", "#fff"}
    if len(colours) > 5:
        yield f"has more than five colours: {' '.join(sorted(colours))}"
    for family in {value for name, value in values if name == "font-family"} - {"sans-serif", "monospace"}:
        yield f"has the font {family}"
    width, height = float(root.get("width")), float(root.get("height"))
    if root.get("viewBox") != f"0 0 {root.get('width')} {root.get('height')}":
        yield "is not as large as its viewBox"
    boxes = []
    for element in root.iter(SVG + "text"):
        size = float(element.get("font-size", root.get("font-size")))
        if size < 11:
            yield f"has text of {size:g} px: {element.text}"
        if size * 320 < 8 * width and path.stem not in WIDE:
            yield f"has text of {size:g} px in {width:g}, too small on a phone: {element.text}"
        # About what a wide font (DejaVu) takes.
        wide = len(element.text) * size * (0.66 if element.get("font-weight") else 0.58)
        left = float(element.get("x")) - {"start": 0, "middle": 0.5, "end": 1}[element.get("text-anchor", "start")] * wide
        base = float(element.get("y"))
        box = (left, base - 0.75 * size, left + wide, base, element.text)
        if box[0] < 4 or box[1] < 4 or box[2] > width - 4 or box[3] > height - 4:
            yield f"has text that leaves it: {element.text}"
        for other in boxes:
            if box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]:
                yield f"has text over text: {other[4]} | {element.text}"
        boxes.append(box)
    if not boxes:
        yield "has no text at all"


wrong = [f"{path.name} {what}" for path in map(pathlib.Path, sys.argv[1:]) for what in look(path)]
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
END
run python3 "$temp/look.py" "$source_dir"/exercises/pictures/*.svg
expect_status 0 "the pictures of this tree"

# The looking itself: each of these is noticed.
run python3 "$temp/look.py" "$source_dir/exercises/pictures/two_streams.svg"
expect_status 0 "a picture that nobody touched"
while IFS='|' read -r edit what; do
  sed -E "$edit" "$source_dir/exercises/pictures/two_streams.svg" >"$temp/bad.svg"
  run python3 "$temp/look.py" "$temp/bad.svg"
  expect_status 1 "sed '$edit'"
  expect "^bad.svg $what" "sed '$edit'"
done <<'END'
s;</svg>;;|is not well formed
s;<title.*</title>;;|has no <title>
s;(<desc[^>]*>).*</desc>;\1</desc>;|has no <desc>
s;</svg>;<image href="a.png"/>&;|refers to something outside
s;</svg>;<image href="a.png"/>&;|has a .*image
s;sans-serif;Comic Sans;|has the font Comic Sans
s;font-size="14";font-size="10";|has text of 10 px
s;font-size="14";font-size="11";|has text of 11 px in 480, too small on a phone
s;</svg>;<rect fill="red"/>&;|has more than five colours
s;>time, not to scale[^<]*<;>time, not to scale, and a hundred words more, none of which has any room in this picture, nor in its margin<;|has text that leaves it
s;</svg>;<text x="20" y="28">over another</text>&;|has text over text
END

# What the drawings say of the program is what the program says.
while read -r step name picture; do
  value=$(sed -n "s/^constexpr int $name = \([0-9]*\);.*/\1/p" "$source_dir/solutions/$step"/jacobi.cu)
  [[ -n $value ]] || fail "solutions/$step has no $name: the test is at fault"
  grep -qE "$name = $value\b" "$source_dir/exercises/pictures/$picture.svg" ||
    fail "$picture.svg does not say $name = $value, as solutions/$step does"
done <<'END'
11_cuda_graph kCheckEvery launch_gaps
12_register_march kRows register_march
12_register_march kAhead register_march
13_temporal_blocking kLevels temporal_march
13_temporal_blocking kLevels strip_halo
END

# Guide 13 draws its rounds as it lists them: in which round each row arrives, and each sweep computes it.
cat >"$temp/rounds.py" <<'END'
"""rounds.py GUIDE SVG: prints what one of them says of a round and the other does not, as (column, row, round)."""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

guide, picture = map(pathlib.Path, sys.argv[1:])
listed = {(column, int(row), int(cells[0]))
          for cells in re.findall(r"^ *(\d+) +(\d+) +(\d+|-) +(\d+|-)", guide.read_text(), re.MULTILINE)
          for column, row in enumerate(cells[1:]) if row != "-"}
texts = list(ElementTree.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}text"))
rows = {text.get("y"): int(text.text[4:]) for text in texts if re.fullmatch(r"row \d+", text.text)}
boxes = [text for text in texts if re.fullmatch(r"round \d+", text.text)]
columns = sorted({int(text.get("x")) for text in boxes})
drawn = {(columns.index(int(text.get("x"))), rows[text.get("y")], int(text.text[6:])) for text in boxes}
print(*sorted(listed ^ drawn), sep="\n")
sys.exit(0 if drawn and listed == drawn else 1)
END
march=$source_dir/exercises/pictures/temporal_march.svg
run python3 "$temp/rounds.py" "$source_dir/exercises/13_temporal_blocking/README.md" "$march"
expect_status 0 "the rounds of guide 13, in its table and in its picture"
sed 's/>round 11</>round 10</' "$march" >"$temp/bad.svg"
run python3 "$temp/rounds.py" "$source_dir/exercises/13_temporal_blocking/README.md" "$temp/bad.svg"
expect_status 1 "a picture with other rounds"

# Each picture is shown by a guide, with words for those who cannot see it.
cat >"$temp/shown.py" <<'END'
"""shown.py EXERCISES: names the pictures that no guide shows, or that it shows without alt text."""
import pathlib
import re
import sys

exercises = pathlib.Path(sys.argv[1])
text = "\n".join(guide.read_text() for guide in sorted(exercises.glob("*/README.md")))
shown = dict((name, alt) for alt, name in re.findall(r"!\[([^\]]*)\]\(\.\./pictures/([^)]+)\)", text))
drawn = sorted(path.name for path in (exercises / "pictures").glob("*"))
wrong = [f"{name}: no guide shows it" for name in drawn if name not in shown]
wrong += [f"{name}: has no alt text" for name, alt in shown.items() if len(alt.split()) < 5]
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
END
run python3 "$temp/shown.py" "$source_dir/exercises"
expect_status 0 "the guides of this tree"
mkdir -p "$lab"
cp -r "$source_dir/exercises" "$lab"
sed -i 's;^!\[.*\](../pictures/strip_halo.svg)$;![](../pictures/strip_halo.svg);' "$lab"/exercises/13*/README.md
sed -i 's;../pictures/two_streams.svg;../pictures/no_streams.svg;' "$lab"/exercises/15*/README.md
run python3 "$temp/shown.py" "$lab/exercises"
expect_status 1 "guides without a picture, and without alt text"
expect "^two_streams.svg: no guide shows it" "a picture that no guide shows"
expect "^strip_halo.svg: has no alt text" "a picture without alt text"

finish "$(find "$source_dir/exercises/pictures" -name '*.svg' | wc -l) pictures"
