/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local APIC: its one-shot timer is the VMM's clock, one store per
 * deadline. Interrupts of the 8259 pair arrive through LINT0 as before.
 */
#include "hardware/apic.h"

#include "core/memory.h"
#include "hardware/i8254.h"
#include "ia32/cpu.h"
#include "lib/math.h"

#define CPUID_APIC (1u << 9)
#define MSR_APIC_BASE 0x1b
#define APIC_BASE_ENABLE (1u << 11)

#define REGISTER_TASK_PRIORITY 0x80
#define REGISTER_SPURIOUS 0xf0
#define REGISTER_LVT_TIMER 0x320
#define REGISTER_LVT_LINT0 0x350
#define REGISTER_LVT_LINT1 0x360
#define REGISTER_LVT_ERROR 0x370
#define REGISTER_INITIAL_COUNT 0x380
#define REGISTER_CURRENT_COUNT 0x390
#define REGISTER_DIVIDE 0x3e0

#define SPURIOUS_ENABLE 0x100u
#define LVT_MASKED 0x10000u
#define LVT_EXTINT 0x700u
#define LVT_NMI 0x400u
#define DIVIDE_BY_1 0xbu
#define MEASURED_CLOCKS 11932u /* 10 ms of the 8254 */

/* Beyond these ticks of the TSC the timer interrupts earlier, which is harmless. */
#define NEAR (1u << 29)
/* Timer clocks in a tick of the TSC are timer_scale / 2^SCALE_SHIFT, at most 4. */
#define SCALE_SHIFT 29

static u32 timer_scale;

static void apic_write(u32 offset, u32 value)
{
	*(volatile u32 *)(LAYOUT_APIC + offset) = value;
}

static u32 apic_read(u32 offset)
{
	return *(volatile u32 *)(LAYOUT_APIC + offset);
}

COLD static u32 timer_measure(void)
{
	apic_write(REGISTER_LVT_TIMER, LVT_MASKED | VECTOR_APIC_TIMER);
	apic_write(REGISTER_DIVIDE, DIVIDE_BY_1);
	apic_write(REGISTER_INITIAL_COUNT, 0xffffffff);
	i8254_wait(MEASURED_CLOCKS);
	return (0xffffffff - apic_read(REGISTER_CURRENT_COUNT)) / 10;
}

COLD bool apic_init(void)
{
	u64 base;

	if ((cpuid(1).edx & CPUID_APIC) == 0)
		return false;
	base = rdmsr(MSR_APIC_BASE);
	if ((base & APIC_BASE_ENABLE) == 0)
		wrmsr(MSR_APIC_BASE, base | APIC_BASE_ENABLE);
	memory_map_device(LAYOUT_APIC, (u32)base & PTE_FRAME);
	apic_write(REGISTER_SPURIOUS, SPURIOUS_ENABLE | VECTOR_APIC_SPURIOUS);
	apic_write(REGISTER_TASK_PRIORITY, 0);
	apic_write(REGISTER_LVT_LINT0, LVT_EXTINT);
	apic_write(REGISTER_LVT_LINT1, LVT_NMI);
	apic_write(REGISTER_LVT_ERROR, LVT_MASKED);
	timer_scale = (u32)multiply_divide(1u << SCALE_SHIFT, timer_measure(), time_tsc_khz);
	return timer_scale != 0;
}

/* A little late rather than early, which would cost a second interrupt. */
static void apic_program(u64 time)
{
	u64 ticks = time - rdtsc();
	u32 near = (u32)ticks;
	s32 far = (s32)(ticks >> 32); /* negative: it is over */

	if (far != 0 || near > NEAR)
		near = far < 0 ? 0 : NEAR;
	apic_write(REGISTER_INITIAL_COUNT, (u32)((u64)near * timer_scale >> SCALE_SHIFT) + 1);
}

COLD static void apic_start(void)
{
	apic_end_of_interrupt(); /* one that a guest may have been given */
	apic_write(REGISTER_INITIAL_COUNT, 0);
	apic_write(REGISTER_LVT_TIMER, VECTOR_APIC_TIMER);
}

COLD static void apic_stop(void)
{
	apic_write(REGISTER_LVT_TIMER, LVT_MASKED | VECTOR_APIC_TIMER);
	apic_write(REGISTER_INITIAL_COUNT, 0);
}

const struct timer_hardware apic_timer = {"local APIC", -1, apic_start, apic_stop, apic_program};
