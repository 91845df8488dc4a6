# `make demo` and `make test` do all the set-up, on a machine with Python 3.11 or newer and pip.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test docs wheel notebooks night lint coverage bench results clean

demo: .venv/ready
	$(BIN)/discreet demo

test: .venv/ready lint
	$(BIN)/python -c "import discreet; discreet.warm_up()"
	$(BIN)/python -m pytest -n 2 -m "not night"

# The site, in site/; every link of the built pages is checked.
docs: .venv/docs/ready
	rm -rf site
	.venv/docs/bin/zensical build --clean
	$(PYTHON) tools/links.py site

# The source archive and the wheel, in dist/; the wheel is tried in an environment of its own.
wheel: .venv/ready
	$(BIN)/python tools/check_release.py

# The notebooks, in examples/notebooks/*.ipynb, from the scripts of the same names, executed.
notebooks: .venv/ready .venv/notebooks
	$(BIN)/jupytext --quiet --from py:percent --to ipynb --set-kernel python3 examples/notebooks/*.py
	$(BIN)/jupyter-execute --inplace examples/notebooks/*.ipynb

# All tests, in an order that a seed decides; `make night ORDER=7` repeats one.
ORDER ?= $(shell date +%s)
night: .venv/ready lint
	$(BIN)/python -c "import discreet; discreet.warm_up()"
	$(BIN)/python -m pytest -n 2 --order $(ORDER)
	$(BIN)/discreet audit --size night --out .night/audit

# Lines that tests run, kernels aside; `make coverage TESTS=tests/budget` looks at one folder.
coverage: .venv/ready
	$(BIN)/python -c "import discreet; discreet.warm_up()"
	$(BIN)/python -m pytest -n 2 -m "not night" --cov --cov-report=term --cov-report=html $(TESTS)

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# All benchmarks, for hours; `make bench BENCH="--only sampler sums"` runs some.
bench: .venv/ready
	$(BIN)/python -m pip install --quiet --group peers --constraint constraints.txt
	$(PYTHON) -m venv .venv/diffprivlib
	.venv/diffprivlib/bin/python -m pip install --quiet "diffprivlib>=0.6.6" "scikit-learn<1.6" "numpy<2.3"
	$(BIN)/python benchmarks/run.py $(BENCH)

results: .venv/ready
	$(BIN)/python benchmarks/results_page.py
	$(BIN)/python benchmarks/pictures.py

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[dev]" --constraint constraints.txt
	touch .venv/ready

.venv/notebooks: pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --group notebooks --constraint constraints.txt
	touch .venv/notebooks

.venv/docs/ready: pyproject.toml
	$(PYTHON) -m venv .venv/docs
	.venv/docs/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv/docs/bin/python -m pip install --quiet --group docs
	touch .venv/docs/ready

clean:
	rm -rf .venv
