# shellcheck shell=bash
# What the tests of the bank of wrong programs share. Source it, after lib.sh and make_temp.
# shellcheck disable=SC2154  # lib.sh sets it
source "$source_dir/scripts/lib/variants.sh"

# first_of_entries: of the bank of wrong programs the first patch of each entry of the catalogue of mistakes, which its
# line `# rule: NAME` names, a path a line. One with a line `# slow: WHY` above that is none of them.
first_of_entries() {
  # shellcheck disable=SC2154  # lib.sh sets it
  awk '/^# slow: ./ { slow[FILENAME] } /^# rule: / && !(FILENAME in slow) && $3 != "none" && !seen[$3]++ { print FILENAME }' "$source_dir"/validate/tests/bank/wrong/*/*.patch
}

# patched NAME PATCH: makes $temp/NAME/$source_file of the solution; or notes that the patch does not apply.
patched() {
  patch --silent --fuzz=0 -o "$temp/$1/$source_file" "$solution" "$2" >"$temp/$1/log" 2>&1 ||
    { fail "$1: does not apply to solutions/$step/$source_file any more" "$(<"$temp/$1/log")" && false; }
}

# all_at_work COUNT COMMAND NAME...: runs COMMAND NAME for each, as many at a time; what it says is added to $temp/NAME/words.
all_at_work() {
  local count=$1 command=$2 name
  for name in "${@:3}"; do
    while (($(jobs -rp | wc -l) >= count)); do wait -n || true; done
    "$command" "$name" >>"$temp/$name/words" &
  done
  wait
}

# fail_by_words NAME...: prints these words; whoever has some has failed.
fail_by_words() {
  local name
  for name in "$@"; do
    [[ -s $temp/$name/words ]] || continue
    cat "$temp/$name/words"
    failures=$((failures + 1))
  done
}

# compile_on_cpu STEP CPP PROGRAM VARIANT: makes PROGRAM from what cuda_to_cpp made, for the CPU in place
# of a GPU. VARIANT: "" or _watched, in which every access is looked at.
compile_on_cpu() {
  local step=$1 cpp=$2 program=$3 variant=$4 cxx=${LAB_TEST_CXX:-c++}
  # shellcheck disable=SC2154  # lib.sh sets them
  local library=$build_dir/lab/cpu/libcuda_on_cpu$variant.a
  local -a flags own=(-O1) link=() ranks=() mpi=()
  read -r -a flags <<<"${LAB_TEST_CXX_FLAGS:-}"
  if [[ $variant == _watched ]]; then
    read -r -a own <"$build_dir/lab/cpu/watched_flags.txt"
    link=("-Wl,--wrap=memcpy" "-Wl,--wrap=memmove" "-Wl,--wrap=memset") # as lab/cpu/CMakeLists.txt says
  fi
  # A job of several ranks.
  if grep -q 'lab/ranks\.h' "$cpp"; then
    ranks=("$build_dir/lab/liblab_ranks_on_cpu$variant.a")
    read -r -a mpi < <(mpicxx --showme:link)
  fi
  # shellcheck disable=SC2154
  "$cxx" "${flags[@]}" -std=c++17 -g1 -Wno-unknown-pragmas -I"$source_dir/lab/include" \
    -isystem "$source_dir/lab/cpu/include" -isystem "$source_dir/lab/cpu/formats" "-DLAB_STEP_NAME=\"$step\"" "${own[@]}" -c "$cpp" -o "$program.o" &&
    "$cxx" "${flags[@]}" "$program.o" "${ranks[@]}" "$library" "${LAB_TEST_LIBRARY:-$build_dir/lab/liblab.a}" \
      "${mpi[@]}" "${link[@]}" -pthread -ldl -o "$program"
}
