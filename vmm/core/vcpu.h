/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual CPU: the registers of a guest while the VMM or another guest runs,
 * its descriptor tables, its VMM stack, and its place in the schedule.
 */
#pragma once

/* Offsets that entry.S uses; asserted below. */
#define VCPU_CR0 0
#define VCPU_ATTENTION 8
#define VCPU_FRAME 16

#ifndef __ASSEMBLER__

#include "abi/gandalf.h"
#include "arch/ia32/register.h"
#include "core/counter.h"
#include "lib/types.h"

/*
 * What an entry into the VMM leaves on the VMM stack, lowest address first. The
 * last two fields exist only when the entry came from ring 1 or 3.
 */
struct frame {
	u32 edi, esi, ebp, unused, ebx, edx, ecx, eax; /* PUSHA */
	u32 gs, fs, es, ds;
	u32 vector, error; /* 0 where the CPU gives none */
	u32 eip, cs, eflags, esp, ss;
};

/* Before the guest goes on; when it returns to the VMM the next time, since what waits cannot be
 * delivered now. */
enum { ATTENTION_NOW = 1, ATTENTION_NEXT = 2 };

enum vcpu_state {
	VCPU_OFF,     /* never started, powered off, or stopped */
	VCPU_RUNNING, /* runs or could run */
	VCPU_HALTED,  /* waits for an interrupt */
	VCPU_PAUSED,  /* by another guest or the VMM's console */
};

struct vcpu;
struct vm;
struct segment_tables;

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
	/* The VMM, working for this vCPU, has faulted at an address of the guest's: maps what is there
	 * if the guest's page tables allow it. false: they do not. NULL: nothing of it is ever absent. */
	bool (*fill)(struct vcpu *vcpu, u32 address);
	/* The VMM, working for this vCPU which takes the core's interrupts itself, has had the exception
	 * by which the CPU tells of one. false: it was something else. NULL: it takes none. */
	bool (*upcall)(struct frame *vmm);
};

struct vcpu {
	u32 cr0;       /* real CR0 for the next return: cr0_guest, lazy TS */
	u32 saved_esp; /* VMM stack pointer while switched out */
	u32 attention; /* not 0: the return to the guest goes through trap_attend(),
			* and a halted vCPU wakes up; ATTENTION_... */
	u32 cr0_guest; /* real CR0 but for the lazy switch of the FPU */
	/* Its registers, at the top of its VMM stack, where the CPU puts them on an entry; NULL: the idle
	 * vCPU, which never leaves the VMM. */
	struct frame *frame;
	u32 cr3;       /* real CR3, 0: an RTOS, which runs in any address space */
	struct vm *vm;
	const struct vcpu_operations *operations;
	const hypercall_function *hypercalls; /* hypercall_table() */
	u32 id, priority;
	enum vcpu_state state;
	bool shares;         /* its priority, with another */
	u32 turn;            /* the lower half of ran when its turn began */
	bool interruptible;  /* the VMM works for it with interrupts enabled */
	bool working;        /* and was interrupted there */
	bool any_vector;     /* interrupts may come while its tables are loaded by vectors that a guest
			      * has given its controllers */
	u32 fault_address;   /* CR2 of its last page fault */
	u32 eflags;          /* the bits that EFLAGS really has whenever it runs: IF, or IOPL 1 */
	struct gandalf_shared *shared;
	struct segment_tables *tables;
	/* Pool frames: of its descriptor tables, its VMM stack, the page table at LAYOUT_VCPU. */
	u32 tables_frame, stack_frames[2], table_frame;
	/* RTOS: where its memory begins, and the last address in it of a handler's frame. */
	u32 linear, frame_last;
	u32 pending;         /* RTOS: vectors that wait, from GANDALF_VECTOR_IRQ on */
	u64 ran;             /* time stamps spent running, less the present one while it runs */
	u32 counters[COUNTERS];
	u32 dr[8];           /* as the guest sees them */
	_Alignas(16) u8 fpu[512]; /* FXSAVE or FNSAVE image */
};

_Static_assert(offsetof(struct vcpu, cr0) == VCPU_CR0, "entry.S");
_Static_assert(offsetof(struct vcpu, attention) == VCPU_ATTENTION, "entry.S");
_Static_assert(offsetof(struct vcpu, frame) == VCPU_FRAME, "entry.S");

/* From the return to the guest on, until an interrupt comes for it. */
static inline void vcpu_halt(struct vcpu *vcpu)
{
	vcpu->state = VCPU_HALTED;
	vcpu->attention = true;
}

/* What it gets for EFLAGS that it, or whoever interrupted it, has put together: no bit of that image
 * changes the privilege of its ports or whether interrupts come. */
static inline u32 vcpu_eflags(const struct vcpu *vcpu, u32 image)
{
	return (image & EFLAGS_GUEST) | vcpu->eflags;
}

static inline void vcpu_count(struct vcpu *vcpu, enum counter counter)
{
	vcpu->counters[counter]++;
}

#endif
