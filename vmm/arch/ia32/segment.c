/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the real descriptor tables. All accessed bits are set beforehand, since the CPU could not
 * write them while a guest runs with WP 1, which makes the tables read-only.
 */
#include "arch/ia32/segment.h"

#include "arch/ia32/entry.h"
#include "core/core.h"
#include "core/pool.h"
#include "core/schedule.h"
#include "lib/owner.h"
#include "lib/string.h"

/* Bits 40 to 47 of a descriptor: P, DPL, S, type. */
enum { TYPE_TSS = 0x89, TYPE_VMM_DATA = 0x97, TYPE_VMM_CODE = 0x9b };
/* The first address that no guest segment may reach: behind the alias. */
#define GUEST_END (GANDALF_SHARED_ALIAS + PAGE_SIZE)
/* The number of gates that are made before more urgent guests are let run again. */
#define GATE_STEP 4u

OF_CORE static struct segment_tables host_tables;

u64 segment_descriptor(u32 base, u32 limit, u32 type, bool big)
{
	u32 high = (base & 0xff000000) | (base >> 16 & 0xff) | type << 8;

	if (big)
		high |= (u32)(DESCRIPTOR_BIG >> 32);
	if (limit > 0xfffff) {
		limit >>= PAGE_SHIFT;
		high |= (u32)(DESCRIPTOR_GRANULARITY >> 32);
	}
	return (u64)(high | (limit & 0xf0000)) << 32 | (base << 16 | (limit & 0xffff));
}

u32 descriptor_base(u64 descriptor)
{
	return (u32)(descriptor >> 16 & 0xffffff) | ((u32)(descriptor >> 32) & 0xff000000);
}

u32 descriptor_limit(u64 descriptor)
{
	u32 limit = (u32)(descriptor & 0xffff) | ((u32)(descriptor >> 32) & 0xf0000);

	if (descriptor & DESCRIPTOR_GRANULARITY)
		limit = limit << PAGE_SHIFT | (PAGE_SIZE - 1);
	return limit;
}

static u64 gate(u32 offset, u32 selector, unsigned type, unsigned dpl)
{
	u32 high = (offset & 0xffff0000) | (0x80u | dpl << 5 | type) << 8;

	return (u64)high << 32 | (selector << 16 | (offset & 0xffff));
}

/* Exceptions whose handler starts with interrupts disabled even where the VMM is interruptible:
 * the registers that tell their cause could change if another vCPU ran first. */
#define MASKED_EXCEPTIONS                                                     \
	(1u << EXCEPTION_DB | 1u << EXCEPTION_NMI | 1u << EXCEPTION_DF | 1u << EXCEPTION_MC)

/* Returns a gate's DPL: INT3 and INTO work from all rings, the hypercall from kernels'. */
static unsigned stub_dpl(unsigned vector)
{
	if (vector == EXCEPTION_BP || vector == EXCEPTION_OF)
		return 3;
	return vector == GANDALF_HYPERCALL_VECTOR ? PRIVILEGE_KERNEL : 0;
}

/* Sets up all of a vCPU's tables but the IDT and the ports that it may use. */
static void tables_init(struct segment_tables *tables)
{
	memset(tables->gdt, 0, sizeof(tables->gdt));
	memset(&tables->tss, 0, offsetof(struct tss, bitmap));
	tables->user_code = 0;
	tables->gdt[SELECTOR_VMM_CODE / 8] = segment_descriptor(0, 0xffffffff, TYPE_VMM_CODE, true);
	/* The data segment expands down, and ends above the first page, where a guest may have
	 * something but the VMM has nothing. So a pointer of the VMM that is NULL raises #GP. */
	tables->gdt[SELECTOR_VMM_DATA / 8] =
		segment_descriptor(0, PAGE_SIZE - 1, TYPE_VMM_DATA, true);
	tables->gdt[SELECTOR_TSS / 8] =
		segment_descriptor((u32)&tables->tss, sizeof(tables->tss) - 1, TYPE_TSS, false);
	tables->gdt_register = (struct table_register){sizeof(tables->gdt) - 1, (u32)tables->gdt};
	tables->idt_register = (struct table_register){sizeof(tables->idt) - 1, (u32)tables->idt};
	tables->tss.ss0 = SELECTOR_VMM_DATA;
	tables->tss.bitmap_offset = offsetof(struct tss, bitmap);
}

void segment_init(void)
{
	idle_vcpu.tables = &host_tables;
	idle_vcpu.any_vector = true;
	tables_init(&host_tables);
	for (unsigned vector = 0; vector < ARRAY_SIZE(host_tables.idt); vector++)
		segment_clear_gate(&idle_vcpu, vector);
	segment_load(&idle_vcpu);
	load_segments(SELECTOR_VMM_CODE, SELECTOR_VMM_DATA);
}

bool segment_create(struct vcpu *vcpu)
{
	vcpu->tables_frame = pool_allocate();
	vcpu->tables = pool_pointer(vcpu->tables_frame);
	return vcpu->tables_frame != 0;
}

void segment_reset(struct vcpu *vcpu)
{
	tables_init(vcpu->tables);
	schedule_admit();
	memset(vcpu->tables->tss.bitmap, 0xff, sizeof(vcpu->tables->tss.bitmap));
	for (unsigned vector = 0; vector < ARRAY_SIZE(vcpu->tables->idt); vector++) {
		if (vector % GATE_STEP == 0)
			schedule_admit();
		segment_clear_gate(vcpu, vector);
	}
}

void segment_set_gate(struct vcpu *vcpu, unsigned vector, u32 offset, unsigned type, unsigned dpl)
{
	vcpu->tables->idt[vector] = gate(offset, PRIVILEGE_GATE_CODE, type, dpl);
}

void segment_clear_gate(struct vcpu *vcpu, unsigned vector)
{
	bool exception = vector < EXCEPTIONS;
	bool trap = vcpu->interruptible && exception && !(MASKED_EXCEPTIONS >> vector & 1);
	u32 stub = (u32)&entry_stubs[vector];

	if (vector == GANDALF_HYPERCALL_VECTOR && vcpu->any_vector)
		stub = (u32)&entry_stubs[ENTRY_STUB_ANY_HYPERCALL];
	if (exception && EXCEPTION_ERROR_CODES >> vector & 1)
		stub += ENTRY_STUB_ERROR;
	vcpu->tables->idt[vector] = gate(stub, SELECTOR_VMM_CODE,
					 trap ? GATE_TRAP : GATE_INTERRUPT, stub_dpl(vector));
}

void segment_allow_ports(struct vcpu *vcpu, u16 first, u16 last)
{
	for (u32 port = first; port <= last && port < GANDALF_PORT_LIMIT; port++)
		vcpu->tables->tss.bitmap[port / 8] &= (u8)~(1u << port % 8);
}

/* Returns the descriptor with its limit lowered to at most limit in bytes, which is rounded down to
 * whole pages if 20 bits cannot hold it. */
static u64 descriptor_truncate(u64 descriptor, u32 limit)
{
	const u64 flags = DESCRIPTOR_BIG | 1ull << 52 | 1ull << 53;

	if (descriptor_limit(descriptor) <= limit)
		return descriptor;
	if (limit > 0xfffff)
		limit = ((limit + 1) & PTE_FRAME) - 1;
	return segment_descriptor(descriptor_base(descriptor), limit,
				  (u32)(descriptor >> 40) & 0xff, false) | (descriptor & flags);
}

u64 segment_restrict(u64 descriptor, bool flat)
{
	bool code = (descriptor & DESCRIPTOR_CODE) != 0;
	u32 base = descriptor_base(descriptor);

	if ((descriptor & DESCRIPTOR_USER) == 0)
		return 0;
	descriptor = privilege_lower(descriptor | DESCRIPTOR_ACCESSED);
	if (flat && !code)
		return descriptor;
	if (base >= GUEST_END || (!code && (descriptor & DESCRIPTOR_EXPAND_DOWN)))
		return 0;
	return descriptor_truncate(descriptor, GUEST_END - 1 - base);
}

u64 segment_half(u64 descriptor, bool down)
{
	u32 base = descriptor_base(descriptor);
	u32 type = (u32)(descriptor >> 40) & 0xff;

	/* With a base of 0 there is no lower half, and with one in the VMM's part the lower half
	 * would contain some of the VMM. */
	if (!down || base - 1 >= GUEST_END || (descriptor & DESCRIPTOR_CODE))
		return segment_restrict(descriptor, false);
	/* In a segment that expands down, the offsets above the limit are valid: those that wrap
	 * around to the addresses from 0 to base - 1. */
	return segment_descriptor(base, (0 - base - 1) | (PAGE_SIZE - 1), type | 5, true);
}

void segment_put(struct vcpu *vcpu, unsigned index, u64 descriptor)
{
	vcpu->tables->gdt[index] = descriptor;
	vcpu->tables->user_code &= ~(1u << index);
	if ((descriptor & PRIVILEGE_PROCESS_MASK) == PRIVILEGE_PROCESS) {
		privilege_hide(&vcpu->tables->gdt[index]);
		vcpu->tables->user_code |= 1u << index;
	}
}

void segment_set_guest(struct vcpu *vcpu, unsigned index, u64 descriptor)
{
	bool flat = index >= SEGMENT_TLS_FIRST && index < SEGMENT_TLS_FIRST + SEGMENT_TLS_ENTRIES &&
		    descriptor_dpl(descriptor) == 3;

	if (index != 0 && index < SEGMENT_GUEST_ENTRIES)
		segment_put(vcpu, index, segment_restrict(descriptor, flat));
}

/* This is done for every interrupt that has to wait, so user_code has the entries as bits. */
void segment_set_user_code(struct vcpu *vcpu, bool present)
{
	const u32 bit = (u32)(DESCRIPTOR_PRESENT >> 32);

	for (u32 rest = vcpu->tables->user_code; rest != 0; rest &= rest - 1) {
		u32 *high = (u32 *)&vcpu->tables->gdt[__builtin_ctz(rest)] + 1;

		*high = present ? *high | bit : *high & ~bit;
	}
}
