#!/usr/bin/env bash
# `make picture` draws a run's field and its error: the PNGs are read again, point by point, and so is what stands in the
# terminal.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need make cmake python3
[[ -d $source_dir/solutions ]] || skip "there are no solutions here"
make_temp
unset BACKEND RANKS ARGS NO_COLOR COLUMNS COLORTERM
mkdir "$temp/tmp"
use_built
export TMPDIR=$temp/tmp LAB_BUILD_DIR="$temp/the build"
lab="$temp/the learner's lab"
copy_tree "$lab"
pictures=$LAB_BUILD_DIR/pictures
picture() { run make_in "$lab" picture "$@"; }

cat >"$temp/look.py" <<'PY'
"""look.py RECORD FIELD.png ERROR.png: whether both show the record's field, problem laplace."""
import math, struct, sys, zlib
from pathlib import Path

def pixels(path):
    data, at, found = Path(path).read_bytes(), 8, {}
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG"
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body), kind
        found[kind] = body
        at += 12 + size
    wide, high, depth, colours = struct.unpack(">IIBB", found[b"IHDR"][:10])
    assert (depth, colours, len(found[b"PLTE"])) == (8, 3, 768)
    raw = zlib.decompress(found[b"IDAT"])
    assert len(raw) == high * (wide + 1), "not as many points as it says"
    return [raw[k * (wide + 1) + 1:(k + 1) * (wide + 1)] for k in reversed(range(high))]  # j = 0 first

def same(path, rows):
    most = max(abs(value) for row in rows for value in row)
    for j, (seen, row) in enumerate(zip(pixels(path), rows, strict=True)):
        for i, (one, value) in enumerate(zip(seen, row, strict=True)):
            assert abs(one - (127.5 + 127.5 * value / most)) < 1, f"{path}: point {i}, {j} is {one}"

data = Path(sys.argv[1], "field.f32").read_bytes()
n = math.isqrt(len(data) // 4)
field = struct.unpack(f"<{n * n}f", data)
s, sh, h = math.sin, math.sinh, math.pi / (n - 1)
exact = [s(h * i) * sh(math.pi - h * j) / sh(math.pi) + s(2 * h * j) * sh(2 * h * i) / sh(2 * math.pi)
         for j in range(n) for i in range(n)]
same(sys.argv[2], [field[j * n:(j + 1) * n] for j in range(n)])
same(sys.argv[3], [[field[j * n + i] - exact[j * n + i] for i in range(n)] for j in range(n)])
PY

# A step is run; the same run, recorded.
picture STEP=00 WHICH=solution N=33 ITERATIONS=20
expect_status 0 "STEP=00"
expect '^00_serial, problem laplace, n = 33, after 20 iterations$' "STEP=00"
expect '^the field {26}minus the exact solution$' "STEP=00"
expect '^The field is [0-9.]+ % away from the exact solution\.$' "STEP=00"
expect '^from -1\.00? to 1\.00? +from -[0-9.]+ to ' "STEP=00"
expect_no $'\033|.{81}' "STEP=00"
run make_in "$lab" run STEP=00 RECORD="$temp/a record" ARGS="--n 33 --iterations 20"
expect_status 0 "a run with RECORD"
run python3 -W error "$temp/look.py" "$temp/a record" "$pictures/solution_00_serial"_{field,error}.png
[[ $status == 0 && -z $out$err ]] || show "the pictures of STEP=00"
picture RECORD="$temp/a record"
expect_status 0 RECORD
for name in field error; do
  cmp -s "$pictures/record_$name.png" "$pictures/solution_00_serial_$name.png" || fail "RECORD: another picture of the $name"
done

# On a terminal in colours; not with NO_COLOR, nor where it knows none.
if command -v script >/dev/null; then
  terminal() {
    run env LAB="$lab" RECORD="$temp/a record" SHELL=/bin/bash "$@" script -qec \
      "make --no-print-directory -C \"\$LAB\" picture" /dev/null
  }
  terminal LC_ALL=C.UTF-8 TERM=xterm-256color
  [[ $(grep -c $'\033\\[38;5;[0-9]*;48;5;[0-9]*m▀' <<<"$out") == 17 ]] || show "17 lines of half blocks"
  terminal LC_ALL=C.UTF-8 TERM=vt100
  expect_no ▀ TERM=vt100
  terminal LC_ALL=C TERM=xterm-256color
  expect_no ▀ "no UTF-8"
  terminal LC_ALL=C.UTF-8 TERM=xterm-256color NO_COLOR=1
  expect_no ▀ NO_COLOR
fi

# A problem without a solution; one whose field is exact; no numbers; a large field.
made() { # made N PROBLEM VALUE: a record of that
  rm -rf "$temp/made"
  python3 -c '
import json, struct, sys
n, value = int(sys.argv[1]), float(sys.argv[3])
open("run.json", "w").write(json.dumps({"step": "made", "n": n, "problem": sys.argv[2], "iterations": 1, "field": "full"}))
open("field.f32", "wb").write(struct.pack("<f", value) * (n * n))' "$@"
  mkdir "$temp/made"
  mv run.json field.f32 "$temp/made"
  rm -f "$pictures"/record_*
  picture RECORD="$temp/made"
}
cd "$temp"
made 5 probe 0
expect '^The problem probe has no exact solution to compare with\.$' probe
[[ -f $pictures/record_field.png && ! -e $pictures/record_error.png ]] || fail "probe: the field, and nothing else"
made 5 laplace nan
expect '^!!!!!' "no numbers"
made 1200 laplace 1
expect_status 0 "a large field"
[[ $(od -An -tu1 -j18 -N2 "$pictures/record_field.png") == *" 2   0" ]] || fail "a large field: 512 points per side"

# What is no record.
said="" status=0
no_record() {
  refuses "$1" picture RECORD="$temp/made"
  [[ ! -e $pictures/record_field.png ]] || fail "$2: a picture was written"
}
rm -f "$pictures"/record_*
sed -i 's/full/rows/' "$temp/made/run.json"
no_record '^picture.py: .*/made: has no whole field: record it with --record-field full$' "row hashes"
sed -i 's/rows/full/' "$temp/made/run.json"
truncate -s 100 "$temp/made/field.f32"
no_record '^picture.py: .*/made: is not the record of a run: field.f32 is not complete$' "half a field"
printf '{' >"$temp/made/run.json"
no_record '^picture.py: .*/made: is not the record of a run: ' "half a run.json"
rm -r "$temp/made"
no_record '^picture.py: .*/made/run.json: No such file or directory: no record of a run' "no folder"

# Bad input.
refuses '^picture.sh: which run\? Say STEP=NN, or RECORD=DIR$' picture
refuses '^picture.sh: STEP=04 and RECORD=x: one of the two$' picture STEP=04 RECORD=x
for n in 2 x; do
  refuses "^picture.sh: N=$n: must be a whole number from 3 to 1048576\$" picture STEP=00 N=$n
done
refuses '^picture.sh: N=16385: at most 16384' picture STEP=00 N=16385
refuses '^picture.sh: STEP=42: there is no such step' picture STEP=42
[[ -z $(ls -A "$temp/tmp") ]] || fail "files were left behind:" "$(ls -A "$temp/tmp")"
[[ -z $(find "$pictures" -name '*.partial') ]] || fail "half a picture was left"
finish "make picture"
