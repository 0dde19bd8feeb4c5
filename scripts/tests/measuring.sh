#!/usr/bin/env bash
# `make run STEPS=NN` times single steps: the rows of the others in a ladder stay as they were. Whatever fails is one
# clear line and a non-zero exit, and leaves what was there before.
set -euo pipefail
# shellcheck source=scripts/tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3
make_temp

columns=$'step\ttitle\tverdict\tn\tms\tms_q1\tms_q3\tsamples\tmpoints_per_s\tgb_per_s\tpercent_of_copy\tx_best_serial\tx_strided_serial\tx_before\tbefore_ms\tnote'
# ladder FILE DATE GPU ROW...: a ladder; a row: step n ms before_ms.
ladder() {
  local file=$1 date=$2 gpu=$3 row
  shift 3
  {
    printf '# The ladder.\n# date\t%s\n# gpu\t%s\n# cuda\t13.0\n# driver\t580\n# cpu\tTest CPU\n' "$date" "$gpu"
    printf '# copy_gb_per_s\t%s\tq1\t1\n' "${COPY_OF:-4000.0}"
    for row; do
      read -r _ n _ <<<"$row"
      printf '# serial\tbest\tn\t%s\tms\t10\n' "$n"
    done | sort -u
    printf '%s\n' "$columns"
    for row; do
      read -r step n ms before_ms <<<"$row"
      printf '%s\ttitle\tright\t%s\t%s\t%s\t%s\t9\t100\t200\t50\t3\t4\t2\t%s\t\n' "$step" "$n" "$ms" "$ms" "$ms" "$before_ms"
    done
  } >"$file"
}
# row FILE STEP COLUMN
row() {
  awk -F '\t' -v step="$2" -v column="$3" '
    /^#/ { next }
    !known { for (k = 1; k <= NF; ++k) if ($k == column) at = k; known = 1; next }
    $1 == step { print $at }' "$1"
}
merge() { labtool ladder "$@"; }
old=$temp/ladder.tsv new=$temp/new.tsv
fresh() {
  ladder "$old" 2026-01-01 "Test GPU" "00_a 64 8 -" "01_b 64 4 8"
  ladder "$new" 2026-02-02 "Test GPU" "01_b 64 1 8" "02_c 512 0.5 1"
}
fresh
merge "$old" "$new"
expect_status 0 "rows of a later run"
[[ $(row "$new" 00_a ms) == 8 && $(row "$new" 01_b ms) == 1 && $(row "$new" 02_c ms) == 0.5 ]] ||
  fail "the rows that were not measured now, and no other, should be those of before" "$(<"$new")"
grep -qx $'# row\t02_c\tdate\t2026-02-02\tcopy_gb_per_s\t4000.0' "$new" || fail "a row's own run should be named"
grep -qx $'# date\t2026-01-01' "$new" || fail "the head should stay" "$(<"$new")"
grep -qx $'# serial\tbest\tn\t512\tms\t10' "$new" || fail "the serial times at a new n should be there"
[[ $(grep -c $'^# serial\tbest\tn\t64' "$new") == 1 ]] || fail "serial times that were there need not come twice"
[[ $(row "$new" 01_b x_best_serial) == 10 ]] || fail "a row should be held against the serial times that the ladder shows"
mv "$new" "$old"
COPY_OF=5000.0 ladder "$new" 2026-03-03 "Test GPU" "02_c 512 0.4 1"
merge "$old" "$new"
[[ $(grep $'^# row\t02_c\t' "$new") == $'# row\t02_c\tdate\t2026-03-03\tcopy_gb_per_s\t5000.0' ]] || fail "a row's run is its last one"

# refused CODE REGEX WHAT ARGUMENT...: one line, and the ladder stays.
refused() {
  local code=$1 regex=$2 what=$3
  shift 3
  cp "$new" "$temp/before"
  merge "$@"
  one_line "$code" "$regex" "$what"
  cmp -s "$new" "$temp/before" || fail "$what: the ladder should be as it was"
}
fresh
ladder "$old" 2026-02-02 "Other GPU" "02_c 512 0.5 1"
refused 0 "rows of before are now in $temp/ladder_[0-9_-]*.tsv: gpu was Other GPU, and is Test GPU\$" \
  "another GPU" "$old" "$new"
cmp -s "$old" "$temp"/ladder_*.tsv || fail "another GPU: the old ladder should be kept"
# Without Python nothing is run.
run env PATH="$(path_without_python)" STEPS=00 RESULTS="$temp" "$source_dir/scripts/verbs/run.sh"
one_line 77 '^run.sh: python3 is missing: package python3$' "no Python"
fresh
mkdir "$new.partial"
refused 1 "^ladder.py: .*: cannot be written" "a ladder that cannot be written" "$old" "$new"
rmdir "$new.partial"

finish "the rows of other steps in a ladder"
