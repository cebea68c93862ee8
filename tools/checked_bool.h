/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included before everything else by a step of `make check`: a function of the VMM that returns
 * a bool, which says whether it could do what it was asked for, must be looked at by whoever
 * calls it. An ordinary build has that of the functions that are marked MUST_CHECK
 * (vmm/lib/types.h) only, since GCC wants no attribute where a bool is a variable.
 */
#pragma once

#include <stdbool.h>

#undef bool
#define bool _Bool __attribute__((warn_unused_result))
