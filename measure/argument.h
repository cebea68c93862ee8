/* SPDX-License-Identifier: Apache-2.0 */
/* Values of a plug-in's options: numbers and ranges. What is neither fails. */
#ifndef GANDALF_MEASURE_ARGUMENT_H
#define GANDALF_MEASURE_ARGUMENT_H

#include <stdint.h>

/* Addresses from low on, but for high. */
struct range {
	uint64_t low, high;
};

uint64_t argument_number(const char *text);
/* LOW-HIGH */
struct range argument_range(const char *text);

#endif
