#!/usr/bin/env bash
# Makes a handout: what a learner needs for the steps up to one, without any solution; the exercise after it would
# be one. A folder, and the same as a .tar.gz. `make handout UPTO=NN` calls it.
#
#   UPTO=NN   the last step in it
#   OUT=DIR   where both go (default: the build folder)
#   YES=1     replace one that already exists
#
# In a clone it is made of the last commit, without what was edited since; elsewhere of the files as they are. The
# exercises are those that start.sh prints, never a learner's edits. The same commit gives the same archive, byte
# for byte. With cmark-gfm and python3 here, its texts are also in it as pages for a browser, in site/.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/lib.sh"

# What a handout has, of this at the top ...
wanted=(README.md LICENSE CITATION.cff Makefile CMakeLists.txt CMakePresets.json .clang-format .gitignore
  exercises lab results scripts validate)
# ... without what publishes and without tests: planted bugs are solutions with one mistake, and counts name their lines.
not_for_learners=(-path '*/tests' -o -path ./scripts/publish -o -path ./scripts/teach -o
  -path ./exercises/puzzles.tsv -o -path ./exercises/slides -o -path ./exercises/TEACHING.md -o -path ./results/local
  -o -path './results/*/*' -not -name ladder.tsv -not -path './results/*/profiles*' -o -name '*.kept-*' -o -name __pycache__)

check_switches YES
need_commands gzip tar xargs
line=$(step_line "${UPTO-}" UPTO) || exit $?
last=${line%%_*}
out=${OUT:-$build_dir}
name=jacobi-porting-lab-upto-$last
mkdir -p "$out" 2>/dev/null || die 4 "OUT=$out: this folder cannot be created"
out=$(cd "$out" && pwd)
for place in "$out/$name" "$out/$name.tar.gz"; do
  [[ ! -e $place ]] || ((${YES:-0})) ||
    die $exit_bad_usage "$place already exists; YES=1 replaces it"
done
temp=$(mktemp -d "$out/.handout-XXXXXX") || die 4 "OUT=$out: cannot be written"
trap 'rm -rf "$temp"' EXIT
made=$temp/$name
mkdir "$made"

# 1. The files.
commit=$(cd "$lab_root" && git ls-files --error-unmatch lab/steps.tsv >/dev/null 2>&1 &&
  git rev-parse --quiet --verify HEAD) || commit=""
if [[ -n $commit ]]; then
  origin="commit $(git -C "$lab_root" rev-parse --short HEAD)"
  date=$(git -C "$lab_root" show --no-patch --format=%ct HEAD)
  git -C "$lab_root" -c tar.umask=0022 archive HEAD -- "${wanted[@]}" | tar -C "$made" -xf -
else
  origin="the files as they are"
  date=946684800 # 1 January 2000: any date will do, as long as it is the same one
  tar -C "$lab_root" -cf - -- "${wanted[@]}" | tar -C "$made" -xf -
fi
cd "$made"
find . \( "${not_for_learners[@]}" \) -prune -exec rm -rf {} +

# 2. The steps: those up to the last one, each as it was handed out, with a copy for `make reset`.
# Their times, and what there is to see in their profiles, go with them.
for file in lab/steps.tsv results/*/ladder.tsv scripts/lib/profile_questions.tsv; do
  awk -F '\t' -v last="$last" '!/^[0-9]/ || substr($1, 1, 2) <= last' "$file" >"$temp/shorter"
  mv "$temp/shorter" "$file"
done
for file in results/*/profiles/*_[0-9][0-9].*; do
  number=${file%.*}
  if [[ ${number: -2} > $last ]]; then rm -f "$file"; fi
done
for folder in exercises/[0-9][0-9]_*/; do
  folder=${folder%/}
  if ! grep -q "^${folder#*/}"$'\t' lab/steps.tsv; then rm -rf "$folder"; fi
done
mkdir .start
older=()
while IFS=$'\t' read -r step source _; do
  mkdir -p "exercises/$step" ".start/$step"
  start=.start/$step/$source
  "$lab_root/scripts/lib/start.sh" "$step" >"$start" || exit
  # exercises/ is still as in the commit.
  if [[ -n $commit ]] && ! cmp -s "exercises/$step/$source" "$start"; then older+=("$step"); fi
  # No file of an author's next to it.
  find "exercises/$step" -type f \( -name '*.cpp' -o -name '*.cu' \) -exec rm -f {} +
  cp "$start" "exercises/$step/$source"
done < <(grep '^[0-9]' lab/steps.tsv && awk -F '\t' '/^[a-z]/ { print "clinic/" $1 "\tkernel.cu\t" }' lab/clinic.tsv)
find .start -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs sha256sum >"$temp/sums"
mv "$temp/sums" .start/SHA256SUMS

# 3. What named the parts that are not here.
# CMake: no folders of tests.
find . -name CMakeLists.txt -exec sed -i '/^ *add_subdirectory(\(.*\/\)\?tests)/d' {} +
# The texts: what is for the whole lab or for teachers goes, what is for a handout stands in comments. Of the ladder,
# and of what is noted of its rows, as much as this handout has.
for file in README.md exercises/README.md; do
  sed "/^<!-- teachers:begin -->\$/,/^<!-- teachers:end -->\$/d
    /^<!-- whole-lab:begin -->\$/,/^<!-- whole-lab:end -->\$/d
    s/the steps up to UPTO/the steps up to $last/
    /^<!-- handout:begin\$/d
    /^handout:end -->\$/d" "$file" |
    awk -v last="$last" '
      /^\| [0-9][0-9]_/ && substr($2, 1, 2) > last { next }
      /^Rows? [0-9][0-9][ ,:]/ && substr($2, 1, 2) > last { next }
      /^Note: rows? [0-9][0-9]/ && substr($3, 1, 2) > last { next }
      { print }' | cat -s >"$temp/learners"
  mv "$temp/learners" "$file"
done
# A command that compares with a solution.
find exercises/clinic -name '*.md' -exec sed -i '/^make diff CLINIC=/d' {} +
# A link to what is not here becomes plain words.
find . -name '*.md' | while IFS= read -r file; do
  { grep -oE '\]\([^)#: ]*[./][^)#: ]*\)' "$file" || true; } | sort -u | while IFS= read -r link; do
    target=${link#??}
    target=${target%?}
    if [[ ! -e ${file%/*}/$target ]]; then
      # In the tables of steps the line goes with it.
      sed -i "\#^| \[[^][]*\](${target//./\\.}) |#d; s#\[\([^][]*\)\](${target//./\\.})#\1#g" "$file"
    fi
  done
done

# 4. The same texts for a browser.
pages=""
if ! command -v python3 >/dev/null || ! command -v cmark-gfm >/dev/null; then
  pages="python3 or cmark-gfm is missing, so it has no pages for a browser"
else
  "$lab_root/scripts/publish/website.py" "$made" >/dev/null
fi

# 5. The archive.
cd "$temp"
chmod -R u=rwX,go=rX "$name"
tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$date" -cf - "$name" |
  gzip -n -9 >"$name.tar.gz"
rm -rf "${out:?}/$name" "$out/$name.tar.gz"
mv "$name" "$name.tar.gz" "$out/"

say "$name: exercises 00 to $last, without solutions"
say "  Made of $origin."
if ((${#older[@]})); then
  say "  Edited or drifted in that commit, so taken from an older one: ${older[*]}"
fi
if [[ -n $commit ]] && [[ -n $(git -C "$lab_root" status --porcelain -- "${wanted[@]}" | head -n 1) ]]; then
  say "  What is not committed is not in it (git status names it)."
fi
if [[ -n $pages ]]; then say "  On this machine $pages."; fi
say "  $out/$name/"
say "  $out/$name.tar.gz ($(($(wc -c <"$out/$name.tar.gz") / 1024)) KiB)"
