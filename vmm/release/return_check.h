/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has nothing for the check before each return to a guest. The debug build has one
 * (debug/return_check.h).
 */
#pragma once

.macro CHECK_RETURN
.endm
