/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other vCPUs of a Linux guest, for those files of guests/x86 that do not care. A vCPU of a
 * guest that has several has struct smp (guests/x86/smp/smp.h): a local APIC, and siblings on other
 * cores. The first has the mainboard as well. In an image for guests with one vCPU
 * single/siblings.h takes the place of this.
 */
#pragma once

#include "guests/x86/line.h"
#include "guests/x86/smp/smp.h"
#include "guests/x86/upcall.h"

/* The frame that the guest reads where it has mapped its local APIC: that of its registers. */
static inline u32 apic_frame(const struct shadow *shadow, u32 frame)
{
	return frame + shadow->apic_distance;
}

/* Whether an interrupt waits for the vCPU that has this mainboard: of the 8259s, or of its local
 * APIC. */
static inline bool interrupt_waits(const struct board *board)
{
	return board->x86->smp == NULL ? pic_pending(&board->pic) >= 0
				       : smp_interrupt_waits(board->x86);
}

/* Takes the one that comes first. */
static inline unsigned interrupt_acknowledge(struct x86 *x86)
{
	return x86->smp == NULL ? line_acknowledge(x86->board) : smp_acknowledge(x86);
}

/* Does a store to the page of the local APIC. */
static inline void apic_store(struct x86 *x86, u32 offset, u32 value)
{
	if (x86->smp == NULL)
		upcall_apic_write(x86, offset, value);
	else
		smp_apic_store(x86, offset, value);
}

/* Serves what is due and no chip of the mainboard; false: it is one. */
static inline bool due_is_of_siblings(struct x86 *x86, u8 due)
{
	return x86->smp != NULL && smp_due(x86, due);
}

/* Does a HLT with interrupts disabled. */
static inline void halt_for_ever(struct x86 *x86)
{
	if (x86->smp == NULL)
		vm_power_off(x86->vm);
	else
		smp_park(x86);
}

/* Asks the first vCPU, which has the mainboard, for an access to a port: an OUT of *value, or an IN
 * if value is NULL, by an instruction of `length` bytes. The vCPU then waits for the answer, which
 * ends the instruction. False: this vCPU is the first. */
static inline bool port_is_asked(struct x86 *x86, u32 port, u32 size, const u32 *value, u32 length)
{
	if (x86->smp == NULL || x86->board != NULL)
		return false;
	remote_port_ask(x86, port, size, value, length);
	return true;
}

/* Does to this vCPU's shadow what others have flushed, before it emulates anything. */
static inline void flushes_follow(struct x86 *x86)
{
	if (x86->smp != NULL)
		flush_log_follow(x86);
}

/* Tells the others of a flush. */
static inline void flush_tell(struct x86 *x86, u32 directory, u32 start, u32 end)
{
	if (x86->smp != NULL)
		flush_log_add(x86, directory, start, end);
}

/* Whether the vCPU must not go on: it waits for its answer, or has halted for ever. */
static inline bool siblings_hold(struct x86 *x86)
{
	return (x86->due & (SMP_DUE_ASKS | SMP_DUE_PARKED)) != 0 && smp_hold(x86);
}

/* The vCPU starts, and ends. */
static inline void siblings_start(struct x86 *x86)
{
	if (x86->smp != NULL)
		smp_start(x86);
}

static inline void siblings_stop(struct x86 *x86)
{
	if (x86->smp != NULL)
		smp_stop(x86);
}
