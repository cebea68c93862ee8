/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads files of guests/x86, which know one vCPU, to what a guest with several needs beside it.
 * Each vCPU of such a guest has struct smp (guests/x86/smp/smp.h), which is a local APIC and its
 * part in what it does with its siblings on this and other cores. The first vCPU also has the
 * mainboard. In an image for guests with one vCPU single/siblings.h takes the place of this.
 */
#pragma once

#include "core/trap_policy.h"
#include "guests/x86/line.h"
#include "guests/x86/smp/smp.h"
#include "guests/x86/upcall.h"
#include "views.h"

/* Follow when a process enters the vCPU's kernel by way of the VMM; and when the kernel returns so
 * (smp/kernel_watch.c). */
static inline void kernel_is_entered(struct x86 *x86)
{
	if (views_watched(x86->vcpu) != 0)
		kernel_watch_entered(x86);
}

static inline void kernel_is_left(struct x86 *x86)
{
	if ((views_watched(x86->vcpu) & WATCH_RETURN) != 0)
		kernel_watch_left(x86);
}

/* Follows when the gates that lead straight to the kernel were made anew. */
static inline void gates_are_made(struct x86 *x86)
{
	if (views_watched(x86->vcpu) != 0)
		kernel_watch_gates(x86);
}

/* Returns whether the vCPU's kernel must not return to a process unseen: an interrupt waits, or the
 * return is watched. */
static inline bool returns_are_stopped(const struct x86 *x86)
{
	return x86->armed || (views_watched(x86->vcpu) & WATCH_RETURN) != 0;
}

/* Returns the frame that the guest reads where it has mapped its local APIC. It has the registers
 * of the virtual one. */
static inline u32 apic_frame(const struct shadow *shadow, u32 frame)
{
	return frame + shadow->apic_distance;
}

/* Returns what the shadow has of the guest's global bit. A sibling on the same core may have an
 * entry that this vCPU has flushed, until it follows; so none stays in the TLB when another one
 * runs. */
static inline u32 global_entry(const struct x86 *x86)
{
	return x86->vcpu->shares ? 0 : VIEWS_GLOBAL;
}

/* Returns whose shadow gives frames back when the pool is empty. */
static inline struct x86 *frames_owner(struct x86 *x86)
{
	return x86->vcpu->shares ? smp_richest(x86) : x86;
}

/* Has siblings that wait for this core give back what they have of the processes that they are
 * about to go on with. Returns false if that is nothing. */
MUST_CHECK static inline bool siblings_give(const struct x86 *x86)
{
	return x86->vcpu->shares && smp_siblings_give(x86);
}

/* Returns whether an interrupt of the 8259s, or of its local APIC, waits for the vCPU that has this
 * mainboard. */
static inline bool interrupt_waits(const struct board *board)
{
	return x86_has_siblings(board->x86) ? smp_interrupt_waits(board->x86)
					   : pic_pending(&board->pic) >= 0;
}

/* Takes the interrupt that comes first, and returns its vector. */
static inline unsigned interrupt_acknowledge(struct x86 *x86)
{
	return x86_has_siblings(x86) ? smp_acknowledge(x86) : line_acknowledge(x86->board);
}

/* Does a store to the page of the local APIC. */
static inline void apic_store(struct x86 *x86, u32 offset, u32 value)
{
	if (x86_has_siblings(x86))
		smp_apic_store(x86, offset, value);
	else
		upcall_apic_write(x86, offset, value);
}

/* Serves what is due if it is no chip of the mainboard. Returns false if it is one. */
static inline bool due_is_of_siblings(struct x86 *x86, u8 due)
{
	return x86_has_siblings(x86) && smp_due(x86, due);
}

/* Does a HLT with interrupts disabled. */
static inline void halt_for_ever(struct x86 *x86)
{
	if (x86_has_siblings(x86))
		smp_park(x86);
	else
		vm_power_off(x86->vm);
}

/* Asks the first vCPU, which has the mainboard, for an access to a port: an OUT of *value, or an IN
 * if value is NULL, by an instruction of `length` bytes. The vCPU then waits for the answer, which
 * ends the instruction. Returns false, and has asked nobody, if this vCPU is the first. */
static inline bool port_is_asked(struct x86 *x86, u32 port, u32 size, const u32 *value, u32 length)
{
	if (!x86_has_siblings(x86) || smp_is_first(x86->smp))
		return false;
	remote_port_ask(x86, port, size, value, length);
	return true;
}

/* Does to this vCPU's shadow what others have flushed, before it emulates anything. */
static inline void flushes_follow(struct x86 *x86)
{
	if (x86_has_siblings(x86))
		flush_log_follow(x86);
}

/* Tells the others of a flush. */
static inline void flush_tell(struct x86 *x86, u32 directory, u32 start, u32 end)
{
	if (x86_has_siblings(x86))
		flush_log_add(x86, directory, start, end);
}

/* Returns whether the vCPU must not go on, since it waits for its answer or has halted for ever. */
static inline bool siblings_hold(struct x86 *x86)
{
	return (x86->due & (SMP_DUE_ARRIVED | SMP_DUE_ASKS | SMP_DUE_PARKED)) != 0 && smp_hold(x86);
}

/* Prepare what the vCPU does with its siblings when it starts, and end that when it stops. */
static inline void siblings_start(struct x86 *x86)
{
	if (x86_has_siblings(x86))
		smp_start(x86);
}

static inline void siblings_stop(struct x86 *x86)
{
	if (x86_has_siblings(x86))
		smp_stop(x86);
}

/* Notes that the vCPU flushes a page of the kernel's half, or all, which no log has. */
static inline void flush_of_kernel_page(struct x86 *x86, u32 linear)
{
	if (x86_has_siblings(x86))
		flush_log_kernel(x86, linear & PTE_FRAME);
}

static inline void flush_of_all(struct x86 *x86)
{
	if (x86_has_siblings(x86))
		flush_log_kernel(x86, KERNEL_FLUSH_ALL);
}

/* A space that has just been made has nothing stale. */
static inline void space_is_made(const struct x86 *x86, struct space *space)
{
	if (x86_has_siblings(x86))
		space->epoch = x86->smp->epoch;
}

/* Returns where this core keeps the EIPs behind each INT3 that has taken the place of a return to a
 * process (guests/x86/two_level/return.c). own is that place for a guest with one vCPU. */
static inline volatile u32 *returns_kept(const struct x86 *x86, u32 *own)
{
	return x86_has_siblings(x86) ? smp_returns(x86) : own;
}

/* Returns whether a vCPU of the guest, perhaps of another core, has put such an INT3. */
static inline bool return_is_of_siblings(const struct x86 *x86, u32 eip)
{
	return x86_has_siblings(x86) && smp_return_is_known(x86, eip);
}

/* Makes a space right that is about to be loaded. */
static inline void space_is_found(const struct x86 *x86, struct space *space)
{
	if (x86_has_siblings(x86) && space->epoch != x86->smp->epoch)
		flush_log_renew(x86, space);
}
