# SPDX-License-Identifier: Apache-2.0
#
# How the demo's tasks are built: their objects are $(DEMO_OBJECTS), of which demo.o has
# demo_tasks_create(). A Makefile includes this behind freertos.mk, and links main() with them.

DEMO_SHARED := $(ROOT)/guest/demo
FLAGS += -I$(DEMO_SHARED) -I$(FREERTOS_FOLDER)

DEMO := demo.o crash.o
SHARED := statistics.o measurement.o terminal.o commands.o motor.o float.o
SUPPORT := misdeed.o emulator.o float_check.o
DEMO_OBJECTS := $(addprefix $(BUILD)/,$(DEMO) $(SHARED) $(SUPPORT))

ifeq ($(FREERTOS),$(VENDORED))
$(DEMO_OBJECTS): | $(VENDOR)/fetched
endif
$(DEMO_OBJECTS): $(BUILD)/kernel $(FREERTOS_MAKEFILES) $(FREERTOS_FOLDER)/demo.mk

# The one file of the demos that computes with floating point.
$(BUILD)/statistics.o: GUEST_INTEGER := -mno-sse -mno-mmx
$(addprefix $(BUILD)/,$(DEMO)): $(BUILD)/%.o: $(FREERTOS_FOLDER)/%.c $(CONFIG)/FreeRTOSConfig.h
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(GUEST_WARNINGS) $(GUEST_INTEGER) -c $< -o $@

$(addprefix $(BUILD)/,$(SHARED)): $(BUILD)/%.o: $(DEMO_SHARED)/%.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(GUEST_WARNINGS) $(GUEST_INTEGER) -c $< -o $@

$(addprefix $(BUILD)/,$(SUPPORT)): $(BUILD)/%.o: $(RTOS)/%.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(GUEST_WARNINGS) $(GUEST_INTEGER) -c $< -o $@

-include $(DEMO_OBJECTS:.o=.d)
