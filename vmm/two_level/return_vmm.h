/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what may fail on the way back to the VMM itself, from an entry that was interrupted
 * (entry.S). The code segments of processes are absent while a kernel runs, and the direct way to
 * the kernel (view_ways.S) leaves the segment registers as they are, so one of them may have been
 * loaded from such a segment. It is null then, as it would be behind the return to the guest.
 * rings/return_vmm.h is the other one.
 */
#pragma once

.macro RETURN_VMM_FIXUPS
	POP_FIXUP vmm_gs
	POP_FIXUP vmm_fs
	POP_FIXUP vmm_es
	POP_FIXUP vmm_ds
.endm
