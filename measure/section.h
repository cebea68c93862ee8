/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The VMM's masked windows by where they begin, which names a section of the VMM: behind a CLI, or
 * at the stub of a vector. Of the latter, what came and who was interrupted belongs to the name.
 */
#ifndef GANDALF_MEASURE_SECTION_H
#define GANDALF_MEASURE_SECTION_H

#include "measurement.h"

/* A delivery is about to come: who is interrupted is looked at. */
void section_expect(void);
/* The delivery by which a window begins that opens now, if one does. */
struct arrival section_arrival(enum delivery what, uint32_t from_ring);
/* Counts a window that ends. Returns where it is to be kept, if it is the longest of its
 * section. */
struct window *section_count(const struct windows *windows, uint64_t length);

#endif
