/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies rings of the guest's into a file, piece by piece: options.rings of them, one behind the
 * other, each of options.entries entries behind a word. That counts those that were written, modulo
 * 2^32; an entry's place is its number modulo options.entries.
 *
 * The words are looked at where the CPU delivers an interrupt or an exception, as often as the VMM
 * is entered, and a quarter of a ring is copied at once. So an entry is copied at the latest when
 * three quarters of a ring have followed it, unless the guest writes that many without being
 * interrupted: those that are lost so are counted. An entry whose writer was interrupted before it
 * had stored all of it is copied as it is then: who reads the file finds the slot's older entry a
 * second time.
 */
#include "history.h"

#include <stdio.h>
#include <stdlib.h>

#include "fail.h"
#include "options.h"
#include "qemu.h"

static FILE *file;
/* A copy of a ring, and of each ring how many entries were written when it was copied. */
static uint8_t *copy;
static uint32_t *copied;
static uint64_t lost;

static uint64_t ring_size(void)
{
	return options.ring_size / options.rings;
}

const char *history_open(void)
{
	if (!options.history)
		return NULL;
	if (!options.entries || !options.rings || options.ring_size % options.rings ||
	    ring_size() <= sizeof(uint32_t) ||
	    (ring_size() - sizeof(uint32_t)) % options.entries)
		return "history= needs ring=, rings= and entries=";
	copy = malloc(ring_size());
	copied = calloc(options.rings, sizeof(*copied));
	file = fopen(options.history, "wb");
	return copy && copied && file ? NULL : "the file of the history cannot be made";
}

static uint32_t next_read(uint64_t ring)
{
	uint32_t next;

	cpu_physical_memory_rw(options.ring + ring * ring_size(), &next, sizeof(next), false);
	return next;
}

static void ring_copy(uint64_t ring, uint32_t next)
{
	uint64_t size = (ring_size() - sizeof(next)) / options.entries;
	uint32_t new = next - copied[ring];

	if (new > options.entries) {
		lost += new - options.entries;
		copied[ring] = next - (uint32_t)options.entries;
	}
	cpu_physical_memory_rw(options.ring + ring * ring_size(), copy, ring_size(), false);
	for (; copied[ring] != next; copied[ring]++)
		if (fwrite(copy + sizeof(next) + copied[ring] % options.entries * size, size, 1,
			   file) != 1)
			fail("the file of the history cannot be written");
}

void history_begin(void)
{
	if (!file)
		return;
	for (uint64_t ring = 0; ring < options.rings; ring++)
		copied[ring] = next_read(ring);
	lost = 0;
}

void history_look(void)
{
	if (!file)
		return;
	for (uint64_t ring = 0; ring < options.rings; ring++) {
		uint32_t next = next_read(ring);

		if (next - copied[ring] >= options.entries / 4)
			ring_copy(ring, next);
	}
}

void history_end(void)
{
	if (!file)
		return;
	for (uint64_t ring = 0; ring < options.rings; ring++)
		ring_copy(ring, next_read(ring));
	if (fflush(file) != 0)
		fail("the file of the history cannot be written");
}

uint64_t history_lost(void)
{
	return lost;
}
