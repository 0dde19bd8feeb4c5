#!/usr/bin/env bash
# `make hint` prints a guide's hints one at a time, readable on a terminal; and every guide's hints can be read.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make python3
make_temp
unset HINT
lab="$temp/the lab"
copy_tree "$lab"
guide=exercises/04_jacobi_kernel/README.md
state=$lab/results/local/hints.tsv
rm -rf "$lab/results/local"
hint() { run make_in "$lab" hint "$@"; }

# Whoever writes a guide sees what they wrote, with everything that a hint may have in it.
cat >"$lab/$guide" <<'EOG'
# 04_jacobi_kernel: the sweep on the GPU

<details><summary>Hint 1</summary>

This is not in the section.

</details>

```
## Hints
```

## Hints

One at a time, please.

<details><summary>Hint 1</summary>

Every thread has *one* point: its `i` comes from `blockIdx.x * blockDim.x + threadIdx.x`, a&lt;b, and so on.

- an item of <!--= ladder["04"].ms | ms -->57.7 ms<!--=-->
  - with `kernel<<<blocks, threads>>>(f)` in it

</details>

<details><summary>Hint 2: the kernel</summary>

```cuda
// ## Hints
__global__ void kernel(float* f) {

  if (i < n) f[i] = **p + *q * 2;
}
```

Done.

</details>
<details><summary>Hint 3</summary>

The last.

</details>

## Measured

<details><summary>Hint 9</summary>
</details>
EOG

cat >"$temp/hint_1" <<'EOH'
04_jacobi_kernel: hint 1 of 3
Every thread has *one* point: its `i` comes from `blockIdx.x * blockDim.x +
threadIdx.x`, a<b, and so on.

- an item of 57.7 ms
  - with `kernel<<<blocks, threads>>>(f)` in it
EOH
cat >"$temp/hint_2" <<'EOH'
04_jacobi_kernel: hint 2 of 3
the kernel

    // ## Hints
    __global__ void kernel(float* f) {

      if (i < n) f[i] = **p + *q * 2;
    }

Done.
EOH
cat >"$temp/hint_3" <<'EOH'
04_jacobi_kernel: hint 3 of 3
The last.
EOH

# printed K WHAT: exactly hint K, and how to go on.
printed() {
  local next="The next one: make hint STEP=04"
  if (($1 == 3)); then next="That was the last one. From the first: make hint STEP=04 HINT=1"; fi
  expect_status 0 "$2"
  [[ -z $err && $out == "$(<"$temp/hint_$1")"$'\n\n'"$next" ]] ||
    show "$2: it should be hint $1, as below" "$(diff "$temp/hint_$1" - <<<"$out")"
}

for k in 1 2 3; do
  hint STEP=04
  printed $k "call number $k"
done
for k in 4 5; do
  hint STEP=4
  expect_status 0 "call number $k"
  [[ $out == "04_jacobi_kernel: you have seen all 3 hints"$'\n'"Once more from the first: make hint STEP=04 HINT=1" ]] ||
    show "call number $k: it should say that there are no more"
done
hint STEP=04 HINT=1
printed 1 HINT=1
hint STEP=04
printed 2 "after HINT=1"
hint STEP=04 HINT=02
printed 2 HINT=02
run env STEP=04_jacobi_kernel "$lab/scripts/verbs/hint.sh"
printed 3 "the script itself, from another folder"

hint STEP=04 HINT=all
expect_status 0 HINT=all
{ cat "$temp/hint_1"; echo; cat "$temp/hint_2"; echo; cat "$temp/hint_3"; } >"$temp/all"
[[ $out == "$(<"$temp/all")" ]] || show "HINT=all: it should be all three" "$(diff "$temp/all" - <<<"$out")"

# Each step counts for itself.
{ echo '## Hints'; printf '<details><summary>Hint 1</summary>\r\n\r\nOnly one.\r\n\r\n</details>\r\n'; } \
  >"$lab/exercises/05_copy_kernel/README.md"
hint STEP=05
expect '^05_copy_kernel: hint 1 of 1$' "another step"
expect '^That was the last one' "another step"
expect_no $'\r' "lines that end in CR LF"
hint STEP=05
expect '^05_copy_kernel: you have seen the one hint$' "another step, once more"
hint STEP=04 HINT=1
expect_no $'\033' "no colours"
[[ $(tail -n 2 "$state") == 05_copy_kernel$'\t1\n'04_jacobi_kernel$'\t1' ]] ||
  fail "the file of what was seen should end with this step's:" "$(<"$state")"
[[ $(ls -A "$lab/results/local") == hints.tsv ]] || fail "files were left behind:" "$(ls -A "$lab/results/local")"

# What is remembered may be spoilt, or of a longer guide.
printf '04_jacobi_kernel\tmany\n' >"$state"
hint STEP=04
printed 1 "a spoilt file"
printf '04_jacobi_kernel\t7\n' >"$state"
hint STEP=04
expect 'you have seen all 3 hints' "a guide with fewer hints than before"
# Or cannot be written: the hint is what counts.
rm -r "$lab/results/local"
printf 'a file\n' >"$lab/results/local"
hint STEP=04
expect_status 0 "where nothing can be remembered"
expect '^04_jacobi_kernel: hint 1 of 3$' "where nothing can be remembered"
expect '^hint.sh: results/local/hints.tsv: cannot be written, so this is not remembered$' "nothing can be remembered"
rm "$lab/results/local"

# Guides without hints.
printf '# 06\n\n## Task\n\nNone.\n' >"$lab/exercises/06_coalesced/README.md"
hint STEP=06
expect_status 0 "no hints"
[[ $said == "06_coalesced: its guide has no hints"$'\n' ]] || show "no hints: one line"
refuses '^hint.sh: HINT=2: exercises/06_coalesced/README.md has no hints$' hint STEP=06 HINT=2

# Bad input.
refuses '^hint.sh: which step\? Say STEP=NN, from 00 to ' hint
refuses '^hint.sh: STEP=42: there is no such step' hint STEP=42
for bad in 0 4 08 999; do
  refuses "^hint.sh: HINT=$bad: 04_jacobi_kernel has hints 1 to 3\$" hint STEP=04 HINT=$bad
done
for bad in first -1 '1 2' 1000; do
  refuses "^hint.sh: HINT=$bad: must be a number, or all\$" hint STEP=04 HINT="$bad"
done
[[ ! -e $state ]] || fail "bad input was remembered:" "$(<"$state")"
rm "$lab/exercises/06_coalesced/README.md"
hint STEP=06
said_one_line '^hint.sh: exercises/06_coalesced/README.md is not there \(git checkout exercises/06_coalesced brings it back\)$' "no guide"

# The guides of this tree. The first step has no task: its section may say just that.
guides=0
for file in "$source_dir"/exercises/[0-9]*/README.md; do
  if ! grep -q '^## Hints' "$file"; then continue; fi
  guides=$((guides + 1))
  number=$(basename "$(dirname "$file")")
  run env STEP="$number" HINT=all "$source_dir/scripts/verbs/hint.sh"
  expect_status 0 "$number"
  expect '[a-z]' "$number"
  [[ $number == 00_* ]] || expect "^$number: hint 1 of [1-9]" "$number"
  expect_no '</?(details|summary)' "$number"
  count=$(grep -c '<summary>Hint' "$file" || true)
  [[ $(grep -c "^$number: hint " <<<"$out") == "$count" ]] || fail "$number: should have $count hints"
done

finish "make hint; $guides guides of this tree have hints"
