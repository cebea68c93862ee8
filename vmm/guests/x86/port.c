/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an instruction of a guest to the chip that answers at a port. The lower ports have a table
 * with the place of their range in the list, since Linux uses those at each interrupt.
 */
#include "guests/x86/port.h"

#include "core/trace.h"
#include "core/work.h"
#include "lib/owner.h"

#define TABLE_PORTS 0x400u

/* For each lower port the number of its range, counted from 1, or 0 if no chip answers. */
OF_MACHINE static u8 range_of[TABLE_PORTS];

void chips_pause(void)
{
	work_pause(chips);
}

void port_init(void)
{
	const struct port_range *const *at;

	for (at = UNITS_FIRST(port_ranges); at < UNITS_END(port_ranges); at++)
		for (u32 port = (*at)->first; port <= (*at)->last && port < TABLE_PORTS; port++)
			range_of[port] = (u8)(at - UNITS_FIRST(port_ranges) + 1);
}

static const struct port_range *range_search(u16 port)
{
	const struct port_range *const *at;

	for (at = UNITS_FIRST(port_ranges); at < UNITS_END(port_ranges); at++)
		if (port >= (*at)->first && port <= (*at)->last)
			return *at;
	return NULL;
}

static const struct port_range *range_find(struct x86 *x86, u16 port)
{
	const struct port_range *range = NULL;

	if (port >= TABLE_PORTS)
		range = range_search(port);
	else if (range_of[port] != 0)
		range = UNITS_FIRST(port_ranges)[range_of[port] - 1];
	if (range == NULL)
		vcpu_count(x86->vcpu, COUNTER_unknown_ports);
	return range;
}

/* Returns whether the description gives these ports of a real device to the guest. The VMM makes
 * such accesses for its kernel; a port that was opened would be open to its processes, too. */
static bool port_is_own(const struct x86 *x86, u16 port, u32 size)
{
	const struct gandalf_guest *guest = x86->vm->guest;

	for (u32 i = 0; i < guest->port_range_count; i++)
		if (port >= guest->port_ranges[i].first &&
		    port + size - 1 <= guest->port_ranges[i].last)
			return true;
	return false;
}

u32 port_read(struct x86 *x86, u16 port, u32 size)
{
	u32 value = 0;

	vcpu_count(x86->vcpu, COUNTER_port_accesses);
	if (port_is_own(x86, port, size))
		return port_in(port, size);
	board_settle(x86);
	for (u32 i = 0; i < size; i++) {
		u16 at = (u16)(port + i);
		const struct port_range *range = range_find(x86, at);

		if (i != 0)
			chips_pause();
		value |= (range != NULL ? range->read(x86->board, at) : 0xffu) << 8 * i;
	}
	trace(TRACE_port, port, value);
	return value;
}

void port_write(struct x86 *x86, u16 port, u32 size, u32 value)
{
	vcpu_count(x86->vcpu, COUNTER_port_accesses);
	trace(TRACE_port, port | 0x10000, value);
	if (port_is_own(x86, port, size)) {
		port_out(port, size, value);
		return;
	}
	board_settle(x86);
	/* Writing a byte may reset the guest, and then the others are not written. */
	for (u32 i = 0; i < size && x86->vcpu->state == VCPU_RUNNING; i++) {
		u16 at = (u16)(port + i);
		const struct port_range *range = range_find(x86, at);

		if (i != 0)
			chips_pause();
		if (range != NULL)
			range->write(x86->board, at, (u8)(value >> 8 * i));
	}
}
