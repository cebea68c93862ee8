/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a stopped guest: who, why, where, and what came before. */
#ifndef GANDALF_CORE_REPORT_H
#define GANDALF_CORE_REPORT_H

#include "core/vm.h"

/* Logs the report; vm->reason holds the reason. */
void report(struct vm *vm);
/* The name of an exception, for reasons. */
const char *report_exception_name(unsigned vector);

#endif
