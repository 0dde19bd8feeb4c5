#!/usr/bin/env bash
# `make guide` prints a guide in the terminal: only code is wider than the terminal, no marker and no HTML is left, and
# each fold is one line that says how to open it. SHOW opens what it names.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make python3
make_temp
unset SHOW COLUMNS PAGER NO_COLOR
lab="$temp/the lab"
copy_tree "$lab"
guide() { run make_in "$lab" guide "$@"; }
# same FILE WHAT: exactly that was printed.
same() {
  expect_status 0 "$2"
  [[ -z $err ]] || show "$2: it should say nothing on stderr"
  diff "$1" "$temp/out" >"$temp/diff" || fail "$2: it should print what stands on the left" "$(<"$temp/diff")"
}

# 1. A guide with all that may be in one.
cat >"$lab/exercises/04_jacobi_kernel/README.md" <<'END'
# 04_jacobi_kernel: the sweep

*45 minutes (core: 30). Needs: nothing. After: [step 03](../03_larger_grid/README.md).*

<!-- a comment
of two lines -->
## Why
It takes <!--= ladder["04"].ms | ms -->57.7 ms<!--=-->, which is a **long time** &mdash;
a &lt; b, `a < b && <!-- c`, 2 * 4 n², see [the *goals*](../../validate/goals/goals.cpp),
[below](#questions) and [a page](https://example.org/x).

![Words for those who cannot
see it, not even **one** of them](../pictures/page_migration.svg)

![](../pictures/one_page.svg)

## Task
- One, of which the words go on until they need a second line, as the terminal is no wider.
  - `two` of it

  And more.
3) Three

> **A box** of words:
>
> ```cpp
> int b;   // as it is, in a box too, however long it may be: no line is broken
> ```
> And after it.

```cpp
// a line of code that stays as it is, however long it may be, and <!-- this --> too
  int a;
```
```
short   <details>
```

| name | what it is | ms |
|:--|---|--:|
| `a\|b` | one | 1.5 |
| µs | a cell with so many words in it that they need a second line | 10.25 |

| per launch | a heading that needs a second line | another one that needs it |
|---|--:|--:|
| one | 1 | 2 |
| two | 3 | 4 |

## Hints
<details><summary>Hint 1</summary>

Look.

</details>
<details><summary>Hint 2: the <code>kernel</code></summary>

Deeper.

</details>

## Questions
**First?**
<details><summary>Answer</summary>

| a | b |
|---|---|
| 1 | |

</details>

## Measured
<!-- measured:begin -->
12 <!--= x -->µs<!--=-->
<!-- measured:end -->

## Next
The end.
END
cat >"$temp/why" <<'END'
04_jacobi_kernel: the sweep
===========================

*45 minutes (core: 30). Needs: nothing. After: step 03
(exercises/03_larger_grid/README.md).*

Why
---
END
cat >"$temp/task" <<'END'
It takes 57.7 ms, which is a long time &mdash; a < b,
`a < b && <!-- c`, 2 * 4 n², see the *goals*
(validate/goals/goals.cpp), below and a page.

(picture: Words for those who cannot see it, not even one
of them; exercises/pictures/page_migration.svg)

(picture: exercises/pictures/one_page.svg)

Task
----
- One, of which the words go on until they need a second
  line, as the terminal is no wider.
  - `two` of it

  And more.
3) Three

> A box of words:

int b;   // as it is, in a box too, however long it may be: no line is broken
> And after it.

// a line of code that stays as it is, however long it may be, and <!-- this --> too
  int a;
    short   <details>

name   what it is                                       ms
-----  --------------------------------------------  -----
`a|b`  one                                             1.5

µs     a cell with so many words in it that they     10.25
       need a second line

per launch  a heading that needs a  another one that needs
                       second line                      it
----------  ----------------------  ----------------------
one                              1                       2
two                              3                       4

END
cat >"$temp/rest" <<'END'
Hints
-----

[1] Hint 1 (make guide STEP=04 SHOW=1)

[2] Hint 2: the `kernel` (make guide STEP=04 SHOW=2)

Questions
---------
First?

[3] Answer (make guide STEP=04 SHOW=3)

Measured
--------
12 µs

Next
----
The end.

The parts [1] to [3] are folded. To open one: make guide
STEP=04 SHOW=1. SHOW=all opens all of them. SHOW=WORD
opens those of one section; the words are hints,
questions, measured.
END
cat "$temp/why" "$temp/task" "$temp/rest" >"$temp/whole"
run env COLUMNS=58 make --no-print-directory -C "$lab" guide STEP=4
same "$temp/whole" "58 columns"

# What is asked for, with its folds open. In any case, and without an "s".
head -n 3 "$temp/why" >"$temp/title"
{
  cat "$temp/title"
  cat <<'END'
Hints
-----

[1] Hint 1

Look.

[2] Hint 2: the `kernel`

Deeper.
END
} >"$temp/hints"
for word in hints hint Hints; do
  guide STEP=04 SHOW=$word
  same "$temp/hints" "SHOW=$word"
done
{
  cat "$temp/title"
  cat <<'END'
Questions
---------

First?

[3] Answer

a  b
-  -
1
END
} >"$temp/answer"
guide STEP=04 SHOW=3
same "$temp/answer" SHOW=3
guide STEP=04 SHOW=03
same "$temp/answer" SHOW=03
{
  cat "$temp/title"
  printf '%s\n' Measured -------- '12 µs'
} >"$temp/measured"
guide STEP=04 SHOW=measured
same "$temp/measured" SHOW=measured
guide STEP=04 SHOW=all
expect_status 0 SHOW=all
for line in Look. Deeper. '1' 'The end.' '\[3\] Answer'; do expect "^$line\$" SHOW=all; done
expect_no 'SHOW=' SHOW=all

# Several sections of one word, and folds with names of their own.
cat >"$lab/exercises/06_coalesced/README.md" <<'END'
# 06

## Predict
1. Faster?

## Your predictions, and an H200
<details><summary>When you have yours</summary>

| | H200 |
|---|--:|
| 1 | <!--= x -->no<!--=--> |

</details>

## More
<details><summary>Break it</summary>

Break.
</details>
<details><summary>Read on</summary>

- [One](https://example.org/one), [two](https://example.org/two):
  words
</details>
END
guide STEP=06 SHOW=predictions
[[ $out == $'06\n==\n\nPredict\n-------\n1. Faster?\n\nYour predictions, and an H200\n'*$'\n\n[1] When you have yours\n\n   H200\n'* ]] ||
  show SHOW=predictions
expect '^1    no$' SHOW=predictions
expect_no Break SHOW=predictions
guide STEP=06 SHOW=more
expect '^\[3\] Read on$' SHOW=more
[[ $out == *$'\n- One, two: words\n  https://example.org/one' ]] || show "SHOW=more: a list of links has their addresses"
guide STEP=06 SHOW=2
[[ $out == $'06\n==\n\nMore\n----\n\n[2] Break it\n\nBreak.' ]] || show "SHOW=2: the fold, and no other one"

# In an old terminal, at any width; not without Python.
run env COLUMNS=200 make --no-print-directory -C "$lab" guide STEP=4
cp "$temp/out" "$temp/wide"
guide STEP=4
same "$temp/wide" "COLUMNS=200 is no more than 80"
run env COLUMNS=many make --no-print-directory -C "$lab" guide STEP=4
same "$temp/wide" "COLUMNS that is no number"
run env PATH="$(path_without_python)" make --no-print-directory -C "$lab" guide STEP=4
expect '^guide.sh: python3 is missing \(package python3\); the guide is exercises/04_jacobi_kernel/README.md$' "without Python"

# On a terminal it comes in the pager, as wide as the terminal, with styles.
if command -v script >/dev/null; then
  # terminal VARIABLE=VALUE...: what it leaves on a terminal of 58 columns.
  terminal() {
    run env LAB="$lab" SHELL=/bin/bash TERM=xterm "$@" script -qec \
      "stty cols 58 && make --no-print-directory -C \"\$LAB\" guide STEP=04" /dev/null
    tr -d '\r' <"$temp/out" >"$temp/seen"
    cp "$temp/seen" "$temp/out"
    out=$(<"$temp/out")
    said=$out
  }
  styles() { sed 's/\x1b\[[0-9]*m//g' "$1"; }
  terminal PAGER="sed s/^/:/"
  [[ $(styles "$temp/out") == "$(sed 's/^/:/; s/\*goals\*/goals/' "$temp/whole" | sed '/^:\*45/s/\*//; s/md)\.\*/md)./')" ]] ||
    show "PAGER" "$(diff <(styles "$temp/out") "$temp/whole")"
  expect $'^:\033\\[1mWhy\033\\[22m$' "a heading is bold"
  # A style that goes on in the next line begins there anew.
  expect $'^:\033\\[3m45 minutes.* 03\033\\[0m$' "italics over two lines"
  expect $'^:\033\\[3m.exercises/03.*\033\\[23m$' "italics over two lines"
  terminal PAGER=cat NO_COLOR=1
  same "$temp/whole" NO_COLOR=1
  terminal PAGER=true
  expect_status 0 "who leaves the pager at once"
fi

# A reader that stops early, as head does, is no error.
for verb in guide hint progress; do
  run env STEP=04 python3 -c 'import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
print(subprocess.run(sys.argv[1:], stdout=writer, check=False).returncode)' "$lab/scripts/verbs/$verb.sh"
  [[ $out == 141 && -z $err ]] || show "make $verb into a pipe that is closed"
done

# The pictures, the links and the folds of every guide of this tree.
guides=0
while IFS= read -r number; do
  guides=$((guides + 1))
  file=$(echo "$source_dir/exercises/$number"_*/README.md)
  run env STEP="$number" SHOW=all "$source_dir/scripts/verbs/guide.sh"
  expect_status 0 "$number, SHOW=all"
  # Code is as it is; in all else nothing of Markdown or HTML is left.
  awk '/^ *(> *)?```/ { code = !code; next } code { sub(/^> ?/, ""); sub(/^ */, ""); sub(/ *$/, ""); print }' "$file" | sort -u >"$temp/code"
  sed 's/^ *//' "$temp/out" | { grep -vxFf "$temp/code" || true; } >"$temp/text"
  # shellcheck disable=SC2016
  if sed 's/`[^`]*`//g' "$temp/text" | grep -nE '<!--|-->|</?(details|summary)|\]\([^ ]+\)|!\[|\*\*' >"$temp/left"; then
    fail "$number: markers are left:" "$(<"$temp/left")"
  fi
  if grep -v '^https://' "$temp/text" | LC_ALL=C.UTF-8 grep -nE '^.{81}' >"$temp/left"; then
    fail "$number: lines wider than 80 columns:" "$(<"$temp/left")"
  fi
  folds=$(grep -c '<summary>' "$file")
  [[ $(grep -cE '^\[[0-9]+\] ' <<<"$out") == "$folds" ]] || fail "$number: should have $folds folds"
  run env STEP="$number" "$source_dir/scripts/verbs/guide.sh"
  [[ $(grep -c "make guide STEP=$number SHOW=[0-9]*)" <<<"$out") == "$folds" ]] ||
    fail "$number: $folds lines should say how to open a fold"
done < <(sed -n 's/^\([0-9][0-9]\)_.*/\1/p' "$source_dir/lab/steps.tsv")

# Bad input.
refuses '^guide.sh: which step\? Say STEP=NN, from 00 to ' guide
for bad in 0 4 hi answers 1000 'hints;' '.*'; do
  guide STEP=04 SHOW="$bad"
  [[ $err == "guide.sh: SHOW=$bad: must be a fold, 1 to 3, or one of: hints questions measured all"$'\n'* ]] ||
    show "SHOW=$bad"
  expect_status 2 "SHOW=$bad"
done
printf '# 05\n\n## Why\n\nSo.\n' >"$lab/exercises/05_copy_kernel/README.md"
guide STEP=05
[[ $status == 0 && $out == $'05\n==\n\nWhy\n---\n\nSo.' ]] || show "a guide without folds"
refuses '^guide.sh: SHOW=1: exercises/05_copy_kernel/README.md has no folds$' guide STEP=05 SHOW=1
rm "$lab/exercises/05_copy_kernel/README.md"
guide STEP=05
said_one_line '^guide.sh: exercises/05_copy_kernel/README.md is not there \(git checkout exercises/05_copy_kernel brings it back\)$' "no guide"

finish "make guide; $guides guides of this tree can be read"
