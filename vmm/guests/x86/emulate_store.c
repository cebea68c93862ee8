/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulates stores to pages that are kept read-only: that of the guest's GDT, its local APIC, and
 * the alias of the shared page, by which Linux enables interrupts.
 */
#include "guests/x86/emulate.h"

#include "arch/ia32/decode_quick.h"
#include "guests/x86/emulation.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/linux.h"
#include "platform/pc/apic.h"
#include "siblings.h"

MUST_CHECK static bool store_begin(struct emulation *e, struct x86 *x86, u32 *value)
{
	if (!emulation_begin(e, x86) || e->decoded.operation != DECODED_MOV_STORE)
		return false;
	*value = e->decoded.has_immediate ? e->decoded.immediate
					  : *register_pointer(e->frame, e->decoded.reg);
	return e->decoded.size == 4;
}

bool emulate_alias_store(struct x86 *x86)
{
	struct emulation e;
	u32 value;

	if (!store_begin(&e, x86, &value) || operand_address(&e) != GANDALF_SHARED_ALIAS)
		return false;
	vcpu_count(x86->vcpu, COUNTER_alias_faults);
	e.frame->eip += e.decoded.length;
	linux_set_interrupts(x86, (value & GANDALF_INTERRUPT_FLAG) != 0);
	return true;
}

/* Does a store to the GDT. Without the hypercall for TLS, Linux makes six at each switch of tasks,
 * mostly of what is there already. So only the descriptor that is written is read again, and only
 * if it may have changed. Only the page of the GDT's start is protected. INLINE saves 36
 * instructions of an interrupt's latency on a dedicated CPU, and costs 128 bytes. */
static INLINE void gdt_store(struct x86 *x86, u32 linear, u32 value)
{
	u32 offset = linear - x86->gdt_base;
	u32 first = offset % PAGE_SIZE / 8;
	u32 old, next;

	vcpu_count(x86->vcpu, COUNTER_gdt_writes);
	if (offset % 4 == 0 && first < SEGMENT_GUEST_ENTRIES &&
	    read_or_fail((const u32 *)linear, &old, &next) && old == value &&
	    (x86->vcpu->tables->gdt[first] & DESCRIPTOR_PRESENT) == 0)
		return;
	/* The VMM does not store at the guest's address: the TLB may still have another page there,
	 * and the VMM's stores ignore protection. */
	__builtin_memcpy((u8 *)shadow_protected_page(&x86->shadow) + linear % PAGE_SIZE, &value,
			 sizeof(value));
	emulate_reload_gdt_entries(x86, first, (offset + 3) % PAGE_SIZE / 8);
}

HOT bool emulate_gdt_store(struct x86 *x86, u32 linear)
{
	struct frame *frame = x86->vcpu->frame;
	u32 code, more, number, length;

	if (linear % PAGE_SIZE == 0 || linear % 4 != 0 ||
	    !guest_read_8(frame->eip, &code, &more) ||
	    !decode_stores_register(code, &number, &length))
		return false;
	frame->eip += length;
	vcpu_count(x86->vcpu, COUNTER_gdt_quick_writes);
	gdt_store(x86, linear, *register_pointer(frame, number));
	return true;
}

void emulate_store(struct x86 *x86, u32 linear, bool to_apic)
{
	struct emulation e;
	u32 value;

	/* The store must lie within the page. One that begins on the page before faults at the
	 * start of this one. */
	if (!store_begin(&e, x86, &value) || linear % PAGE_SIZE > PAGE_SIZE - sizeof(value) ||
	    (linear % PAGE_SIZE == 0 && operand_address(&e) != linear)) {
		vm_stop(x86->vm, "it writes its %s at %x in an unknown way",
			to_apic ? "APIC" : "GDT", linear);
		return;
	}
	e.frame->eip += e.decoded.length;
	if (to_apic)
		apic_store(x86, linear % PAGE_SIZE, value);
	else
		gdt_store(x86, linear, value);
	x86->shadow.protected_page = to_apic ? 0 : linear & PTE_FRAME;
}
