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

/* The first moment at which so many clocks have passed. */
static u64 tsc_of(const struct pit *pit, u64 clocks)
{
	return multiply_divide_up(clocks, pit->tsc_khz * TSC_HALF_PER_KHZ, PIT_HALF_HZ);
}

static u64 clocks_of(const struct pit *pit, u64 tsc)
{
	return multiply_divide(tsc, PIT_HALF_HZ, pit->tsc_khz * TSC_HALF_PER_KHZ);
}

static bool is_periodic(const struct pit_counter *counter)
{
	return counter->mode == 2 || counter->mode == 3;
}

static bool is_triggered(const struct pit_counter *counter)
{
	return counter->mode == 1 || counter->mode == 5;
}

static u32 counter_modulus(const struct pit_counter *counter)
{
	return counter->bcd ? 10000 : 65536;
}

static bool counter_counts(const struct pit_counter *counter)
{
	return counter->loaded && (!is_triggered(counter) || counter->triggered);
}

/* Clocks into the period of a periodic counter, at once or twice its speed. */
static u32 counter_phase(const struct pit_counter *counter, unsigned speed)
{
	u32 phase;

	divide_u64(counter->clocks * speed, counter->count, &phase);
	return phase;
}

static bool counter_output(const struct pit_counter *counter)
{
	u32 count = counter->count;

	if (!counter_counts(counter))
		return counter->mode != 0;
	if (counter->mode < 2)
		return counter->clocks >= count;
	if (!is_periodic(counter))
		return counter->clocks != count;
	if (!counter->gate)
		return true;
	if (counter->mode == 2)
		return counter_phase(counter, 1) != count - 1;
	return counter_phase(counter, 1) < (count + 1) / 2;
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
	u32 value = 0;

	for (unsigned shift = 16; shift > 0; shift -= 4)
		value = value * 10 + (bcd >> (shift - 4) & 15);
	return value;
}

/* What the counting element shows, as the guest reads it. */
static u16 counter_value(const struct pit_counter *counter)
{
	u32 modulus = counter_modulus(counter);
	u32 value = counter->count;
	u32 passed;

	if (!counter->loaded)
		return 0;
	if (is_periodic(counter)) {
		value -= counter_phase(counter, counter->mode - 1u);
		/* Mode 3 counts by twos. */
		if (counter->mode == 3)
			value &= ~1u;
	} else if (counter_counts(counter)) {
		divide_u64(counter->clocks, modulus, &passed);
		value += modulus - passed;
	}
	value %= modulus;
	return counter->bcd ? to_bcd(value) : (u16)value;
}

/* Rising edges of the output since the counter was loaded. */
static u64 counter_edges(const struct pit_counter *counter)
{
	if (!counter_counts(counter))
		return 0;
	if (is_periodic(counter))
		return divide_u64(counter->clocks, counter->count, NULL);
	/* Modes 4 and 5 give a low pulse of one clock. */
	return counter->clocks >= counter->count + (counter->mode >= 4);
}

/* Edges not reported outlive a new count: the interrupt has been requested. */
static void counter_keep_edges(struct pit_counter *counter)
{
	u64 edges = counter->edges_kept + counter_edges(counter) - counter->edges_taken;

	counter->edges_kept = edges < UINT32_MAX ? (u32)edges : UINT32_MAX;
	counter->edges_taken = 0;
}

/* Counts the clocks up to now, and lets a new count take over if it is due. */
static void counter_settle(const struct pit *pit, struct pit_counter *counter, u64 now)
{
	if (!counter->gate && !is_triggered(counter))
		return;
	counter->clocks = clocks_of(pit, now - counter->start);
	if (counter->next_count == 0 || counter->clocks < counter->switch_clock)
		return;
	counter->clocks = counter->switch_clock;
	counter_keep_edges(counter);
	counter->start += tsc_of(pit, counter->switch_clock);
	counter->count = counter->next_count;
	counter->next_count = 0;
	counter->clocks = clocks_of(pit, now - counter->start);
}

/* From here on counters have been brought up to now. */

static void counter_load(struct pit_counter *counter, u16 raw, u64 now)
{
	u32 count = counter->bcd ? from_bcd(raw) : raw;

	if (count == 0)
		count = counter_modulus(counter);
	if (counter->loaded && (is_triggered(counter) || (is_periodic(counter) && counter->gate))) {
		/* Waits for the trigger or the end of the period. */
		counter->next_count = count;
		counter->switch_clock = UINT64_MAX;
		if (is_periodic(counter))
			counter->switch_clock = counter->clocks + counter->count -
						counter_phase(counter, 1);
		return;
	}
	counter_keep_edges(counter);
	counter->start = now;
	counter->clocks = 0;
	counter->count = count;
	counter->loaded = true;
}

static void counter_write(struct pit_counter *counter, u8 value, u64 now)
{
	u16 raw = value;

	if (counter->access == ACCESS_BOTH) {
		counter->write_high = !counter->write_high;
		if (counter->write_high) {
			counter->write_low = value;
			/* The first byte stops a counter in mode 0. */
			if (counter->mode == 0) {
				counter_keep_edges(counter);
				counter->loaded = false;
			}
			return;
		}
		raw = (u16)(value << 8 | counter->write_low);
	} else if (counter->access == ACCESS_HIGH) {
		raw = (u16)(value << 8);
	}
	counter_load(counter, raw, now);
}

static u8 counter_read(struct pit_counter *counter)
{
	bool high = counter->access == ACCESS_HIGH;
	u16 value = counter->latch;

	if (counter->status_latched) {
		counter->status_latched = false;
		return counter->status;
	}
	if (!counter->latched)
		value = counter_value(counter);
	if (counter->access == ACCESS_BOTH) {
		high = counter->read_high;
		counter->read_high = !high;
	}
	if (high || counter->access != ACCESS_BOTH)
		counter->latched = false;
	return (u8)(high ? value >> 8 : value);
}

static void counter_latch(struct pit_counter *counter)
{
	if (!counter->latched)
		counter->latch = counter_value(counter);
	counter->latched = true;
}

static void counter_latch_status(struct pit_counter *counter)
{
	unsigned status = (unsigned)counter->access << 4 | (unsigned)counter->mode << 1 |
			  counter->bcd;

	if (counter_output(counter))
		status |= STATUS_OUTPUT;
	if (!counter->loaded || counter->next_count != 0)
		status |= STATUS_NULL_COUNT;
	if (!counter->status_latched)
		counter->status = (u8)status;
	counter->status_latched = true;
}

/* A control word stops the counter and clears all but its wiring and its edges. */
static void counter_control(struct pit_counter *counter, u8 value)
{
	u8 mode = value >> 1 & 7;

	counter_keep_edges(counter);
	*counter = (struct pit_counter){
		.start = counter->start,
		.edges_kept = counter->edges_kept,
		.mode = mode > 5 ? mode & 3 : mode,
		.access = value >> 4 & 3,
		.bcd = value & 1,
		.gate = counter->gate,
	};
}

static void counter_read_back(struct pit_counter *counter, u8 value)
{
	if (!(value & READ_BACK_NO_COUNT))
		counter_latch(counter);
	if (!(value & READ_BACK_NO_STATUS))
		counter_latch_status(counter);
}

static void pit_write_control(struct pit *pit, u8 value, u64 now)
{
	struct pit_counter *counter = pit->counter;
	unsigned command = value >> 6;

	for (unsigned i = 0; i < PIT_COUNTERS; i++, counter++) {
		if (command == COMMAND_READ_BACK ? !(value & 2u << i) : command != i)
			continue;
		counter_settle(pit, counter, now);
		if (command == COMMAND_READ_BACK)
			counter_read_back(counter, value);
		else if (value & 0x30)
			counter_control(counter, value);
		else
			counter_latch(counter);
	}
}

/* A rising gate starts modes 1, 2, 3, 5 afresh; modes 0 and 4 go on counting. */
static void counter_set_gate(const struct pit *pit, struct pit_counter *counter, bool gate,
			     u64 now)
{
	bool rises = gate && !counter->gate;

	counter->gate = gate;
	if (!gate && is_periodic(counter))
		counter->clocks = 0;
	if (!rises)
		return;
	counter->start = now;
	if (counter->mode == 0 || counter->mode == 4) {
		counter->start -= tsc_of(pit, counter->clocks);
		return;
	}
	counter->clocks = 0;
	counter->triggered = counter->loaded;
	if (counter->next_count != 0)
		counter->count = counter->next_count;
	counter->next_count = 0;
}

static u8 pit_read_port_61(const struct pit *pit, u64 now)
{
	u8 value = pit->port_61;

	if (divide_u64(clocks_of(pit, now), REFRESH_CLOCKS, NULL) & 1)
		value |= PORT_61_REFRESH;
	if (counter_output(&pit->counter[2]))
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

/* The counter that a port belongs to, brought up to now, or NULL. */
static struct pit_counter *pit_select(struct pit *pit, u16 port, u64 now)
{
	struct pit_counter *counter = &pit->counter[port == 0x61 ? 2 : port & 3];

	if ((port < 0x40 || port > 0x42) && port != 0x61)
		return NULL;
	counter_settle(pit, counter, now);
	return counter;
}

u8 pit_read(struct pit *pit, u16 port, u64 now)
{
	struct pit_counter *counter = pit_select(pit, port, now);

	if (counter == NULL)
		return 0xff;
	return port == 0x61 ? pit_read_port_61(pit, now) : counter_read(counter);
}

void pit_write(struct pit *pit, u16 port, u8 value, u64 now)
{
	struct pit_counter *counter = pit_select(pit, port, now);

	if (port == 0x43) {
		pit_write_control(pit, value, now);
	} else if (port == 0x61) {
		pit->port_61 = value & PORT_61_KEPT;
		counter_set_gate(pit, counter, value & PORT_61_GATE, now);
	} else if (counter != NULL) {
		counter_write(counter, value, now);
	}
}

u64 pit_deadline(const struct pit *pit)
{
	const struct pit_counter *counter = &pit->counter[0];
	u64 clocks = counter->count;

	if (counter->edges_kept > 0)
		return 0;
	if (!counter_counts(counter) || (!is_periodic(counter) && counter->edges_taken > 0))
		return TIME_NEVER;
	if (is_periodic(counter))
		clocks *= counter->edges_taken + 1;
	else
		clocks += counter->mode >= 4;
	return counter->start + tsc_of(pit, clocks);
}

unsigned pit_expire(struct pit *pit, u64 now)
{
	struct pit_counter *counter = &pit->counter[0];
	unsigned edges;

	counter_settle(pit, counter, now);
	counter_keep_edges(counter);
	edges = counter->edges_kept;
	counter->edges_kept = 0;
	counter->edges_taken = counter_edges(counter);
	return edges;
}
