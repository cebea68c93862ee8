# SPDX-License-Identifier: Apache-2.0
#
# How FreeRTOS, its port and the start-up are built; included by the demo's Makefile and by that of
# an application outside of the tree. The Makefile that includes this sets ROOT, BUILD and
#
#	CONFIG	the folder of FreeRTOSConfig.h
#	KERNEL	the kernel's files that are linked, as objects
#
# and links $(FREERTOS_OBJECTS) with its own, which it compiles with $(FLAGS). FREERTOS names
# another copy of the kernel than the one that Cargo fetches.

include $(ROOT)/guest/rtos/rtos.mk

FREERTOS_FOLDER := $(ROOT)/guest/freertos
VENDOR := $(ROOT)/build/freertos/vendor
VENDORED := $(VENDOR)/freertos-next/FreeRTOS-Kernel
FREERTOS ?= $(VENDORED)

KERNEL_OBJECTS := $(addprefix $(BUILD)/,$(KERNEL))
PORT_OBJECTS := $(addprefix $(BUILD)/,port.o port_channel.o switch.o)
FREERTOS_OBJECTS := $(KERNEL_OBJECTS) $(PORT_OBJECTS) $(BUILD)/task_trace.o $(RTOS_OBJECTS)
FLAGS := $(GUEST_FLAGS) -I$(CONFIG) -I$(FREERTOS_FOLDER)/port -isystem $(FREERTOS)/include
# The kernel's macros give "empty body" and "unused" where an option is off.
KERNEL_FLAGS := $(FLAGS) -mtune=generic $(GUEST_INTEGER) -Wall -Wextra -Werror \
	-Wno-unused-parameter -fmacro-prefix-map=$(FREERTOS)=FreeRTOS
FREERTOS_MAKEFILES := $(FREERTOS_FOLDER)/freertos.mk $(RTOS)/rtos.mk

.PHONY: fetch FORCE
# Cargo checks what it fetches against Cargo.lock. An installed SDK has the kernel, and no such
# file.
fetch: $(VENDOR)/fetched
$(VENDOR)/fetched: $(wildcard $(FREERTOS_FOLDER)/Cargo.toml $(FREERTOS_FOLDER)/Cargo.lock)
	@mkdir -p $(@D)
	cargo vendor --quiet --locked \
		--manifest-path $(FREERTOS_FOLDER)/Cargo.toml $(VENDOR) > /dev/null
	@touch $@

ifeq ($(FREERTOS),$(VENDORED))
$(FREERTOS_OBJECTS): | $(VENDOR)/fetched
$(KERNEL_OBJECTS): $(VENDOR)/fetched
$(VENDORED)/%.c: $(VENDOR)/fetched ;
endif

# Which kernel the objects were made of; changes when FREERTOS does.
$(BUILD)/kernel: FORCE
	@mkdir -p $(@D)
	@echo '$(FREERTOS)' | cmp -s - $@ || echo '$(FREERTOS)' > $@
$(FREERTOS_OBJECTS): $(BUILD)/kernel $(FREERTOS_MAKEFILES)

$(filter-out %/heap_4.o,$(KERNEL_OBJECTS)): $(BUILD)/%.o: $(FREERTOS)/%.c $(CONFIG)/FreeRTOSConfig.h
	@mkdir -p $(@D)
	$(CC) $(KERNEL_FLAGS) -c $< -o $@

$(BUILD)/heap_4.o: $(FREERTOS)/portable/MemMang/heap_4.c $(CONFIG)/FreeRTOSConfig.h
	@mkdir -p $(@D)
	$(CC) $(KERNEL_FLAGS) -c $< -o $@

$(BUILD)/port.o $(BUILD)/port_channel.o: $(BUILD)/%.o: $(FREERTOS_FOLDER)/port/%.c \
	$(CONFIG)/FreeRTOSConfig.h
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(GUEST_WARNINGS) $(GUEST_INTEGER) -c $< -o $@

$(BUILD)/switch.o: $(FREERTOS_FOLDER)/port/port.S
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -c $< -o $@

$(BUILD)/task_trace.o: $(RTOS)/task_trace.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(GUEST_WARNINGS) $(GUEST_INTEGER) -c $< -o $@

-include $(FREERTOS_OBJECTS:.o=.d)
