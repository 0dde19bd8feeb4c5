#!/usr/bin/env bash
# What finds which mistake without a GPU: every patch of STEP in bank/wrong and in
# bank/found_on_cpu makes the solution wrong; it is judged by the validator with the threads run
# forward, in reverse and shuffled, and with every access looked at (RACES=1). Each mistake must be found
# by one of them; the table must be the one that is committed, and that lab/cpu/README.md shows.
#
#   planted_bugs_on_cpu.sh STEP            holds validate/tests/bank/found_on_cpu/STEP.tsv
#   planted_bugs_on_cpu.sh STEP --write    writes it
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source "$(dirname "${BASH_SOURCE[0]}")/planted_bugs_common.sh"
need patch
need_build

step=$1
source_file=jacobi.cu
solution=$source_dir/solutions/$step/$source_file
table=$source_dir/validate/tests/bank/found_on_cpu/$step.tsv
libraries=$build_dir/lab/cpu
for file in "$solution" "$build_dir/bin/validate" "$build_dir/bin/cuda_to_cpp" \
  "$libraries/libcuda_on_cpu.a" "$libraries/libcuda_on_cpu_watched.a"; do
  [[ -f $file ]] || skip "$file is not there"
done
make_temp
# Where two workers add without an atomic, they lose something now and then: one adds alone.
export LAB_CPU_WORKERS=1

names=()
for patch in "$source_dir/validate/tests/bank"/{wrong,found_on_cpu}/"$step"/*.patch; do
  [[ -f $patch ]] || continue
  name=$(basename "$patch" .patch)
  mkdir "$temp/$name"
  patched "$name" "$patch" || continue
  names+=("$name")
  cp "$patch" "$temp/$name/patch"
done
((${#names[@]} > 0)) || fail "there is no patch for $step"
mkdir "$temp/unpatched"
cp "$solution" "$temp/unpatched/$source_file"
names=(unpatched "${names[@]}")

all_variants "$temp" "$source_file" "${names[@]}" >"$temp/all.cu"
"$build_dir/bin/cuda_to_cpp" "$temp/all.cu" "$temp/all.cpp" ||
  { fail "the filter does not take the patched programs" && finish; }

compile_on_cpu "$step" "$temp/all.cpp" "$temp/plain" "" >"$temp/log1" 2>&1 &
one=$!
compile_on_cpu "$step" "$temp/all.cpp" "$temp/watched" _watched >"$temp/log2" 2>&1 || status=$?
wait "$one" || status=$?
if ((${status:-0} != 0)); then
  fail "the patched programs do not compile" "$(head -n 30 "$temp/log1" "$temp/log2")"
  finish
fi

# how: in one word what the validator said last: right, or how the mistake showed.
how() {
  case $status in
    0) echo right ;;
    1)
      # A program that ended with exit code 3 has itself said what is wrong, and where.
      if grep -q 'it ended with exit code 3: ' <<<"$said"; then echo message; else echo wrong; fi
      ;;
    *) echo "exit code $status" ;;
  esac
}

judge() { # judge NAME: writes its line of the table
  local name=$1 order line=$1 words="" found=0
  mkdir "$temp/$name/plain" "$temp/$name/watched"
  ln -s "$temp/plain" "$temp/$name/plain/$name"
  ln -s "$temp/watched" "$temp/$name/watched/$name"
  for order in forward reverse shuffled; do
    status=0
    said=$(LAB_CPU_ORDER=$order "$build_dir/bin/validate" --time-limit 60 --n 100,250,33 \
      "$temp/$name/plain/$name" 2>&1) || status=$?
    line+=$'\t'$(how)
    words+=$said$'\n'
    found=$((found | status))
  done
  status=0
  said=$("$build_dir/bin/validate" --time-limit "$(patience 60)" --n 100,33 --iterations 3 "$temp/$name/watched/$name" 2>&1) ||
    status=$?
  line+=$'\t'$(how)
  words+=$said
  found=$((found | status))
  printf '%s\n' "$line" >"$temp/$name/line"
  if [[ $name == unpatched ]]; then
    if ((found)); then fail "the solution itself is called wrong:" "$words"; fi
    return
  fi
  if ((!found)); then fail "$name: nothing finds it"; fi
  if [[ ! -f $source_dir/validate/tests/bank/found_on_cpu/$step/$name.patch ]]; then return; fi
  while IFS= read -r regex; do
    grep -qE -- "$regex" <<<"$words" || fail "$name: nothing that matches '$regex' in:" "$words"
  done < <(sed -n 's/^# expect: //p' "$temp/$name/patch")
}

all_at_work "$(nproc)" judge "${names[@]}"
fail_by_words "${names[@]}"

{
  printf 'mistake\tforward\treverse\tshuffled\tRACES=1\twhat it is\n'
  for name in "${names[@]}"; do
    [[ $name != unpatched ]] || continue
    printf '%s\t%s\n' "$(<"$temp/$name/line")" "$(sed -n '1s/^# //p' "$temp/$name/patch")"
  done | sort
} >"$temp/table"
if [[ ${2:-} == --write ]]; then
  cp "$temp/table" "$table"
elif ! diff "$table" "$temp/table" >"$temp/diff"; then
  fail "the table of what finds which is not the committed one (planted_bugs_on_cpu.sh $step --write):" \
    "$(<"$temp/diff")"
fi
finish "$((${#names[@]} - 1)) mistakes in $step, each found without a GPU"
