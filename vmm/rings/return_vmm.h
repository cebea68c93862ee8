/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says what may fail on the way back to the VMM itself, from an entry that was interrupted
 * (entry.S): nothing, with rings. While the VMM runs, the tables of a guest hold what its segment
 * registers were loaded from. two_level/return_vmm.h is the other one.
 */
#pragma once

.macro RETURN_VMM_FIXUPS
.endm
