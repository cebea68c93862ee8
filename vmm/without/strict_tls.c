/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for guests/x86/strict_tls.c in an image whose Linux may have flat segments for
 * thread-local storage. */
#include "guests/x86/x86.h"

void x86_set_descriptor(struct x86 *x86, u32 index, u64 descriptor)
{
	segment_set_guest(x86->vcpu, index, descriptor);
}

bool x86_flip_tls(UNUSED struct x86 *x86)
{
	return false;
}
