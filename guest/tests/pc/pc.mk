# SPDX-License-Identifier: Apache-2.0
#
# The test guests that take the place of a Linux kernel: pc.elf, which tests
# itself, pc-NAME.elf for each misdeed of misdeed.c, and pc-boundaries.elf, all of whose work for
# the VMM is interrupted, pc-upcalls.elf and pc-apic.elf, which interrupt it themselves,
# pc-attack.elf, which is told what to try, pc-siblings.elf, which attacks with two vCPUs,
# pc-crowd.elf, which has eight at work, pc-moves.elf, whose second vCPU moves amid all that the
# VMM does for it, and pc-views.elf, whose kernel is in the kernel half as
# Linux is.
# Included by ../Makefile.

PC_OBJECTS := $(addprefix $(OBJECTS)/pc/,entry.o machine.o tables.o trap.o chips.o pages.o user.o)
PC_TESTS := $(addprefix $(OBJECTS)/pc/,suite.o test_boot.o test_exceptions.o test_control.o \
	test_ports.o test_interrupts.o paging.o test_paging.o test_spaces.o test_descriptors.o \
	test_user.o test_float.o test_hypercalls.o)
PC_SHARED := $(OBJECTS)/tap.o $(OBJECTS)/rtos/emulator.o $(OBJECTS)/rtos/float_check.o \
	$(BUILD)/rtos/print.o $(BUILD)/rtos/string.o
PC_LDFLAGS := $(filter-out --gc-sections,$(GUEST_LDFLAGS)) --no-warn-rwx-segments -T pc/pc.ld

$(PC:%=$(OBJECTS)/pc/%.o): $(OBJECTS)/pc/pc-%.o: pc/misdeed.c Makefile pc/pc.mk
	@mkdir -p $(@D)
	$(CC) $(FLAGS) -Ipc -DMISDEED='"$*"' -c $< -o $@

$(BUILD)/pc.elf: $(PC_TESTS) $(PC_OBJECTS) $(PC_SHARED) pc/pc.ld
	$(LD) $(PC_LDFLAGS) -o $@ $(filter %.o,$^)

$(PC:%=$(BUILD)/%.elf): $(BUILD)/%.elf: $(OBJECTS)/pc/%.o $(PC_OBJECTS) $(PC_SHARED) pc/pc.ld
	$(LD) $(PC_LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/pc-boundaries.elf: \
	$(addprefix $(OBJECTS)/pc/,boundaries.o boundary_operations.o boundary.o) \
	$(PC_OBJECTS) $(PC_SHARED) pc/pc.ld
	$(LD) $(PC_LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/pc-search.elf: $(addprefix $(OBJECTS)/pc/,search.o search_operations.o search_calls.o) \
	$(PC_OBJECTS) $(PC_SHARED) pc/pc.ld
	$(LD) $(PC_LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/pc-upcalls.elf $(BUILD)/pc-apic.elf: $(BUILD)/pc-%.elf: $(OBJECTS)/pc/%.o $(PC_OBJECTS) \
	$(PC_SHARED) pc/pc.ld
	$(LD) $(PC_LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/pc-attack.elf: \
	$(addprefix $(OBJECTS)/pc/attack,.o _ring0.o _upcall.o _vectors.o _pages.o _vm86.o \
	_software.o _call.o) $(PC_OBJECTS) $(PC_SHARED) pc/pc.ld
	$(LD) $(PC_LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/pc-views.elf: $(addprefix $(OBJECTS)/pc/,views.o views_ahead.o views_calls.o \
	views_returns.o views_borders.o views_processes.o views_processes_user.o views_user.o \
	high.o) $(PC_OBJECTS) $(PC_SHARED) pc/high.ld
	$(LD) $(filter-out -T pc/pc.ld,$(PC_LDFLAGS)) -T pc/high.ld -o $@ $(filter %.o,$^)

$(BUILD)/pc-siblings.elf: $(addprefix $(OBJECTS)/pc/,siblings.o siblings_tables.o \
	siblings_messages.o siblings_crossings.o vcpus.o) $(PC_OBJECTS) $(PC_SHARED) pc/pc.ld
	$(LD) $(PC_LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/pc-moves.elf: \
	$(addprefix $(OBJECTS)/pc/,moves.o move_operations.o boundary_operations.o boundary.o \
	vcpus.o) $(PC_OBJECTS) $(PC_SHARED) pc/pc.ld
	$(LD) $(PC_LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/pc-crowd.elf: $(addprefix $(OBJECTS)/pc/,crowd.o vcpus.o) $(PC_OBJECTS) $(PC_SHARED) \
	pc/pc.ld
	$(LD) $(PC_LDFLAGS) -o $@ $(filter %.o,$^)
