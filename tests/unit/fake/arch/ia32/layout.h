/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's layout, but for the parts that a test's code dereferences: these lie
 * where a 64-bit program without PIE, also under AddressSanitizer, has room and
 * pointers still fit into 32 bits.
 */
#ifndef GANDALF_FAKE_LAYOUT_H
#define GANDALF_FAKE_LAYOUT_H

#include_next "arch/ia32/layout.h"

#undef LAYOUT_STACK
#undef LAYOUT_STACK_TOP
#undef LAYOUT_IMAGE
#undef LAYOUT_WINDOWS
#undef LAYOUT_FIXED
#undef LAYOUT_COPY_FROM
#undef LAYOUT_COPY_TO
#undef LAYOUT_APIC
#undef LAYOUT_OUTBOXES
#undef LAYOUT_RTOS
#undef LAYOUT_POOL

/* The program itself: physical addresses of its tables are their pointers. */
#define LAYOUT_IMAGE 0
#define LAYOUT_STACK 0x5fc11000
#define LAYOUT_STACK_TOP 0x5fc13000
#define LAYOUT_WINDOWS 0x60000000
#define LAYOUT_FIXED 0x60400000
#define LAYOUT_COPY_FROM 0x60400000
#define LAYOUT_COPY_TO 0x60401000
#define LAYOUT_APIC 0x60402000
#define LAYOUT_OUTBOXES 0x60410000
#define LAYOUT_RTOS 0x61000000
#define LAYOUT_POOL 0x70000000

#endif
