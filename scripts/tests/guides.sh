#!/usr/bin/env bash
# The guides: one shape, no link and no command that leads nowhere, short enough to be read. And the other pages'
# links.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
make_temp
export LC_ALL=C.UTF-8 # characters are counted, not bytes
cd "$source_dir"

# 1. Links between files, outside of code.
pages=$({ tracked_files && find exercises -maxdepth 2 -name README.md; } | grep '\.md$' | sort -u)
[[ -n $pages ]] || fail "there are no pages: the test is at fault"
while IFS= read -r page; do
  while IFS= read -r link; do
    target=${link%%#*}
    if [[ -n $target && ! -e $(dirname "$page")/$target ]]; then fail "$page: $link: no such file"; fi
  done < <(awk '/^ *```/ { code = !code; next } !code { gsub(/`[^`]*`/, ""); print }' "$page" |
    grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//' | grep -vE '^(https?|mailto):' || true)
  # A comment at a line's beginning ends the paragraph.
  if grep -nE '^ *<!--=' "$page"; then fail "$page: a line begins with the marker of a number: put a word before it"; fi
  # "255. How many ..." at a line's beginning is a new list. No list of ours has 40 entries.
  if grep -nE '^ *([4-9][0-9]|[0-9]{3,})[.] ' "$page"; then fail "$page: a line begins with a number that ends a sentence"; fi
done <<<"$pages"
# A row with more cells than its table's head loses the last ones in a browser.
# shellcheck disable=SC2086  # names without blanks
awk '/^ *```/ { code = !code }
  code || !/^\|/ { cells = 0; next }
  { row = $0; gsub(/<!--[^>]*-->|`[^`]*`|\\\|/, "", row); n = gsub(/\|/, "", row); if (!cells) cells = n }
  n != cells { print FILENAME ": a row of " n - 1 " cells below a head of " cells - 1 ": " $0 }' $pages >"$temp/cells"
[[ ! -s $temp/cells ]] || fail "tables:" "$(<"$temp/cells")"
# A terminal shows a fold, and a block of code, up to its end.
for page in exercises/*/README.md exercises/clinic/*/README.md; do
  awk '/^ *```/ { code = !code; next }
    code { next }
    /^<details/ { if (fold || !/^<details><summary>.*<\/summary> *$/) exit bad = 1; fold = 1 }
    /^<\/details> *$/ { fold = 0 }
    END { exit bad || fold || code }' "$page" || fail "$page: a fold or a block of code in it has no end"
done
# Code that a learner reads has a margin in a terminal of 80 columns. What a program has printed stays as it is.
# shellcheck disable=SC2046  # names without blanks
awk '/<!-- [a-z]+:(begin|end) -->/ { printed = /:begin/ }
  /^ *(> *)?```/ { code = !code; match($0, /^ */); fence = RLENGTH; next }
  { sub(/^ *> ?/, "") }
  code && !printed && length() - fence > 76 { print FILENAME ":" FNR ": " $0 }' \
  $(grep -E '^(README|exercises/)' <<<"$pages") >"$temp/wide"
[[ ! -s $temp/wide ]] || fail "code of more than 76 columns:" "$(<"$temp/wide")"

# 2. The guides.
cat >"$temp/sections" <<'END'
## Why
## Predict
## Task
## Check
## Hints
## What to look for
## Your predictions, and an H200
## Questions
## More
## Next
END
cat >"$temp/old_sections" <<'END'
## Why
## Task
## Predict, before you measure
## Build, run, check
## Profile
## What to look for
## Questions
## Hints
## Measured
## Elsewhere
## Read on
END
verbs=$(sed -n 's/^\([a-z]*\):.*/\1/p' Makefile)
# Those that the heads of the verbs name.
variables=$(grep -hE '^( *#|  [A-Z])' scripts/verbs/{,measure/}*.sh scripts/publish/*.{sh,py} scripts/teach/*.py | grep -oE '[A-Z_]+=' | tr -d = | sort -u)
steps=$(awk '/^[0-9]/ { print $1 }' lab/steps.tsv)
while IFS= read -r step; do
  guide=exercises/$step/README.md
  if [[ ! -f $guide ]]; then
    fail "$guide is missing"
    continue
  fi
  [[ $(head -n 1 "$guide") == "# $step: "* ]] || fail "$guide: its first line should be '# $step: ...'"
  sections=$temp/sections
  minutes='^\*[0-9]+ minutes \(core: [0-9]+\)\. Needs: .*\. After: .*\*$'
  if grep -q '^## Read on' "$guide"; then sections=$temp/old_sections minutes='^\*[0-9]+ minutes\. Needs: .*\. After: .*\*$'; fi
  grep -qE "$minutes" "$guide" || fail "$guide: the line of minutes and needs is missing"
  read -r all core < <(sed -nE 's/^\*([0-9]+) minutes \(core: ([0-9]+)\)\..*/\1 \2/p' "$guide") || true
  if [[ -n ${core:-} ]] && ! grep -qE "^\| \[${step%%_*}\].* \| $all \| $core \|" exercises/README.md; then
    fail "$guide: takes $all minutes, $core of them for its core, and exercises/README.md says something else"
  fi
  awk '/^ *```/ { code = !code } !code && /^## / && !/^## New here$/' "$guide" | diff "$sections" - >"$temp/diff" ||
    fail "$guide: its sections are not those of the others:" "$(<"$temp/diff")"
  [[ $(grep -c '<details>' "$guide") == "$(grep -c '</details>' "$guide")" ]] || fail "$guide: a <details> is not closed"
  # The tables of what was measured are looked up, not read, and what stands for a number is not seen.
  words=$(sed -E '/<summary>Measured on/,/<\/details>/d; /<!-- profile:begin -->/,/<!-- profile:end -->/d; s/<!--=([^-]|-[^-])*-->//g' "$guide" | wc -w)
  limit=3000
  if [[ $guide == */13_* ]]; then limit=3150; fi # seven evenings
  ((words <= limit)) || fail "$guide: $words words are more than 15 minutes of reading"
  # The measured block is a script's.
  while IFS= read -r line; do
    ((${#line} <= 120)) || fail "$guide: this line is longer than 120 characters:" "$line"
  done < <(awk '/(measured|scaling):begin/ { quiet = 1 } /(measured|scaling):end/ { quiet = 0 } !quiet' "$guide" |
    sed -E 's/<!--=([^-]|-[^-]|--[^>])*-->//g')

  # What it tells to type: verbs and variables of the Makefile, programs of steps that there are.
  while read -r make verb rest; do
    grep -qx "$verb" <<<"$verbs" || fail "$guide: $make $verb: the Makefile has no such verb"
    for word in $rest; do
      if [[ $word =~ ^([A-Z]+)= ]] && ! grep -qx "${BASH_REMATCH[1]}" <<<"$variables"; then
        fail "$guide: $make $verb $rest: no verb has a variable ${BASH_REMATCH[1]}"
      fi
      if [[ $word =~ ^STEP=(.*) && ${BASH_REMATCH[1]} != NN ]] && ! grep -q "^${BASH_REMATCH[1]}_" <<<"$steps"; then
        fail "$guide: $make $verb $rest: there is no such step"
      fi
    done
  done < <({
    awk '/^ *```/ { code = !code } code && /^ *make /' "$guide"
    # In a sentence it may go over the end of a line.
    awk -v RS='`' '/^make / { gsub(/\n/, " "); print }' "$guide"
  } | grep -oE 'make +[a-z]+( +[A-Z]+=[A-Za-z0-9,.]+)*')
  while IFS= read -r program; do
    grep -qx "$program" <<<"$steps" || fail "$guide: $program: no step has a program of that name"
  done < <(grep -oE 'build/bin/(exercise|solution)_[0-9a-z_]+' "$guide" |
    sed -E 's/.*(exercise|solution)_//; s/_cpu(_watched)?$//')
done <<<"$steps"

# 3. The course adds up the minutes of its steps.
awk -F '|' '
  function hours(m) { return int(m / 60) " hours" (m % 60 ? " and " m % 60 " minutes" : "") }
  /^\| \[[0-9][0-9]\]/ {
    all += $4
    core += $5
    if ($2 ~ /09/) print "That is " hours(all) " up to 09 (core: " hours(core) "),"
  }
  END { print "and " hours(all) " in all (core: " hours(core) ")." }' exercises/README.md >"$temp/sums"
if [[ -d solutions ]] && ! grep -A 1 '^That is ' exercises/README.md | diff - "$temp/sums" >"$temp/diff"; then
  fail "exercises/README.md: its sums of minutes are wrong:" "$(<"$temp/diff")"
fi
# And the schedules: 90 minutes, half a day, a day, two days (six hours, six and a half), two more half days, four hours.
scheduled=$(awk -F '|' '
  /^\| (day \| )?minutes / { column = /^\| day/ ? 3 : 2; sum = 0; next }
  column && /^\|/ { sum += $column; next }
  column { print sum; column = 0 }' exercises/TEACHING.md | tr '\n' ' ')
[[ $scheduled == "90 240 360 750 240 240 240 " ]] || fail "exercises/TEACHING.md: its schedules take $scheduled minutes"

# 4. The clinic's tables have its kernels in the order of their list.
awk -F '\t' '/^[a-z]/ { print $1, $3, $5 }' lab/clinic.tsv >"$temp/kernels"
sed -nE 's/^\| \[([a-z_]+)\]\(\1\/README\.md\) \| (.*) \| (.*) \|$/\1 \2 \3/p' exercises/clinic/README.md |
  diff "$temp/kernels" - >"$temp/diff" || fail "exercises/clinic/README.md: its kernels are not those of lab/clinic.tsv:" "$(<"$temp/diff")"
if [[ -d solutions ]]; then
  sed -nE 's/^\| ([a-z_]+) \| .*<!--=.*/\1/p' exercises/clinic/README.md |
    diff <(for _ in 1 2; do cut -d ' ' -f 1 "$temp/kernels"; done) - >"$temp/diff" ||
    fail "exercises/clinic/README.md: what was measured is in another order than lab/clinic.tsv:" "$(<"$temp/diff")"
fi
finish "$(wc -l <<<"$steps") guides, and the links of $(wc -l <<<"$pages") pages"
