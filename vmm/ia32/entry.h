/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What entry.S offers to C: the stubs of all vectors, the way back to a guest,
 * and accesses to guest memory that may fault.
 */
#pragma once

/* A fault of the IRET or the segment loads that lead back to a guest arrives
 * with this vector, and with the guest's frame. */
#define VECTOR_RETURN_FAULT 0x100

/* Bytes of a stub. */
#define ENTRY_EXCEPTION_SIZE 8
#define ENTRY_INTERRUPT_SIZE 4

#ifndef __ASSEMBLER__

#include "lib/types.h"

struct frame;

/* The stubs of vectors 0 to 31, and of 32 to 255. */
extern const u8 entry_exceptions[32][ENTRY_EXCEPTION_SIZE];
extern const u8 entry_interrupts[224][ENTRY_INTERRUPT_SIZE];

/* The end of every entry, and where a new vCPU begins: never called, only put on
 * stacks below a frame. */
void entry_return(void);

/* C's side: every entry ends in one of these. */
void trap(struct frame *frame);
void trap_interrupt(struct frame *frame);
/* What comes before a return to a guest whose vCPU needs attention: other vCPUs,
 * interrupts to deliver. Interrupts are disabled. */
void trap_attend(void);

/*
 * Copies between the VMM and linear addresses of the current guest, through its
 * shadow. Return 0, or the number of bytes not copied after a fault. The caller
 * has checked that the range ends below GANDALF_BASE.
 */
u32 entry_copy(void *to, const void *from, u32 size);
/* The same for 8 bytes from the guest, all or none: 7 instructions instead of 20. */
u32 entry_copy_8(void *to, const void *from);

#endif
