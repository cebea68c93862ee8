# SPDX-License-Identifier: Apache-2.0
#
# The entry to the tree. Each target sets up what it needs (tools/setup), does
# nothing twice, and leaves everything it makes under build/.

# An image is for a PC, which may have no cable to another one: its consoles are on the screen, too.
ifeq ($(origin SYSTEM),undefined)
image: SYSTEM := systems/pc.toml
endif
SYSTEM ?= systems/default.toml
PREFIX ?= /usr/local
ARGS ?=

VENV := build/venv/bin
GANDALF := $(VENV)/gandalf
SUITE := $(VENV)/python -m gandalf.suite

# Python's compiled files stay out of the source folders.
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/cache/python

SUITES := unit asan fuzz mutants preemption cores python boot boot-bounds boot-cores boot-smp \
	boot-complete boot-levels boot-packed boot-self-checking isolation isolation-two-level \
	itron measure newcomer bench-test boot-quick boot-two-level measure-quick

.DEFAULT_GOAL := help
.PHONY: help run build image install size bench bench-full check test test-quick mutate clean \
	setup-run setup-test setup-image $(SUITES)

help:
	@echo 'make run      build a system and run it on this terminal'
	@echo '                SYSTEM=systems/NAME.toml  which system (default: $(SYSTEM))'
	@echo '                ARGS="--for 20"           options of `gandalf run`'
	@echo 'make build    build a system'
	@echo 'make image    make a bootable ISO image for a PC (default: systems/pc.toml)'
	@echo 'make install  install the SDK for your own applications: `gandalf new`, docs/sdk.md'
	@echo '                PREFIX=DIR                where (default: $(PREFIX))'
	@echo 'make test     run everything that proves it; the last line counts tests'
	@echo 'make test-quick  what finds most of it in five minutes'
	@echo 'make check    compile without warnings, analyse, check style, types and budgets'
	@echo 'make NAME     one suite of `make test`: $(SUITES)'
	@echo 'make mutate   change the VMM at random and count what the unit tests notice'
	@echo '                ARGS="--all --file arch/ia32/segment.c"  every change of one source'
	@echo 'make size     compare sizes with their budgets'
	@echo 'make bench    measure native Linux, Gandalf and Xen side by side'
	@echo '                ARGS="--quick"            options of `gandalf bench`'
	@echo 'make bench-full  the same with 100,000 activations of the real-time task'
	@echo 'make clean    remove everything that was built, but not what was fetched'
	@echo
	@echo 'The command behind it is $(GANDALF); `$(GANDALF) --help` lists its verbs.'

setup-run:
	@tools/setup run
setup-test:
	@tools/setup run test
setup-image:
	@tools/setup run image

run: setup-run
	@$(GANDALF) run $(SYSTEM) $(ARGS)

build: setup-run
	@$(GANDALF) build $(SYSTEM)

image: setup-image
	@$(GANDALF) image $(SYSTEM)

install: setup-run
	@$(VENV)/python -m gandalf.sdk.install '$(PREFIX)'

size: setup-run
	@$(GANDALF) size

bench: setup-run
	@$(GANDALF) bench $(ARGS)

bench-full: setup-run
	@$(GANDALF) bench --full $(ARGS)

check: setup-test
	@$(SUITE) --check

test: setup-test
	@$(SUITE)

test-quick: setup-test
	@$(SUITE) --quick

mutate: setup-test
	@$(VENV)/python -m gandalf.mutate.command $(ARGS)

$(SUITES): setup-test
	@$(SUITE) $@

# What was fetched and the Python environment cost minutes and the network.
clean:
	[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name linux ! -name venv \
		! -name 'setup-*' -exec rm -rf {} +
