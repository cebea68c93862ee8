/* SPDX-License-Identifier: Apache-2.0 */
/* Each further core has an instance of the VMM, which is made here (instance.c). */
#pragma once

#include "lib/types.h"

/* Keeps the initial values of variables, before any of them has changed. */
void instance_keep(void);
/* Whether a core needs a page of the VMM's variables: where it lies in the image. */
typedef bool (*instance_page)(u32 index, const void *page);

/* The bytes of memory that the instance of a core needs: whole pages. */
u32 instance_size(u32 index, instance_page is_needed);
/* Copies size bytes at an address of the image as another instance has them. Its page table, the
 * last page of its memory, is at a physical address; 0: it is that of the core that has booted. */
void instance_read(u32 table, void *to, const void *from, u32 size);
/* Makes the instance of a core at a physical address, and what that core runs first at
 * LAYOUT_START. size: its instance_size(). Behind the first page that it does not need there may
 * only be variables of which nobody asks for the physical address (memory_image_offset). */
void instance_create(u32 place, u32 size, u32 index, instance_page is_needed);
