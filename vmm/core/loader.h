/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual machines as the idle vCPU has them to do with: on its stack, in steps between which more
 * urgent guests run. */
#pragma once

/* Makes this core's guests, and asks for their start; once, at boot. */
void vm_start_all(void);
/* Says what has become of guests, and frees what those that have stopped have left. */
void vm_release_stopped(void);
/* Loads and starts what was asked for. */
void vm_start_requested(void);
