/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest of the bench without any work: it halts for ever, with no timer, when main() returns.
 */
#include "rtos.h"

void main(void)
{
}
