# SPDX-License-Identifier: Apache-2.0
#
# The targets of an application outside of the tree, of any kind; bare.mk, freertos.mk and itron.mk
# include this first. The application's own Makefile has set
#
#	GANDALF	the command `gandalf`
#	NAME	what the image is called, and the guest in system.toml
#
# and may set SOURCES (all C files of its folder by default), WARNINGS and ARGS. To a debugger the
# tree is /gandalf, and the application's folder is `.`: an image is the same wherever both lie.

ifneq ($(words $(CURDIR)),1)
$(error make cannot work in $(CURDIR), whose path has a space in it: move the application)
endif

ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))../..)
OUTPUT := $(CURDIR)/build
IMAGE := $(OUTPUT)/$(NAME).elf
SOURCES ?= $(sort $(wildcard *.c))
WARNINGS ?= -Wall -Wextra
PATHS := -ffile-prefix-map=$(CURDIR)=.

# V=1 shows the commands.
ifndef V
MAKEFLAGS += --silent
endif

.DEFAULT_GOAL := all
.PHONY: all check run debug test clean help
all: $(IMAGE)

help:
	echo 'make          build $(NAME)'
	echo 'make check    look for mistakes in system.toml'
	echo 'make run      run it on this terminal; ARGS="--for 10" has options of `gandalf run`'
	echo 'make debug    debug it with gdb'
	echo 'make test     boot it for each test of test_*.py; ARGS="-k beats" is for pytest'
	echo 'make clean    remove what was built'

check: $(IMAGE)
	$(GANDALF) check system.toml

run: $(IMAGE)
	$(GANDALF) run system.toml $(ARGS)

debug: $(IMAGE)
	$(GANDALF) gdb system.toml $(NAME)

test: $(IMAGE)
	$(GANDALF) test system.toml -- $(ARGS)

clean::
	rm -rf $(OUTPUT)

# Gives the rules that compile the application's C files and link them with what it is for.
# $(1): the compiler's options; $(2): the objects besides; $(3): what must be there before
define application_rules
APPLICATION_OBJECTS := $(SOURCES:%.c=$(OUTPUT)/objects/%.o)

$(OUTPUT)/objects/%.o: %.c $(wildcard *.h) Makefile $(3)
	mkdir -p $$(@D)
	$$(CC) $(1) $$(WARNINGS) $$(GUEST_INTEGER) -c $$< -o $$@

$(IMAGE): $$(APPLICATION_OBJECTS) $(2) $$(RTOS)/rtos.ld
	$$(LD) $$(GUEST_LDFLAGS) -T $$(RTOS)/rtos.ld -o $$@ $$(APPLICATION_OBJECTS) $(2)
	echo "built $$(@:$(CURDIR)/%=%)"

-include $$(APPLICATION_OBJECTS:.o=.d)
endef
