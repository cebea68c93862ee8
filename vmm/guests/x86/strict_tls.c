/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict TLS. Linux's segments for thread-local storage are flat, since processes
 * also use them with negative offsets, which wrap. Where a guest may not even read
 * the VMM, the real GDT has one half of such a segment at a time, and the halves are
 * swapped when an access to the other half faults. Each swap costs a trap.
 */
#include "core/feature.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/x86.h"
#include "lib/string.h"

static bool is_strict(const struct x86 *x86, u32 index)
{
	return (x86->vm->guest->flags & GANDALF_GUEST_STRICT_TLS) != 0 &&
	       index >= SEGMENT_TLS_FIRST && index < SEGMENT_TLS_FIRST + SEGMENT_TLS_ENTRIES;
}

static void half_show(struct x86 *x86, u32 number)
{
	bool down = (x86->tls_down >> number & 1) != 0;

	segment_put(x86->vcpu, SEGMENT_TLS_FIRST + number, segment_half(x86->tls[number], down));
}

void x86_set_descriptor(struct x86 *x86, u32 index, u64 descriptor)
{
	u32 number = index - SEGMENT_TLS_FIRST;

	if (!is_strict(x86, index)) {
		segment_set_guest(x86->vcpu, index, descriptor);
		return;
	}
	x86->tls[number] = segment_restrict(descriptor, true);
	half_show(x86, number);
}

/* Returns whether the half that is not shown exists. A segment that expands down has no upper half.
 * An absent half must not be shown: the return to a process that has it in SS would fault. */
static bool has_other_half(const struct x86 *x86, u32 number)
{
	bool down = (x86->tls_down >> number & 1) != 0;

	return (segment_half(x86->tls[number], !down) & DESCRIPTOR_PRESENT) != 0;
}

/* Returns the guest's selector that an override prefix of the instruction names, or DS. */
static u32 data_selector(struct vcpu *vcpu)
{
	const struct frame *frame = vcpu->frame;
	struct decoded decoded;
	u8 bytes[DECODE_LENGTH_MAXIMUM];

	/* The decoder knows few instructions, but the prefixes of all. */
	(void)decode(&decoded, bytes, guest_fetch(vcpu, bytes, sizeof(bytes)));
	if (decoded.segment == SEGMENT_GS)
		return frame->gs;
	if (decoded.segment == SEGMENT_FS)
		return frame->fs;
	return frame->ds;
}

bool x86_flip_tls(struct x86 *x86)
{
	const struct frame *frame = x86->vcpu->frame;
	const u32 selectors[] = {data_selector(x86->vcpu), frame->es};
	u8 flips = 0;

	for (u32 i = 0; i < ARRAY_SIZE(selectors); i++) {
		u32 index = (selectors[i] & 0xffff) / 8;

		if (is_strict(x86, index) && has_other_half(x86, index - SEGMENT_TLS_FIRST))
			flips |= (u8)(1u << (index - SEGMENT_TLS_FIRST));
	}
	if (flips == 0 || memcmp(&x86->tls_frame, frame, sizeof(*frame)) == 0)
		return false;
	memcpy(&x86->tls_frame, frame, sizeof(*frame));
	x86->tls_down ^= flips;
	for (u32 i = 0; i < SEGMENT_TLS_ENTRIES; i++)
		if (flips >> i & 1)
			half_show(x86, i);
	vcpu_count(x86->vcpu, COUNTER_tls_flips);
	return true;
}
FEATURE(strict_tls, FEATURE_STRICT_TLS);
