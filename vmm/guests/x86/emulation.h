/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One instruction of a guest while it is emulated: what it is, its operands, and what becomes of
 * it. A function for each operation, in the emulate_*.c that it belongs to.
 */
#pragma once

#include "guests/x86/x86.h"

enum emulated {
	EMULATED_NEXT,    /* go on behind the instruction */
	EMULATED_JUMP,    /* EIP is set, or an exception has been given */
	EMULATED_FAULT,   /* the #GP to the guest, with the CPU's error code */
};

/* One instruction of a guest. */
struct emulation {
	struct x86 *x86;
	struct frame *frame;
	struct decoded decoded;
	u32 error; /* of the exception that led here */
};

/* The frame holds the registers in PUSHA's order, the last first. */
static inline u32 *register_pointer(struct frame *frame, unsigned number)
{
	return number == REGISTER_ESP ? &frame->esp : &frame->edi + (7 - number);
}

static inline u32 *operand_register(const struct emulation *e)
{
	return register_pointer(e->frame, e->decoded.rm);
}

u32 segment_selector(const struct frame *frame, unsigned segment);
/* The linear address of a memory operand. */
u32 operand_address(const struct emulation *e);
/* Reads a memory operand; a page fault goes to the guest. */
MUST_CHECK bool operand_read(const struct emulation *e, void *to, u32 size);
/* A register or memory operand of 16 bits. */
MUST_CHECK bool operand_16(const struct emulation *e, u16 *value);
/* Fetches and decodes the instruction at EIP; false: it is none that is known. */
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

/* emulate_return.c: the interrupt flag, halts, and what loads CS and SS. */
enum emulated emulate_cli(const struct emulation *e);
enum emulated emulate_sti(const struct emulation *e);
enum emulated emulate_hlt(const struct emulation *e);
enum emulated emulate_iret(const struct emulation *e);
enum emulated emulate_mov_to_sreg(const struct emulation *e);
