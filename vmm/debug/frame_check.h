/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of the pool, for debug builds: each is in one place, or free.
 */
#pragma once

#include "lib/types.h"

/* A new look at all of them begins. */
void claims_forget(void);
/* Panics if the frame is not the pool's, or has been claimed since; as: what it says then. */
void claim(u32 frame, const char *as);
/* Claims those that are free, which must be as many as are said to be. */
void claim_free_ones(void);
