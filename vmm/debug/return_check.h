/* SPDX-License-Identifier: Apache-2.0 */
/* What a debug build does in entry.S before a return to a guest, with the vCPU in EAX. */
#pragma once

.macro CHECK_RETURN
	call	debug_return
	mov	core, %eax
.endm
