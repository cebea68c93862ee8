/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says that an address space of a guest has one view, where rings tell its kernel from its
 * processes: one shadow serves both, since the CPU tells supervisor pages from user pages. So
 * nearly nothing is left of what two_level/views.h has to do, which documents these functions.
 */
#pragma once

#include "arch/ia32/switch.h"
#include "core/trap_policy.h"
#include "guests/x86/shadow/tlb.h"
#include "guests/x86/x86.h"

/* The rights that every page of the guest and the page table at LAYOUT_VCPU have beyond the
 * guest's own. */
#define VIEWS_ALWAYS 0u
/* Kernel pages may be global. */
#define VIEWS_GLOBAL PTE_G

/* Returns PTE_G if a page below the kernel half is global: none is. */
static inline u32 views_global(UNUSED u32 rights)
{
	return 0;
}

/* Drop from the TLB what a load of CR3 has left of pages below the kernel half; and all of them. */
static inline void views_flush_left(void)
{
}

static inline void views_flush(void)
{
	tlb_flush();
}

/* The gate of hypercalls is open to kernels only. */
#define VIEWS_CHECK_HYPERCALLS false

/* Return whether the kernel of the vCPU's guest was interrupted, or one of its processes. frame is
 * vcpu->frame. */
static inline bool views_in_kernel(UNUSED const struct vcpu *vcpu, const struct frame *frame)
{
	return (frame->cs & 3) == 1;
}

static inline bool views_in_process(UNUSED const struct vcpu *vcpu, const struct frame *frame)
{
	return (frame->cs & 3) == 3;
}

/* Shows the kernel's view, when a process is left; and the process's view. */
static inline void views_show_kernel(UNUSED struct x86 *x86)
{
}

static inline void views_show_process(UNUSED struct x86 *x86)
{
}

/* Returns the error code of a page fault as if the guest's kernel were a supervisor. */
static inline u32 views_error(UNUSED const struct vcpu *vcpu, u32 error)
{
	return error;
}

/* Returns whether the view that is loaded has nothing at an address. */
static inline bool views_hide(UNUSED const struct vcpu *vcpu, UNUSED u32 linear)
{
	return false;
}

static inline u32 views_for_process(UNUSED const struct vcpu *vcpu)
{
	return 0;
}

/* Returns the CS that the guest's kernel sees of a process. */
static inline u32 views_process_code(UNUSED const struct vcpu *vcpu, u32 selector)
{
	return selector;
}

/* Keeps the kernel from returning to a process unseen, if that is wanted: while an interrupt waits
 * for it, or its return is watched. */
static inline void views_stop_returns(struct vcpu *vcpu, bool wanted)
{
	segment_set_user_code(vcpu, !wanted);
}

/* Returns whether the kernel cannot return to a process unseen now: code segments of processes are
 * absent. */
static inline bool views_stop_now(bool wanted)
{
	return wanted;
}

/* Returns whether a segment in the real GDT has the privilege for a selector. */
static inline bool views_segment_fits(UNUSED const struct vcpu *vcpu, u32 selector, u64 descriptor)
{
	return descriptor_dpl(descriptor) == ((selector & 3) == 3 ? 3 : 1);
}

/* Notes what rights the guest's tables give to a page below the kernel half that is filled, and
 * returns them. */
static inline u32 views_note(UNUSED struct x86 *x86, u32 rights)
{
	return rights;
}

/* Notes that a process has faulted and its kernel is to serve that. */
static inline void views_await(UNUSED const struct x86 *x86, UNUSED u32 linear, UNUSED u32 error)
{
}

/* Returns the frame of the directory with the process's view, or 0 if there is one view. */
static inline u32 views_process(UNUSED const struct space *space)
{
	return 0;
}

/* Make and free what a space has beyond its directory, which is ready. */
static inline bool views_create(UNUSED struct x86 *x86, UNUSED struct space *space,
				UNUSED const u32 *directory)
{
	return true;
}

static inline void views_free(UNUSED struct space *space)
{
}

/* Makes room for one space more: there is, while the pool has frames. */
MUST_CHECK static inline bool views_make_room(UNUSED struct x86 *x86)
{
	return true;
}

/* Marks a space, which is about to be the present one, as used. */
static inline void views_mark_loaded(struct shadow *shadow, struct space *space)
{
	space->used = ++shadow->clock;
}

/* Entries of spaces that are not loaded are coherent by the guest's flush hypercall only. */
static inline bool views_detect(void)
{
	return false;
}

static inline void views_compare(UNUSED struct x86 *x86, UNUSED struct space *space)
{
}

/* Follow a change of an entry of a space's directory, below the kernel half, and the clearing of
 * GROUP of them. */
static inline void views_follow(UNUSED struct space *space, UNUSED u32 index, UNUSED u32 entry)
{
}

static inline void views_drop_group(UNUSED struct space *space, UNUSED u32 group)
{
}

/* Is called when a guest is created. */
static inline void views_begin(void)
{
}

/* Makes the gate by which processes enter the guest's kernel at a vector: one that leads straight
 * there. */
static inline void views_gate(struct x86 *x86, unsigned vector, u32 offset, unsigned type,
			      unsigned dpl)
{
	segment_set_gate(x86->vcpu, vector, offset, type, dpl);
}

/* Serves a trap of the kernel if that is its return to a process. Here such returns do not trap. */
static inline bool views_return(UNUSED struct x86 *x86, UNUSED struct frame *frame)
{
	return false;
}

/* Follow a load of CR3, which has changed the present space; LTR; and the start of a guest. */
static inline void views_follow_load(UNUSED const struct x86 *x86)
{
}

static inline void views_follow_task(UNUSED struct x86 *x86, UNUSED u32 tss_base)
{
}

static inline void views_reset(UNUSED struct x86 *x86)
{
}

/* Returns whether what is known of the views that are loaded is right. */
static inline bool views_are_known(UNUSED const struct x86 *x86)
{
	return true;
}

/* Returns what is watched of the vCPU's ways between kernel and processes, WATCH_... */
static inline u32 views_watched(const struct vcpu *vcpu)
{
	return vcpu->watched;
}

/* Note what a vCPU that leaves its seat takes along of its views, and take that in another seat.
 * The return of a kernel that moves is watched, if anything is. */
static inline void views_pack(const struct vcpu *vcpu, struct view_luggage *luggage)
{
	luggage->watched = vcpu->watched;
	if (luggage->watched != 0 && views_in_kernel(vcpu, switch_frame(vcpu)))
		luggage->watched |= WATCH_RETURN;
}

static inline void views_unpack(struct x86 *x86, const struct view_luggage *luggage)
{
	x86->vcpu->watched = luggage->watched;
	views_stop_returns(x86->vcpu, x86->armed || (luggage->watched & WATCH_RETURN) != 0);
}
