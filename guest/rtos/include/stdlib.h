/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FreeRTOS includes this header and uses NULL of it.
 */
#ifndef STDLIB_H
#define STDLIB_H

#include <stddef.h>

#endif
