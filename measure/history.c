/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies a ring of the guest's into a file, piece by piece. options.next is a word that counts the
 * entries that were written, modulo 2^32; an entry's place is its number modulo options.entries.
 *
 * The word is looked at where the CPU delivers an interrupt or an exception, as often as the VMM is
 * entered, and a quarter of the ring is copied at once. So an entry is copied at the latest when
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
/* A copy of the ring, and how many entries were written when it was made. */
static uint8_t *ring;
static uint32_t copied;
static uint64_t lost;

const char *history_open(void)
{
	if (!options.history)
		return NULL;
	if (!options.ring_size || !options.entries || options.ring_size % options.entries)
		return "history= needs ring=, next= and entries=";
	ring = malloc(options.ring_size);
	file = fopen(options.history, "wb");
	return ring && file ? NULL : "the file of the history cannot be made";
}

static uint32_t next_read(void)
{
	uint32_t next;

	cpu_physical_memory_rw(options.next, &next, sizeof(next), false);
	return next;
}

static void ring_copy(uint32_t next)
{
	uint64_t size = options.ring_size / options.entries;
	uint32_t new = next - copied;

	if (new > options.entries) {
		lost += new - options.entries;
		copied = next - (uint32_t)options.entries;
	}
	cpu_physical_memory_rw(options.ring, ring, options.ring_size, false);
	for (; copied != next; copied++)
		if (fwrite(ring + copied % options.entries * size, size, 1, file) != 1)
			fail("the file of the history cannot be written");
}

void history_begin(void)
{
	if (!file)
		return;
	copied = next_read();
	lost = 0;
}

void history_look(void)
{
	if (!file)
		return;
	uint32_t next = next_read();

	if (next - copied >= options.entries / 4)
		ring_copy(next);
}

void history_end(void)
{
	if (!file)
		return;
	ring_copy(next_read());
	if (fflush(file) != 0)
		fail("the file of the history cannot be written");
}

uint64_t history_lost(void)
{
	return lost;
}
