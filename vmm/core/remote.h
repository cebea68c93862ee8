/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guests of other cores, as this core knows them: enough to name, watch, ring and command them.
 */
#pragma once

#include "core/vm.h"

/* Makes what this core knows of a guest of another one. */
void remote_create(struct vm *vm);
