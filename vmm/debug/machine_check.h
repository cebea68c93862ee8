/* SPDX-License-Identifier: Apache-2.0 */
/* A check for debug builds: the machine's variables stay as they were when the first guest
 * began, whoever may have written there, by whatever mapping. */
#pragma once

/* Compares a part of them. Panics, and names the address, if a word has changed. */
void machine_check(void);
