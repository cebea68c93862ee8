/* SPDX-License-Identifier: Apache-2.0 */
/* That what the machine has in common stays as it was when the first guest began. */
#pragma once

/* Panics, naming the address, if some of it has changed; each call looks at a part. */
void machine_check(void);
