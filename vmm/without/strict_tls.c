/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments for thread-local storage, in an image whose Linux has them flat.
 */
#include "guests/x86/pc.h"

void pc_set_descriptor(struct pc *pc, u32 index, u64 descriptor)
{
	segment_set_guest(pc->vcpu, index, descriptor);
}

bool pc_flip_tls(UNUSED struct pc *pc)
{
	return false;
}
