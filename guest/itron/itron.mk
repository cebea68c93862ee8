# SPDX-License-Identifier: Apache-2.0
#
# How an application for the uITRON kernel is built, for both ports, from the same objects. The
# Makefile that includes this sets ROOT, BUILD and
#
#	NAME	what the images are called: $(BUILD)/$(NAME).elf for Gandalf and
#		$(BUILD)/native/$(NAME).elf for a bare PC
#	CFG	the system configuration file
#	SOURCES	the application's C files
#	FLAGS	further options of the compiler for these, as -I; may be empty
#	PORTS	gandalf or native, if it is to be built for one of the two only

include $(ROOT)/guest/rtos/rtos.mk

ITRON := $(ROOT)/guest/itron
CONFIGURATOR ?= $(ROOT)/build/venv/bin/python -m gandalf.itron.configurator
APPLICATION := $(BUILD)/$(NAME)
PORTS ?= gandalf native
IMAGE_gandalf := $(BUILD)/$(NAME).elf
IMAGE_native := $(BUILD)/native/$(NAME).elf

# An object is compiled where its port's own ones are, since port.h is the port's.
KERNEL_SOURCES := $(notdir $(wildcard $(ITRON)/kernel/*.c)) context.c
OBJECTS_gandalf := port.o entry.o start.o console.o task_trace.o
OBJECTS_native := boot.o machine.o pic.o timer.o uart.o
COMMON_OBJECTS := $(KERNEL_SOURCES:.c=.o) context_switch.o kernel_cfg.o print.o string.o
SCRIPT_gandalf := $(RTOS)/rtos.ld
SCRIPT_native := $(ITRON)/port/native/native.ld
APPLICATION_OBJECTS := $(addprefix $(APPLICATION)/,$(notdir $(SOURCES:.c=.o)))

ITRON_FLAGS := $(GUEST_FLAGS) -I$(ITRON)/include
KERNEL_FLAGS = $(ITRON_FLAGS) $(GUEST_WARNINGS) $(GUEST_INTEGER) -I$(ITRON)/kernel \
	-I$(ITRON)/port/ia32 -fno-tree-loop-distribute-patterns

.DEFAULT_GOAL := all
.PHONY: all clean
.SECONDARY:
all: $(foreach port,$(PORTS),$(IMAGE_$(port)))

vpath %.c $(sort $(dir $(SOURCES)))

$(APPLICATION)/kernel_cfg.c $(APPLICATION)/kernel_id.h &: $(CFG) \
	$(wildcard $(ROOT)/tools/gandalf/itron/*.py)
	@mkdir -p $(APPLICATION)
	$(CONFIGURATOR) $(CFG) --output-dir $(APPLICATION)
	@touch $(APPLICATION)/kernel_cfg.c $(APPLICATION)/kernel_id.h

$(APPLICATION_OBJECTS): $(APPLICATION)/%.o: %.c $(APPLICATION)/kernel_id.h $(RTOS)/rtos.mk
	$(CC) $(ITRON_FLAGS) -I$(APPLICATION) $(FLAGS) $(GUEST_WARNINGS) $(GUEST_INTEGER) \
		-c $< -o $@

# $(1): the port
define port_rules
$(APPLICATION)/$(1)/kernel_cfg.o: $(APPLICATION)/kernel_cfg.c
	@mkdir -p $$(@D)
	$$(CC) $$(KERNEL_FLAGS) -I$(ITRON)/port/$(1) -I$(APPLICATION) $(FLAGS) \
		-I$$(dir $$(CFG)) -c $$< -o $$@

$(APPLICATION)/$(1)/context_switch.o: $(ITRON)/port/ia32/context.S
	@mkdir -p $$(@D)
	$$(CC) $$(ITRON_FLAGS) -I$(ITRON)/port/$(1) -c $$< -o $$@

$(APPLICATION)/$(1)/%.o: %.S
	@mkdir -p $$(@D)
	$$(CC) $$(ITRON_FLAGS) -c $$< -o $$@

$(APPLICATION)/$(1)/%.o: $(ITRON)/kernel/%.c $(RTOS)/rtos.mk
	@mkdir -p $$(@D)
	$$(CC) $$(KERNEL_FLAGS) -I$(ITRON)/port/$(1) -c $$< -o $$@
$(APPLICATION)/$(1)/%.o: $(ITRON)/port/ia32/%.c $(RTOS)/rtos.mk
	@mkdir -p $$(@D)
	$$(CC) $$(KERNEL_FLAGS) -I$(ITRON)/port/$(1) -c $$< -o $$@
$(APPLICATION)/$(1)/%.o: $(ITRON)/port/$(1)/%.c $(RTOS)/rtos.mk
	@mkdir -p $$(@D)
	$$(CC) $$(KERNEL_FLAGS) -I$(ITRON)/port/$(1) -c $$< -o $$@
$(APPLICATION)/$(1)/%.o: $(ITRON)/port/$(1)/%.S
	@mkdir -p $$(@D)
	$$(CC) $$(ITRON_FLAGS) -c $$< -o $$@
$(APPLICATION)/$(1)/%.o: $(RTOS)/%.c $(RTOS)/rtos.mk
	@mkdir -p $$(@D)
	$$(CC) $$(KERNEL_FLAGS) -c $$< -o $$@
$(APPLICATION)/$(1)/%.o: $(RTOS)/%.S
	@mkdir -p $$(@D)
	$$(CC) $$(ITRON_FLAGS) -c $$< -o $$@

LINKED_$(1) := $(APPLICATION_OBJECTS) \
	$(addprefix $(APPLICATION)/$(1)/,$(OBJECTS_$(1)) $(COMMON_OBJECTS))
$(IMAGE_$(1)): $$(LINKED_$(1)) $(SCRIPT_$(1))
	@mkdir -p $$(@D)
	$$(LD) $$(GUEST_LDFLAGS) -T $(SCRIPT_$(1)) -o $$@ $$(LINKED_$(1))
	@echo "built $$(@:$$(CURDIR)/%=%)"
endef
$(foreach port,$(PORTS),$(eval $(call port_rules,$(port))))

clean::
	rm -rf $(APPLICATION) $(foreach port,$(PORTS),$(IMAGE_$(port)))

-include $(wildcard $(APPLICATION)/*.d $(APPLICATION)/*/*.d)
