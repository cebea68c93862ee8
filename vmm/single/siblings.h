/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what is to be done where a Linux guest has no other vCPUs: its one vCPU has the mainboard,
 * and no local APIC but a real one. several/siblings.h documents these functions, and is for guests
 * with several.
 */
#pragma once

#include "guests/x86/line.h"
#include "guests/x86/upcall.h"
#include "views.h"

static inline void kernel_is_entered(UNUSED struct x86 *x86)
{
}

static inline void kernel_is_left(UNUSED struct x86 *x86)
{
}

static inline void gates_are_made(UNUSED struct x86 *x86)
{
}

static inline bool returns_are_stopped(const struct x86 *x86)
{
	return x86->armed;
}

static inline u32 apic_frame(UNUSED const struct shadow *shadow, u32 frame)
{
	return frame;
}

static inline u32 global_entry(UNUSED const struct x86 *x86)
{
	return VIEWS_GLOBAL;
}

static inline struct x86 *frames_owner(struct x86 *x86)
{
	return x86;
}

MUST_CHECK static inline bool siblings_give(UNUSED const struct x86 *x86)
{
	return false;
}

static inline bool interrupt_waits(const struct board *board)
{
	return pic_pending(&board->pic) >= 0;
}

static inline unsigned interrupt_acknowledge(struct x86 *x86)
{
	return line_acknowledge(x86->board);
}

static inline void apic_store(struct x86 *x86, u32 offset, u32 value)
{
	upcall_apic_write(x86, offset, value);
}

static inline bool due_is_of_siblings(UNUSED struct x86 *x86, UNUSED u8 due)
{
	return false;
}

static inline void halt_for_ever(struct x86 *x86)
{
	vm_power_off(x86->vm);
}

static inline bool port_is_asked(UNUSED struct x86 *x86, UNUSED u32 port, UNUSED u32 size,
				 UNUSED const u32 *value, UNUSED u32 length)
{
	return false;
}

static inline void flushes_follow(UNUSED struct x86 *x86)
{
}

static inline void flush_tell(UNUSED struct x86 *x86, UNUSED u32 directory, UNUSED u32 start,
			      UNUSED u32 end)
{
}

static inline bool siblings_hold(UNUSED struct x86 *x86)
{
	return false;
}

static inline void siblings_start(UNUSED struct x86 *x86)
{
}

static inline void siblings_stop(UNUSED struct x86 *x86)
{
}

static inline void flush_of_kernel_page(UNUSED struct x86 *x86, UNUSED u32 linear)
{
}

static inline void flush_of_all(UNUSED struct x86 *x86)
{
}

static inline void space_is_made(UNUSED const struct x86 *x86, UNUSED struct space *space)
{
}

static inline volatile u32 *returns_kept(UNUSED const struct x86 *x86, u32 *own)
{
	return own;
}

static inline bool return_is_of_siblings(UNUSED const struct x86 *x86, UNUSED u32 eip)
{
	return false;
}

static inline void space_is_found(UNUSED const struct x86 *x86, UNUSED struct space *space)
{
}
