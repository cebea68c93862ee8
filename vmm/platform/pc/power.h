/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the machine's day. */
#pragma once

/* Everything has gone well: switches the machine off, as far as it
 * can be: an emulator ends, a PC without ACPI stays halted. */
_Noreturn void power_off_machine(void);
/* The VMM cannot go on: halts for good, an emulator ends with an error. */
_Noreturn void power_stop_machine(void);
