# SPDX-License-Identifier: Apache-2.0
#
# An application for FreeRTOS: the whole kernel with its heap. The linker takes what is used. With
# NETWORK := lwip it has lwIP, too (guest/freertos/lwip/network_interface.h).

include $(dir $(lastword $(MAKEFILE_LIST)))application.mk

BUILD := $(OUTPUT)/freertos
CONFIG := $(CURDIR)
KERNEL := tasks.o queue.o list.o timers.o event_groups.o stream_buffer.o heap_4.o
include $(ROOT)/guest/freertos/freertos.mk
ifeq ($(NETWORK),lwip)
include $(ROOT)/guest/freertos/lwip.mk
endif
OBJECTS := $(LWIP_OBJECTS) $(FREERTOS_OBJECTS)
$(eval $(call application_rules,$(FLAGS),$(OBJECTS),$(BUILD)/kernel $(FREERTOS_MAKEFILES)))

ifeq ($(FREERTOS),$(VENDORED))
$(APPLICATION_OBJECTS): | $(VENDOR)/fetched
endif
