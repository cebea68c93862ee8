# SPDX-License-Identifier: Apache-2.0
#
# An application for the uITRON kernel. CFG is its system configuration file.

include $(dir $(lastword $(MAKEFILE_LIST)))application.mk

BUILD := $(OUTPUT)
PORTS := gandalf
CFG ?= system.cfg
CONFIGURATOR := $(GANDALF) itron-configure
FLAGS := -I$(CURDIR)
include $(ROOT)/guest/itron/itron.mk
$(APPLICATION_OBJECTS): GUEST_WARNINGS := $(WARNINGS)
