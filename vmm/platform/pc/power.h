/* SPDX-License-Identifier: Apache-2.0 */
/* The ways in which the machine ends. */
#pragma once

/* Ends the machine when all has gone well. An emulator ends, and a PC halts for good. */
_Noreturn void power_off_machine(void);
/* Ends the machine when the VMM cannot go on. An emulator ends with an error, and a PC halts for
 * good. */
_Noreturn void power_stop_machine(void);
