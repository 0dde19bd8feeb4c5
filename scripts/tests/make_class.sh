#!/usr/bin/env bash
# Makes a class of thirty out of the bank: make_class.sh FOLDER [small]
#
# A folder per learner, with exercises 01 and 04 and what `make check` has left; `small` makes one of each kind. Wrong
# exercises are solutions with a patch of validate/tests/bank/wrong. Some learners are hostile.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
class=$1 size=${2:-all}
bank=$source_dir/validate/tests/bank/wrong
mkdir -p "$class"

# learner NAME: a working copy in which nothing is changed; sets copy.
learner() {
  local step source
  copy=$class/$1
  mkdir -p "$copy/results/local"
  for step in 01_nvtx 04_jacobi_kernel; do
    source=$(awk -F '\t' -v step=$step '$1 == step { print $2 }' "$source_dir/lab/steps.tsv")
    mkdir -p "$copy/exercises/$step"
    "$source_dir/scripts/lib/start.sh" $step >"$copy/exercises/$step/$source"
  done
}

# checked STEP VERDICT [MISTAKE]: what `make check` leaves.
checked() {
  local file sum
  file=$(echo "$copy/exercises/$1"/jacobi.*)
  sum=$(sha256sum <"$file")
  printf '%s\t%s\t%s\t2026-01-02 1%d:%02d\tcpu%s\n' "$1" "$2" "${sum%% *}" $((count % 3)) \
    $((count * 7 % 60)) "${3:+$'\t'$3}" >>"$copy/results/local/progress.tsv"
}

# done_with STEP
done_with() {
  cp "$source_dir/solutions/$1"/jacobi.* "$copy/exercises/$1/"
  checked "$1" "done"
}

# wrong STEP PATCH: exercise STEP is its solution with a mistake; step 01 has those of step 00, whose lines it has.
wrong() {
  local patch=$bank/${1/01_nvtx/00_serial}/$2.patch file
  file=$(echo "$source_dir/solutions/$1"/jacobi.*)
  patch --silent -o "$copy/exercises/$1/${file##*/}" "$file" "$patch"
  checked "$1" wrong "$(sed -n 's/^# rule: //p' "$patch")"
}

# hostile STATEMENT: exercise 01 runs it at the beginning of main; it says of itself that it is done.
hostile() {
  local file=$copy/exercises/01_nvtx/jacobi.cpp
  { printf '#include <cstdlib>\n#include <fstream>\n#include <iostream>\n#include <unistd.h>\n'
    sed "/^int main(/s|\$| $1|" "$source_dir/solutions/01_nvtx/jacobi.cpp"; } >"$file"
  checked 01_nvtx "done"
}

count=0
while read -r name kind argument; do
  count=$((count + 1))
  if [[ $size == small && $kind == *-again ]]; then continue; fi
  learner "${name//_/ }"
  case $kind in
    done*) done_with 01_nvtx; [[ -z $argument ]] || done_with "$argument" ;;
    wrong1*) wrong 01_nvtx "$argument" ;;
    wrong4*) done_with 01_nvtx; wrong 04_jacobi_kernel "$argument" ;;
    half*) done_with 01_nvtx; echo '// half of it' >>"$copy/exercises/04_jacobi_kernel/jacobi.cu" ;;
    compile*) echo 'int main( {' >>"$copy/exercises/01_nvtx/jacobi.cpp"; checked 01_nvtx "does not compile" ;;
    hang) hostile 'for (;;) sleep(1);' ;;
    flood) hostile 'for (;;) std::cout << "all work and no play" << std::endl;' ;;
    fork) hostile 'for (int k = 0; k < 3000; ++k) if (fork() == 0) { setsid(); sleep(600); _exit(0); }' ;;
    disk)
      hostile 'for (int k = 0; k < 30; ++k) std::ofstream("full" + std::to_string(k)) << std::string(9 << 20, 0);'
      ;;
    binary)
      head -c 50000 "$(type -P bash)" >"$copy/exercises/01_nvtx/jacobi.cpp"
      head -c 5000 "$(type -P bash)" >"$copy/results/local/progress.tsv"
      ;;
    link)
      ln -sf /etc/passwd "$copy/exercises/01_nvtx/jacobi.cpp"
      ln -s /etc/passwd "$copy/results/local/progress.tsv"
      ;;
    lies) hostile ''
      printf '01_nvtx\twrong\t%s\t<b>now</b>\t\033[2Jcpu\t<script>alert(1)</script>\n' \
      "$(sha256sum <"$copy/exercises/01_nvtx/jacobi.cpp" | cut -d ' ' -f 1)" >"$copy/results/local/progress.tsv" ;;
    unchanged*) ;;
  esac
done <<'END'
ada done 04_jacobi_kernel
alan wrong1 boundary_row_swept
annie wrong4 sum_not_reset
barbara half
claude wrong1-again in_place
cleve unchanged
dennis wrong4-again sum_not_reset
donald wrong4-again no_block_index
edsger done-again
evelyn compile
frances wrong1-again boundary_row_swept
gene wrong4-again grid_rounded_down
grace done-again 04_jacobi_kernel
hedy wrong4-again sum_not_reset
ida half-again
jack wrong1-again float_sum
jean wrong1-again no_sqrt
john unchanged-again
katherine done-again
ken wrong1-again boundary_row_swept
leslie half-again
margaret wrong4-again no_atomic
radia compile-again
<img_src=x_onerror=alert(1)> lies
$(touch_ran)`touch_ran`'"; hang
=1+2;rm_* flood
sophie fork
tim disk
victor binary
wendy link
END
