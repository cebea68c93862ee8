/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an emulator does not show. Such tests are skipped, with the reason.
 */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <stdbool.h>

/*
 * QEMU's TCG. There data accesses beyond a segment's limit, or against its type,
 * reach their target; SSE raises no #XM; INT1 is undefined.
 */
bool emulator_is_qemu(void);

/*
 * Returns whether something stops an access outside of the guest's memory. In ring 3 that is its
 * own address space, in ring 1 its segments' limits.
 */
bool emulator_stops_outside(void);

#endif
