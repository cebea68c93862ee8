/* SPDX-License-Identifier: Apache-2.0 */
/* The command line on the VMM's own console. */
#ifndef GANDALF_CORE_COMMAND_H
#define GANDALF_CORE_COMMAND_H

/* Takes what was typed; called at the console's interrupt. */
void command_input(void);
/* Executes a line that is complete; on the idle vCPU. */
void command_serve(void);

#endif
