/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the ring of a console's last bytes while the VMM writes more. */
#include "ring.h"

#include <string.h>

#include "guest.h"

#define RING GANDALF_CONSOLE_RING

/* Reads how many bytes were ever written. */
static bool written_read(uint32_t place, uint32_t *written)
{
	struct gandalf_system_status system;
	struct guest guest;

	if (place == GANDALF_PLACE_VMM) {
		if (!system_read(&system))
			return false;
		*written = system.log_bytes;
		return true;
	}
	if (!guest_read(place, &guest))
		return false;
	*written = guest.status.console_bytes;
	return true;
}

bool ring_begin(struct ring *ring, uint32_t place)
{
	uint32_t written;

	if (!written_read(place, &written))
		return false;
	ring->place = place;
	ring->complete = written <= RING;
	ring->next = ring->complete ? 0 : written - RING;
	return true;
}

/* Copies bytes that may lie at the end and the start of the ring. */
static bool copy(const struct ring *ring, char *to, uint32_t size)
{
	for (uint32_t done = 0; done < size;) {
		uint32_t offset = (ring->next + done) % RING;
		uint32_t step = size - done < RING - offset ? size - done : RING - offset;
		long result = device_read(GANDALF_OBJECT_CONSOLE, ring->place, offset, to + done,
					  step);

		if (result <= 0)
			return !refused(result);
		done += (uint32_t)result;
	}
	return true;
}

long ring_read(struct ring *ring, char bytes[RING], uint32_t *lost)
{
	uint32_t written, later, size;

	*lost = 0;
	if (!written_read(ring->place, &written))
		return -1;
	if (written - ring->next > RING) {
		*lost = written - ring->next - RING;
		ring->next = written - RING;
	}
	size = written - ring->next;
	if (!size)
		return 0;
	if (!copy(ring, bytes, size) || !written_read(ring->place, &later))
		return -1;
	/* Bytes that were overwritten while they were copied are lost. */
	if (later - ring->next > RING) {
		uint32_t spoilt = later - ring->next - RING;

		spoilt = spoilt < size ? spoilt : size;
		size -= spoilt;
		memmove(bytes, bytes + spoilt, size);
		*lost += spoilt;
	}
	ring->next = written;
	return (long)size;
}
