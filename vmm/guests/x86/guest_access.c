/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes guest memory through the guest's own shadow, which a fault of the VMM fills,
 * too.
 */
#include "guests/x86/guest_access.h"

#include "core/core.h"
#include "guests/x86/shadow/shadow.h"

bool guest_read(u32 linear, void *to, u32 size)
{
	return linear < GANDALF_BASE && size <= GANDALF_BASE - linear &&
	       entry_copy(to, (const void *)linear, size) == 0;
}

/* The VMM has CR0.WP 0 and would write read-only pages, so it asks before. No write is longer than
 * a page, so all its pages are those of its first and last byte. */
bool guest_write(u32 linear, const void *from, u32 size)
{
	const struct vcpu *vcpu = core.current;
	struct x86 *x86 = vcpu->x86;
	u32 last = linear + size - 1;

	return last < GANDALF_BASE && linear <= last &&
	       (shadow_is_writable(vcpu, linear) || shadow_make_writable(x86, linear)) &&
	       ((linear ^ last) < PAGE_SIZE || shadow_make_writable(x86, last)) &&
	       entry_copy((void *)linear, from, size) == 0;
}

u32 guest_fetch(struct vcpu *vcpu, u8 *to, u32 size)
{
	u32 linear = vcpu->frame->eip;

	if (linear >= GANDALF_BASE)
		return 0;
	size = minimum(size, GANDALF_BASE - linear);
	return size - entry_copy(to, (const void *)linear, size);
}
