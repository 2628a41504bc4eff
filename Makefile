# The two commands of the README are `make demo` and `make test`; both set up .venv.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

# A page is opened where there is a screen to open it on.
OPEN := $(if $(or $(DISPLAY),$(WAYLAND_DISPLAY),$(filter Darwin,$(shell uname))),--open)

.PHONY: demo test lint docs bench reproduce clean

demo: $(STAMP)
	$(BIN)/trueaxis demo --output demo.html $(OPEN)

test: $(STAMP)
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term --cov-fail-under=95

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(STAMP)
	MPLBACKEND=Agg $(BIN)/python docs/pictures.py

bench: $(STAMP)
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/methods.py

# The paper's experiments; TRUEAXIS_DATA names a folder with the data sets.
reproduce: $(STAMP)
	$(BIN)/trueaxis reproduce all

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"trueaxis needs Python 3.11 or newer, but $(PYTHON) is {v[0]}.{v[1]}: try make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[plot,report,test,peers,lint]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps robpy
	touch $@

clean:
	rm -rf .venv demo.html
