/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control, in an image in which no guest may have it: it is refused, as to any guest without it.
 */
#include "core/control.h"
#include "core/hypercall.h"

HYPERCALL(GANDALF_HYPERCALL_READ, HYPERCALL_OF_ALL, control_refuse);
HYPERCALL(GANDALF_HYPERCALL_WRITE, HYPERCALL_OF_ALL, control_refuse);
HYPERCALL(GANDALF_HYPERCALL_ACT, HYPERCALL_OF_ALL, control_refuse);
