/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The 8254 as a function of time. A counter is its count and the moment it was
 * loaded; what it shows, its output and its edges follow from the clocks since.
 */
#include "device/pit.h"

#include "lib/math.h"

/* 1,193,182 Hz divided by two, so that the other factor, 1000 / 2 per kHz, fits. */
#define PIT_HALF_HZ 596591u
#define TSC_HALF_PER_KHZ 500u
/* Memory refresh on port 0x61: counter 1 as every BIOS programs it. */
#define REFRESH_CLOCKS 18

#define PORT_61_GATE 0x01
#define PORT_61_KEPT 0x0f
#define PORT_61_REFRESH 0x10
#define PORT_61_OUTPUT 0x20

#define COMMAND_READ_BACK 3
#define READ_BACK_NO_COUNT 0x20
#define READ_BACK_NO_STATUS 0x10

#define ACCESS_LOW 1
#define ACCESS_HIGH 2
#define ACCESS_BOTH 3

#define STATUS_OUTPUT 0x80
#define STATUS_NULL_COUNT 0x40

static u64 clocks_of(const struct pit *pit, u64 tsc)
{
	return multiply_divide(tsc, PIT_HALF_HZ, pit->tsc_khz * TSC_HALF_PER_KHZ);
}

/* The first moment at which so many clocks have passed. */
static u64 tsc_of(const struct pit *pit, u64 clocks)
{
	return multiply_divide_up(clocks, pit->tsc_khz * TSC_HALF_PER_KHZ, PIT_HALF_HZ);
}

static bool counter_is_periodic(const struct pit_counter *counter)
{
	return counter->mode == 2 || counter->mode == 3;
}

static bool counter_needs_trigger(const struct pit_counter *counter)
{
	return counter->mode == 1 || counter->mode == 5;
}

static u64 counter_clocks(const struct pit *pit, const struct pit_counter *counter, u64 now)
{
	if (!counter->gate && !counter_needs_trigger(counter))
		return counter->stopped_tick;
	return now > counter->start ? clocks_of(pit, now - counter->start) : 0;
}

static u32 counter_modulus(const struct pit_counter *counter)
{
	return counter->bcd ? 10000 : 65536;
}

static bool counter_counts(const struct pit_counter *counter)
{
	return counter->loaded && (!counter_needs_trigger(counter) || counter->triggered);
}

/* Clocks into the period of a periodic counter. */
static u32 counter_phase(const struct pit_counter *counter, u64 clocks)
{
	u32 phase;

	divide_u64(clocks, counter->count, &phase);
	return phase;
}

static bool counter_output(const struct pit_counter *counter, u64 clocks)
{
	if (!counter_counts(counter))
		return counter->mode != 0;
	switch (counter->mode) {
	case 0:
	case 1:
		return clocks >= counter->count;
	case 2:
		return !counter->gate || counter_phase(counter, clocks) != counter->count - 1;
	case 3:
		return !counter->gate ||
		       counter_phase(counter, clocks) < (counter->count + 1) / 2;
	default:
		return clocks != counter->count;
	}
}

static u16 to_bcd(u32 value)
{
	u32 bcd = 0;

	for (unsigned shift = 0; shift < 16; shift += 4) {
		bcd |= value % 10 << shift;
		value /= 10;
	}
	return (u16)bcd;
}

static u32 from_bcd(u32 bcd)
{
	return (bcd >> 12) * 1000 + (bcd >> 8 & 15) * 100 + (bcd >> 4 & 15) * 10 + (bcd & 15);
}

/* What the counting element shows, as the guest reads it. */
static u16 counter_value(const struct pit_counter *counter, u64 clocks)
{
	u32 modulus = counter_modulus(counter);
	u32 value = counter->count;
	u32 passed;

	if (!counter->loaded)
		return 0;
	if (counter->mode == 2) {
		value -= counter_phase(counter, clocks);
	} else if (counter->mode == 3) {
		value -= counter_phase(counter, clocks * 2);
		value &= ~1u;
	} else if (counter_counts(counter)) {
		divide_u64(clocks, modulus, &passed);
		value += modulus - passed;
	}
	value %= modulus;
	return counter->bcd ? to_bcd(value) : (u16)value;
}

/* Rising edges of the output since the counter was loaded. */
static u64 counter_edges(const struct pit_counter *counter, u64 clocks)
{
	if (!counter_counts(counter))
		return 0;
	if (counter_is_periodic(counter))
		return divide_u64(clocks, counter->count, NULL);
	/* Modes 4 and 5 give a low pulse of one clock. */
	return clocks >= counter->count + (counter->mode >= 4);
}

/* Edges not reported outlive a new count: the interrupt has been requested. */
static void counter_keep_edges(struct pit_counter *counter, u64 clocks)
{
	u64 edges = counter->edges_kept + counter_edges(counter, clocks) - counter->edges_taken;

	counter->edges_kept = edges < UINT32_MAX ? (u32)edges : UINT32_MAX;
	counter->edges_taken = 0;
}

/* Lets a new count take over if its time has come; returns the clocks so far. */
static u64 counter_settle(const struct pit *pit, struct pit_counter *counter, u64 now)
{
	u64 clocks = counter_clocks(pit, counter, now);

	if (counter->next_count == 0 || clocks < counter->switch_tick)
		return clocks;
	counter_keep_edges(counter, counter->switch_tick);
	counter->start += tsc_of(pit, counter->switch_tick);
	counter->count = counter->next_count;
	counter->next_count = 0;
	return counter_clocks(pit, counter, now);
}

static void counter_load(const struct pit *pit, struct pit_counter *counter, u16 raw, u64 now)
{
	u32 count = counter->bcd ? from_bcd(raw) : raw;
	u64 clocks = counter_settle(pit, counter, now);

	if (count == 0)
		count = counter_modulus(counter);
	if (counter->loaded && counter_needs_trigger(counter)) {
		counter->next_count = count;
		counter->switch_tick = UINT64_MAX;
	} else if (counter->loaded && counter_is_periodic(counter) && counter->gate) {
		counter->next_count = count;
		counter->switch_tick =
			(divide_u64(clocks, counter->count, NULL) + 1) * counter->count;
	} else {
		counter_keep_edges(counter, clocks);
		counter->start = now;
		counter->count = count;
		counter->stopped_tick = 0;
		counter->loaded = true;
	}
}

static void counter_write(const struct pit *pit, struct pit_counter *counter, u8 value, u64 now)
{
	switch (counter->access) {
	case ACCESS_LOW:
		counter_load(pit, counter, value, now);
		break;
	case ACCESS_HIGH:
		counter_load(pit, counter, (u16)(value << 8), now);
		break;
	default:
		if (counter->write_high) {
			counter_load(pit, counter, (u16)(value << 8 | counter->write_low), now);
		} else {
			counter->write_low = value;
			/* The first byte stops a counter in mode 0. */
			if (counter->mode == 0) {
				counter_keep_edges(counter, counter_settle(pit, counter, now));
				counter->loaded = false;
			}
		}
		counter->write_high = !counter->write_high;
	}
}

static u8 counter_read(const struct pit *pit, struct pit_counter *counter, u64 now)
{
	bool high = counter->access == ACCESS_HIGH;
	u16 value = counter->latch;

	if (counter->status_latched) {
		counter->status_latched = false;
		return counter->status;
	}
	if (!counter->latched)
		value = counter_value(counter, counter_settle(pit, counter, now));
	if (counter->access == ACCESS_BOTH) {
		high = counter->read_high;
		counter->read_high = !high;
	}
	if (high || counter->access != ACCESS_BOTH)
		counter->latched = false;
	return (u8)(high ? value >> 8 : value);
}

static void counter_latch(const struct pit *pit, struct pit_counter *counter, u64 now)
{
	if (counter->latched)
		return;
	counter->latch = counter_value(counter, counter_settle(pit, counter, now));
	counter->latched = true;
}

static void counter_latch_status(const struct pit *pit, struct pit_counter *counter, u64 now)
{
	u64 clocks = counter_settle(pit, counter, now);
	unsigned status = (unsigned)counter->access << 4 | (unsigned)counter->mode << 1 |
			  counter->bcd;

	if (counter->status_latched)
		return;
	if (counter_output(counter, clocks))
		status |= STATUS_OUTPUT;
	if (!counter->loaded || counter->next_count != 0)
		status |= STATUS_NULL_COUNT;
	counter->status = (u8)status;
	counter->status_latched = true;
}

static void counter_control(const struct pit *pit, struct pit_counter *counter, u8 value, u64 now)
{
	u8 mode = value >> 1 & 7;

	counter_keep_edges(counter, counter_settle(pit, counter, now));
	counter->mode = mode > 5 ? mode & 3 : mode;
	counter->access = value >> 4 & 3;
	counter->bcd = value & 1;
	counter->loaded = false;
	counter->triggered = false;
	counter->next_count = 0;
	counter->stopped_tick = 0;
	counter->latched = false;
	counter->status_latched = false;
	counter->read_high = false;
	counter->write_high = false;
}

static void pit_read_back(struct pit *pit, u8 value, u64 now)
{
	for (unsigned i = 0; i < PIT_COUNTERS; i++) {
		if (!(value & (2u << i)))
			continue;
		if (!(value & READ_BACK_NO_COUNT))
			counter_latch(pit, &pit->counter[i], now);
		if (!(value & READ_BACK_NO_STATUS))
			counter_latch_status(pit, &pit->counter[i], now);
	}
}

static void pit_write_control(struct pit *pit, u8 value, u64 now)
{
	unsigned number = value >> 6;

	if (number == COMMAND_READ_BACK)
		pit_read_back(pit, value, now);
	else if (value & 0x30)
		counter_control(pit, &pit->counter[number], value, now);
	else
		counter_latch(pit, &pit->counter[number], now);
}

/* A rising gate starts modes 1, 2, 3, 5 afresh; modes 0 and 4 go on counting. */
static void counter_set_gate(const struct pit *pit, struct pit_counter *counter, bool gate,
			     u64 now)
{
	u64 clocks = counter_settle(pit, counter, now);

	if (gate == counter->gate)
		return;
	if (!gate) {
		counter->stopped_tick = counter_is_periodic(counter) ? 0 : clocks;
	} else if (counter->mode == 0 || counter->mode == 4) {
		counter->start = now - tsc_of(pit, counter->stopped_tick);
	} else {
		counter->start = now;
		counter->triggered = counter->loaded;
		if (counter->next_count != 0)
			counter->count = counter->next_count;
		counter->next_count = 0;
	}
	counter->gate = gate;
}

static u8 pit_read_port_61(struct pit *pit, u64 now)
{
	struct pit_counter *counter = &pit->counter[2];
	u8 value = pit->port_61;

	if (divide_u64(clocks_of(pit, now), REFRESH_CLOCKS, NULL) & 1)
		value |= PORT_61_REFRESH;
	if (counter_output(counter, counter_settle(pit, counter, now)))
		value |= PORT_61_OUTPUT;
	return value;
}

void pit_reset(struct pit *pit, u32 tsc_khz, u64 now)
{
	*pit = (struct pit){ .tsc_khz = tsc_khz };
	for (unsigned i = 0; i < PIT_COUNTERS; i++) {
		pit->counter[i].access = ACCESS_BOTH;
		pit->counter[i].gate = i < 2;
		pit->counter[i].start = now;
	}
}

u8 pit_read(struct pit *pit, u16 port, u64 now)
{
	switch (port) {
	case 0x40:
	case 0x41:
	case 0x42:
		return counter_read(pit, &pit->counter[port - 0x40], now);
	case 0x61:
		return pit_read_port_61(pit, now);
	default:
		return 0xff;
	}
}

void pit_write(struct pit *pit, u16 port, u8 value, u64 now)
{
	switch (port) {
	case 0x40:
	case 0x41:
	case 0x42:
		counter_write(pit, &pit->counter[port - 0x40], value, now);
		break;
	case 0x43:
		pit_write_control(pit, value, now);
		break;
	case 0x61:
		pit->port_61 = value & PORT_61_KEPT;
		counter_set_gate(pit, &pit->counter[2], value & PORT_61_GATE, now);
		break;
	}
}

u64 pit_deadline(const struct pit *pit)
{
	const struct pit_counter *counter = &pit->counter[0];
	u64 clocks = counter->count;

	if (counter->edges_kept > 0)
		return 0;
	if (!counter_counts(counter))
		return TIME_NEVER;
	if (counter_is_periodic(counter))
		clocks *= counter->edges_taken + 1;
	else if (counter->edges_taken > 0)
		return TIME_NEVER;
	else
		clocks += counter->mode >= 4;
	return counter->start + tsc_of(pit, clocks);
}

unsigned pit_expire(struct pit *pit, u64 now)
{
	struct pit_counter *counter = &pit->counter[0];
	unsigned edges;

	counter_keep_edges(counter, counter_settle(pit, counter, now));
	edges = counter->edges_kept;
	counter->edges_kept = 0;
	counter->edges_taken = counter_edges(counter, counter_clocks(pit, counter, now));
	return edges;
}
