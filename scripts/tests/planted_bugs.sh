#!/usr/bin/env bash
# The validator says what it should of programs that are known to be wrong, or known to be right:
#
#   planted_bugs.sh wrong STEP   every patch in validate/tests/bank/wrong/STEP makes solutions/STEP wrong
#   planted_bugs.sh right STEP   every patch in validate/tests/bank/right/STEP leaves it right
#   planted_bugs.sh wrong STEP first    of the first, one patch of each entry of the catalogue of mistakes
#   planted_bugs.sh wrong STEP others   all others
#
# A patch's line `# rule: NAME` names the entry of the catalogue of mistakes (validate/explain/mistakes) that must be
# told of it. Its lines `# expect: REGEX` say what the validator's words must match; `# expect-on-gpu:` and
# `# expect-on-cpu:` hold in one place alone; `# expect-no: REGEX` says what none of them may match. Where a step needs a
# GPU and there is none, the CPU runs its kernels (lab/cpu). On a GPU the CPU runs them, too. In both places it looks at
# every access, as in `make check`. A patch with the line `# on-cpu: watched` is a race that does no harm on the CPU: only
# the look is taken; one with `# on-cpu: reverse` is run with the threads in reverse. Of programs that are right the
# step's goals are measured, too, as far as that can be done here: another way to them must not be
# refused. `# goal: missed` in a patch: this one is right and misses its goal
# (`# goal-on-gpu:` where it takes a GPU to see that). `# not-on-gpu: WHY`: a GPU is not asked. `# tried with: OPTIONS`:
# the validator's, in place of those that a job of ranks is tried with.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/planted_bugs_common.sh"
source "$source_dir/scripts/lib/look.sh"
need patch
need_build

verdict=$1 step=$2 which=${3:-all}
case $verdict in
  wrong) bank=$source_dir/validate/tests/bank/wrong/$2 expected_status=1 ;;
  right) bank=$source_dir/validate/tests/bank/right/$2 expected_status=0 ;;
  *) skip "the verdict must be wrong or right, not $verdict" ;;
esac
line=$(grep "^$step"$'\t' "$source_dir/lab/steps.tsv") || {
  echo "$step is not in lab/steps.tsv"
  exit 1
}
IFS=$'\t' read -r _ source_file needs _ <<<"$line"
solution=$source_dir/solutions/$step/$source_file
library=${LAB_TEST_LIBRARY:-$build_dir/lab/liblab.a}
for file in "$solution" "$library" "$build_dir/bin/validate"; do
  [[ -f $file ]] || skip "$file is not there"
done
# The flags of the build that made the library, so that both fit together (sanitizers, coverage).
read -r -a cxx_flags <<<"${LAB_TEST_CXX_FLAGS:-}"
read -r -a cuda_flags <<<"${LAB_TEST_CUDA_FLAGS:-}"
make_temp
several=0
if [[ $needs == ranks ]]; then several=1; fi
read_look "${step%%_*}" "$several"

# Where the variants run: place is gpu, or cpu in its place; a step without kernels runs on the CPU as it
# is, and place is none.
place=none
if [[ $needs == cuda ]]; then
  place=cpu
  if [[ -n ${LAB_TEST_NVCC:-} && -x $build_dir/bin/solution_$step ]]; then
    run "$build_dir/bin/solution_$step" --n 3 --iterations 1 --quiet
    if ((status != exit_skipped)); then place=gpu; fi
  fi
fi

# Jobs of several ranks run on the CPU, wherever this is.
ranks=()
if [[ $needs == ranks ]]; then
  [[ -f $build_dir/lab/liblab_ranks_on_cpu.a ]] || skip "this build has no MPI"
  mpicxx --showme:link >/dev/null 2>&1 || skip "no mpicxx that says how it links"
  place=cpu ranks=(--ranks 3 --n 100 --problem probe)
  export LAB_EXCHANGE_SECONDS=30
fi

# applied NAME [PATCH]: makes $temp/NAME/jacobi.*, patched, a part of the program.
names=() watched=()
applied() {
  local name=$1 dir=$temp/$1
  mkdir "$dir"
  if [[ ! $name =~ ^[a-z][a-z0-9_]*$ ]]; then
    fail "$name: not a name for a patch: lower-case letters, digits and underscores"
  elif (($# == 1)); then
    cp "$solution" "$dir/$source_file"
    names+=("$name")
  elif patched "$name" "$2"; then
    names+=("$name")
    if [[ $place == cpu ]] && grep -qx '# on-cpu: watched' "$2"; then watched+=("$name"); fi
  fi
}

compile() { # compile FROM TO: by the compiler that makes the step
  local -a common=(-std=c++17 -O1 -I"$source_dir/lab/include" "-DLAB_STEP_NAME=\"$step\"" "$1" "$library"
    -o "$2")
  if [[ $needs == cuda ]]; then
    # For the GPU here; where there is none nvcc says so, and takes its default.
    "$LAB_TEST_NVCC" ${LAB_TEST_CUDA_HOST:+-ccbin "$LAB_TEST_CUDA_HOST"} -arch=native "${cuda_flags[@]}" \
      "${common[@]}"
  else
    "${LAB_TEST_CXX:-c++}" "${cxx_flags[@]}" -isystem "$source_dir/lab/cpu/include" "${common[@]}"
  fi
}

# compile_all: makes $temp/program and, for a look at every access, $temp/program_watched.
compile_all() {
  local all=$temp/all.${source_file##*.}
  all_variants "$temp" "$source_file" "${names[@]}" >"$all"
  if [[ $place == none ]]; then
    compile "$all" "$temp/program"
    return
  fi
  local on_cpu=$temp/program job jobs=()
  if [[ $place == gpu ]]; then
    compile "$all" "$temp/program" &
    jobs+=("$!") on_cpu=$temp/program_on_cpu
  fi
  "$build_dir/bin/cuda_to_cpp" "$all" "$temp/on_cpu.cpp" || return
  compile_on_cpu "$step" "$temp/on_cpu.cpp" "$on_cpu" "" &
  jobs+=("$!")
  if [[ -f $build_dir/lab/cpu/libcuda_on_cpu_watched.a ]]; then
    cp "$temp/on_cpu.cpp" "$temp/watched.cpp"
    compile_on_cpu "$step" "$temp/watched.cpp" "$temp/program_watched" _watched || return
  fi
  for job in "${jobs[@]}"; do wait "$job" || return; done
}

# judge_goals NAME: the same of its goals.
judge_goals() {
  local name=$1 patch=$bank/$1.patch dir=$temp/$1/counted expected=0 before
  local -a options=(--name "$step")
  before=$(awk -F '\t' -v step="$step" '$1 == step { print $7 }' "$source_dir/lab/steps.tsv")
  mkdir "$dir"
  if [[ $needs == cuda && $source_file == *.cu && -f $temp/program_watched ]]; then
    ln -s "$temp/program_watched" "$dir/$name"
    options+=(--watched "$dir/$name")
  fi
  if [[ $needs == ranks ]]; then options+=(--ranks 2); fi
  if [[ $place == gpu ]]; then
    options+=(--gpu --on-cpu "$temp/$name/on_cpu/$name" --tracer "$build_dir/lib/liblab_trace.so"
      --before "$build_dir/bin/solution_$before"
      --bandwidth "$temp/bandwidth")
  fi
  if [[ $name != unpatched ]] && grep -qxE "# goal(-on-$place)?: missed" "$patch"; then expected=1; fi
  status=0
  said=$("$build_dir/bin/goals" "${options[@]}" "$temp/$name/$name" 2>&1) || status=$?
  if [[ -n ${LAB_TEST_SHOW:-} ]]; then printf '%s\n\n' "$said" >&2; fi
  if ((status != expected)); then show "$name: goals: exit code $status, and $expected was expected"; fi
}

# judge NAME: says what is not as it should be, or nothing.
judge() {
  local name=$1 patch=$bank/$1.patch regex program=$temp/program
  local -a options=(--time-limit 60 --source "$temp/$1/$source_file") tried=("${ranks[@]}")
  if [[ $name != unpatched ]] && grep -q '^# tried with: ' "$patch"; then
    read -r -a tried < <(sed -n 's/^# tried with: //p' "$patch")
  fi
  options+=("${tried[@]}")
  if [[ $place == gpu ]]; then
    mkdir "$temp/$name/on_cpu"
    ln -s "$temp/program_on_cpu" "$temp/$name/on_cpu/$name"
    options+=(--gpu --on-cpu "$temp/$name/on_cpu/$name")
  fi
  if [[ " ${watched[*]-} " == *" $name "* ]]; then
    program+=_watched
    if ((${#tried[@]} == 0)); then options+=(--n "$look_points" --iterations "$look_sweeps"); fi
  elif [[ -f $temp/program_watched ]]; then
    mkdir "$temp/$name/watched"
    ln -s "$temp/program_watched" "$temp/$name/watched/$name"
    if [[ ${tried[0]-} == --n ]]; then look_points=${tried[1]}; fi # of this subshell alone
    options+=(--watched "$temp/$name/watched/$name" --look-at "$look_points" --look-sweeps "$look_sweeps")
  fi
  if [[ $place == cpu && $name != unpatched ]] && grep -qx '# on-cpu: reverse' "$patch"; then
    export LAB_CPU_ORDER=reverse # of this subshell alone
  fi
  ln -s "$program" "$temp/$name/$name"
  status=0
  said=$("$build_dir/bin/validate" --explain "${options[@]}" "$temp/$name/$name" 2>&1) || status=$?
  if [[ -n ${LAB_TEST_SHOW:-} ]]; then printf '%s\n\n' "$said" >&2; fi
  # A remark on calls that nobody checks is for learners who left some out.
  if [[ $name == unpatched || $verdict == right ]]; then expect_no 'Your code does not check:' "$name"; fi
  if [[ $name == unpatched ]]; then
    expect_status 0 "the solution itself, unpatched"
  elif ((status != expected_status)); then
    show "$name: the verdict should be: $verdict"
  else
    while IFS= read -r regex; do
      expect "$regex" "$name"
    done < <(sed -nE "s/^# expect(-on-${place/none/cpu})?: //p" "$patch")
    while IFS= read -r regex; do
      expect_no "$regex" "$name"
    done < <(sed -n 's/^# expect-no: //p' "$patch")
    expect_no '\{[a-z_]+\}|: yes$|within 0 s' "$name" # a gap in the words, or what is none
    # The same mistake can look like another one on a GPU, and if many multiprocessors leave a warp one row.
    if [[ -z ${LAB_CPU_MULTIPROCESSORS:-} ]] && grep -q '^# rule: ' "$patch" &&
      ! { [[ $place == gpu ]] && grep -q '^# expect-on-gpu: ' "$patch"; }; then
      expect "^  rule: $(sed -n 's/^# rule: //p' "$patch")\$" "$name"
    fi
  fi
}

# The control: unpatched, built in the same way, the solution is right. (With the first ones alone, `make test` has judged
# the solution by itself.)
if [[ $which != first ]]; then applied unpatched; fi
if [[ $which != all ]]; then first_of_entries >"$temp/first"; fi
for patch in "$bank"/*.patch; do
  [[ -f $patch ]] || fail "there is no patch in $bank"
  if [[ $which != all ]]; then
    among=others
    if grep -qxF "$patch" "$temp/first"; then among=first; fi
    if [[ $among != "$which" ]]; then continue; fi
  fi
  grep -qE '^# expect(-on-[cg]pu)?: .' "$patch" || fail "$patch: has no line '# expect: REGEX'"
  name=$(basename "$patch" .patch)
  if [[ $place == gpu ]] && grep -H '^# not-on-gpu: ' "$patch"; then continue; fi
  applied "$name" "$patch"
done
count=${#names[@]}
if [[ $which != first ]]; then count=$((count - 1)); fi
if [[ $which != all ]] && ((count == 0)); then skip "no patch of $step is among the $which"; fi

if [[ $place != none ]]; then
  for file in "$build_dir/bin/cuda_to_cpp" "$build_dir/lab/cpu/libcuda_on_cpu.a"; do
    [[ -f $file ]] || skip "$file is not there"
  done
  # Two workers that add without an atomic lose something now and then; one never does.
  export LAB_CPU_WORKERS=1
fi
if ! compile_all >"$temp/log" 2>&1; then
  fail "the patched programs do not compile; each is named as a file:" "$(head -n 40 "$temp/log")"
else
  cores=$(nproc)
  # Each program keeps half a gigabyte of the GPU, and they wait for one another.
  if [[ $place == gpu ]] && ((cores > 8)); then cores=8; fi
  # Ranks that hang, as many of these do, compute nothing.
  if [[ $needs == ranks ]]; then cores=$((2 * cores)); fi
  all_at_work "$cores" judge "${names[@]}"
  if [[ $verdict == right && $needs != cpu ]]; then
    # Some goals are times: on a GPU each variant has it for itself, and its bandwidth is measured once.
    if [[ $place == gpu ]]; then
      cores=1
      "$build_dir/bin/bandwidth" >"$temp/bandwidth.txt" || true # a goal that needs it says so
      printf '#!/bin/sh\nexec cat "%s"\n' "$temp/bandwidth.txt" >"$temp/bandwidth"
      chmod +x "$temp/bandwidth"
    fi
    all_at_work "$cores" judge_goals "${names[@]}"
  fi
  fail_by_words "${names[@]}"
fi
where=""
if [[ $place == cpu ]]; then where=", on the CPU in place of a GPU"; fi
finish "$count patches of $step, each $verdict$where"
