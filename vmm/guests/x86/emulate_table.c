/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulates LGDT, LIDT, LLDT and LTR. The guest's descriptors are put into the real tables, one by
 * one.
 */
#include "guests/x86/emulate.h"
#include "guests/x86/emulation.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"
#include "siblings.h"
#include "views.h"

/* Returns whether a segment register holds this entry's selector. A loaded segment stays usable
 * after LGDT, whatever the new table has there, and Linux's first LGDT relies on that. A CPU has
 * its hidden part for it; here the real entry stays as it is. */
static bool entry_is_loaded(const struct frame *frame, u32 index)
{
	for (unsigned segment = SEGMENT_ES; segment <= SEGMENT_GS; segment++)
		if (segment_selector(frame, segment) / 8 == index)
			return true;
	return false;
}

void emulate_reload_gdt_entries(struct x86 *x86, u32 first, u32 last)
{
	u32 entries = (x86->gdt_limit + 1u) / 8;

	for (u32 i = first; i <= last; i++) {
		u64 descriptor = 0;

		if (i < entries && !guest_read(x86->gdt_base + i * 8, &descriptor, 8)) {
			vm_stop(x86->vm, "its GDT at %x cannot be read", x86->gdt_base);
			return;
		}
		if ((descriptor & DESCRIPTOR_PRESENT) == 0 && entry_is_loaded(x86->vcpu->frame, i))
			continue;
		x86_set_descriptor(x86, i, descriptor);
	}
	if (returns_are_stopped(x86))
		segment_set_user_code(x86->vcpu, false);
}

void emulate_reload_gdt(struct x86 *x86)
{
	emulate_reload_gdt_entries(x86, 1, SEGMENT_GUEST_ENTRIES - 1);
}

/* Ends LGDT, LLDT and LTR: puts the GDT's entries and the kernel's stack into the real tables. */
static enum emulated gdt_reload(const struct emulation *e)
{
	emulate_reload_gdt(e->x86);
	inject_reload_stack(e->x86);
	return EMULATED_NEXT;
}

/* Makes the GDT's first page read-only, unless Linux tells its changes by the hypercall for TLS. */
static void protect_gdt(struct x86 *x86)
{
	u32 frame;

	if (!x86->tls_hook && shadow_translate(x86, x86->gdt_base, &frame))
		shadow_protect(x86, frame);
}

/* Makes the gates that lead straight to ring 1. */
static void reload_gates(struct x86 *x86)
{
	const struct policy *policy = x86->policy;

	for (unsigned vector = policy->first_gate; vector <= policy->last_gate; vector++) {
		u64 gate = 0;
		unsigned type;

		if (vector * 8 + 7 <= x86->idt_limit &&
		    !guest_read(x86->idt_base + vector * 8, &gate, sizeof(gate)))
			gate = 0;
		type = (unsigned)(gate >> 40) & 0x1f;
		if ((gate & DESCRIPTOR_PRESENT) == 0 ||
		    (type != GATE_INTERRUPT && type != GATE_TRAP))
			segment_clear_gate(x86->vcpu, vector);
		else
			views_gate(x86, vector,
				   (u32)(gate & 0xffff) | ((u32)(gate >> 32) & 0xffff0000),
				   type | policy->gate_type, descriptor_dpl(gate));
	}
}

enum emulated emulate_load_table(const struct emulation *e)
{
	struct x86 *x86 = e->x86;
	struct table_register table;

	if (!operand_read(e, &table, sizeof(table)))
		return EMULATED_JUMP;
	if (e->decoded.operation == DECODED_LIDT) {
		x86->idt_limit = table.limit;
		x86->idt_base = table.base;
		reload_gates(x86);
		gates_are_made(x86);
		return EMULATED_NEXT;
	}
	x86->gdt_limit = table.limit;
	x86->gdt_base = table.base;
	protect_gdt(x86);
	return gdt_reload(e);
}

enum emulated emulate_ltr(const struct emulation *e)
{
	struct x86 *x86 = e->x86;
	u64 descriptor;
	u16 selector;

	if (!operand_16(e, &selector))
		return EMULATED_JUMP;
	if ((selector & SELECTOR_INDEX) == 0 || (selector | 7u) > x86->gdt_limit ||
	    !guest_read(x86->gdt_base + (selector & SELECTOR_INDEX), &descriptor, 8))
		return EMULATED_FAULT;
	x86->tr = selector;
	x86->code_mask = x86->policy->code_mask;
	x86->tss_base = descriptor_base(descriptor);
	if (x86->tss_base >= GANDALF_BASE - PAGE_SIZE)
		x86->tss_base = 0; /* inject_reload_stack() must not read it there */
	views_follow_task(x86, x86->tss_base);
	return gdt_reload(e);
}

/* A local descriptor table is not offered. Linux has one for modify_ldt() only, by which programs
 * of 16 bits get their segments; its configuration leaves that out (docs/linux-guest.md). */
enum emulated emulate_lldt(const struct emulation *e)
{
	u16 selector;

	if (!operand_16(e, &selector))
		return EMULATED_JUMP;
	if ((selector & SELECTOR_INDEX) != 0)
		return EMULATED_FAULT;
	return gdt_reload(e);
}
