# SPDX-License-Identifier: Apache-2.0
#
# How every RTOS guest is compiled; included by the Makefiles of guest/freertos
# and guest/tests, which set BUILD and ROOT first.

RTOS := $(ROOT)/guest/rtos

# The tree is /gandalf to a debugger, so that no path of this machine gets into an image. PATHS has
# what an application outside of the tree does for its own.
GUEST_FLAGS := -m32 -march=i686 -Os -std=gnu17 -ffreestanding -fno-pie -fno-stack-protector \
	-fno-asynchronous-unwind-tables -fcf-protection=none -fno-common -mno-red-zone \
	-ffunction-sections -fdata-sections -fomit-frame-pointer -MMD -MP \
	-g -ffile-prefix-map=$(ROOT)=/gandalf $(PATHS) \
	-nostdinc -isystem $(shell $(CC) -print-file-name=include) \
	-I$(ROOT)/abi -I$(RTOS) -I$(RTOS)/include
GUEST_WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wvla -Wstrict-prototypes \
	-Wmissing-prototypes -Werror
# The compiler must not use registers that only the tasks which say so may use.
GUEST_INTEGER := -mgeneral-regs-only
GUEST_LDFLAGS := -m elf_i386 --build-id=none -z noexecstack --gc-sections

RTOS_OBJECTS := $(addprefix $(BUILD)/rtos/,entry.o start.o console.o print.o string.o)

$(BUILD)/rtos/entry.o: $(RTOS)/entry.S $(RTOS)/rtos.mk
	@mkdir -p $(@D)
	$(CC) $(GUEST_FLAGS) -c $< -o $@

# Without this GCC turns the loops of string.c into calls of what they define.
$(BUILD)/rtos/%.o: $(RTOS)/%.c $(RTOS)/rtos.mk
	@mkdir -p $(@D)
	$(CC) $(GUEST_FLAGS) $(GUEST_WARNINGS) $(GUEST_INTEGER) -fno-tree-loop-distribute-patterns \
		-c $< -o $@
