# SPDX-License-Identifier: Apache-2.0
#
# An application on the VMM's interface alone: start-up, hypercalls, print().

include $(dir $(lastword $(MAKEFILE_LIST)))application.mk

BUILD := $(OUTPUT)
include $(ROOT)/guest/rtos/rtos.mk
$(eval $(call application_rules,$(GUEST_FLAGS),$(RTOS_OBJECTS),$(RTOS)/rtos.mk))
