#!/usr/bin/env bash
# scripts/publish/slides.py makes a page of each lecture that loads nothing, with the measured numbers and the pictures in it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 cmark-gfm
[[ -d $source_dir/exercises/slides ]] || skip "there are no slides here"
make_temp

LAB_BUILD_DIR="$temp/the build" run "$source_dir/scripts/publish/slides.py"
expect_status 0 "all lectures"
lectures=0
for file in "$source_dir"/exercises/slides/*.md; do
  lectures=$((lectures + 1))
  page="$temp/the build/slides/$(basename "$file" .md).html"
  [[ -f $page ]] || { fail "$file: there is no page"; continue; }
  [[ $(grep -c '<section>' "$page") == $(($(grep -cx -- --- "$file") + 1)) ]] || fail "$page: another number of slides"
  if grep -nE 'https?://|src="[^d]|<!--' "$page"; then fail "$page: loads something, or has comments"; fi
  # Readable from the last row: a slide has few lines, and code few columns.
  awk '/^---$/ { lines = 0 } NF && !/^<!--/ && ++lines > 13 { print FILENAME ":" FNR ": too many lines"; bad = 1 }
    /^```/ { code = !code } code && length($0) > 60 { print FILENAME ":" FNR ": too long"; bad = 1 }
    END { exit bad }' "$file" || fail "$file: too much on a slide"
done

# The teachers' page names slides that there are.
named=0
while IFS=: read -r deck title; do
  named=$((named + 1))
  grep -qxF "## $title" "$source_dir/exercises/slides/$deck"_*.md || fail "TEACHING.md: deck $deck has no slide '$title'"
done < <(grep -oE 'deck [0-9]{2}, [^)]*' "$source_dir/exercises/TEACHING.md" |
  awk -F '*' '{ for (k = 2; k < NF; k += 2) print substr($1, 6, 2) ":" $k }')
((named)) || fail "TEACHING.md names no slide: the test is at fault"

# lecture FILE: the page of one.
lecture() {
  run python3 -c 'import pathlib, sys; sys.path.insert(0, sys.argv[1]); import slides; print(slides.lecture(pathlib.Path(sys.argv[2]))[0])' \
    "$source_dir/scripts/publish" "$temp/$1"
}
printf '# T <i>\n\n<!-- a note <b> -->\n---\n## N\n\n<!--= ladder["03"].n | .4 -->1<!--=-->\n' >"$temp/small.md"
lecture small.md
expect '<title>T &lt;i&gt;</title>' "the title should be escaped"
expect '<aside>a note &lt;b&gt;</aside>' "the notes should be there"
expect '2,048' "a number should be that of the table"
printf '<!--= ladder["03"].none -->1<!--=-->\n' >"$temp/wrong.md"
lecture wrong.md
expect '/wrong\.md: ladder\["03"\]\.none: .* is no number$' "a number that there is not"

finish "$lectures lectures"
