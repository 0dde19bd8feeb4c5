#!/usr/bin/env bash
# What the verbs have from outside: a build folder that several use at a time, that was moved or cannot be
# written, a folder for what is temporary, Ctrl-C, and the locale.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need cmake ctest flock timeout
make_temp
if [[ -n ${LAB_TEST_CXX:-} ]]; then export CXX=$LAB_TEST_CXX; fi

# in_lab COMMANDS: run by a script that has sourced scripts/lib/lib.sh of the lab in $lab.
lab=$source_dir
# shellcheck disable=SC2016  # the shell that is started has them
in_lab() { run bash -c 'set -euo pipefail; source "$1/scripts/lib/lib.sh"; eval "$2"' script.sh "$lab" "$1"; }

# One at a time. This cmake finds out whether another one runs.
export LAB_BUILD_DIR=$temp/build
mkdir "$temp/stubs"
cat >"$temp/stubs/cmake" <<END
#!/usr/bin/env bash
case \$1 in
  --version) echo "cmake version 3.30.0" && exit ;;
  -S) echo "-- CUDA 13.0" ;;
esac
mkdir "$temp/busy" || { echo "two at a time" >&2 && exit 1; }
sleep 0.3
rmdir "$temp/busy"
END
chmod +x "$temp/stubs/cmake"
path=$PATH
export PATH=$temp/stubs:$PATH
in_lab 'for k in 1 2 3; do { configure && build_targets all; } & done; wait -n && wait -n && wait -n'
expect_status 0 "three verbs in one build folder"
expect_no 'two at a time' "three verbs in one build folder"
expect "^script\.sh: another make builds in $temp/build: waiting for it\$" "three verbs in one build folder"
# What a compiler leaves running does not hold the others up.
echo 'sleep 20 >/dev/null 2>&1 &' >>"$temp/stubs/cmake"
in_lab 'configure; SECONDS=0; build_targets all; ((SECONDS < 15))'
expect_status 0 "a process that is left running"
# The log of a configuration is there whole, here while another one takes its time.
sed -i '$d; s/^sleep.*/sleep 1/; s/  -S) echo/  -S) sleep 0.5; echo/' "$temp/stubs/cmake"
# shellcheck disable=SC2016
in_lab 'configure & sleep 0.4; grep -q "^-- CUDA" "$build_dir/configure.log"; wait'
expect_status 0 "the log while a configuration runs"
# A failure is told, and stands where it is looked for.
sed -i 's/^mkdir .*/exit 1/; s/echo "-- CUDA 13.0"/echo "no compiler"/' "$temp/stubs/cmake"
in_lab configure
expect_status 1 "a configuration that fails"
expect '^no compiler$' "a configuration that fails"
expect '^script\.sh: CMake could not configure the build' "a configuration that fails"
[[ $(<"$temp/build/configure.log") == "no compiler" ]] || fail "a configuration that fails: its log is another"
# No space in the build folder, and so no words of CMake's.
run bash -c "(trap '' XFSZ; ulimit -f 0; source '$lab/scripts/lib/lib.sh'; configure) 2>&1 | cat"
expect ": no space left in $temp/build\$" "a full build folder"
cache=$temp/build/CMakeCache.txt
# CMake is asked again only if something has changed that decides what it finds: a tool, the environment, a step, or if it
# failed.
cat >"$temp/stubs/cmake" <<END
#!/usr/bin/env bash
[[ \$1 == -S ]] || { echo "cmake version 3.30.0" && exit; }
echo asked >>"$temp/asked"
[[ ! -e "$temp/fails" ]] || exit 1
echo "-- CUDA 13.0"
END
# asked COUNT WHAT: how often it was, since the last time.
asked() {
  local count=0
  if [[ -e $temp/asked ]]; then count=$(grep -c . "$temp/asked"); fi
  rm -f "$temp/asked"
  [[ $count == "$1" ]] || fail "$2: CMake was asked $count times, and not $1"
}
echo 'CMAKE_PROJECT_NAME:STATIC=jacobi_porting_lab' >"$cache"
in_lab 'configure; configure'
asked 1 "nothing has changed"
[[ $out == "CUDA 13.0"$'\n'"CUDA 13.0" ]] || show "nothing has changed: the same words"
in_lab 'CXXFLAGS=-g configure; all_steps=1 configure'
asked 2 "flags in the environment, and then all steps"
ln -s /bin/true "$temp/stubs/nvcc"
in_lab 'configure; configure'
asked 1 "an nvcc is there now"
touch "$temp/fails"
rm "$temp/stubs/nvcc"
in_lab 'configure || true'
rm "$temp/fails"
in_lab 'configure; configure'
asked 2 "it failed, and works again"

# How far a build is: on a terminal one line, elsewhere a word with the first. All of it is in the log.
cat >"$temp/stubs/cmake" <<'END'
#!/usr/bin/env bash
for k in 1 2; do
  echo "[$k/2] Building CXX object validate/CMakeFiles/a.dir/a.cpp.o"
  sleep 0.5
done
[[ $* != *broken* ]] || { echo "a.cpp:1: error: no such thing" && exit 1; }
END
# shellcheck disable=SC2016
in_lab 'build_watched "$build_dir/log" all'
expect_status 0 "a first build"
[[ -z $out && $err == "building ... (the first build takes a minute or two)" ]] || show "a first build: one line"
[[ $(grep -c '^\[./2\] Building' "$temp/build/log") == 2 ]] || fail "a first build: its log is another"
mkdir "$temp/build/lab"
touch "$temp/build/lab/liblab.a"
# shellcheck disable=SC2016
in_lab 'build_watched "$build_dir/log" all; build_targets all'
expect_status 0 "a later build"
[[ -z $out$err ]] || show "a later build: nothing should be said"
in_lab 'build_targets broken'
expect_status 1 "build_targets fails"
[[ -z $out && $err == "a.cpp:1: error: no such thing" ]] || show "build_targets fails: the compiler's words alone"
# shellcheck disable=SC2016
in_lab 'build_watched "$build_dir/log" broken'
expect_status 1 "build_watched fails"
[[ -z $out$err ]] || show "build_watched fails: nothing should be said"
if command -v script >/dev/null; then
  printf '%s\n' "source '$lab/scripts/lib/lib.sh'" 'build_targets all; printf "<done>\n"' >"$temp/on_terminal.sh"
  run env SHELL=/bin/bash script -qec "bash $temp/on_terminal.sh" /dev/null
  expect $'\033\\[K  building #{10}[.]{10} \\[1/2\\] \\.\\.\\.\r\033\\[K  building #{20} \\[2/2\\] .*\r\033\\[K<done>' "a build on a terminal"
fi
PATH=$path

# A lab that was moved, its build folder in it.
unset LAB_BUILD_DIR
export LAB_CMAKE_ARGS="-DLAB_CUDA=OFF"
lab=$temp/a\ lab
copy_tree "$lab"
in_lab configure
expect_status 0 "a path with a blank"
# This one has no git: how exercises were handed out is kept at first.
if [[ -d $lab/solutions ]]; then
  first=$(awk '/^[0-9]/ { print $1 "/" $2; exit }' "$lab/lab/steps.tsv")
  cmp -s "$lab/.start/$first" "$lab/exercises/$first" || fail "a lab without git: the exercises were not kept"
fi
# Its tests say at once that nothing is built.
if [[ -d $lab/scripts/tests ]]; then
  run ctest --test-dir "$lab/build" --output-on-failure -R '^(programs_quick|steps_list)$'
  expect '^not built: .*: make test builds it$' "ctest without a build"
  expect 'steps_list \(Not Run\)' "ctest without a build"
fi
touch "$lab/build/kept"
in_lab configure
expect_no 'built anew' "a lab that stays"
mv "$lab" "$temp/the lab"
lab=$temp/the\ lab
in_lab configure
expect_status 0 "a lab that was moved"
expect "^The lab or its build folder was moved since it was built \(in $temp/a lab/build\)" "a lab that was moved"
[[ -f $lab/build/kept ]] || fail "a lab that was moved: more is gone than CMake's own files"
grep -qF "$lab" "$lab/build/CMakeCache.txt" || fail "a lab that was moved: its build is still the old one"
in_lab configure
expect_no 'built anew' "a lab that was moved, once more"
# By another name it is the same.
ln -s "$lab" "$temp/a link"
lab=$temp/a\ link
in_lab configure
expect_no 'built anew' "a link to the lab"
# Somebody else's build folder is left alone.
mkdir "$temp/theirs"
sed 's/^CMAKE_PROJECT_NAME:.*/CMAKE_PROJECT_NAME:STATIC=theirs/; s#/the lab#/their lab#' \
  "$lab/build/CMakeCache.txt" >"$temp/theirs/CMakeCache.txt"
mkdir "$temp/theirs/CMakeFiles"
touch "$temp/theirs/CMakeFiles/kept"
LAB_BUILD_DIR=$temp/theirs in_lab configure
expect_status 1 "another project's build folder"
[[ -f $temp/theirs/CMakeFiles/kept ]] || fail "another project's build folder was emptied"

# Verdicts of checks that end at the same time.
# shellcheck disable=SC2016
in_lab 'for k in 1 2 3 4 5 6 7 8; do remember at_once.tsv "step $k" right & done; wait'
expect_status 0 "eight verdicts at the same time"
[[ $(sort "$lab/results/local/at_once.tsv") == \
  "$(for k in 1 2 3 4 5 6 7 8; do printf 'step %d\tright\n' "$k"; done)" ]] ||
  fail "eight verdicts at the same time:" "$(<"$lab/results/local/at_once.tsv")"

# No space: nothing half-written is left.
cp "$lab/results/local/at_once.tsv" "$temp/at_once.tsv"
in_lab 'trap "" XFSZ; ulimit -f 0; remember at_once.tsv "step 3" right 2>/dev/null; exit 7'
expect_status 7 "no space for a verdict"
{ [[ $(cd "$lab/results/local" && ls -A) == at_once.tsv ]] && cmp -s "$temp/at_once.tsv" "$lab/results/local/at_once.tsv"; } ||
  fail "no space for a verdict: files were left:" "$(ls -A "$lab/results/local")"

# Folders that cannot be written: one line each.
printf 'a file\n' >"$temp/file"
LAB_BUILD_DIR=$temp/file/build in_lab configure
expect_status 4 "a build folder that cannot be made"
[[ $err == "script.sh: $temp/file/build: cannot be written; LAB_BUILD_DIR names another folder to build in" ]] ||
  show "a build folder that cannot be made: one line"
for verb in diff doctor; do
  run env TMPDIR="$temp/file" STEP=01 "$source_dir/scripts/verbs/$verb.sh"
  expect_status 4 "$verb without a temporary folder"
  [[ $err == "$verb.sh: $temp/file: cannot be written; TMPDIR names a folder for what is temporary" ]] ||
    show "$verb without a temporary folder: one line"
done

# Ctrl-C ends a script though the program that runs then takes it for itself, and nothing temporary is left.
mkdir "$temp/tmp"
cat >"$temp/goes_on" <<'END'
#!/usr/bin/env bash
set -euo pipefail
source "$1/scripts/lib/lib.sh"
make_scratch
bash -c 'trap "exit 0" INT; sleep 3 & wait'
touch "$2"
END
if [[ $(trap -p INT) == *"''"* ]]; then
  echo "not tried: who runs this has Ctrl-C ignored"
else
  TMPDIR=$temp/tmp run timeout --signal=INT 1 bash "$temp/goes_on" "$source_dir" "$temp/went_on"
  [[ ! -e $temp/went_on ]] || show "Ctrl-C: the script goes on"
  [[ -z $(ls -A "$temp/tmp") ]] || show "Ctrl-C: something is left: $(ls -A "$temp/tmp")"
fi

# A locale in which a number is 2,5.
unset LC_ALL
comma=$(locale -a 2>/dev/null | grep -iE '^(de_DE|fr_FR|it_IT|es_ES|nl_NL)\.utf-?8$' | head -n 1 || true)
mkdir "$temp/locales"
if [[ -z $comma ]] && localedef -i de_DE -f UTF-8 "$temp/locales/de_DE.UTF-8" 2>/dev/null; then
  export LOCPATH=$temp/locales
  comma=de_DE.UTF-8
fi
if [[ -z $comma || $(LC_ALL=$comma bash -c 'printf %.1f 2,5' 2>/dev/null) != "2,5" ]]; then
  echo "not tried: there is no locale with a decimal comma here, and localedef makes none"
else
  # shellcheck disable=SC2016  # the shell that is started has it
  for name in LC_ALL LC_NUMERIC LANG; do
    run env "$name=$comma" bash -c 'source "$1/scripts/lib/lib.sh"
      awk "BEGIN { printf \"awk %.1f\n\", 1 + \"1.5\" }"; printf "bash %.1f\n" 2.5' script.sh "$source_dir"
    [[ $out == $'awk 2.5\nbash 2.5' ]] || show "$name=$comma: a number has a point"
  done
  # shellcheck disable=SC2016
  run env LANG=C LC_ALL="$comma" bash -c 'source "$1/scripts/lib/lib.sh"; word=äöü; echo "${#word}"' script.sh "$source_dir"
  [[ $out == 3 ]] || show "LC_ALL=$comma: characters are those of the locale"
fi

finish "build folders, temporary folders, Ctrl-C, the locale"
