# SPDX-License-Identifier: Apache-2.0
#
# An application for FreeRTOS: the whole kernel with its heap. The linker takes what is used.

include $(dir $(lastword $(MAKEFILE_LIST)))application.mk

BUILD := $(OUTPUT)/freertos
CONFIG := $(CURDIR)
KERNEL := tasks.o queue.o list.o timers.o event_groups.o stream_buffer.o heap_4.o
include $(ROOT)/guest/freertos/freertos.mk
$(eval $(call application_rules,$(FLAGS),$(FREERTOS_OBJECTS),$(BUILD)/kernel $(FREERTOS_MAKEFILES)))

ifeq ($(FREERTOS),$(VENDORED))
$(APPLICATION_OBJECTS): | $(VENDOR)/fetched
endif
