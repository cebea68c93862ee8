/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes where a core has written what the machine has in common for the last time (lib/owner.h).
 * The debug build checks that (debug/machine_watch.h); in this build it is a note for the reader.
 */
#pragma once

static inline void machine_watch(void)
{
}
