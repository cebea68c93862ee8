/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's control task, for a guest with a channel; see control.c. */
#ifndef CONTROL_H
#define CONTROL_H

/* Never returns. */
void control_run(void);

#endif
