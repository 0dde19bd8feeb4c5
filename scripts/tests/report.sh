#!/usr/bin/env bash
# scripts/publish/report.py makes one page of whatever has been measured: a section for each table, nothing
# is loaded from elsewhere, and a browser draws every chart.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need python3
[[ -d $source_dir/solutions ]] || skip "a handout has no solutions to report on"
make_temp
unset OUT RESULTS
report() { LAB_BUILD_DIR=$temp/build run "$source_dir/scripts/publish/report.py" "$@"; }

# refused CODE REGEX ARGUMENT...
refused() {
  report "${@:3}"
  one_line "$1" "$2" "report.py ${*:3}"
}
mkdir "$temp/empty"
echo "a file" >"$temp/file"
RESULTS=$temp/nowhere refused 2 '^report.py: RESULTS=.*/nowhere: there is no such folder$'
OUT=/proc/report.html refused 1 '^report.py: /proc/report.html: cannot be written: '
OUT=$temp/file/report.html refused 1 '^report.py: .*/file/report.html: cannot be written: '

cat >"$temp/look.py" <<'END'
"""look.py PAGE CHART...: what is wrong with the page; the charts named are all it should have."""
import html.parser
import pathlib
import re
import sys

VOID = {"meta", "link", "br", "img", "hr", "input"}
page, wanted = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), set(sys.argv[2:])
SECTIONS = [*(["ladder", "solution", "roofline", "kernels", "scaling", "bandwidth"] if wanted else []), "own"]


class Look(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.sections, self.ids = [], [], [], []
        self.marks, self.words = {}, {}
        self.chart = None

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        if tag == "script":
            self.wrong.append("has a script")
        if "id" in of:
            self.ids.append(of["id"])
        if tag == "section":
            self.sections.append(of.get("id"))
        for name in ("src", "href", "xlink:href", "srcset", "data", "action"):
            if name in of and not re.match(r"data:|#", of[name]):
                self.wrong.append(f"refers to {of[name][:60]}")
        if tag == "svg":
            self.chart = of.get("data-chart", "?")
            self.marks.setdefault(self.chart, []).append(0)
        if of.get("class") == "mark":
            self.marks[self.chart][-1] += 1
        if any(re.search(r"\b(nan|inf)\b", str(value)) for name, value in attributes
               if name in ("x", "y", "cx", "cy", "d", "width", "height")):
            self.wrong.append(f"{self.chart}: a {tag} at no place: {of}")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes something else (line {self.getpos()[0]})")

    def handle_data(self, data):
        if self.sections and "section" in self.open:
            self.words[self.sections[-1]] = self.words.get(self.sections[-1], "") + data


look = Look()
look.feed(page)
look.close()
wrong = look.wrong + [f"<{tag}> is never closed" for tag in look.open]
if look.sections != SECTIONS:
    wrong.append(f"its sections are {look.sections}")
if len(set(look.ids)) != len(look.ids):
    wrong.append("an id is there twice")
if re.search(r"https?:|@import|url\(|\bNone\b|\bnan\b", page):
    wrong.append("refers to something outside, or shows what is no number")
charts = set(look.marks)
if charts != wanted:
    wrong.append(f"its charts are {sorted(charts)}")
for name, marks in look.marks.items():
    if len(marks) != 1 or marks[0] == 0:
        wrong.append(f"{name}: marks in its drawing: {marks}")
for name in SECTIONS:
    if len(look.words.get(name, "")) < 60:
        wrong.append(f"{name}: says next to nothing")
print("\n".join(wrong))
sys.exit(bool(wrong))
END
# look WHAT PAGE CHART...
look() {
  local what=$1
  shift
  python3 "$temp/look.py" "$@" >"$temp/wrong" 2>&1 || fail "$what: the page" "$(<"$temp/wrong")"
}
# said WHAT PAGE REGEX: the page says it. Without its tags, on one line.
said() {
  sed "s/<style>.*//; s/<[^>]*>//g; s/&#x27;/'/g" "$2" | tr '\n' ' ' | grep -qE -- "$3" ||
    fail "$1: the page should say '$3'"
}

# Nothing measured.
mkdir -p "$temp/build" "$temp/measured"
RESULTS=$temp/empty OUT=$temp/nothing.html report
expect_status 0 "nothing measured"
[[ $out == "$temp/nothing.html" ]] || show "nothing measured: its path, and no more"
look "nothing measured" "$temp/nothing.html"

# The learner's own: nothing yet, then some of each.
copy_tree "$temp/lab"
own() {
  RESULTS=$temp/empty OUT=$temp/own.html LAB_BUILD_DIR=$temp/build run "$temp/lab/scripts/publish/report.py"
  expect_status 0 "the learner's own"
  look "the learner's own" "$temp/own.html"
}
own
said "nothing of one's own" "$temp/own.html" 'Nothing yet: change an exercise, and check it: make check STEP=04'
mkdir -p "$temp/lab/results/local"
while IFS=$'\t' read -r step ms edit; do
  sed "$edit" "$source_dir/solutions/$step/jacobi.cu" >"$temp/lab/exercises/$step/jacobi.cu"
  sum=$(sha256sum <"$temp/lab/exercises/$step/jacobi.cu")
  printf '%s\tdone\t%s\t2026-01-02 10:11\tgpu\n' "$step" "${sum%% *}" >>"$temp/lab/results/local/progress.tsv"
  n=$(awk -F '\t' -v step="$step" '$1 == step { print $4 }' "$source_dir/lab/steps.tsv")
  printf '%s\t%s\t%s\t%s\t2026-01-02 10:12\tmy GPU\n' "$step" "$n" "$ms" "${sum%% *}" \
    >>"$temp/lab/results/local/progress_times.tsv"
done <<<$'04_jacobi_kernel\t71.25\ts/const double change/const double my_change/\n05_copy_kernel\t6.125\ts/  const int/\tconst  int/'
echo '// not checked' >>"$temp/lab/exercises/06_coalesced/jacobi.cu"
printf '%s\n' $'04_jacobi_kernel\ta <b> | *b*\t-' $'09_shared_tile\tno' >"$temp/lab/results/local/predictions.tsv"
own
said "times of one's own" "$temp/own.html" '04 jacobi kerneldone2026-01-02 10:11204871.2'
said "times of one's own" "$temp/own.html" 'Your times: my GPU'
said "predictions of one's own" "$temp/own.html" 'Step 04, [a-zA-Z ]*: your predictions.*1\. the sweepa &lt;b&gt; \| \*b\*[0-9.]+ times'
said "predictions of one's own" "$temp/own.html" 'Your predictions of 09 are kept'
said "kernels of one's own" "$temp/own.html" "const double my_change = .*the solution's__global__ .*const double change = "
if grep -E 'Step 0[69],' "$temp/own.html"; then fail "a step that is not done: its solution and its answers should not be shown"; fi
said "kernels of one's own" "$temp/own.html" "Step 05, [a-zA-Z ]*: your kernels are the solution's, word for word"

# Measured.
cp "$source_dir"/results/h200/{ladder,kernels,scaling,bandwidth,clinic}.tsv "$temp/measured"
all=(ladder solution roofline clinic scaling-strong scaling-weak
  bandwidth-size bandwidth-block bandwidth-host bandwidth-cache)
RESULTS=$temp/measured OUT=$temp/full.html report
expect_status 0 "all measured"
[[ -z $err ]] || show "all measured: nothing should stand on stderr"
look "all measured" "$temp/full.html" "${all[@]}"
said "all measured" "$temp/full.html" '876,659,290 sweeps bring it down to 1e-07. Step 16 has not been timed yet'
said "all measured" "$temp/full.html" 'Measured on NVIDIA [A-Z0-9]+, CUDA [0-9.]+, driver [0-9.]+, 20[0-9-]+ '
[[ ! -e $temp/full.html.partial ]] || fail "something half-written was left"
# The figures are the tables': each step's time, and each kernel's registers.
awk -F '\t' '/^[0-9]/ && $5 + 0 > 0 { print substr($1, 1, 2) " " $2 }' "$temp/measured/ladder.tsv" |
  while IFS= read -r title; do said "the ladder" "$temp/full.html" "$title"; done
# On how many GPUs the jobs of ranks were timed.
mkdir "$temp/one" "$temp/several"
sed '/^1[45]_/s/[^\t]*$/1 GPU/' "$temp/measured/ladder.tsv" >"$temp/one/ladder.tsv"
RESULTS=$temp/one OUT=$temp/one.html report
said "the ladder" "$temp/one.html" 'Steps for several GPUs, as they were timed here: 14: 1 GPU; 15: 1 GPU\.'
sed '/^1[45]_/s/[^\t]*$/2 GPUs, one rank per GPU/' "$temp/measured/ladder.tsv" >"$temp/several/ladder.tsv"
RESULTS=$temp/several OUT=$temp/several.html report
expect_status 0 "several GPUs"
said "several GPUs" "$temp/several.html" 'timed here: 14: 2 GPUs, one rank per GPU; 15: 2 GPUs, one rank per GPU\. “% of copy” is relative to'
said "several GPUs" "$temp/several.html" 'step 1[45], at 8 bytes per point, on 2 GPUs'
kernels=$(grep -c '^[0-9]' "$temp/measured/kernels.tsv")
[[ $(grep -o 'data-title="registers"' "$temp/full.html" | wc -l) == "$kernels" ]] ||
  fail "the kernels' table should have $kernels lines"

# A part of it, and a table of other columns.
mkdir "$temp/some"
cp "$temp/measured/kernels.tsv" "$temp/some"
RESULTS=$temp/some OUT=$temp/some.html report
expect_status 0 "a part"
said "a part" "$temp/some.html" "Not measured yet: this machine's ceilings"
sed 's/x_before/x_after/' "$temp/measured/ladder.tsv" >"$temp/some/ladder.tsv"
RESULTS=$temp/some OUT=$temp/some.html refused 1 "^report.py: .*/ladder.tsv: is not what it should be: KeyError\\('x_before'\\)$"

# Where `make run` found no GPU, the page keeps the published ladder.
mkdir -p "$temp/here" "$temp/published"
printf '# gpu\tnone\nstep\tmpoints_per_s\n00_serial\t700\n' >"$temp/here/ladder.tsv"
printf '# gpu\tH200\nstep\tmpoints_per_s\n00_serial\t900\n' >"$temp/published/ladder.tsv"
for case in "H200 here published" "none here"; do
  read -r gpu names <<<"$case"
  read -r -a folders <<<"$names"
  run python3 -c 'import pathlib, sys; sys.path.insert(0, sys.argv[1]); import labtools_here
from page import parts
print(parts.find_table([pathlib.Path(f) for f in sys.argv[2:]], "ladder.tsv").fact("gpu"))' \
    "$source_dir/scripts/publish" "${folders[@]/#/$temp/}"
  [[ $out == "$gpu" ]] || show "the ladder of $names: should be that of the GPU '$gpu'"
done

# bandwidth_plot.py draws the same charts into a file of its own.
labtool bandwidth_plot "$temp/measured"
expect_status 0 "bandwidth_plot.py"
python3 -c 'import sys, xml.dom.minidom as m; d = m.parse(sys.argv[1]); assert d.toxml().count("\"mark\"") > 20' \
  "$temp/measured/bandwidth.svg" 2>"$temp/log" || fail "bandwidth.svg is no drawing" "$(<"$temp/log")"

browser=
for name in chromium chromium-browser google-chrome chrome; do
  if command -v "$name" >/dev/null; then browser=$name && break; fi
done
if [[ -z $browser ]]; then
  ((failures == 0)) || finish
  skip "there is no Chromium to draw the charts (the page was read, and is right as far as that shows)"
fi
# Three frames, as wide as a phone, a tablet and a screen. Of each: what is drawn, what is not, what sticks out.
cat >"$temp/frames.html" <<'END'
<body><script>
const widths = [390, 768, 1200], told = [];
const look = (frame, width) => {
  const page = frame.contentDocument, drawn = new Set();
  const wide = page.documentElement.scrollWidth;
  if (wide > width) told.push(`${width}: the page is ${wide} wide`);
  for (const table of page.querySelectorAll('details')) {
    const wide = table.scrollWidth;
    if (width >= 1200 && wide > table.clientWidth) told.push(`${width}: a table is ${wide} wide`);
  }
  for (const chart of page.querySelectorAll('[data-chart]')) {
    const box = chart.getBoundingClientRect();
    if (box.width === 0) continue;
    const name = chart.dataset.chart;
    if (drawn.has(name)) told.push(`${width}: ${name} is drawn twice`);
    if (box.width < 100 || box.height < 80) told.push(`${width}: ${name} is ${box.width} x ${box.height}`);
    drawn.add(name);
    for (const mark of chart.querySelectorAll('.mark')) {
      const size = mark.getBoundingClientRect();
      if (size.width + size.height === 0) told.push(`${width}: ${name}: a mark of no size`);
    }
    for (const words of chart.querySelectorAll('text')) {
      const size = words.getBoundingClientRect();
      if (size.left < box.left - 1 || size.right > box.right + 1 || size.top < box.top - 1 ||
          size.bottom > box.bottom + 1)
        told.push(`${width}: ${name}: "${words.textContent}" sticks out`);
      if (size.height < 10) told.push(`${width}: ${name}: "${words.textContent}" is too small`);
    }
    // The names of marks, in the middle of a chart and bold; a box is a few pixels higher than its letters.
    const names = [...chart.querySelectorAll('text[text-anchor=middle][font-weight="600"]')];
    names.forEach((words, k) => {
      const a = words.getBoundingClientRect();
      for (const other of names.slice(k + 1)) {
        const b = other.getBoundingClientRect();
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 6)
          told.push(`${width}: ${name}: "${words.textContent}" lies on "${other.textContent}"`);
      }
    });
  }
  told.push(`${width} draws ${[...drawn].sort().join(' ')}`);
};
Promise.all(widths.map(width => new Promise(done => {
  const frame = document.createElement('iframe');
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  frame.onload = () => { look(frame, width); done(); };
  frame.src = 'full.html';
  document.body.append(frame);
}))).then(() => {
  const report = document.createElement('pre');
  report.textContent = told.join('\n') + '\nlooked';
  document.body.append(report);
});
</script></body>
END
timeout 100 "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
  --user-data-dir="$temp/profile" --virtual-time-budget=10000 --dump-dom \
  "file://$temp/frames.html" >"$temp/dom" 2>"$temp/log" || true
if ! grep -q '^looked' "$temp/dom"; then
  ((failures == 0)) || finish
  skip "$browser does not run here: $(tail -n 1 "$temp/log")"
fi
wanted=$(printf '%s\n' "${all[@]}" | sort | tr '\n' ' ')
for width in 390 768 1200; do
  grep -qxE "(.*<pre>)?$width draws ${wanted% }" "$temp/dom" ||
    fail "$width px: not every chart is drawn" "$(grep -E '^(.*<pre>)?[0-9]+ draws' "$temp/dom")"
done
if stick=$(grep -E '^(.*<pre>)?[0-9]+: ' "$temp/dom"); then
  fail "drawn, but not well:" "${stick//$'\n'/$'\n'        }"
fi
finish "the page, in $browser too"
