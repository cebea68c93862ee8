/* SPDX-License-Identifier: Apache-2.0 */
/* What the web server shows of the demo's figures: a page, and the same as JSON. */
#ifndef PAGE_H
#define PAGE_H

#include "statistics.h"

/* Bytes that either takes at most (tests/python/guests/test_web.py). */
#define PAGE_MAXIMUM 4096

/* Both write to a place for PAGE_MAXIMUM bytes, and return how many there are. khz is the rate of
 * the time stamp counter, in which latencies are counted. They use floating point. */
uint32_t page_write_html(char *to, const struct statistics *statistics, uint32_t khz);
uint32_t page_write_json(char *to, const struct statistics *statistics, uint32_t khz);

#endif
