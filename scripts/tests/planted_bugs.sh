#!/usr/bin/env bash
# The validator says what it should of programs that are known to be wrong, or known to be right:
#
#   planted_bugs.sh wrong STEP   every patch validate/tests/bugs/STEP--*.patch makes solutions/STEP wrong
#   planted_bugs.sh right STEP   every patch validate/tests/legal/STEP--*.patch leaves it right
#
# A patch's lines `# expect: REGEX` say what the validator's words must match. Where a step needs a GPU
# and there is none, its patches are compiled, and the test counts as skipped.
set -euo pipefail
# shellcheck source=scripts/tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need patch
need_build

verdict=$1 step=$2
case $verdict in
  wrong) bank=$source_dir/validate/tests/bugs expected_status=1 ;;
  right) bank=$source_dir/validate/tests/legal expected_status=0 ;;
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
if [[ $needs == cuda ]]; then
  [[ -n ${LAB_TEST_NVCC:-} ]] || skip "$step needs nvcc, and this build has none"
fi
make_temp

# All variants of the step are compiled as one program, each in a namespace of its own: the headers
# take the compiler ten times as long as the step does. Which of them runs is decided by the name that
# the program is called by.

# applied NAME [PATCH]: makes $temp/NAME/jacobi.*, patched, a part of the program.
names=()
applied() {
  local name=$1 dir=$temp/$1
  mkdir "$dir"
  if [[ ! $name =~ ^[a-z][a-z0-9_]*$ ]]; then
    fail "$name: not a name for a patch: lower-case letters, digits and underscores"
  elif (($# == 1)); then
    cp "$solution" "$dir/$source_file"
    names+=("$name")
  elif patch --silent --fuzz=0 -o "$dir/$source_file" "$solution" "$2" >"$dir/log" 2>&1; then
    names+=("$name")
  else
    fail "$name: does not apply to solutions/$step/$source_file any more" "$(<"$dir/log")"
  fi
}

# all_variants: the program's source.
all_variants() {
  local name
  for name in "${names[@]}"; do grep '^#include' "$temp/$name/$source_file"; done | awk '!seen[$0]++'
  echo '#include <string>'
  for name in "${names[@]}"; do
    printf 'namespace %s {\n#line 1 "%s"\n' "$name" "$name"
    sed 's/^#include.*//' "$temp/$name/$source_file"
    printf '}  // namespace %s\n' "$name"
  done
  cat <<'END'
#line 1 "the choice of a variant"
int main(int argc, char** argv) {
  const std::string path = argv[0], name = path.substr(path.rfind('/') + 1);
END
  for name in "${names[@]}"; do printf '  if (name == "%s") return %s::main(argc, argv);\n' "$name" "$name"; done
  printf '  return 2;\n}\n'
}

compile() { # compile FROM TO
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

# Without a GPU nothing can be said but that it compiles.
can_run=1
if [[ $needs == cuda ]]; then
  run "$build_dir/bin/solution_$step" --n 3 --iterations 1 --quiet
  if ((status == exit_skipped)); then can_run=0; fi
fi

# judge NAME PATCH: says what is not as it should be, or nothing.
judge() {
  local name=$1 regex
  ln -s "$temp/program" "$temp/$name/$name"
  status=0
  said=$("$build_dir/bin/validate" --time-limit 60 "$temp/$name/$name" 2>&1) || status=$?
  if [[ $name == unpatched ]]; then
    expect_status 0 "the solution itself, unpatched"
  elif ((status != expected_status)); then
    show "$name: the verdict should be: $verdict"
  else
    while IFS= read -r regex; do
      expect "$regex" "$name"
    done < <(sed -n 's/^# expect: //p' "$2")
  fi
}

# The control: unpatched, built in the same way, the solution is right.
applied unpatched
for patch in "$bank/$step"--*.patch; do
  [[ -f $patch ]] || fail "there is no patch for $step in $bank"
  grep -q '^# expect: .' "$patch" || fail "$patch: has no line '# expect: REGEX'"
  name=$(basename "$patch" .patch)
  applied "${name#"$step"--}" "$patch"
done
count=$((${#names[@]} - 1))

all_variants >"$temp/all.${source_file##*.}"
if ! compile "$temp/all.${source_file##*.}" "$temp/program" >"$temp/log" 2>&1; then
  fail "the patched programs do not compile; each is named as a file:" "$(head -n 40 "$temp/log")"
elif ((can_run)); then
  cores=$(nproc)
  for name in "${names[@]}"; do
    while (($(jobs -rp | wc -l) >= cores)); do wait -n || true; done
    judge "$name" "$bank/$step--$name.patch" >"$temp/$name/words" &
  done
  wait
  for name in "${names[@]}"; do
    words=$(<"$temp/$name/words")
    [[ -n $words ]] || continue
    printf '%s\n' "$words"
    failures=$((failures + 1))
  done
fi
if ((!can_run && failures == 0)); then
  skip "no usable GPU: $count patches of $step compile, and what they do was not tried"
fi
finish "$count patches of $step, each $verdict"
