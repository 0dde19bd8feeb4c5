# The lab's verbs. Each is a script in scripts/; this file only names them.

.DEFAULT_GOAL := help
needs_python = command -v python3 >/dev/null || { echo "make $@: python3 is missing: package python3" >&2; exit 77; }
export STEP STEPS WHICH N ITERATIONS RANKS ARGS RESULTS BACKEND RACES ASAN
export HINT FROM TO SIDE UPTO OUT YES TIME
export KERNEL SET BASELINE REPORT LAB_NSYS LAB_NCU

.PHONY: help run test test-all check hint diff reset progress count trace nsys ncu sanitize doctor bandwidth roofline report
.PHONY: setup handout tables clean

help:  ## this list
	@echo "The Jacobi porting lab. Begin with: make run"
	@sed -n 's/^\([a-z-]*\):.*## /  make \1          &/; s/^\(  make .\{9\}\) .*## /\1 /p' Makefile
	@echo "check, count, trace, nsys, ncu and sanitize take WHICH=solution, too."

run:  ## all solutions, validated and timed; STEP=14 one [RANKS=4]
	@scripts/verbs/run.sh

test:  ## the quick tests, five minutes; before every commit
	@scripts/verbs/test.sh

test-all:  ## these and all others, twenty minutes; CI does
	@scripts/verbs/test.sh --all

check:  ## STEP=04: is the exercise right? [N=100] [RACES=1] [RANKS=2]
	@scripts/verbs/check.sh

hint:  ## STEP=04: a hint; once more, the next one [HINT=1] [HINT=all]
	@scripts/verbs/hint.sh

diff:  ## STEP=04: exercise against solution [FROM=before] [SIDE=1]
	@scripts/verbs/diff.sh

reset:  ## STEP=04: the exercise as handed out; yours is kept beside it
	@scripts/verbs/reset.sh

progress:  ## which exercises are done [TIME=1: and how fast they are]
	@scripts/verbs/progress.sh

count:  ## STEP=04: what each line does to memory; needs no GPU
	@scripts/verbs/count.sh

trace:  ## STEP=04: the time of ranges, kernels, API calls, page moves
	@scripts/verbs/trace.sh

nsys:  ## STEP=04: Nsight Systems, what to see [BASELINE=previous]
	@scripts/verbs/nsys.sh

ncu:  ## STEP=06: Nsight Compute on a kernel [KERNEL=REGEX] [SET=full]
	@scripts/verbs/ncu.sh

sanitize:  ## STEP=04: compute-sanitizer's four tools
	@scripts/verbs/sanitize.sh

doctor:  ## what is here, what is missing, and how to get it
	@scripts/verbs/doctor.sh

bandwidth:  ## what this GPU can do at most, measured [RESULTS=DIR]
	@scripts/verbs/bandwidth.sh

roofline:  ## every step's kernels against those ceilings [RESULTS=DIR]
	@scripts/publish/roofline.sh

report:  ## one page of all that was measured [RESULTS=DIR] [OUT=FILE]
	@$(needs_python)
	@scripts/publish/report.py

setup:  ## install what is missing (with apt; uses sudo)
	@scripts/verbs/setup.sh

handout:  ## UPTO=04: a folder and a .tar.gz for learners [OUT=DIR]
	@scripts/publish/handout.sh

tables:  ## write the measured numbers into README.md, the guides
	@$(needs_python)
	@scripts/publish/tables.py --write

clean:  ## remove what was built
	rm -rf build build-*
