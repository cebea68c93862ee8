/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments for thread-local storage, in an image whose Linux has them flat.
 */
#include "guests/x86/x86.h"

void x86_set_descriptor(struct x86 *x86, u32 index, u64 descriptor)
{
	segment_set_guest(x86->vcpu, index, descriptor);
}

bool x86_flip_tls(UNUSED struct x86 *x86)
{
	return false;
}
