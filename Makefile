# Everything here sets up .venv by itself and needs no activated environment.
#
#   X    exercises, by name:            make grade X=dropout     make grade X="dropout clipping"
#   DIR  the folder to work on:         make grade DIR=solutions
#   OUT  where results go:              make batch DIR=submitted OUT=results
#   ARGS anything else for the command: make grade ARGS="--json result.json"

PYTHON ?= python3
X ?=
DIR ?=
OUT ?=
ARGS ?=
N ?= 50
SAMPLE ?=

VENV := .venv
READY := $(VENV)/.ready
RUN := $(VENV)/bin/python
GRADER := $(RUN) -m grader
FOLDER = $(if $(DIR),"$(DIR)")
CHOSEN = $(foreach name,$(X),-x $(name))

.DEFAULT_GOAL := help
.PHONY: help setup grade bench watch hint report submit doctor data clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Create .venv from requirements.lock (skipped when up to date)

# The stamp comes last, so that a set-up that was cut short is made again.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "jaxlings needs Python 3.11 or later: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "Python lacks its venv module: sudo apt-get install python3-venv" >&2; exit 1; }
	@echo "Setting up $(VENV), once (two or three minutes)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(RUN) -m pip install --quiet --quiet --disable-pip-version-check --require-hashes -r requirements.lock || \
		{ echo "The packages could not be installed. Is there a network? Then try again: make setup" >&2; exit 1; }
	@$(RUN) -m pip install --quiet --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation -e .
	@$(GRADER) warm || echo "Grading works all the same, only more slowly." >&2
	@touch $@

grade: $(READY) ## Grade your work; X=dropout for one exercise, DIR=path for another folder
	@$(GRADER) grade $(FOLDER) $(CHOSEN) $(ARGS)

bench: $(READY) ## Time your jitted step beside the lesson's, and the last run; DIR=path
	@$(RUN) -m pytest benchmarks $(if $(DIR),--submission "$(DIR)") --quiet \
		--benchmark-storage=build/benchmarks --benchmark-autosave --benchmark-compare \
		--benchmark-columns=median,iqr,rounds --benchmark-sort=name $(ARGS)

watch: $(READY) ## Grade an exercise again each time its file is saved; DIR=path
	@$(GRADER) watch $(FOLDER) $(ARGS)

hint: $(READY) ## The next hint on an exercise: X=dropout
	@$(GRADER) hint $(X)

report: $(READY) ## Grade, and write build/report.html with pictures; X= and DIR= as for grade
	@$(GRADER) grade $(FOLDER) $(CHOSEN) --html build/report.html $(ARGS)

submit: $(READY) ## Write submission.zip, which you hand in; DIR=path
	@$(GRADER) submit $(FOLDER) $(ARGS)

doctor: $(READY) ## Look at what the kit needs on this machine
	@$(GRADER) doctor

data: $(READY) ## Download all 70,000 digits (5,000 are here already)
	@$(RUN) exercises/mnist_mlp.py --download

clean: ## Remove .venv and what was generated
	rm -rf $(VENV) build

# What needs the solutions is in a file that students do not have.
-include instructor.mk
