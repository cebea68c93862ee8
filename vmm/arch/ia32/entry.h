/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What entry.S offers to C: the stubs of all vectors, the way back to a guest,
 * and accesses to guest memory that may fault.
 */
#pragma once

/* A fault of the IRET or the segment loads that lead back to a guest arrives
 * with this vector, and with the guest's frame. */
#define VECTOR_RETURN_FAULT 0x100
/* An entry from virtual-8086 mode, with what is left of the guest's frame (arch/ia32/origin.c). */
#define VECTOR_VIRTUAL_8086 0x101
#define VECTORS 0x102

/* Bytes of a stub, and of its first instruction, which stands in for the error code
 * that the CPU does not push. */
#define ENTRY_STUB_SIZE 16
/* One for each vector, and behind them that of hypercalls a second time: where a guest may have
 * interrupts come by that vector it leads to entry() like all others, which can tell. */
#define ENTRY_STUBS 257
#define ENTRY_STUB_ANY_HYPERCALL 256
#define ENTRY_STUB_ERROR 2

#ifndef __ASSEMBLER__

#include "lib/types.h"

struct frame;

/* The way in of a vector: PUSH 0, PUSH of the vector, JMP. */
struct stub {
	u8 push_error[ENTRY_STUB_ERROR];
	u8 push;
	u32 vector;
	u8 jump;
	u32 distance; /* from behind it */
	u8 behind[4];
} __attribute__((packed));

extern struct stub entry_stubs[ENTRY_STUBS];
/* Where they jump to, that of hypercalls to the latter: never called. */
void entry(void);
void entry_hypercall(void);

/* The end of every entry, and where a new vCPU begins: never called, only put on
 * stacks below a frame. */
void entry_return(void);

/* Goes on as a frame says, a guest's or the VMM's own; what lies below it is given up. */
void entry_leave(struct frame *frame) __attribute__((noreturn));

/* C's side: makes the stubs and names the handlers. */
void trap_init(void);
extern void (*trap_handlers[VECTORS])(struct frame *frame);
/* What comes before a return to a guest whose vCPU needs attention: other vCPUs,
 * interrupts to deliver. Interrupts are disabled. */
void trap_attend(void);

/*
 * Copies between the VMM and linear addresses of the current guest, through its
 * shadow. Return 0, or the number of bytes not copied after a fault. The caller
 * has checked that the range ends below GANDALF_BASE.
 */
MUST_CHECK u32 entry_copy(void *to, const void *from, u32 size);

#endif
