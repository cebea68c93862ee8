/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the emulated CPU's registers, which plug-in API 1 does not show. The table from which QEMU
 * saves a machine names each register and its place, and the binary exports it; reading there costs
 * a load, a hundredth of what gdb's interface costs, which serves as the check that it is right.
 *
 * Nor does API 1 tell of interrupts. Without that an interrupt that is taken at once where a
 * masked stretch ends would look as if the stretch went on. So the class of the CPU is given a copy
 * of its operations in which the two that deliver are ours.
 */
#include "cpu.h"

#include <string.h>

enum {
	CLASS_WORDS = 100, /* where in the CPU's class the pointer to its operations may be */
	OPERATIONS = 32, /* words of the copy, which is longer than the original */
	GDB_EIP = 8,
	GDB_EFLAGS = 9,
	GDB_CS = 10,
	SEGMENT_CS = 1,
	REGISTER_ESP = 4,
};

/* selector, base, limit, flags */
struct segment {
	uint32_t words[4];
};

struct cpu cpu;

static cpu_delivery *tell;
static void *operations[OPERATIONS];

static const uint32_t *field(const char *name, size_t size, size_t index)
{
	for (const struct qemu_field *at = vmstate_x86_cpu.fields; at->name; at++)
		if (strcmp(at->name, name) == 0 && at->size == size)
			return (const uint32_t *)((const char *)cpu.qemu + at->offset +
						  index * size);
	return NULL;
}

static void deliver_exception(struct qemu_cpu *qemu)
{
	uint32_t ring = cpu_ring();

	tell(DELIVERY_NONE, ring);
	x86_cpu_do_interrupt(qemu);
	tell(DELIVERY_EXCEPTION, ring);
}

/* QEMU asks for other things too (the APIC is to look again); a delivery always pushes. */
static bool deliver_interrupt(struct qemu_cpu *qemu, int request)
{
	uint32_t ring = cpu_ring(), esp = *cpu.esp, eip = *cpu.eip;
	bool done;

	tell(DELIVERY_NONE, ring);
	done = x86_cpu_exec_interrupt(qemu, request);
	if (done && (*cpu.esp != esp || *cpu.eip != eip))
		tell(DELIVERY_HARDWARE, ring);
	return done;
}

static int operation_index(void *const *table, void *function)
{
	for (int i = 0; i < OPERATIONS; i++)
		if (table[i] == function)
			return i;
	return OPERATIONS;
}

/* Whether a word of the class may be a pointer into the binary's constant data, near the table of
 * the registers: only such words are followed. */
static bool may_be_operations(const void *word)
{
	uintptr_t distance = (uintptr_t)word - (uintptr_t)&vmstate_x86_cpu + (1 << 21);

	return distance < 1 << 22 && (uintptr_t)word % sizeof(void *) == 0;
}

/* The word of the class that points to the operations. Another constant may lie shortly before
 * them: the pointer with the least way to what is looked for is the right one. */
static void ***find_operations(void ***class)
{
	void ***found = NULL;
	int best = OPERATIONS;

	for (int i = 0; i < CLASS_WORDS; i++) {
		if (!may_be_operations(class[i]))
			continue;
		int exception = operation_index(class[i], (void *)x86_cpu_do_interrupt);
		int interrupt = operation_index(class[i], (void *)x86_cpu_exec_interrupt);

		if (exception < best && interrupt < OPERATIONS) {
			best = exception;
			found = &class[i];
		}
	}
	return found;
}

static bool hook(void)
{
	/* An object begins with the pointer to its class. */
	void ***place = find_operations(*(void ****)cpu.qemu);

	if (!place)
		return false;
	memcpy(operations, *place, sizeof(operations));
	operations[operation_index(operations, (void *)x86_cpu_do_interrupt)] =
		(void *)deliver_exception;
	operations[operation_index(operations, (void *)x86_cpu_exec_interrupt)] =
		(void *)deliver_interrupt;
	*place = operations;
	return true;
}

const char *cpu_find(int index, cpu_delivery *delivery)
{
	const uint32_t *registers, *cs;

	cpu.qemu = qemu_get_cpu(index);
	if (!cpu.qemu)
		return "QEMU does not say where its CPU is";
	tell = delivery;
	registers = field("env.regs", sizeof(uint32_t), 0);
	cpu.eip = field("env.eip", sizeof(uint32_t), 0);
	cpu.eflags = field("env.eflags", sizeof(uint32_t), 0);
	cpu.hflags = field("env.hflags", sizeof(uint32_t), 0);
	cs = field("env.segs", sizeof(struct segment), SEGMENT_CS);
	if (!registers || !cpu.eip || !cpu.eflags || !cpu.hflags || !cs)
		return "QEMU's table of registers is not as in release 7.2";
	cpu.esp = registers + REGISTER_ESP;
	cpu.cs = cs;
	cpu.cs_base = cs + 1;
	return hook() ? NULL : "the operations of QEMU's CPU are not as in release 7.2";
}

static bool same(int number, uint32_t value)
{
	struct glib_bytes *bytes = g_byte_array_new();
	uint32_t seen = 0;
	bool result;

	x86_cpu_gdb_read_register(cpu.qemu, bytes, number);
	result = bytes->size == sizeof(seen);
	if (result)
		memcpy(&seen, bytes->data, sizeof(seen));
	g_byte_array_free(bytes, 1);
	return result && seen == value;
}

const char *cpu_verify(void)
{
	if (same(GDB_EIP, *cpu.eip) && same(GDB_EFLAGS, *cpu.eflags) && same(GDB_CS, *cpu.cs))
		return NULL;
	return "the registers that were found are not those that gdb sees";
}
