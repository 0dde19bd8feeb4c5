#!/usr/bin/env bash
# scripts/publish/slides.py makes a page of each lecture that loads nothing, with the measured numbers and the pictures in it.
set -euo pipefail
# shellcheck source=scripts/tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 cmark-gfm
[[ -d $source_dir/exercises/slides ]] || skip "there are no slides here"
make_temp
slides() { run "$source_dir/scripts/publish/slides.py" --out "$temp/the slides" "$@"; }

slides
expect_status 0 "all lectures"
lectures=0
for file in "$source_dir"/exercises/slides/*.md; do
  lectures=$((lectures + 1))
  page="$temp/the slides/$(basename "$file" .md).html"
  [[ -f $page ]] || { fail "$file: there is no page"; continue; }
  [[ $(grep -c '<section>' "$page") == $(($(grep -cx -- --- "$file") + 1)) ]] || fail "$page: another number of slides"
  if grep -nE 'https?://|src="[^d]|<!--' "$page"; then fail "$page: loads something, or has comments"; fi
  # Readable from the last row: a slide has few lines, and code few columns.
  awk '/^---$/ { lines = 0 } NF && !/^<!--/ && ++lines > 13 { print FILENAME ":" FNR ": too many lines"; bad = 1 }
    /^```/ { code = !code } code && length($0) > 60 { print FILENAME ":" FNR ": too long"; bad = 1 }
    END { exit bad }' "$file" || fail "$file: too much on a slide"
done

printf '# T <i>\n\n<!-- a note <b> -->\n---\n## N\n\n<!--= ladder["03"].n | .4 -->1<!--=-->\n' >"$temp/small.md"
slides "$temp/small.md"
page="$temp/the slides/small.html"
grep -q '<title>T &lt;i&gt;</title>' "$page" || fail "the title should be escaped"
grep -q '<aside>a note &lt;b&gt;</aside>' "$page" || fail "the notes should be there"
grep -q '2,048' "$page" || fail "a number should be that of the table" "$(<"$page")"
printf '<!--= ladder["03"].none -->1<!--=-->\n' >"$temp/wrong.md"
slides "$temp/wrong.md"
expect '^slides\.py: .*/wrong\.md: ladder\["03"\]\.none: .* is no number$' "a number that there is not"
slides "$temp/none.md"
expect_status 2 "no file"
expect '^slides\.py: .*/none\.md: there is no such file$' "no file"

finish "$lectures lectures"
