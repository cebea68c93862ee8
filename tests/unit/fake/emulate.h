/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What emulate.c asks of the rest of the VMM, for tests of it: the shadow, the mainboard, the FPU
 * and upcalls, which note what they were asked.
 */
#ifndef GANDALF_FAKE_EMULATE_H
#define GANDALF_FAKE_EMULATE_H

#include "arch/ia32/masked_sections.h"
#include "core/work.h"
#include "arch/ia32/debug.h"
#include "guests/x86/emulate.h"
#include "fake/linux.h"

/* What was asked of the shadow and of the mainboard. */
static struct {
	unsigned loads, same_loads, pagings, flushes, invalidations, protections;
	unsigned interruptible; /* calls with interrupts enabled */
	u32 linear, protected_frame;
} shadow_calls;
static u32 upcall_eip, upcall_eflags; /* of an IRET to the VMM's code segment */
static u32 port_value, port_written, port_size;
static u16 port_number;
static unsigned port_reads, port_writes;

void processor_sleep(void)
{
	fail();
}

static void shadow_called(const struct x86 *which)
{
	assert_ptr_equal(which, &x86);
	shadow_calls.interruptible += processor.interrupts;
}

void shadow_set_paging(struct x86 *which)
{
	shadow_called(which);
	shadow_calls.pagings++;
}

void shadow_load(struct x86 *which, u32 cr3)
{
	shadow_called(which);
	shadow_calls.loads++;
	shadow_calls.same_loads += which->cr3 == cr3;
	which->cr3 = cr3;
}

void shadow_flush_all(struct x86 *which)
{
	shadow_called(which);
	shadow_calls.flushes++;
}

void shadow_invalidate(struct x86 *which, u32 linear)
{
	shadow_called(which);
	shadow_calls.invalidations++;
	shadow_calls.linear = linear;
}

/* The GDT's page is where the guest sees it. */
void *shadow_protected_page(const struct shadow *shadow)
{
	(void)shadow;
	return linear_at(GDT);
}

void shadow_protect(struct x86 *which, u32 guest_frame)
{
	assert_ptr_equal(which, &x86);
	shadow_calls.protections++;
	shadow_calls.interruptible += processor.interrupts;
	shadow_calls.protected_frame = guest_frame;
}

bool shadow_translate(struct x86 *which, u32 linear, u32 *guest_frame)
{
	assert_ptr_equal(which, &x86);
	*guest_frame = linear & PTE_FRAME;
	return true;
}

/* What a chip that was due does to the interrupt controller, or a sibling's port to the guest. */
static unsigned settles;
static bool settled_interrupt, settled_reset;

void board_settle(struct x86 *which)
{
	assert_ptr_equal(which, &x86);
	assert_false(processor.interrupts);
	settles++;
	x86.interrupt_waits |= settled_interrupt;
	if (settled_reset)
		vcpu.state = VCPU_OFF;
}

u32 port_read(struct x86 *which, u16 port, u32 size)
{
	assert_ptr_equal(which, &x86);
	assert_false(processor.interrupts);
	port_number = port;
	port_size = size;
	port_reads++;
	return port_value;
}

void port_write(struct x86 *which, u16 port, u32 size, u32 value)
{
	assert_ptr_equal(which, &x86);
	assert_false(processor.interrupts);
	port_number = port;
	port_size = size;
	port_written = value;
	port_writes++;
}

/* It ends none: what it does then is in test_upcall.c. */
static u32 apic_offset, apic_value;

void upcall_apic_write(struct x86 *which, u32 offset, u32 value)
{
	assert_ptr_equal(which, &x86);
	apic_offset = offset;
	apic_value = value;
}

void upcall_return(struct x86 *which, const u32 *words)
{
	assert_ptr_equal(which, &x86);
	assert_int_equal(words[1], SELECTOR_VMM_CODE);
	upcall_eip = words[0];
	upcall_eflags = words[2];
}

/* A #GP with this error code at the guest's EIP. */
static inline void enter(u32 error)
{
	frame.error = error;
	emulate_general_protection(&vcpu, &frame);
}

static int start(void **state)
{
	(void)state;
	linux_reset();
	memset(&shadow_calls, 0, sizeof(shadow_calls));
	port_reads = port_writes = settles = 0;
	settled_interrupt = settled_reset = false;
	emulate_reload_gdt(&x86);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, start)

#endif
