/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual CPU. It holds a guest's registers while the VMM or another guest runs, its descriptor
 * tables, its VMM stack and its place in the schedule.
 */
#pragma once

#include "abi/gandalf.h"
#include "arch/ia32/state.h"
#include "core/counter.h"
#include "lib/types.h"
#include "vcpu_view.h"

/* Bits of vcpu->attention. It is written only by the functions below. */
enum { ATTENTION_NOW = 1, ATTENTION_NEXT = 2 };

enum vcpu_state {
	VCPU_OFF,     /* never started, powered off, or stopped */
	VCPU_RUNNING, /* runs or could run */
	VCPU_HALTED,  /* waits for an interrupt */
	VCPU_PAUSED,  /* kept from the CPU by another guest or the VMM's console */
};

struct vcpu;
struct vm;

/* Performs a hypercall, whose arguments are in vcpu->frame. Returns the guest's answer. */
typedef u32 (*hypercall_function)(struct vcpu *vcpu);

/* The operations that differ between the kinds of guests. guests/rtos/rtos.c and guests/x86/linux.c
 * define them. */
struct vcpu_operations {
	struct vcpu_exceptions; /* the architecture's part (arch/ia32/state.h) */
	/* Takes a physical interrupt that belongs to this guest. For a guest that takes the core's
	 * interrupts itself, irq is a vector (direct.c). */
	void (*interrupt)(struct vcpu *vcpu, unsigned irq);
	/* Delivers what waits, if the guest's interrupt flag allows it. If it does not, the next
	 * return to the guest tries again. */
	void (*deliver)(struct vcpu *vcpu);
	/* Learns that the guest's console may have input for it, or room for its output. */
	void (*console)(struct vcpu *vcpu);
	/* Puts the vCPU into the state of the guest's first instruction. The guest's images are in
	 * its memory by then. */
	void (*start)(struct vcpu *vcpu);
	/* Silences the guest's timers and devices. */
	void (*stop)(struct vcpu *vcpu);
	/* Frees what the guest has used of the pool. The idle vCPU calls it, since the VMM stack of
	 * this vCPU may be mapped by that only. */
	void (*release)(struct vcpu *vcpu);
	/* Copies up to size bytes of the next instruction. Returns how many could be read. */
	u32 (*instruction)(struct vcpu *vcpu, u8 *bytes, u32 size);
};

struct vcpu {
	u32 attention; /* not 0: entry.S calls trap_attend() before it returns to the guest */
	enum vcpu_state state;
	struct vcpu_processor; /* the architecture's part (arch/ia32/state.h) */
	struct vm *vm;
	union { /* what the vCPU's kind of guest keeps for it, which core does not look at */
		struct x86 *x86;     /* guests/x86/x86.h */
		struct rtos *rtos; /* guests/rtos/rtos.h */
	};
	const struct vcpu_operations *operations;
	const hypercall_function *hypercalls; /* HYPERCALLS of them, by number; NULL: none */
	struct gandalf_trace_ring *trace; /* of its guest (trace.h) */
	u32 id, priority;    /* index of the guest (0xffff: the idle vCPU), and its priority */
	enum vcpu_state paused; /* the state before VCPU_PAUSED */
	bool shares;         /* another vCPU has the same priority */
	bool of_several;     /* it is one of a Linux's several vCPUs */
	u8 watched;          /* what its guest's kind watches of its kernel (trap_policy.h) */
	u32 turn;            /* the lower half of core_ran() when its turn began */
	bool interruptible;  /* the VMM works for it with interrupts enabled */
	u8 working;          /* interrupts that have interrupted the VMM on its stack (work.h) */
	bool takes_messages; /* on its VMM stack, interrupted or not (message.c) */
	bool serves_consoles; /* the same, for interrupt.c */
	struct gandalf_shared *shared;
	/* For an RTOS: the linear address of its memory, and the highest offset in it at which the
	 * frame of a handler may be. These and `pending` are not in struct rtos, where each use
	 * takes one more load: os_switch would have 400 instructions instead of 395, and the image
	 * 112 bytes more. */
	u32 linear, frame_last;
	u32 pending;         /* for an RTOS: vectors that wait; bit 0 is GANDALF_VECTOR_IRQ */
	struct vcpu_view view; /* of a Linux, where there are two levels */
	u64 ran;             /* ticks for which it has had the core; see core_ran(). While it has
			      * the core, the time stamp at which it got that is subtracted */
	u32 counters[COUNTERS];
	struct vcpu_registers; /* registers that are switched only if they are used */
};

/* Says that something waits for the guest, or that something has changed that the return to the
 * guest depends on. The VMM looks at it before the guest goes on, and a halted vCPU wakes up. */
static inline void vcpu_notify(struct vcpu *vcpu)
{
	vcpu->attention = ATTENTION_NOW;
}

/* Does the same if something waits. */
static inline void vcpu_notify_if(struct vcpu *vcpu, bool waits)
{
	vcpu->attention |= waits;
}

/* Says, if waits, that something waits that the guest does not take now. This return to the guest
 * goes on; the next one looks at it. */
static inline void vcpu_notify_later(struct vcpu *vcpu, bool waits)
{
	vcpu->attention |= waits ? ATTENTION_NEXT : 0;
}

static inline bool vcpu_is_notified(const struct vcpu *vcpu)
{
	return vcpu->attention != 0;
}

/* Returns whether what has been notified keeps the vCPU from this return to the guest. What the
 * guest does not take now (vcpu_notify_later()) does not. */
static inline bool vcpu_must_attend(const struct vcpu *vcpu)
{
	return (vcpu->attention & ATTENTION_NOW) != 0;
}

/* Forgets all notices, before the VMM looks at everything that may wait. */
static inline void vcpu_notice(struct vcpu *vcpu)
{
	vcpu->attention = 0;
}

/* Halts the vCPU when it would return to the guest, until something comes for it. */
static inline void vcpu_halt(struct vcpu *vcpu)
{
	vcpu->state = VCPU_HALTED;
	vcpu_notify(vcpu);
}

static inline void vcpu_count(struct vcpu *vcpu, enum counter counter)
{
	vcpu->counters[counter]++;
}
