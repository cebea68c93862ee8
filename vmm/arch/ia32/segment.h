/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real descriptor tables of a vCPU: the guest's own GDT entries, checked and
 * truncated so that they end below the VMM, the VMM's entries behind them, the
 * IDT, and the TSS with its I/O bitmap. They take one page of the pool per vCPU, behind them the
 * image of its floating-point registers.
 * Sources: SDM vol. 3, 3.4.5 for descriptors, 6.11 for gates, 7.2.1 for the TSS.
 */
#pragma once

#include "abi/table.h"
#include "arch/ia32/cpu.h"
#include "arch/ia32/layout.h"
#include "core/vcpu.h"

enum { SEGMENT_GUEST_ENTRIES = 32, SEGMENT_ENTRIES = 36 };
/* Linux's flat segments for thread-local storage (GDT_ENTRY_TLS_MIN, 6.1). */
enum { SEGMENT_TLS_FIRST = 6, SEGMENT_TLS_ENTRIES = 3 };

/* Linux's __KERNEL_CS in ring 1; its gates name no other segment. */
#define GUEST_KERNEL_CODE 0x61

enum { GATE_INTERRUPT = 0xe, GATE_TRAP };

/* Where ESP0 is in a TSS (SDM vol. 3, figure 7-2). */
#define TSS_ESP0 4u
/* The CPU's format. The CPU reads esp0, ss0, esp1, ss1 and the bitmap only. */
struct tss {
	u32 link, esp0, ss0;
	u32 esp1, ss1; /* the guest's stack, which gates to ring 1 load */
	u32 esp2, ss2, cr3, eip, eflags, registers[8];
	u32 es, cs, ss, ds, fs, gs, ldt;
	u16 trap, bitmap_offset;
	u8 bitmap[GANDALF_PORT_LIMIT / 8 + 1]; /* a bit that is 1 denies its port */
} __attribute__((packed));

struct segment_tables {
	u64 gdt[SEGMENT_ENTRIES];
	struct table_register gdt_register, idt_register;
	u32 user_code; /* bit n: guest entry n is a code segment of ring 3 */
	struct tss tss;
	_Alignas(8) u64 idt[256];
	/* FXSAVE or FNSAVE image. It is here since the frame has room for it, in which the core to
	 * which a vCPU moves finds it with the tables. */
	_Alignas(16) u8 fpu[512];
};

_Static_assert(sizeof(struct segment_tables) <= PAGE_SIZE, "vcpu_processor.tables_frame");

/* Makes and loads the idle vCPU's tables, and loads the VMM's segments. It is called at boot. */
void segment_init(void);
/* Allocates the tables of a new vCPU. Returns false if the pool is empty. */
MUST_CHECK bool segment_create(struct vcpu *vcpu);
/* Removes all guest entries, and has all vectors lead to the VMM. The idle vCPU calls this before
 * a guest starts, and lets more urgent guests run meanwhile. */
void segment_reset(struct vcpu *vcpu);
/* Loads GDTR, IDTR and TR. The busy bit is cleared first, since LTR refuses a busy TSS. */
static inline void segment_load(const struct vcpu *vcpu)
{
	struct segment_tables *tables = vcpu->tables;

	tables->gdt[SELECTOR_TSS / 8] &= ~DESCRIPTOR_TSS_BUSY;
	lgdt_lidt_ltr(&tables->gdt_register, &tables->idt_register, SELECTOR_TSS);
}

/* Makes a gate that leads straight into the guest's kernel, in ring 1. */
void segment_set_gate(struct vcpu *vcpu, unsigned vector, u32 offset, unsigned type, unsigned dpl);
/* Makes the vector's gate lead to the VMM's stub again. */
void segment_clear_gate(struct vcpu *vcpu, unsigned vector);
/* Opens the ports from first to last to the guest; those from GANDALF_PORT_LIMIT on stay closed. */
void segment_allow_ports(struct vcpu *vcpu, u16 first, u16 last);

/* Puts a descriptor into the real GDT. The caller has made sure that the guest may have it. */
void segment_put(struct vcpu *vcpu, unsigned index, u64 descriptor);
/* Puts a guest's descriptor there, restricted to what the guest may have. Index 0 and those that
 * are not the guest's are ignored. */
void segment_set_guest(struct vcpu *vcpu, unsigned index, u64 descriptor);
/* Returns what of the descriptor a guest may have. DPL 0 becomes 1, and the limit is lowered to end
 * below the VMM. System descriptors, and data segments that expand down, become 0, as does what
 * begins above that end. flat: a data segment keeps its limit, even of 4 GiB (TLS), and only
 * read-only pages protect the VMM from it. */
u64 segment_restrict(u64 descriptor, bool flat);
/* Returns one half of a flat segment, for guests that may not even read the VMM: the upper half
 * from its base to the VMM, or (down) the lower half from 0 to its base, which expands down
 * and is reached by negative offsets. */
u64 segment_half(u64 descriptor, bool down);
/* Marks the guest's code segments of ring 3 present or not. While they are absent, an IRET to
 * them traps. */
void segment_set_user_code(struct vcpu *vcpu, bool present);

/* Makes a descriptor; limit is in bytes, type_and_dpl becomes bits 40 to 47, big the B bit. */
u64 segment_descriptor(u32 base, u32 limit, u32 type_and_dpl, bool big);
/* Return the fields of a descriptor; the limit is in bytes. */
u32 descriptor_base(u64 descriptor);
u32 descriptor_limit(u64 descriptor);
static inline unsigned descriptor_dpl(u64 descriptor)
{
	return (unsigned)(descriptor >> 45) & 3;
}
