/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual CPU: the registers of a guest while the VMM or another guest runs,
 * its descriptor tables, its VMM stack, and its place in the schedule.
 */
#pragma once

/* Offsets that entry.S uses; asserted below. */
#define VCPU_ATTENTION 0
#define VCPU_CR0 8
#define VCPU_FRAME 24

#ifndef __ASSEMBLER__

#include "abi/gandalf.h"
#include "arch/ia32/state.h"
#include "core/counter.h"
#include "lib/types.h"

/* What vcpu->attention holds; who writes it calls the functions below. */
enum { ATTENTION_NOW = 1, ATTENTION_NEXT = 2 };

enum vcpu_state {
	VCPU_OFF,     /* never started, powered off, or stopped */
	VCPU_RUNNING, /* runs or could run */
	VCPU_HALTED,  /* waits for an interrupt */
	VCPU_PAUSED,  /* by another guest or the VMM's console */
};

struct vcpu;
struct vm;

/* Arguments in vcpu->frame; what it returns goes to EAX. */
typedef u32 (*hypercall_function)(struct vcpu *vcpu);

/* What differs between the kinds of guests: guests/rtos/rtos.c, guests/x86/linux.c. */
struct vcpu_operations {
	/* A page fault at fault_address, another exception; the registers are in *frame. */
	void (*page_fault)(struct vcpu *vcpu, struct frame *frame);
	void (*trap)(struct vcpu *vcpu, struct frame *frame);
	/* An interrupt that the VMM owns for this guest came in. */
	void (*interrupt)(struct vcpu *vcpu, unsigned irq);
	/* Delivers what waits, if the guest's flag lets it, and has the next
	 * return to the guest do so again if it does not. */
	void (*deliver)(struct vcpu *vcpu);
	/* Its console has input for it, or room again for its output. */
	void (*console)(struct vcpu *vcpu);
	/* Puts the vCPU into the state of a guest's first instruction; the
	 * images are in its memory. */
	void (*start)(struct vcpu *vcpu);
	/* Silences its timers and devices. */
	void (*stop)(struct vcpu *vcpu);
	/* Frees its shadow page tables; on the idle vCPU, since the VMM stack
	 * of a vCPU is mapped in its own spaces only. May be NULL. */
	void (*release)(struct vcpu *vcpu);
	/* Copies instruction bytes at EIP; returns how many could be read. */
	u32 (*instruction)(struct vcpu *vcpu, u8 *bytes, u32 size);
	/* The VMM, working for this vCPU, has faulted at an address of the guest's: maps what is
	 * there if the guest's page tables allow it. false: they do not. NULL: nothing of it is
	 * ever absent. */
	bool (*fill)(struct vcpu *vcpu, u32 address);
	/* The VMM, working for this vCPU which takes the core's interrupts itself, has had the
	 * exception by which the CPU tells of one. false: it was something else. NULL: it takes
	 * none. */
	bool (*upcall)(struct frame *vmm);
};

struct vcpu {
	u32 attention; /* not 0: entry.S returns to the guest by trap_attend() */
	enum vcpu_state state;
	struct vcpu_processor; /* the architecture's */
	struct vm *vm;
	union { /* what its kind of guest keeps for it; core leaves that alone */
		struct x86 *x86;     /* guests/x86/x86.h */
		struct rtos *rtos; /* guests/rtos/rtos.h */
	};
	const struct vcpu_operations *operations;
	const hypercall_function *hypercalls; /* HYPERCALLS of them, by number; NULL: none */
	u32 id, priority;
	enum vcpu_state paused; /* VCPU_PAUSED: its state before */
	bool shares;         /* its priority, with another */
	u32 turn;            /* the lower half of ran when its turn began */
	bool interruptible;  /* the VMM works for it with interrupts enabled */
	bool working;        /* and was interrupted there */
	struct gandalf_shared *shared;
	/* RTOS: where its memory begins, and the last address in it of a handler's frame. */
	u32 linear, frame_last;
	u32 pending;         /* RTOS: vectors that wait, from GANDALF_VECTOR_IRQ on */
	u64 ran;             /* time stamps spent running, less the present one while it runs */
	u32 counters[COUNTERS];
	struct vcpu_registers; /* the architecture's */
};

_Static_assert(offsetof(struct vcpu, cr0) == VCPU_CR0, "entry.S");
_Static_assert(offsetof(struct vcpu, attention) == VCPU_ATTENTION, "entry.S");
_Static_assert(offsetof(struct vcpu, frame) == VCPU_FRAME, "entry.S");

/* Something has changed that the return to the guest depends on, or waits for the guest: it is
 * looked at before the guest goes on, and a halted vCPU wakes up. */
static inline void vcpu_notify(struct vcpu *vcpu)
{
	vcpu->attention = ATTENTION_NOW;
}

/* The same only if something waits. */
static inline void vcpu_notify_if(struct vcpu *vcpu, bool waits)
{
	vcpu->attention |= waits;
}

/* Something waits that the guest does not take now: it is looked at when the guest returns from the
 * VMM the next time. */
static inline void vcpu_notify_later(struct vcpu *vcpu, bool waits)
{
	vcpu->attention |= waits ? ATTENTION_NEXT : 0;
}

static inline bool vcpu_is_notified(const struct vcpu *vcpu)
{
	return vcpu->attention != 0;
}

/* Before all that waits is looked at. */
static inline void vcpu_notice(struct vcpu *vcpu)
{
	vcpu->attention = 0;
}

/* From the return to the guest on, until an interrupt comes for it. */
static inline void vcpu_halt(struct vcpu *vcpu)
{
	vcpu->state = VCPU_HALTED;
	vcpu_notify(vcpu);
}

/* What it gets for EFLAGS that it, or whoever interrupted it, has put together: no bit of that
 * image changes the privilege of its ports or whether interrupts come. */
static inline u32 vcpu_eflags(const struct vcpu *vcpu, u32 image)
{
	return (image & EFLAGS_GUEST) | vcpu->eflags;
}

static inline void vcpu_count(struct vcpu *vcpu, enum counter counter)
{
	vcpu->counters[counter]++;
}

#endif
