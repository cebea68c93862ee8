/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a stopped guest, which says who, why, where, and what came before. */
#pragma once

#include "core/vm.h"

/* Logs the report of a guest and keeps it in vm->report. vm->reason holds the reason. */
void report(struct vm *vm);
