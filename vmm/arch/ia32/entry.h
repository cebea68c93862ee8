/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What entry.S offers to C: the stubs of all vectors, the way back to a guest,
 * and accesses to guest memory that may fault.
 */
#pragma once

/* A fault of the IRET or the segment loads that lead back to a guest arrives
 * with this vector, and with the guest's frame. */
#define VECTOR_RETURN_FAULT 0x100
/* An entry from virtual-8086 mode arrives with this vector, when origin_mend() has made the guest's
 * frame one of ring 3 (arch/ia32/origin.c). */
#define VECTOR_VIRTUAL_8086 0x101
#define VECTORS 0x102

/* A stub has 16 bytes. The first instruction has ENTRY_STUB_ERROR of them and pushes an error
 * code; gates of exceptions for which the CPU pushes one lead behind it. */
#define ENTRY_STUB_SIZE 16
/* Each vector has one stub. The last stub is a second one for the vector of hypercalls, which leads
 * to entry() like those of other vectors: it is used where a guest can have interrupts come by that
 * vector, which entry_hypercall() could not tell from hypercalls. */
#define ENTRY_STUBS 257
#define ENTRY_STUB_ANY_HYPERCALL 256
#define ENTRY_STUB_ERROR 2

/* Offsets in struct vcpu that assembler uses. They are checked below. */
#define VCPU_ATTENTION 0
#define VCPU_CR0 8
#define VCPU_FRAME 24

#ifndef __ASSEMBLER__

#include "core/vcpu.h"
#include "lib/types.h"

_Static_assert(offsetof(struct vcpu, cr0) == VCPU_CR0, "entry.S");
_Static_assert(offsetof(struct vcpu, attention) == VCPU_ATTENTION, "entry.S");
_Static_assert(offsetof(struct vcpu, frame) == VCPU_FRAME, "entry.S");

/* The first instructions of a vector's entry: PUSH 0, PUSH of the vector, JMP. */
struct stub {
	u8 push_error[ENTRY_STUB_ERROR];
	u8 push;
	u32 vector;
	u8 jump;
	u32 distance; /* from behind this field to the target */
	u8 behind[4];
} __attribute__((packed));

extern struct stub entry_stubs[ENTRY_STUBS];
/* Where the stubs jump to; that of hypercalls jumps to the latter. C never calls them. */
void entry(void);
void entry_hypercall(void);

/* Ends every entry, and is where a new vCPU begins. C never calls it, but puts its address
 * below a frame, as the return address of switch_stack(). */
void entry_return(void);

/* Goes on as a frame says, be it a guest's or the VMM's own. What lies below it is given up. */
void entry_leave(struct frame *frame) __attribute__((noreturn));

/* Returns the EFLAGS that a guest gets for an image of EFLAGS that it has put together. The bits
 * for I/O privilege and interrupts are the vCPU's and not the image's. */
static inline u32 vcpu_eflags(const struct vcpu *vcpu, u32 image)
{
	return (image & EFLAGS_GUEST) | vcpu->eflags;
}

/* Fills trap_handlers, which are the core's. */
void trap_init(void);
/* The handler of each vector, and of the two that are none; entry.S calls them. */
extern void (*trap_handlers[VECTORS])(struct frame *frame);
/* The handler of interrupts, to which a handler of a vector of its own leaves what it does not
 * do. */
void trap_interrupt(struct frame *frame);
/* Does what must come before the return to a guest whose vCPU needs attention: lets more urgent
 * vCPUs run, and delivers the guest's interrupts. Interrupts are disabled. */
void trap_attend(void);

/*
 * Copies size bytes between the VMM and linear addresses of the current guest, through
 * its shadow. Returns 0, or the number of bytes that a fault left uncopied. The caller
 * has checked that the guest's range ends below GANDALF_BASE.
 */
MUST_CHECK u32 entry_copy(void *to, const void *from, u32 size);

#endif
