/* SPDX-License-Identifier: Apache-2.0 */
/* Before a return to a guest nothing is checked; vmm/debug has the other of the two. */
#pragma once

.macro CHECK_RETURN
.endm
