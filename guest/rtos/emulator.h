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

#endif
