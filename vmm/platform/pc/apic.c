/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives the local APIC. Its one-shot timer is the VMM's clock, which takes one store for each
 * deadline. Interrupts of the 8259 pair come through LINT0. A guest that has the CPU to itself
 * reads the registers where they are, and its stores are checked here.
 */
#include "platform/pc/apic.h"

#include "arch/ia32/memory.h"
#include "lib/math.h"
#include "lib/owner.h"
#include "platform/pc/i8254.h"

#define CPUID_APIC (1u << 9)
#define APIC_BASE_ENABLE (1u << 11)

enum {
	REGISTER_ID = 0x20, REGISTER_DESTINATION = 0x310, REGISTER_LOGICAL = APIC_LOGICAL,
	REGISTER_LOGICAL_FORMAT = APIC_LOGICAL_FORMAT,
	REGISTER_TASK_PRIORITY = 0x80, REGISTER_SPURIOUS = APIC_SPURIOUS,
	REGISTER_IN_SERVICE = 0x100, REGISTER_LVT_FIRST = 0x2f0, REGISTER_COMMAND = 0x300,
	REGISTER_LVT_TIMER = 0x320,
	REGISTER_LVT_LINT0 = 0x350, REGISTER_LVT_LINT1 = 0x360, REGISTER_LVT_ERROR = 0x370,
	REGISTER_INITIAL_COUNT = 0x380, REGISTER_CURRENT_COUNT = 0x390, REGISTER_DIVIDE = 0x3e0
};

/* Bits of the local vector table. The command register has its mode in the same place; 0 stands for
 * a normal interrupt. */
enum { DELIVERY_MODE = 0x700, LVT_NMI = 0x400, LVT_EXTINT = 0x700, LVT_MASKED = 0x10000 };
enum { COMMAND_SHORTHAND = 0xc0000, COMMAND_SELF = 0x40000 };
enum { COMMAND_INIT = 0x500, COMMAND_STARTUP = 0x600, COMMAND_PENDING = 0x1000,
       COMMAND_ASSERT = 0x4000, COMMAND_LOGICAL = 0x800 };
enum { ID_SHIFT = 24, CLOCKS_BEHIND_INIT = 11932, CLOCKS_BEHIND_STARTUP = 239 };
enum { DIVIDE_BY_1 = 0xb, SPURIOUS_ENABLE = 0x100 };

/* Both are in ticks of the TSC. LEAD passes between the moment at which the VMM reads the time and
 * the start of the timer; it is less than an interrupt takes until it reads the time. For more than
 * NEAR the timer interrupts earlier, which is harmless. */
enum { LEAD = 16, NEAR = 1 << 29 };
/* A tick of the TSC has timer_scale / 2^SCALE_SHIFT clocks of the timer, at most 4. */
#define SCALE_SHIFT 29
#define LOGICAL_FLAT 0xffffffffu

/* The 8259s' interrupts come to one CPU. */
OF_CORE_INITIALISED static u32 line_0 = LVT_EXTINT;
/* The core's bit in a destination that several have. There are 8 of these bits. */
OF_CORE_INITIALISED static u32 logical = 1;
OF_MACHINE u32 apic_base;
OF_MACHINE static u32 timer_scale;

static void apic_write(u32 offset, u32 value)
{
	*(volatile u32 *)(LAYOUT_APIC + offset) = value;
}

static u32 apic_read(u32 offset)
{
	return *(volatile u32 *)(LAYOUT_APIC + offset);
}

u32 apic_in_service(void)
{
	for (u32 word = apic_base != 0 ? 8 : 0; word-- > 0;) {
		u32 bits = apic_read(REGISTER_IN_SERVICE + word * 0x10);

		if (bits != 0)
			return word * 32 + 31 - (u32)__builtin_clz(bits);
	}
	return 0;
}

/* Sets the local APIC up as the VMM needs it, whatever a guest has made of it. */
static void apic_reset(void)
{
	while (apic_in_service() != 0)
		apic_end_of_interrupt();
	apic_write(REGISTER_LOGICAL_FORMAT, LOGICAL_FLAT);
	apic_write(REGISTER_LOGICAL, logical << ID_SHIFT);
	apic_write(REGISTER_SPURIOUS, SPURIOUS_ENABLE | VECTOR_APIC_SPURIOUS);
	apic_write(REGISTER_TASK_PRIORITY, 0);
	apic_write(REGISTER_LVT_LINT0, line_0);
	apic_write(REGISTER_LVT_LINT1, LVT_NMI);
	apic_write(REGISTER_LVT_ERROR, LVT_MASKED);
	apic_write(REGISTER_DIVIDE, DIVIDE_BY_1);
}

/*
 * Lets the APIC give the processor nothing but interrupts with vectors that cannot be mistaken for
 * an exception, a hypercall, an IRQ or a message, since they may come when the guest has stopped,
 * and messages while it runs. An LVT entry for an NMI, SMI or INIT is masked, and the guest can
 * send interrupts only to its own processor. Stores below the task priority register are ignored:
 * QEMU takes them for messages that send any interrupt. So are stores behind the divider, where
 * some processors have more registers.
 */
bool apic_write_for_guest(u32 offset, u32 value)
{
	u32 mode = value & DELIVERY_MODE;
	bool vector = (u8)value >= VECTOR_APIC_GUEST && !apic_vector_is_message((u8)value);

	if (offset >= REGISTER_LVT_FIRST && offset <= REGISTER_LVT_ERROR &&
	    offset != REGISTER_COMMAND && (mode != 0 || !vector) &&
	    (mode != LVT_EXTINT || offset != REGISTER_LVT_LINT0))
		value |= LVT_MASKED;
	if (offset % 0x10 == 0 && offset >= REGISTER_TASK_PRIORITY && offset <= REGISTER_DIVIDE &&
	    (offset != REGISTER_SPURIOUS || vector) &&
	    (offset != REGISTER_COMMAND ||
	     (vector && (value & (COMMAND_SHORTHAND | DELIVERY_MODE)) == COMMAND_SELF)))
		apic_write(offset, value);
	return (apic_read(REGISTER_LVT_LINT0) & LVT_MASKED) != 0;
}

/* Returns the timer's clocks in a tick of the TSC, as timer_scale has them; 0 if it stands still.
 * The 8254 has no part in it but for the time that passes. The TSC is read behind the timer both
 * times. */
static u32 timer_measure(void)
{
	u32 clocks, start;

	apic_write(REGISTER_LVT_TIMER, LVT_MASKED | VECTOR_APIC_TIMER);
	apic_write(REGISTER_INITIAL_COUNT, 0xffffffff);
	start = (u32)rdtsc();
	i8254_wait(I8254_MEASURED);
	clocks = 0xffffffff - apic_read(REGISTER_CURRENT_COUNT);
	return (u32)multiply_divide(clocks, 1u << SCALE_SHIFT, (u32)rdtsc() - start);
}

/* Returns where the APIC is. */
static u32 apic_enable(void)
{
	u64 base = rdmsr(MSR_APIC_BASE);

	wrmsr(MSR_APIC_BASE, base | APIC_BASE_ENABLE);
	memory_map_device(LAYOUT_APIC, (u32)base & PTE_FRAME);
	return (u32)base;
}

bool apic_init(void)
{
	u32 base;

	if ((cpuid(1).edx & CPUID_APIC) == 0)
		return false;
	base = apic_enable();
	apic_reset();
	timer_scale = timer_measure();
	apic_base = timer_scale != 0 ? base | APIC_BASE_ENABLE : 0;
	return timer_scale != 0;
}

void apic_join(u32 index)
{
	logical = 1u << index;
	line_0 = LVT_MASKED | LVT_EXTINT;
	apic_enable();
}

u32 apic_own_id(void)
{
	return apic_read(REGISTER_ID) >> ID_SHIFT;
}

static void apic_send(u32 id, u32 command)
{
	while (apic_read(REGISTER_COMMAND) & COMMAND_PENDING)
		;
	apic_write(REGISTER_DESTINATION, id << ID_SHIFT);
	apic_write(REGISTER_COMMAND, command);
}

void apic_interrupt(u32 id, u32 vector)
{
	apic_send(id, COMMAND_ASSERT | vector);
}

void apic_interrupt_cores(u32 cores, u32 vector)
{
	apic_send(cores, COMMAND_LOGICAL | COMMAND_ASSERT | vector);
}

void apic_stop_cpu(u32 id)
{
	apic_send(id, COMMAND_ASSERT | COMMAND_INIT);
}

/* SDM vol. 3, 9.4.4.1 asks for INIT, 10 ms, and STARTUP, of which some CPUs need a second one
 * 200 us later. */
void apic_start_cpu(u32 id, u32 page)
{
	apic_stop_cpu(id);
	i8254_wait(CLOCKS_BEHIND_INIT);
	apic_send(id, COMMAND_ASSERT | COMMAND_STARTUP | page >> PAGE_SHIFT);
	i8254_wait(CLOCKS_BEHIND_STARTUP);
	apic_send(id, COMMAND_ASSERT | COMMAND_STARTUP | page >> PAGE_SHIFT);
}

/* Has the timer interrupt a little late rather than too early, which would cost a second
 * interrupt. */
static void apic_program(u32 low, s32 high)
{
	u32 near = -low - LEAD;

	if (high != -1 || near > NEAR)
		near = high < 0 && near < -(u32)LEAD ? NEAR : 0;
	apic_write(REGISTER_INITIAL_COUNT, (u32)((u64)near * timer_scale >> SCALE_SHIFT) + 1);
}

static void apic_start(void)
{
	apic_reset();
	apic_write(REGISTER_INITIAL_COUNT, 0);
	apic_write(REGISTER_LVT_TIMER, VECTOR_APIC_TIMER);
}

static void apic_stop(void)
{
	apic_write(REGISTER_LVT_TIMER, LVT_MASKED | VECTOR_APIC_TIMER);
	apic_write(REGISTER_INITIAL_COUNT, 0);
}

const struct timer_hardware apic_timer = {"local APIC", -1, apic_start, apic_stop, apic_program};
