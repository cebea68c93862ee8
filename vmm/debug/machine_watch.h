/* SPDX-License-Identifier: Apache-2.0 */
/* A check for debug builds: no core writes the machine's variables once another one may run, or a
 * guest (release/machine_watch.h). */
#pragma once

/* From now on a write of this core is noticed. No address space but the VMM's exists yet. */
void machine_watch(void);
/* Panics, and names the page, if there was one. */
void machine_watch_check(void);
