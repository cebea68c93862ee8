/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the checks of a debug build before a return to a guest, and leaves the vCPU in EAX. */
#pragma once

.macro CHECK_RETURN
	call	debug_return
	mov	core, %eax
.endm
