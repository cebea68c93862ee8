/* SPDX-License-Identifier: Apache-2.0 */
/* The check before each return to a guest, which is empty here. The debug build has one
 * (debug/return_check.h). */
#pragma once

.macro CHECK_RETURN
.endm
