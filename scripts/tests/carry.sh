#!/usr/bin/env bash
# scripts/publish/exercises.py --carry takes a change of one solution into all later ones, and says where it
# cannot.
set -euo pipefail
# shellcheck source=scripts/tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 git
[[ -d $source_dir/solutions ]] || skip "there are no solutions here"
make_temp
lab=$temp/lab
copy_tree "$lab"
in_lab() { git -C "$lab" -c user.name=test -c user.email=test@example.org -c commit.gpgSign=false "$@"; }
tool() { run python3 "$lab/scripts/publish/exercises.py" "$@"; }
in_lab init -q
in_lab add -A -f
in_lab commit -q -m start

tool --carry 00
expect_status 1 "nothing has changed"
expect 'has not changed since the last commit' "nothing has changed"
tool --carry 42
expect_status 1 "no such step"

# A line that every step has.
sed -i 's/^  int iteration = 0;$/  int iteration = 0;  \/\/ sweeps made so far/' "$lab/solutions/00_serial/jacobi.cpp"
tool --carry 00
expect_status 0 "a change that merges"
solutions=$(awk '/^[0-9]/ { n++ } END { print n }' "$lab/lab/steps.tsv")
for kind in solutions exercises; do
  count=$(grep -l 'sweeps made so far' "$lab/$kind"/*/jacobi.* | wc -l)
  ((count == solutions)) || fail "$kind: $count of $solutions have the line that was carried"
done
tool --check
expect_status 0 "after a change that merges"
# Banners are each step's own.
head -n 1 "$lab/solutions/05_copy_kernel/jacobi.cu" | grep -q '^// 05_copy_kernel: ' ||
  fail "solution 05 has lost its banner"

# A line that step 06 has changed.
in_lab add -A
in_lab commit -q -m carried
sed -i 's/return std::size_t(i) \* n + j;/return std::size_t(n) * i + j;/' "$lab/solutions/00_serial/jacobi.cpp"
tool --carry 00
expect_status 1 "a change that does not merge"
expect 'conflicts, marked <<<<<<< in: .*solutions/06_coalesced/jacobi.cu' "a change that does not merge"

finish "a change is carried into all later steps, or its conflicts are named"
