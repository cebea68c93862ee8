/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instruction of a guest while it is emulated: what it is, its operands, and how the guest goes
 * on. Each operation has a function, in one of the files emulate_*.c.
 */
#pragma once

#include "guests/x86/x86.h"

enum emulated {
	EMULATED_NEXT,    /* the guest goes on behind the instruction */
	EMULATED_JUMP,    /* EIP has been set, or an exception has been injected */
	EMULATED_FAULT,   /* the guest gets the #GP, with the CPU's error code */
};

/* The bits of a selector that are eight times the index of its descriptor. */
#define SELECTOR_INDEX 0xfff8u

/* One instruction of a guest. */
struct emulation {
	struct x86 *x86;
	struct frame *frame;
	struct decoded decoded;
	u32 error; /* error code of the exception that led here */
};

/* Returns where the frame holds a register. It has them in PUSHA's order, the last one lowest. */
static inline u32 *register_pointer(struct frame *frame, unsigned number)
{
	return number == REGISTER_ESP ? &frame->esp : &frame->edi + (7 - number);
}

static inline u32 *operand_register(const struct emulation *e)
{
	return register_pointer(e->frame, e->decoded.rm);
}

/* Returns the guest's selector in a segment register (enum decoded_segment). */
u32 segment_selector(const struct frame *frame, unsigned segment);
/* Returns the linear address of the memory operand. */
u32 operand_address(const struct emulation *e);
/* Reads the memory operand. Returns false, and has given the guest a page fault, if it cannot. */
MUST_CHECK bool operand_read(const struct emulation *e, void *to, u32 size);
/* Reads an operand of 16 bits, from a register or memory. Returns false likewise. */
MUST_CHECK bool operand_16(const struct emulation *e, u16 *value);
/* Fetches and decodes the instruction at EIP. Returns false if the decoder does not know it. */
MUST_CHECK bool emulation_begin(struct emulation *e, struct x86 *x86);

/* emulate_table.c: descriptor tables and the task register. */
enum emulated emulate_load_table(const struct emulation *e);
enum emulated emulate_lldt(const struct emulation *e);
enum emulated emulate_ltr(const struct emulation *e);
void emulate_reload_gdt_entries(struct x86 *x86, u32 first, u32 last);

/* emulate_register.c: control, debug and model-specific registers. */
enum emulated emulate_mov_to_cr(const struct emulation *e);
enum emulated emulate_mov_from_cr(const struct emulation *e);
enum emulated emulate_mov_to_dr(const struct emulation *e);
enum emulated emulate_mov_from_dr(const struct emulation *e);
enum emulated emulate_lmsw(const struct emulation *e);
enum emulated emulate_clts(const struct emulation *e);
enum emulated emulate_invlpg(const struct emulation *e);
enum emulated emulate_cache(const struct emulation *e);
enum emulated emulate_rdmsr(const struct emulation *e);
enum emulated emulate_wrmsr(const struct emulation *e);
enum emulated emulate_rdtsc(const struct emulation *e);

/* emulate_return.c: the interrupt flag, halts, and what loads CS and SS. */
enum emulated emulate_cli(const struct emulation *e);
enum emulated emulate_sti(const struct emulation *e);
enum emulated emulate_hlt(const struct emulation *e);
enum emulated emulate_iret(const struct emulation *e);
enum emulated emulate_mov_to_sreg(const struct emulation *e);
