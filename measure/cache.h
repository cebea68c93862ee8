/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of first-level caches and TLBs, those of a Pentium III: 16 KiB of each cache in lines of
 * 32 bytes, 32 and 64 entries for pages of 4 KiB, 2 and 8 for large ones, all of four ways or fully
 * associative, the least recently used replaced. What misses is counted as an event, in the ring of
 * the access. QEMU has none of this, and the guest's time does not depend on it.
 *
 * A CR3 load empties the TLBs but for global pages, INVLPG drops a page, global or not, and a
 * change of paging empties them wholly, as on hardware. What the processor itself reads and writes
 * is seen only in part: neither page tables nor descriptors pass the model.
 */
#ifndef GANDALF_MEASURE_CACHE_H
#define GANDALF_MEASURE_CACHE_H

#include <stddef.h>
#include <stdint.h>

#define CACHE_LINE 32u

/* Returns what is wrong, or a null pointer. */
const char *cache_start(void);

void cache_fetch(uint64_t linear);
void cache_access(uint64_t linear);

/* An instruction that may empty TLBs is about to be executed. INVLPG's address is known from its
 * bytes and the registers behind it: they must stay until cache_settle(). */
void cache_expect(const uint8_t *instruction);
/* It has been executed. Call where the registers are in memory. */
void cache_settle(void);
/* It has faulted. */
void cache_forget(void);

#endif
