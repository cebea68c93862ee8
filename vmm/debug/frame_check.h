/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A check for debug builds: each frame of the pool is in use in one place, or free.
 */
#pragma once

#include "lib/types.h"

/* Forgets all claims, so that a new check can begin. */
void claims_forget(void);
/* Claims a frame, given by its physical address. Panics if it is not the pool's, or (with the
 * text `as`) if it has been claimed since claims_forget(). */
void claim(u32 frame, const char *as);
/* Claims all free frames. Panics if they are not as many as the pool counts. */
void claim_free_ones(void);
