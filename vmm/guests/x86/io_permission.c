/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a guest's own task state segment which ports a process may use. The real one denies all, so
 * an access by a process faults, and its kernel's I/O permission bitmap is looked at then, as the
 * CPU would (Intel SDM volume 1, 19.5.2). Linux changes that bitmap when it returns to a process,
 * and the VMM need not know: it costs nothing where no process uses a port.
 */
#include "guests/x86/io_permission.h"

#include "arch/ia32/segment.h"
#include "guests/x86/emulation.h"
#include "guests/x86/guest_access.h"
#include "views.h"

/* Where a task state segment has the offset of its bitmap (Intel SDM volume 3, 8.2.1). */
#define TSS_BITMAP_OFFSET 102u

/* The CPU reads two bytes, since ports that are used together can have bits in both, and both must
 * be within the segment's limit. */
MUST_CHECK static bool bits_read(const struct x86 *x86, u16 port, u16 *bits)
{
	u64 descriptor;
	u16 offset;
	u32 at;

	if (x86->tss_base == 0 ||
	    !guest_read(x86->gdt_base + (x86->tr & SELECTOR_INDEX), &descriptor,
			sizeof(descriptor)) ||
	    !guest_read(x86->tss_base + TSS_BITMAP_OFFSET, &offset, sizeof(offset)))
		return false;
	at = offset + port / 8u;
	return at < descriptor_limit(descriptor) &&
	       guest_read(x86->tss_base + at, bits, sizeof(*bits));
}

bool io_is_permitted(struct x86 *x86, u16 port, u32 size)
{
	u16 bits;
	bool is_there;

	views_show_kernel(x86);
	is_there = bits_read(x86, port, &bits);
	views_show_process(x86);
	return is_there && (bits >> port % 8 & ((1u << size) - 1)) == 0;
}
