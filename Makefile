# The lab's verbs. Each is a script in scripts/; this file only names them.

.DEFAULT_GOAL := help
# In a handout, which has no solutions, verbs of the whole lab say so, and are not listed: their words stand behind ##*.
# Those behind ##- are for a handout.
whole := $(wildcard solutions)
needs_python = command -v python3 >/dev/null || { echo "make $@: python3 is missing: package python3" >&2; exit 77; }
# whole_lab SCRIPT,WORDS: runs the script; a handout, which has none of it, says the words.
define whole_lab
@test -n "$(whole)" || { echo "make $@: $(2)" >&2; exit 2; }
@$(if $(filter %.py,$(1)),$(needs_python))
@scripts/$(1)
endef
# Verbs get their variables from make, as part of the environment. Some systems have a NAME there, the machine's.
ifeq ($(origin NAME),environment)
unexport NAME
endif

# The verbs, in the order in which make lists them.
help:       ## this list
run:        ##* validate and time all solutions [STEP=14: run one] [RANKS=4]
test:       ##* the quick tests of the lab; run them before every commit
test-all:   ##* all tests of the lab, as CI runs them
guide:      ## STEP=04: its guide, in the terminal [SHOW=hints] [SHOW=all]
predict:    ## STEP=04: answer its questions; compared when it is done
check:      ## STEP=04: is the exercise right? [N=100] [RACES=1] [RANKS=2]
watch:      ## [STEP=04]: check it whenever its file is saved
hint:       ## STEP=04: a hint; call it again for the next [HINT=1] [HINT=all]
diff:       ##* STEP=04: compare exercise and solution [FROM=before] [SIDE=1]
diff:       ##- STEP=04 FROM=start TO=exercise: what you have changed
reset:      ## STEP=04: restore the exercise; your version is saved
progress:   ## which exercises are done [TIME=1: and how fast they are]
puzzle:     ##* STEP=08: find the mistake in a program [PUZZLE=2] [CHECK=1]
handin:     ## a small file for the teacher: your progress [NAME=ada] [CODE=1]
count:      ## STEP=04: memory accesses of each line; or FILE=mine.cu
races:      ## FILE=mine.cu: its races and bad accesses; needs no GPU
picture:    ## STEP=04: its field, and how far it is from the exact one
trace:      ## STEP=04: times of ranges, kernels, API calls; or FILE=mine.cu
nsys:       ## STEP=04: Nsight Systems on the program [BASELINE=previous]
ncu:        ## STEP=06: Nsight Compute on a kernel [KERNEL=REGEX] [SET=full]
sanitize:   ## STEP=04: check it with compute-sanitizer's four tools
doctor:     ## what this machine has, what it lacks, and how to get it
bandwidth:  ## measure this GPU's achievable peak rates [RESULTS=DIR]
roofline:   ## STEP=04: its kernels on a roofline chart [RESULTS=DIR]
report:     ##* one page with all measurements [RESULTS=DIR] [OUT=FILE]
site:       ##* the guides and the report as pages for a browser
setup:      ## install what is missing (uses apt and sudo)
handout:    ##* UPTO=04: make a folder and a .tar.gz for learners [OUT=DIR]
class:      ##* DIR=FOLDER: how far a class is, and its mistakes [OUT=FILE]
grade:      ##* DIR=FOLDER: check a class; runs its programs [STEPS=04]
tables:     ##* write the measured numbers into README.md and the guides
clean:      ## remove what was built

# Most of them are a script of their name.
of_script := test guide predict check watch hint diff reset progress puzzle handin doctor setup
measure := run picture nsys ncu sanitize bandwidth roofline
.PHONY: $(of_script) $(measure) help test-all count races trace report site handout class grade tables clean

$(of_script):
	@scripts/verbs/$@.sh

$(measure):
	@scripts/verbs/measure/$@.sh

help:
	@echo "The Jacobi porting lab. Begin with: $(firstword $(sort $(wildcard exercises/[0-9]*)))/README.md"
	@test ! -e site/index.html || echo "All pages for a browser: site/index.html"
	@sed -n 's/^\([a-z-]*\):.*##$(if $(whole),\*,-)\{0,1\} /  make \1          &/; s/^\(  make .\{9\}\) .*##.\{0,1\} /\1 /p' Makefile
	@echo "guide, check, hint, diff, reset, count, trace, ncu, sanitize: also CLINIC=NAME."
	@test -z "$(whole)" || echo "check, count, trace, nsys, ncu and sanitize also take WHICH=solution."

test-all:
	@scripts/verbs/test.sh --all

count trace:
	@scripts/verbs/measure/$(if $(FILE)$(FILES),own.sh $@,$@.sh)

races:
	@scripts/verbs/measure/own.sh races

report:
	$(call whole_lab,publish/report.py,a handout has no solutions to report on; make progress shows what you have done)

site:
	$(call whole_lab,publish/website.py,a handout has its pages in site/; make guide STEP=NN prints a guide here)

handout:
	$(call whole_lab,publish/handout.sh,this is a handout; another is made in the whole lab)

class:
	$(call whole_lab,teach/board.py,this is a handout; a class is looked at in the whole lab)

grade:
	$(call whole_lab,teach/grade.py,this is a handout; a class is graded in the whole lab)

tables:
	$(call whole_lab,publish/tables.py --write,the numbers in the texts are written in the whole lab)

clean:
	rm -rf build build-*
