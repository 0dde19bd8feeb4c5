# The lab's verbs. Each is a script in scripts/; this file only names them.

.DEFAULT_GOAL := help
export STEP STEPS WHICH N RESULTS

.PHONY: help run test check sanitize setup tables clean

help:  ## this list
	@echo "The Jacobi porting lab. Begin with: make run"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 18

run:  ## build, validate and time every solution, print the ladder [STEPS=04,05]
	@scripts/run.sh

test:  ## the whole test suite
	@scripts/test.sh

check:  ## is the exercise right? STEP=04 [WHICH=solution] [N=100,250]
	@scripts/check.sh

sanitize:  ## compute-sanitizer's four tools STEP=04 [WHICH=solution]
	@scripts/sanitize.sh

setup:  ## install what is missing (with apt; uses sudo)
	@scripts/setup.sh

tables:  ## write the measured numbers into README.md and the guides
	@scripts/tables.py --write

clean:  ## remove what was built
	rm -rf build build-*
