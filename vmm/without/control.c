/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for core/control.c in an image without control. The hypercalls are refused, as they are
 * to any guest that may not manage others. */
#include "core/control.h"
#include "core/hypercall.h"

HYPERCALL(GANDALF_HYPERCALL_READ, HYPERCALL_OF_ALL, control_refuse);
HYPERCALL(GANDALF_HYPERCALL_WRITE, HYPERCALL_OF_ALL, control_refuse);
HYPERCALL(GANDALF_HYPERCALL_ACT, HYPERCALL_OF_ALL, control_refuse);
