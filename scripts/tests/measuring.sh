#!/usr/bin/env bash
# What the scripts make that measure on a machine with a GPU and put ladders together: with stand-ins for nvcc, the
# validator, the programs and a GPU they write the tables that the guides are made from. Whatever fails is one clear
# line and a non-zero exit, and leaves what was there before.
set -euo pipefail
# shellcheck source=scripts/tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3 patch
[[ -d $source_dir/solutions ]] || skip "a handout has no solutions to measure"
make_temp
scripts=$source_dir/scripts

# one_line CODE REGEX WHAT: that exit code, and on stderr one line that matches and is no stack of calls.
one_line() {
  expect_status "$1" "$3"
  [[ $(grep -c '' <<<"$err") == 1 && $err != *Traceback* ]] || show "$3: there should be one line on stderr"
  grep -qE -- "$2" <<<"$err" || show "$3: its line should match '$2'"
}
# nothing_half_written FOLDER WHAT
nothing_half_written() {
  local left
  left=$(find "$1" -name '*.partial' 2>/dev/null || true)
  [[ -z $left ]] || fail "$2: half-written files are left: $left"
}

# ---- A machine that only pretends

mkdir -p "$temp/tools" "$temp/build/bin" "$temp/build/lab" "$temp/build/lib"
cat >"$temp/tools/nvidia-smi" <<'END'
#!/bin/sh
[ -z "$NO_DRIVER" ] || { echo "NVIDIA-SMI has failed because it could not communicate with the driver"; exit 9; }
echo "${GPU_SAYS:-Test GPU 9000, 580.1}"
END
cat >"$temp/tools/nvcc" <<'END'
#!/bin/sh
case $1 in --version) echo "Cuda compilation tools, release 12.9, V12.9.1"; exit 0 ;; esac
for program; do :; done # the last word, after -o
case $program in *"${REFUSED:-no such program}"*) echo "a.cu(7): warning: odd"; echo "a.cu(9): error: no luck" >&2; exit 2 ;; esac
echo "ptxas info    : Compiling entry function '_Z19jacobi_sweep_kernelPf' for 'sm_90'" >&2
echo "    0 bytes stack frame, 0 bytes spill stores, 16 bytes spill loads" >&2
echo "ptxas info    : Used 40 registers, used 0 barriers" >&2
cp "$STUBS/program" "$program"
END
cat >"$temp/build/bin/validate" <<'END'
#!/bin/sh
for program; do :; done
case $program in *"${WRONG:-no such program}"*) echo "that: wrong: probe, n = 100"; echo "  diagnosis: all is lost"; exit 1 ;; esac
echo "that: right"
END
cat >"$temp/build/bin/bandwidth" <<'END'
#!/bin/sh
printf 'copy\t%s\ncudaMemcpy\t2000.0\nread\t9999\n' "${COPY:-4000.0}"
END
cat >"$temp/program" <<'END'
#!/bin/sh
[ -z "$BREAKS" ] || { echo "jacobi: no more memory" >&2; exit 3; }
n=0
while [ $# -gt 0 ]; do
  case $1 in
    --n) n=$2 ;;
    --record)
      mkdir -p "$2"
      echo "${RECORD:-{\"iteration_ms_median\": 0.5, \"iteration_ms_q1\": 0.25, \"iteration_ms_q3\": 1, \"iteration_ms_min\": 0.2, \"iteration_ms_max\": 2, \"iteration_samples\": 7\}}" \
        >"$2/run.json"
      case $0 in *"${OTHER_FIELD:-no such program}"*) echo other ;; *) echo "rows of $n" ;; esac >"$2/rows.csv"
      ;;
  esac
  shift
done
END
chmod +x "$temp/tools/"* "$temp/build/bin/"* "$temp/program"
while IFS=$'\t' read -r step _; do cp "$temp/program" "$temp/build/bin/solution_$step"; done < <(
  grep '^[0-9]' "$source_dir/lab/steps.tsv"
)
touch "$temp/build/lab/liblab.a" "$temp/build/lib/liblab_trace.so"
export STUBS=$temp

# measure SCRIPT OPTION...: into $temp/results
measure() {
  local script=$1
  shift
  PATH=$temp/tools:$PATH run "$scripts/publish/$script" --write "$temp/results" --build "$temp/build" "$@"
}
# has FILE LINE: that line, its tabs written as blanks.
has() { grep -qxF -- "$2" < <(tr '\t' ' ' <"$temp/results/$1") || fail "$1 should have the line: $2" "$(<"$temp/results/$1")"; }

measure tune.py --only tuning --steps 12
expect_status 0 "tune.py --only tuning"
has tuning.tsv '# gpu Test GPU 9000'
has tuning.tsv '# driver 580.1'
has tuning.tsv '# cuda 12.9'
has tuning.tsv '# copy_gb_per_s 4000.0'
has tuning.tsv '# n 16384'
grep -qE $'^12_register_march\tas it is: kWarps=[0-9 a-zA-Z=]+\t40\t16\t0.500000\t0.250000\t1.000000\t1.0737\tright$' \
  "$temp/results/tuning.tsv" || fail "the solution's own constants should have a line" "$(<"$temp/results/tuning.tsv")"
if grep -q '^13' "$temp/results/tuning.tsv"; then fail "only step 12 was asked for"; fi
# Two of those with one constant changed, whatever they are: NAME=VALUE.
mapfile -t changed < <(awk -F '\t' '$2 ~ /^[A-Za-z]+=[0-9]+$/ { print $2 }' "$temp/results/tuning.tsv")
((${#changed[@]} >= 2)) || fail "constants should be tried one by one" "$(<"$temp/results/tuning.tsv")"
wrong=${changed[0]:-} refused=${changed[-1]:-}
WRONG=12_${wrong/=/} REFUSED=12_${refused/=/} measure tune.py --only tuning --steps 12
expect_status 0 "a variant that is wrong, and one that does not compile"
has tuning.tsv "12_register_march $wrong 40 16 - - - - wrong"
has tuning.tsv "12_register_march $refused 0 0 - - - - wrong"
expect "^12_register_march $refused: does not compile: .*no luck" "one that does not compile"

OTHER_FIELD=solution_12 measure tune.py --only large
expect_status 0 "tune.py --only large"
has large.tsv '8192 10_pointer_swap 0.500000 0.250000 1.000000 7 134.22 0.2684 right'
has large.tsv '8192 12_register_march - - - - - - wrong'
expect '^12_register_march: at n = 4096 its field is not that of 09_shared_tile' "a field that is another one"

# ---- What fails is one line, and the tables of before stay

cp -r "$temp/results" "$temp/kept"
for script in tune.py "tune.py --only large"; do
  read -r -a words <<<"$script"
  name=${words[0]}
  run "$scripts/publish/$name" --help
  expect_status 0 "$name --help"
  expect "^  ${name} --write DIR" "$name --help"
  run "$scripts/publish/$name"
  expect_status 2 "$name without --write"
  NO_DRIVER=1 measure "${words[@]}"
  one_line 1 "^$name: nvidia-smi .*: exit code 9: NVIDIA-SMI has failed" "$script without a driver"
  GPU_SAYS="No devices were found" measure "${words[@]}"
  one_line 1 "^$name: nvidia-smi names no GPU and its driver: No devices" "$script without a GPU"
  BREAKS=1 measure "${words[@]}"
  one_line 1 "^$name: .*exit code 3: jacobi: no more memory$" "$script, a program that breaks"
  PATH=$temp/tools:$PATH run "$scripts/publish/$name" --write "$temp/results" --build "$temp/empty" "${words[@]:1}"
  one_line 1 "^$name: .*/bin/[a-z_0-9]+ is not there: build it first" "$script, nothing built"
  PATH=$temp/tools:$PATH run "$scripts/publish/$name" --write "$temp/program/results" --build "$temp/build" "${words[@]:1}"
  one_line 1 "^$name: $temp/program/results: cannot be created" "$script, a folder that cannot be"
  diff -r "$temp/kept" "$temp/results" >"$temp/diff" || fail "$script: earlier results have changed" "$(<"$temp/diff")"
done
RECORD='{"iteration_ms_median": "fast"}' measure tune.py --only large
one_line 1 '^tune.py: .*it recorded no times' "a record with words for times"
COPY=fast measure tune.py
one_line 1 '^tune.py: .*bandwidth has printed a copy without its GB/s' "a bandwidth that is no number"
measure tune.py --steps 09
expect_status 2 "a step that cannot be tuned"
expect '^tune.py: error: --steps 09: 12 and 13 can be tuned' "a step that cannot be tuned"
diff -r "$temp/kept" "$temp/results" >"$temp/diff" || fail "earlier results have changed" "$(<"$temp/diff")"
nothing_half_written "$temp" "what failed"

# A constant that a solution no longer has, or that stands there twice.
lab=$temp/lab
copy_tree "$lab"
sed -i "s/^constexpr int ${refused%=*} = \([0-9]*\);/constexpr int ${refused%=*} = 1 + \1;/" \
  "$lab"/solutions/12_*/jacobi.cu
PATH=$temp/tools:$PATH run "$lab/scripts/publish/tune.py" --write "$temp/none" --build "$temp/build" --only tuning --steps 12
one_line 1 "^tune.py: ${refused%=*} stands 0 times in the step.s file, and not once$" "a constant that is gone"
[[ ! -e $temp/none/tuning.tsv ]] || fail "nothing should be written where nothing could be tried"

# ---- Rows of other steps in a ladder

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
refused 2 "^ladder.py: $temp/nowhere: cannot be read: No such file" "no ladder" "$temp/nowhere" "$new"
printf 'a\tb\n' >"$temp/odd.tsv"
refused 2 'is not a ladder, it has no column' "another table" "$temp/odd.tsv" "$new"
printf '# nothing\n' >"$temp/empty.tsv"
refused 2 'is not a ladder, it has no ' "an empty file" "$temp/empty.tsv" "$new"
ladder "$old" 2026-02-02 "Other GPU" "02_c 512 0.5 1"
refused 0 'rows of before are not kept: gpu was Other GPU, and is Test GPU$' "another GPU" "$old" "$new"
fresh
mkdir "$new.partial"
refused 1 "^ladder.py: .*: cannot be written" "a ladder that cannot be written" "$old" "$new"
rmdir "$new.partial"

finish "tune.py and the rows of other steps in a ladder"
