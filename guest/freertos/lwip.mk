# SPDX-License-Identifier: Apache-2.0
#
# How lwIP and its port to FreeRTOS are built: $(LWIP_OBJECTS), which a Makefile links that includes
# this behind freertos.mk. `gandalf build` fetches lwIP, as guest/freertos/lwip/packages.lock has
# pinned it.

LWIP := $(ROOT)/build/lwip/source
LWIP_FETCHED := $(LWIP)/.gandalf-stamp
LWIP_PORT := $(FREERTOS_FOLDER)/lwip

LWIP_CORE := def.o inet_chksum.o init.o ip.o mem.o memp.o netif.o pbuf.o tcp.o tcp_in.o tcp_out.o \
	timeouts.o
LWIP_IPV4 := etharp.o icmp.o ip4.o ip4_addr.o
LWIP_FOREIGN := $(addprefix $(BUILD)/lwip/,$(LWIP_CORE) $(LWIP_IPV4) ethernet.o)
LWIP_OWN := $(addprefix $(BUILD)/lwip/,network_interface.o network_link.o)
LWIP_OBJECTS := $(LWIP_FOREIGN) $(LWIP_OWN)

FLAGS += -I$(LWIP_PORT) -isystem $(LWIP)/src/include
# lwIP leaves parameters unused where an option is off.
LWIP_FLAGS = $(FLAGS) $(GUEST_INTEGER) -Wall -Wextra -Werror -Wno-unused-parameter \
	-fmacro-prefix-map=$(LWIP)=lwip -ffile-prefix-map=$(LWIP)=lwip

$(LWIP_FETCHED):
	@echo 'lwIP is not there: build a system with this image by `gandalf build`.'
	@false
$(LWIP)/src/%.c: $(LWIP_FETCHED) ;

ifeq ($(FREERTOS),$(VENDORED))
$(LWIP_OBJECTS): | $(VENDOR)/fetched
endif
$(LWIP_OBJECTS): $(BUILD)/kernel $(FREERTOS_MAKEFILES) $(FREERTOS_FOLDER)/lwip.mk \
	$(CONFIG)/FreeRTOSConfig.h $(LWIP_FETCHED)

$(addprefix $(BUILD)/lwip/,$(LWIP_CORE)): $(BUILD)/lwip/%.o: $(LWIP)/src/core/%.c
	@mkdir -p $(@D)
	$(CC) $(LWIP_FLAGS) -c $< -o $@

$(addprefix $(BUILD)/lwip/,$(LWIP_IPV4)): $(BUILD)/lwip/%.o: $(LWIP)/src/core/ipv4/%.c
	@mkdir -p $(@D)
	$(CC) $(LWIP_FLAGS) -c $< -o $@

$(BUILD)/lwip/ethernet.o: $(LWIP)/src/netif/ethernet.c
	@mkdir -p $(@D)
	$(CC) $(LWIP_FLAGS) -c $< -o $@

$(LWIP_OWN): $(BUILD)/lwip/%.o: $(LWIP_PORT)/%.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(GUEST_WARNINGS) $(GUEST_INTEGER) -c $< -o $@

-include $(LWIP_OBJECTS:.o=.d)
