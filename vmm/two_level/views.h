/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives each address space of a guest two views, where its kernel and its processes both run in
 * ring 3 (the "virtual protection ring"). The kernel's view has everything, and all of the guest's
 * pages are user pages in it. The process's view has nothing in the kernel half, nor the page that
 * kernel and VMM share. Below the kernel half both lead to the same page tables, so only
 * directories exist twice, and a page that is filled is filled in both views.
 *
 * The process's view is loaded when the kernel returns to a process, which faults: while the
 * kernel runs, code segments of processes are absent. Each entry from a process to its kernel
 * passes the VMM, which loads the kernel's view. No page of the kernel is global, so nothing of it
 * outlives that in the TLB. Pages of processes can be. rings/views.h is the other one.
 */
#pragma once

#include "arch/ia32/segment.h"
#include "view_switch.h"
#include "guests/x86/shadow/tlb.h"
#include "guests/x86/x86.h"

/* The rights that every page of the guest and the page table at LAYOUT_VCPU have beyond the
 * guest's own: ring 3, where the guest's kernel is, may use them in its view. */
#define VIEWS_ALWAYS PTE_U
/* No page of the kernel is global. */
#define VIEWS_GLOBAL 0u

/* Returns PTE_G if a page below the kernel half is global by its rights: if it is a process's, so
 * that it is in both views, and the description says so. A switch of views keeps it in the TLB
 * then, and what changes the address space drops it. */
static inline u32 views_global(u32 rights)
{
	return (rights & PTE_U) * view_switch.global;
}

/* Drop from the TLB what is not the kernel's, when what is loaded has changed; and what a load of
 * CR3 has left. */
static inline void views_flush_left(void)
{
	if (view_switch.global != 0)
		tlb_flush_global();
}

static inline void views_flush(void)
{
	if (view_switch.global != 0)
		tlb_flush_global();
	else
		tlb_flush();
}

/* The gate of hypercalls is open to processes, too, so it leads to a check. */
#define VIEWS_CHECK_HYPERCALLS true

/* Return whether the kernel of the vCPU's guest was interrupted, or one of its processes. */
static inline bool views_in_process(const struct vcpu *vcpu, UNUSED const struct frame *frame)
{
	return vcpu->view.in_process != 0;
}

static inline bool views_in_kernel(const struct vcpu *vcpu, UNUSED const struct frame *frame)
{
	return vcpu->view.in_process == 0;
}

/* Shows the kernel's view, when a process is left; and the process's view. */
void views_show_kernel(struct x86 *x86);
void views_show_process(struct x86 *x86);

/* Returns the error code of a page fault as if the guest's kernel were a supervisor. */
static inline u32 views_error(const struct vcpu *vcpu, u32 error)
{
	return vcpu->view.in_process != 0 ? error : error & ~PF_U;
}

/* Returns whether the view that is loaded has nothing at an address. */
static inline bool views_hide(const struct vcpu *vcpu, u32 linear)
{
	return vcpu->view.in_process != 0 && linear >= SHADOW_KERNEL;
}

/* Returns PF_U while the process's view is loaded: what the VMM has filled there for itself the
 * process may use, too. */
static inline u32 views_for_process(const struct vcpu *vcpu)
{
	return vcpu->view.in_process != 0 ? PF_U : 0;
}

/* Returns the CS that the guest's kernel sees of a process. A process can load the selector of the
 * kernel's code with an RPL of 3, to which the kernel would return without a fault, in its own
 * view. It sees a null selector instead, to which nothing can return. */
static inline u32 views_process_code(const struct vcpu *vcpu, u32 selector)
{
	u32 index = (selector & 0xffff) / 8;

	return index < SEGMENT_GUEST_ENTRIES && bit_test(&vcpu->tables->user_code, index) ? selector
											   : 3;
}

/* Keeps the kernel from returning to a process unseen, if that is wanted. It never can here. */
static inline void views_stop_returns(UNUSED struct vcpu *vcpu, UNUSED bool wanted)
{
}

/* Returns whether the kernel cannot return to a process unseen now. */
static inline bool views_stop_now(UNUSED bool wanted)
{
	return true;
}

/* Returns whether a segment in the real GDT has the privilege for a selector, as the guest's
 * descriptor had it. Code of processes, which is absent, is in user_code. */
static inline bool views_segment_fits(const struct vcpu *vcpu, u32 selector, u64 descriptor)
{
	if ((descriptor & DESCRIPTOR_CODE) == 0)
		return true;
	if ((selector & 3) == 3)
		return bit_test(&vcpu->tables->user_code, (selector & 0xffff) / 8);
	return (descriptor & PRIVILEGE_OF_KERNEL) != 0 && (descriptor & DESCRIPTOR_PRESENT) != 0;
}

/* Notes what rights the guest's tables give to a page below the kernel half that is filled, and
 * returns them. A page that is the kernel's alone is a user page in the shadow, like all; the
 * process's view is shown only when it is gone. Linux has such pages while it boots. */
static inline u32 views_note(struct x86 *x86, u32 rights)
{
	if ((rights & PTE_U) == 0) {
		x86->shadow.current->noted = 1;
		x86->vcpu->view.process = 0;
	}
	return rights;
}

/* Notes that a process has faulted and its kernel is to serve that. error is the CPU's error code.
 * If the access was a read and nothing was there, what is near it is likely to be read, too. The
 * direct way back looks whether view.process is 0 in any case, so only faults pay for this. */
static inline void views_await(const struct x86 *x86, u32 linear, u32 error)
{
	struct vcpu_view *view = &x86->vcpu->view;

	if (view->in_process == 0 || view_switch.no_prefill)
		return;
	view->awaited_space = x86->shadow.current;
	view->awaited = (linear & PTE_FRAME) |
			((error & (PF_P | PF_W)) == 0 ? VIEW_SWITCH_AWAITED_NEAR : 0);
	view->process = 0;
}

/* Fills the page that is awaited, when the kernel returns to a process, as the guest's tables have
 * it now. So the process does not fault there once more. */
void views_fill_awaited(void);

/* Returns the frame of the directory with the process's view. */
static inline u32 views_process(const struct space *space)
{
	return space->process;
}

/* Make and free what a space has beyond its directory, which is ready: the directory with the
 * process's view. */
MUST_CHECK bool views_create(struct x86 *x86, struct space *space, const u32 *directory);
static inline void views_free(struct space *space)
{
	pool_free(space->process);
}

/* Makes room in the page-table cache for one space more (cache.c). Returns false if another one
 * goes for it: then that is empty and the present one, so that it serves the directory that is
 * about to be loaded. That costs less than to free it and to make one. */
MUST_CHECK bool views_make_room(struct x86 *x86);
/* Marks a space, which is about to be the present one, as used. Of those that can go, the one whose
 * mark is oldest does. */
void views_mark_loaded(struct shadow *shadow, struct space *space);

/* Returns whether the page-table cache is kept coherent without the guest's help (detect.c). */
static inline bool views_detect(void)
{
	return view_switch.detect;
}

/* Drops what a space has that the guest's tables do not have any more, before it is loaded. */
void views_compare(struct x86 *x86, struct space *space);

/* Follow a change of an entry of a space's directory, below the kernel half, and the clearing of
 * GROUP of them. */
static inline void views_follow(struct space *space, u32 index, u32 entry)
{
	u32 *directory = pool_pointer(space->process);

	directory[index] = entry;
}

static inline void views_drop_group(struct space *space, u32 group)
{
	for (u32 i = 0; i < GROUP; i++)
		views_follow(space, group * GROUP + i, 0);
}

/* Is called when a guest is created: has the VMM serve system calls, and check hypercalls. */
void views_begin(void);
/* Makes the gate by which processes enter the guest's kernel at a vector: one by way of the VMM. */
void views_gate(struct x86 *x86, unsigned vector, u32 offset, unsigned type, unsigned dpl);

/* Follow a load of CR3, which has changed the present space; LTR, behind which the kernel's TSS is
 * at a linear address (0: nowhere); and the start of a guest, whose kernel runs first. */
void views_follow_load(const struct x86 *x86);
static inline void views_follow_task(struct x86 *x86, u32 tss_base)
{
	x86->vcpu->view.esp0 = tss_base == 0 ? 0 : tss_base + TSS_ESP0;
}

/* Serves a trap of the kernel if that is its return to a process, and sees to it that the next one
 * from there is a trap, whatever it asks for (return.c). Returns false if it is another trap. */
MUST_CHECK bool views_return(struct x86 *x86, struct frame *frame);
void views_forget_returns(void);

void views_reset(struct x86 *x86);

/* Returns whether what the direct ways rest on is right: that they load no directory but those of
 * the present space, and a process's only if nothing of the kernel alone is in it. */
static inline bool views_are_known(const struct x86 *x86)
{
	const struct vcpu_view *view = &x86->vcpu->view;
	const struct space *space = x86->shadow.current;
	bool shown = view->process == 0 ||
		     (space != NULL && view->process == space->process && space->noted == 0);

	return shown && (view->ready == 0 || view->in_process != 0) &&
	       view->kernel == (space != NULL ? space->directory : x86->shadow.identity) &&
	       view->tables == (u32)pool_pointer(view->kernel);
}

/* Nothing is watched here for the policy "trap". */
static inline u32 views_watched(UNUSED const struct vcpu *vcpu)
{
	return 0;
}

/* Note what a vCPU that leaves its seat takes along of its views, and take that in another seat.
 * No view is loaded there before its space is (smp_settle_in()). */
void views_pack(const struct vcpu *vcpu, struct view_luggage *luggage);
void views_unpack(struct x86 *x86, const struct view_luggage *luggage);
