/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a stopped guest: who, why, where, and what came before. */
#pragma once

#include "core/vm.h"

/* Logs the report; vm->reason holds the reason. */
void report(struct vm *vm);
