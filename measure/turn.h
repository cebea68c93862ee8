/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is, of several CPUs that QEMU emulates one behind the other in one thread. */
#ifndef GANDALF_MEASURE_TURN_H
#define GANDALF_MEASURE_TURN_H

#include <stdbool.h>

/* Call before anything that a CPU does is looked at, where each block begins among it. Returns
 * whether it is the CPU that is measured. Ends QEMU if CPUs have threads of their own. */
bool turn_take(unsigned vcpu);
/* On any thread, while the machine is stopped: the CPU that is measured is looked at. Whoever has
 * the turn takes it again. */
void turn_take_back(void);

#endif
