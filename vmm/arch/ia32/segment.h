/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real descriptor tables of a vCPU: its own GDT entries, checked and
 * truncated so that they end below the VMM, the VMM's entries behind them, the
 * IDT and the TSS with its I/O bitmap. One page per vCPU, from the pool.
 * Descriptors: SDM vol. 3, 3.4.5; gates: 6.11; TSS: 7.2.1.
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

#define DESCRIPTOR_CODE (1ull << 43)
#define DESCRIPTOR_EXPAND_DOWN (1ull << 42)
#define DESCRIPTOR_WRITABLE (1ull << 41)
#define DESCRIPTOR_TSS_BUSY (1ull << 41)
#define DESCRIPTOR_ACCESSED (1ull << 40)
#define DESCRIPTOR_USER (1ull << 44) /* code or data, not system */
#define DESCRIPTOR_PRESENT (1ull << 47)
#define DESCRIPTOR_BIG (1ull << 54)
#define DESCRIPTOR_GRANULARITY (1ull << 55)

enum { GATE_INTERRUPT = 0xe, GATE_TRAP };

struct tss {
	u32 link, esp0, ss0;
	u32 esp1, ss1; /* where gates to ring 1 find the guest's stack */
	u32 esp2, ss2, cr3, eip, eflags, registers[8];
	u32 es, cs, ss, ds, fs, gs, ldt;
	u16 trap, bitmap_offset;
	u8 bitmap[GANDALF_PORT_LIMIT / 8 + 1]; /* 1: not allowed */
} __attribute__((packed));

struct segment_tables {
	u64 gdt[SEGMENT_ENTRIES];
	struct table_register gdt_register, idt_register;
	u32 user_code; /* bit n: guest entry n is a code segment of ring 3 */
	struct tss tss;
	_Alignas(8) u64 idt[256];
};

/* Loads the host's tables and the VMM's segments; at boot. */
void segment_init(void);
/* Room for the tables of a new vCPU; false if the pool is empty. */
MUST_CHECK bool segment_create(struct vcpu *vcpu);
/* No guest entries, and all vectors to the VMM: before a start, on the idle vCPU,
 * which lets more urgent guests run meanwhile. */
void segment_reset(struct vcpu *vcpu);
/* Loads GDTR, IDTR and TR; LTR takes no TSS that is marked busy. */
static inline void segment_load(const struct vcpu *vcpu)
{
	struct segment_tables *tables = vcpu->tables;

	tables->gdt[SELECTOR_TSS / 8] &= ~DESCRIPTOR_TSS_BUSY;
	lgdt_lidt_ltr(&tables->gdt_register, &tables->idt_register, SELECTOR_TSS);
}

/* A gate straight into ring 1. */
void segment_set_gate(struct vcpu *vcpu, unsigned vector, u32 offset, unsigned type, unsigned dpl);
/* The gate back to the VMM's stub. */
void segment_clear_gate(struct vcpu *vcpu, unsigned vector);
void segment_allow_ports(struct vcpu *vcpu, u16 first, u16 last);

/* Puts a descriptor that is as a guest may have it into its real GDT. */
void segment_put(struct vcpu *vcpu, unsigned index, u64 descriptor);
/* Puts a guest's descriptor there, as far as it may have it. */
void segment_set_guest(struct vcpu *vcpu, unsigned index, u64 descriptor);
/* What of the descriptor a guest may have: DPL 0 becomes 1, the limit ends
 * below the VMM; system descriptors, and those that begin beyond or grow
 * down, vanish. flat: the segment may cover all 4
 * GiB (TLS); pages protect the VMM from it. */
u64 segment_restrict(u64 descriptor, bool flat);
/* One half of a flat segment, for guests that may not even read the VMM: the
 * part from its base up to the VMM, or, expanding down, the part from 0 to the
 * base, which negative offsets reach. */
u64 segment_half(u64 descriptor, bool down);
/* Marks the guest's ring 3 code segments present or not. */
void segment_set_user_code(struct vcpu *vcpu, bool present);

u64 segment_descriptor(u32 base, u32 limit, u32 type_and_dpl, bool big);
u32 descriptor_base(u64 descriptor);
u32 descriptor_limit(u64 descriptor);
static inline unsigned descriptor_dpl(u64 descriptor)
{
	return (unsigned)(descriptor >> 45) & 3;
}
