# Two commands for a fresh machine: `make run` and `make test`. Both install what is missing (packages.txt), configure and build.
# PRESET: auto (CUDA when nvcc is there), or one of CMakePresets.json. ARGS: more arguments for kasane.
PRESET ?= auto
BUILD  := build/$(PRESET)
KASANE := $(BUILD)/kasane
STAMP  := $(shell date +%Y-%m-%d-%H%M%S)

.PHONY: help run test bench build setup clean

help:
	@echo "make run     a galaxy collision of 16,384 particles, ending with a report to open"
	@echo "make test    every test"
	@echo "make bench   benchmarks of this machine, as a table, as JSON and as a page in $(BUILD)"
	@echo "make build   configure and build, into $(BUILD)"
	@echo "make setup   install the missing packages of packages.txt"

setup:
	@sh cmake/setup.sh

build: setup
	@echo "kasane: configuring and building in $(BUILD)"
	@cmake --preset $(PRESET) --log-level=WARNING
	@cmake --build --preset $(PRESET)

run: build
	$(KASANE) run examples/galaxy-collision.toml -o out/galaxy-collision-$(STAMP) $(ARGS)

test: build
	ctest --preset $(PRESET) -j2 $(ARGS)

bench: build
	$(KASANE) bench --json $(BUILD)/bench-$(STAMP).json --page $(BUILD)/bench-$(STAMP).html $(ARGS)

clean:
	rm -rf build
