# shellcheck shell=bash
# shellcheck disable=SC2154  # its variables are those of check.sh
# In which function, and in which of its lines, a wrong program has its mistake: each function that the solution has, too,
# is in turn taken from there. If that makes the program right, the mistake is there. For check.sh, which sources it.

source "$lab_root/scripts/lib/variants.sh"

# build_swapped FOLDER NAME...: makes FOLDER/program of these variants; $variant is _watched if every access is looked at.
# In one go, for `locked`.
build_swapped() {
  local folder=$1
  shift
  all_variants "$folder" "$step_source" "$@" >"$build_dir/content/swapped_${step}_$step_source" &&
    cmake --build "$build_dir" --target "swapped_${step}_cpu$variant" >"$folder/log" 2>&1 &&
    cp "$build_dir/bin/swapped_${step}_cpu$variant" "$folder/program"
}

# repaired_by FOLDER OPTION...: of the variants in FOLDER, which FOLDER/names lists with words for each, those that are
# right where the program itself is wrong, by the validator with these options. Fails if that is right as well.
repaired_by() {
  local folder=$1 name words started=0 cores
  local -a names=(as_it_is)
  cores=$(nproc)
  shift
  mkdir -p "$folder/as_it_is"
  cp "$source_file" "$folder/as_it_is/$step_source"
  while IFS=$'\t' read -r name words; do names+=("$name"); done <"$folder/names"
  if ! locked build_swapped "$folder" "${names[@]}"; then
    # Those that do not fit the learner's other functions are left out.
    for name in "${names[@]:1}"; do
      if grep -qE "^$name:[0-9:]+ (fatal )?error" "$folder/log"; then names=(${names[@]/#%$name/}); fi
    done
    ((${#names[@]} > 1)) && locked build_swapped "$folder" "${names[@]}" || return 1
  fi
  for name in "${names[@]}"; do
    ((++started <= cores)) || wait -n || true
    ln -sf "$folder/program" "$folder/$name/$name"
    rm -f "$folder/$name/is_right"
    # One worker: what a race does is then the same each time.
    { LAB_CPU_WORKERS=1 LAB_EXCHANGE_SECONDS=6 "$build_dir/bin/validate" --time-limit 20 "$@" \
      "$folder/$name/$name" >"$folder/$name/said" 2>&1 && ! grep -q '^  diagnosis: ' "$folder/$name/said" &&
      touch "$folder/$name/is_right"; } &
  done
  wait
  [[ ! -e $folder/as_it_is/is_right ]] || return 1
  while IFS=$'\t' read -r name words; do
    if [[ -e $folder/$name/is_right ]]; then printf '%s\t%s\n' "$name" "$words"; fi
  done <"$folder/names"
}

# which_function: adds to $said, the validator's words, where the mistake is, if that can be found out. What they say of
# other functions is then left out.
which_function() {
  local solution=solutions/$step/$step_source swaps=$build_dir/bin/swap_functions found lines name words where others
  local variant="" line=${said%%$'\n'*}
  local -a options=()
  [[ -f $solution ]] && have_target "swapped_${step}_cpu" || return 0
  # As in the run that went wrong. One with options of its own is among those that are tried anyway.
  if [[ $line =~ ([a-z]+),\ n\ =\ ([0-9]+),\ ([0-9]+)\ (iteration|cycle) ]]; then
    options=(--problem "${BASH_REMATCH[1]}" --n "${BASH_REMATCH[2]}" --iterations "${BASH_REMATCH[3]}")
  elif [[ $said =~ of\ the\ error\ at\ n\ =\ ([0-9]+) ]]; then
    options=(--problem probe --n "${BASH_REMATCH[1]}")
  elif [[ $line != *\ --* ]]; then
    return 0
  fi
  if [[ $line == *\ --* ]]; then
    options=()
  elif ((${options[3]} < 1000)); then
    options+=(--every-order)
  fi
  if ((step_ranks)); then
    [[ $line =~ ([0-9]+)\ rank ]] || return 0
    options+=(--ranks "${BASH_REMATCH[1]}")
  fi
  doing "looking in which function it is"
  mkdir "$scratch/functions" "$scratch/lines"
  is_built swap_functions &&
    "$swaps" --solution "$solution" --into "$scratch/functions" "$source_file" >"$scratch/functions/names" &&
    [[ -s $scratch/functions/names ]] || return 0
  if ! found=$(repaired_by "$scratch/functions" "${options[@]}"); then # a race that does no harm here
    variant=_watched
    found=$(repaired_by "$scratch/functions" "${options[@]}") || return 0
  fi
  [[ -n $found ]] || return 0
  name=${found%%$'\t'*} words=$(cut -f 2 <<<"$found")
  name=${name#with_}
  where="in ${words//$'\n'/, or in }"
  if [[ $words == "$name ("*")" && $words != *$'\n'* ]] &&
    "$swaps" --solution "$solution" --into "$scratch/lines" --within "$name" "$source_file" >"$scratch/lines/names" &&
    lines=$(repaired_by "$scratch/lines" "${options[@]}" | cut -f 2) && [[ -n $lines ]]; then
    where="${lines//$'\n'/, or }, in $name"
  fi
  others=$("$swaps" --names "$source_file" | grep -vxF "$name" | tr '\n' ' ')
  said=$(awk -v where="  where: $where. With the solution's code there, your program is right." -v name="$name" \
    -v others="$others" '
    BEGIN { count = split(others, other, " ") }
    function mentions(word) { return match(" " $0 " ", "[^A-Za-z0-9_]" word "[^A-Za-z0-9_]") }
    /^  look at: / && !mentions(name) {
      for (k = 1; k <= count; ++k) if (mentions(other[k])) next
    }
    /^  (look at: |the (field|residual) is |it (ended|stopped) |A look at )/ && !put {
      print where
      put = 1
      sub(/if that is right: /, "")
    }
    { print }
    END { if (!put) print where }' <<<"$said")
}
