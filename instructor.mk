# Targets of a whole repository, with the solutions and the hidden tests: for instructors and
# contributors. The Makefile includes this file; what is set there is used here.

.PHONY: test testall verify batch course autograde release mutants flake lint format stubs lock

test: $(READY) ## Run the tests of the grader itself, but for the slow ones
	@$(RUN) -m pytest -m "not slow" $(ARGS)

testall: $(READY) ## Run all tests: the hostile suite, real nbgrader, browsers (an hour)
	@$(RUN) -m pytest $(ARGS)

verify: $(READY) ## Prove the kit: stubs, solutions, and the zoo or SAMPLE modules of it
	@$(GRADER) verify --zoo $(CHOSEN) $(if $(SAMPLE),--sample $(SAMPLE)) $(ARGS)

batch: $(READY) ## Grade everybody: a folder or zip a student in DIR, results in OUT
	@$(GRADER) batch "$(or $(DIR),submitted)" --out "$(or $(OUT),build/batch)" $(ARGS)

course: $(READY) ## Write an nbgrader course into DIR (build/course)
	@$(GRADER) course "$(or $(DIR),build/course)"

autograde: $(READY) ## Grade a course's submitted/ in parallel and let nbgrader record; DIR=course
	@$(RUN) -m grader.course.autograde "$(or $(DIR),build/course)" $(ARGS)

release: $(READY) ## Write the students' kit into OUT (build/release)
	@$(GRADER) release "$(or $(OUT),build/release)"

mutants: $(READY) ## Change the solutions in small ways: every change must lose points
	@$(RUN) -m tests.instruments.mutants $(CHOSEN) $(ARGS)

flake: $(READY) ## Grade the same modules N times beside busy loops: no verdict may flip
	@$(RUN) -m tests.instruments.flake --runs $(N) $(ARGS)

lint: $(READY) ## Check style, types and that the stubs match their solutions
	@$(RUN) -m ruff check
	@$(RUN) -m ruff format --check
	@$(RUN) -m mypy
	@$(GRADER) stubs --check

format: $(READY) ## Bring the code into its usual style
	@$(RUN) -m ruff check --fix
	@$(RUN) -m ruff format

stubs: $(READY) ## Write exercises/ anew from solutions/
	@$(GRADER) stubs

# uv resolves for every platform and Python version at once; it is needed for nothing else.
lock: ## Resolve requirements.lock anew from pyproject.toml
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/python -m pip install --quiet uv
	@build/lock/bin/uv pip compile --quiet --upgrade --universal --fork-strategy fewest --python-version 3.11 \
		--all-extras --generate-hashes --custom-compile-command "make lock" \
		pyproject.toml --output-file requirements.lock
