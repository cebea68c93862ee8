/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the emulated CPU's registers, which plug-in API 1 does not show. The table from which QEMU
 * saves a machine names each register and its place, and the binary exports it; reading there costs
 * a load, a hundredth of what gdb's interface costs, which serves as the check that it is right.
 *
 * Nor does API 1 tell of interrupts. Without that an interrupt that is taken at once where a
 * masked stretch ends would look as if the stretch went on. So the class of the CPU is given a copy
 * of its operations in which the two that deliver are ours. All CPUs are of that class; of those
 * that are not looked at nothing is told.
 */
#include "cpu.h"

enum {
	CLASS_WORDS = 100, /* where in the CPU's class the pointer to its operations may be */
	OPERATIONS = 32, /* words of the copy, which is longer than the original */
	/* gdb numbers them behind the general registers, 8 or 16. */
	GDB_EIP = 0,
	GDB_EFLAGS = 1,
	GDB_CS = 2,
	SEGMENT_CS = 1,
	REGISTER_ESP = 4,
	APIC_WORDS = 64, /* where in the local APIC its registers may begin */
};

#define APIC_BASE 0xfee00000u
#define APIC_BASE_FLAGS 0xfffu

/* A part of QEMU's local APIC. */
struct apic {
	struct qemu_cpu *cpu;
	uint32_t base, identity[5];
	uint32_t registers[3 * 8 + 6 + 3];
	uint32_t divide;
	int32_t shift;
	uint32_t count;
	int64_t started, expiry;
};

struct segment32 {
	uint32_t selector, base, limit, flags;
};
struct segment64 {
	uint32_t selector;
	uint64_t base;
	uint32_t limit, flags;
};

struct cpu cpu;

static cpu_delivery *tell;
static void *operations[OPERATIONS];

static const void *field(const char *name, size_t size, size_t index)
{
	for (const struct qemu_field *at = vmstate_x86_cpu.fields; at->name; at++)
		if (strcmp(at->name, name) == 0 && at->size == size)
			return (const char *)cpu.qemu + at->offset + index * size;
	return NULL;
}

const void *cpu_field(const char *name, size_t size)
{
	return field(name, size, 0);
}

/* Of the several words of the local APIC that point to the CPU, the one before its registers. */
static const struct apic *find_apic(const struct qemu_cpu *qemu)
{
	void *const *words = cpu_get_current_apic();

	for (int i = 0; words && i < APIC_WORDS; i++) {
		const struct apic *apic = (const struct apic *)&words[i];

		if (apic->cpu == qemu && (apic->base & ~APIC_BASE_FLAGS) == APIC_BASE)
			return apic;
	}
	return NULL;
}

const uint32_t *cpu_current_hflags(void)
{
	struct qemu_cpu *qemu;

	if (!qemu_get_cpu(1))
		return cpu.hflags;
	for (int index = 0; (qemu = qemu_get_cpu(index)) != NULL; index++)
		if (find_apic(qemu))
			return (const uint32_t *)((const char *)cpu.hflags +
						  ((const char *)qemu - (const char *)cpu.qemu));
	return NULL;
}

int64_t cpu_timer_expiry(void)
{
	static const struct apic *apic;

	if (!apic)
		apic = find_apic(cpu.qemu);
	if (!apic || apic->count == 0)
		return 0;
	/* That it is what it should be shows that the structure is. */
	return apic->expiry == apic->started + (((int64_t)apic->count + 1) << apic->shift) ?
		       apic->expiry :
		       0;
}

static void deliver_exception(struct qemu_cpu *qemu)
{
	uint32_t ring = cpu_ring();

	if (qemu != cpu.qemu) {
		x86_cpu_do_interrupt(qemu);
		return;
	}
	tell(DELIVERY_NONE, ring);
	x86_cpu_do_interrupt(qemu);
	tell(DELIVERY_EXCEPTION, ring);
}

/* QEMU asks for other things too (the APIC is to look again); a delivery always pushes. */
static bool deliver_interrupt(struct qemu_cpu *qemu, int request)
{
	uint64_t esp = cpu_word(cpu.esp), eip = cpu_word(cpu.eip);
	uint32_t ring = cpu_ring();
	bool done;

	if (qemu != cpu.qemu)
		return x86_cpu_exec_interrupt(qemu, request);
	tell(DELIVERY_NONE, ring);
	done = x86_cpu_exec_interrupt(qemu, request);
	if (done && (cpu_word(cpu.esp) != esp || cpu_word(cpu.eip) != eip))
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

/* Whether all were found. */
static bool find_registers(void)
{
	bool wide = cpu.word == sizeof(uint64_t);
	size_t segment = wide ? sizeof(struct segment64) : sizeof(struct segment32);
	size_t base = wide ? offsetof(struct segment64, base) : offsetof(struct segment32, base);

	cpu.esp = field("env.regs", cpu.word, REGISTER_ESP);
	cpu.eip = field("env.eip", cpu.word, 0);
	cpu.eflags = field("env.eflags", cpu.word, 0);
	cpu.hflags = field("env.hflags", sizeof(uint32_t), 0);
	cpu.cs = field("env.segs", segment, SEGMENT_CS);
	cpu.cs_base = (const char *)cpu.cs + base;
	cpu.cs_limit = (const uint32_t *)((const char *)cpu.cs_base + cpu.word);
	return cpu.esp && cpu.eip && cpu.eflags && cpu.hflags && cpu.cs;
}

const char *cpu_find(int index, size_t word, cpu_delivery *delivery)
{
	cpu.qemu = qemu_get_cpu(index);
	cpu.word = word;
	if (!cpu.qemu)
		return "QEMU does not say where its CPU is";
	tell = delivery;
	if (!find_registers())
		return "QEMU's table of registers is not as in release 7.2";
	return hook() ? NULL : "the operations of QEMU's CPU are not as in release 7.2";
}

static bool same(int number, uint64_t value)
{
	struct glib_bytes *bytes = g_byte_array_new();
	int general = cpu.word == sizeof(uint64_t) ? 16 : 8;
	uint64_t seen = 0;
	bool result;

	x86_cpu_gdb_read_register(cpu.qemu, bytes, general + number);
	result = bytes->size == sizeof(uint32_t) || bytes->size == sizeof(seen);
	if (result)
		memcpy(&seen, bytes->data, bytes->size);
	g_byte_array_free(bytes, 1);
	return result && seen == value;
}

const char *cpu_verify(void)
{
	uint64_t eip = cpu_word(cpu.eip);

	if (same(GDB_EIP, cpu_code64() ? eip : (uint32_t)eip) &&
	    same(GDB_EFLAGS, *cpu.eflags) && same(GDB_CS, *cpu.cs))
		return NULL;
	return "the registers that were found are not those that gdb sees";
}
