/* SPDX-License-Identifier: Apache-2.0 */
/* Which network each Ethernet address was last seen in: see table.h. */
#include "table.h"

#include <stdbool.h>
#include <string.h>

#define ENTRIES 256u
#define GROUP 1 /* in an address's first byte: it is for many */

struct entry {
	uint8_t address[ADDRESS_SIZE];
	bool known;
	uint8_t port;
};

static struct entry entries[ENTRIES];

static struct entry *entry_of(const uint8_t address[ADDRESS_SIZE])
{
	uint32_t hash = 0;

	for (uint32_t i = 0; i < ADDRESS_SIZE; i++)
		hash = hash * 31 + address[i];
	return &entries[hash % ENTRIES];
}

void table_learn(const uint8_t address[ADDRESS_SIZE], uint32_t port)
{
	struct entry *entry = entry_of(address);

	if (address[0] & GROUP)
		return;
	memcpy(entry->address, address, ADDRESS_SIZE);
	entry->port = (uint8_t)port;
	entry->known = true;
}

uint32_t table_find(const uint8_t address[ADDRESS_SIZE])
{
	const struct entry *entry = entry_of(address);

	if (!entry->known || memcmp(entry->address, address, ADDRESS_SIZE) != 0)
		return TABLE_UNKNOWN;
	return entry->port;
}

void table_forget(uint32_t port)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		if (entries[i].port == port)
			entries[i].known = false;
}
