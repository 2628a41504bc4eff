# Every command sets up .venv first, if it is missing or out of date.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
# Sphinx is installed by the first `make docs`.
DOCS_STAMP := .venv/.installed-docs
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Open the page in a browser only if there is a display.
OPEN := $(if $(or $(DISPLAY),$(WAYLAND_DISPLAY),$(filter Darwin,$(shell uname))),--open)

# The whole of it takes about 45 seconds on two idle cores.
QUICK := -q -n 2 tests -m "not soak and not slow and not sklearn and not dask and not browser"

# One process per core; tests that share a cluster or a browser are in the same one.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadgroup

.PHONY: help demo test soak coverage quick lint sdist-check matrix release-check docs pictures bench quality fuzz reproduce clean

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

demo: $(STAMP) ## fit a bundled dataset, print the outliers, write demo.html
	$(BIN)/trueaxis demo --output demo.html $(OPEN)

test: $(STAMP) ## run the tests
	$(PYTEST)

soak: $(STAMP) ## run the slow, random and destructive tests, and a round of fuzzing
	$(PYTEST) -m soak
	$(BIN)/python -m fuzz --seed $(SEED) --cases 300

coverage: $(STAMP) ## run both, and fail below 95 % of the lines
	$(PYTEST) -m "soak or not soak" --cov --cov-report=term --cov-fail-under=95

# Cached bytecode saves half a second of every command that a test starts.
test soak coverage quick: export PYTHONDONTWRITEBYTECODE =
quick: $(STAMP) ## run ruff and the fast tests, in less than a minute
	$(BIN)/ruff check .
	$(BIN)/python -m pytest $(QUICK)

lint: $(STAMP) ## check style, format, types and workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/zizmor --offline --quiet .github

# hatchling is what pip builds the package with; it is not part of .venv.
sdist-check: $(STAMP) ## build a source distribution, and check that nothing is missing in it
	rm -rf build/sdist
	$(PIP) -c constraints.txt --no-warn-conflicts --target build/sdist/backend 'hatchling>=1.25'
	PYTHONPATH=build/sdist/backend $(BIN)/python -m hatchling build -t sdist -d build/sdist
	git -c safe.directory='*' ls-files | grep -v '^\.ci/' | sort > build/sdist/tracked
	tar -tzf build/sdist/trueaxis-*.tar.gz | cut -d/ -f2- | grep -vx PKG-INFO | sort > build/sdist/packed
	diff build/sdist/tracked build/sdist/packed

# PYTHONS names interpreters that are not on the PATH, MATRIX some of the environments.
matrix: ## test oldest and newest versions, and no extras, in fresh environments
	$(PYTHON) tools/matrix.py $(addprefix --python ,$(PYTHONS)) $(MATRIX)

release-check: ## build sdist and wheel, and check and try what would be released
	$(PYTHON) tools/release_check.py

# -W: a warning is an error. Generated pages that no source stands behind are removed.
docs: $(DOCS_STAMP) ## build the site into site/, and check its links
	rm -rf site docs/reference/api
	MPLBACKEND=Agg $(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs site
	$(BIN)/python docs/check_links.py site

pictures: $(STAMP) ## redraw the pictures of the docs
	MPLBACKEND=Agg $(BIN)/python docs/pictures.py

bench: $(STAMP) ## run the benchmarks of accuracy, speed and methods
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/methods.py

quality: $(STAMP) ## measure answers on 100 real tables and planted data, and write the docs' tables
	PYTHONPATH=. $(BIN)/python benchmarks/quality.py

# Each case is a function of its seed: CASES=1 replays one.
SEED ?= 0
CASES ?= 3000
fuzz: $(STAMP) ## throw CASES hostile cases at the package, from SEED on
	$(BIN)/python -m fuzz --seed $(SEED) --cases $(CASES)

reproduce: $(STAMP) ## repeat the paper's experiments; TRUEAXIS_DATA names the data folder
	$(BIN)/python -m studies

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"trueaxis needs Python 3.11 or newer, but $(PYTHON) is {v[0]}.{v[1]}: try make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(PIP) -c constraints.txt -e '.[plot,report,test,peers,lint]'
	$(PIP) -c constraints.txt --no-deps robpy
	touch $@

$(DOCS_STAMP): $(STAMP)
	$(PIP) -c constraints.txt -e '.[docs]'
	touch $@

clean: ## remove .venv, build/, site/, demo.html and generated pages
	rm -rf .venv build site demo.html docs/gallery docs/project docs/reference/api
