#!/usr/bin/env bash
# `make handin` writes one small file with what `make progress` knows, whole or not at all, and code only on demand.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make git
[[ -d $source_dir/solutions ]] || skip "there are no solutions here"
make_temp
unset NAME CODE OUT TIME
export LAB_BUILD_DIR="$temp/the build"
lab="$temp/Ada's lab"
make_clone "$lab"
sed -i '/^0[5-9]_/d; /^[1-9]/d' "$lab/lab/steps.tsv" # fewer steps are faster
commit_all "$lab" "fewer steps"
exercise=exercises/01_nvtx/jacobi.cpp
file=$temp/handin.tsv
handin() { run make_in "$lab" handin OUT="$file" "$@"; }
# row STEP STATE DATE WHERE MISTAKE MS WHAT
row() {
  local IFS=$'\t'
  grep -qxF "${*:1:6}" "$file" || fail "$7: there should be a row: ${*:1:6}" "$(<"$file")"
}

# shellcheck disable=SC2016  # nothing is to run
handin NAME='A "b" <i>;`touch ran`'"'"
expect_status 0 "as handed out"
expect "^$file\$" "as handed out"
# shellcheck disable=SC2016
expect '^  5 steps of A "b" <i>;`touch ran`'"'"', [0-9]{3} bytes\.' "as handed out"
[[ -z $err && ! -e $lab/ran ]] || show "a name with characters of the shell"
[[ $(head -n 1 "$file") == '# handin'$'\t''Jacobi porting lab' ]] || fail "another first line:" "$(head -n 1 "$file")"
row 00_serial "no task" - - - - "as handed out"
row 04_jacobi_kernel unchanged - - - - "as handed out"

# Without a name on the command line it is the user's, even if the machine has a NAME. Many are called root.
user=$(id -un)
if [[ $user == root ]]; then user+=@$(uname -n); fi
run env NAME=machine make --no-print-directory -C "$lab" handin OUT="$file"
grep -qx "# name"$'\t'"$user" "$file" || fail "it should be the user's name:" "$(<"$file")"
mkdir "$temp/tools"
printf '#!/bin/sh\necho ubuntu\n' >"$temp/tools/id"
chmod +x "$temp/tools/id"
run env PATH="$temp/tools:$PATH" make --no-print-directory -C "$lab" handin
expect "/handin-ubuntu_$(uname -n)\.tsv\$" "a user's name that many have"
run env LC_ALL=C.UTF-8 make --no-print-directory -C "$lab" handin NAME=Müller
expect '/handin-Müller\.tsv$' "a name with an umlaut"

# What was checked, and how.
echo '// a thought' >>"$lab/$exercise"
sum=$(sha256sum <"$lab/$exercise")
mkdir -p "$lab/results/local"
printf '01_nvtx\twrong\t%s\t2026-01-02 03:04\tgpu\tsome_mistake\n' "${sum%% *}" >"$lab/results/local/progress.tsv"
printf '01_nvtx\t64\t1.5\t%s\t2026-01-02 03:04\tGPU\n' "${sum%% *}" >"$lab/results/local/progress_times.tsv"
handin
row 01_nvtx wrong "2026-01-02 03:04" gpu some_mistake 1.5 "a wrong one"
if grep -q 'thought' "$file"; then fail "there should be no code without CODE=1"; fi
handin CODE=1
grep -qx '# code'$'\t'"$exercise" "$file" || fail "CODE=1 should name the file"
[[ $(sed -n 's/^> //p' "$file") == "$(<"$lab/$exercise")" ]] || fail "CODE=1: its code should be the edited exercise, and no other"
# A last line without an end.
second=exercises/02_unified_memory/$(awk '/^02_/ { print $2 }' "$lab/lab/steps.tsv")
printf '// the end' >>"$lab/$exercise"
printf '// the end' >>"$lab/$second"
handin CODE=1
[[ $(grep -cE '^# code|^> // the end$' "$file") == 4 ]] ||
  fail "CODE=1: a last line without an end" "$(grep -n '^#\|the end' "$file")"
git -C "$lab" checkout -q "$second"
echo '// another' >>"$lab/$exercise"
handin
row 01_nvtx "edited, not checked since" - - - - "edited since"

# Bad input, and no place to write.
cp "$file" "$temp/before"
# shellcheck disable=SC2016
run bash -c 'trap "" XFSZ && ulimit -f 1 && exec make --no-print-directory -C "$1" handin CODE=1 OUT="$2"' _ "$lab" "$file"
expect '^handin.sh: OUT=.*: cannot be written$' "no room for the whole file"
expect 'Error 4$' "no room for the whole file"
cmp -s "$file" "$temp/before" || fail "no room for the whole file: the one before is gone"
refuses '^handin.sh: CODE=2: must be 1 or 0$' handin CODE=2
refuses '^handin.sh: NAME: must be one line of at most 60 characters$' handin NAME=$'two\tfields'
refuses '^handin.sh: OUT=.*: is a folder$' handin OUT="$temp"
cmp -s "$file" "$temp/before" || fail "bad input changed the file"
handin OUT="$temp/none/file"
expect '^handin.sh: OUT=.*: cannot be written$' "a folder that is not there"
expect 'Error 4$' "a folder that is not there"
[[ -z $(find "$temp" -name '*.tsv.[0-9]*') ]] || fail "a partial file was left"

finish "make handin"
