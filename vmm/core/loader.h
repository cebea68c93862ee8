/* SPDX-License-Identifier: Apache-2.0 */
/* The idle vCPU's work for virtual machines. It is done in steps on the idle vCPU's stack, and more
 * urgent guests run between the steps. */
#pragma once

/* Logs what has become of guests, and frees what stopped guests have left. */
void vm_release_stopped(void);
/* Loads and starts the guests in GANDALF_STATE_STARTING. */
void vm_start_requested(void);
