/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the virtual 8254, as a function of time. A counter has a count and the time at which that was
 * loaded. The value that it shows, its output and its edges follow from the clocks since then.
 */
#include "device/pit.h"

#include "lib/math.h"

/* Half of the chip's 1,193,182 Hz, so that the other factor, 1000 / 2 times the TSC's kHz, fits 32
 * bits. */
#define PIT_HALF_HZ 596591u
#define TSC_HALF_PER_KHZ 500u
/* Clocks between two changes of the refresh bit in port 0x61, as every BIOS programs counter 1. */
#define REFRESH_CLOCKS 18

enum { PORT_61_GATE = 0x01, PORT_61_KEPT = 0x0f, PORT_61_REFRESH = 0x10, PORT_61_OUTPUT = 0x20 };
enum { ACCESS_LATCH, ACCESS_LOW, ACCESS_HIGH, ACCESS_BOTH };

/* Returns the ticks of the TSC after which so many clocks have passed. */
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

/* Returns how many clocks of its period a periodic counter has done. speed is 1, or 2 for a counter
 * that counts by twos. */
static u32 counter_phase(const struct pit_counter *counter, unsigned speed)
{
	u32 phase;

	divide_u64(counter->clocks * speed, counter->count, &phase);
	return phase;
}

static bool counter_output(const struct pit_counter *counter)
{
	if (!counter->loaded)
		return counter->mode != 0;
	if (counter->mode == 0)
		return counter->clocks >= counter->count;
	if (!is_periodic(counter))
		return counter->clocks != counter->count;
	return !counter->gate || counter_phase(counter, 1) <
		(counter->mode == 2 ? counter->count - 1 : (counter->count + 1) / 2);
}

/* Returns the value that a guest reads from the counter. */
static u16 counter_value(const struct pit_counter *counter)
{
	if (!counter->loaded)
		return 0;
	if (counter->mode == 2)
		return (u16)(counter->count - counter_phase(counter, 1));
	if (counter->mode == 3) /* counts by twos */
		return (u16)((counter->count - counter_phase(counter, 2)) & ~1u);
	return (u16)(counter->count - counter->clocks);
}

/* Returns the rising edges of the output since the counter was loaded. */
static u64 counter_edges(const struct pit_counter *counter)
{
	if (!counter->loaded)
		return 0;
	if (is_periodic(counter))
		return divide_u64(counter->clocks, counter->count, NULL);
	return counter->clocks >= counter->count;
}

/* Brings a counter up to now. */
static void counter_settle(const struct pit *pit, struct pit_counter *counter, u64 now)
{
	if (counter->gate)
		counter->clocks = clocks_of(pit, now - counter->start);
}

/* The functions from here on take counters that have been brought up to now. */

/* Stops a counter. An edge of counter 0 that pit_expire() has not reported is kept, since the chip
 * would have requested an interrupt. */
static void counter_stop(struct pit *pit, struct pit_counter *counter)
{
	if (counter == pit->counter && counter_edges(counter) > counter->edges_taken)
		pit->edge_kept = true;
	counter->edges_taken = 0;
	counter->loaded = false;
}

static void counter_write(struct pit *pit, struct pit_counter *counter, u8 value, u64 now)
{
	bool first = counter->access == ACCESS_BOTH && !counter->write_high;

	counter->written = (u16)(counter->write_high ? counter->written | value << 8 : value);
	if (counter->access == ACCESS_BOTH)
		counter->write_high = first;
	/* The first of two bytes stops a counter in mode 0 only. */
	if (!first || counter->mode == 0)
		counter_stop(pit, counter);
	if (first)
		return;
	counter->start = now;
	counter->clocks = 0;
	counter->count = counter->written == 0 ? 65536 : counter->written;
	counter->written = 0;
	counter->loaded = true;
}

static u8 counter_read(struct pit_counter *counter)
{
	u16 value = counter->latched ? counter->latch : counter_value(counter);
	bool high = counter->read_high;

	if (counter->access == ACCESS_BOTH)
		counter->read_high = !high;
	if (high || counter->access != ACCESS_BOTH)
		counter->latched = false;
	return (u8)(high ? value >> 8 : value);
}

/* The mode for each number in a control word. Modes 1 and 5, which need a trigger by the gate,
 * become 0 and 4. */
static const u8 modes[8] = { 0, 0, 2, 3, 4, 4, 2, 3 };

/* Takes a control word, which latches a counter's value, or stops it and sets its mode. */
static void pit_write_control(struct pit *pit, u8 value, u64 now)
{
	struct pit_counter *counter = &pit->counter[value >> 6];
	u8 access = value >> 4 & 3;

	if (value >> 6 >= PIT_COUNTERS)
		return;
	counter_settle(pit, counter, now);
	if (access == ACCESS_LATCH) {
		if (!counter->latched)
			counter->latch = counter_value(counter);
		counter->latched = true;
		return;
	}
	counter_stop(pit, counter);
	*counter = (struct pit_counter){
		.mode = modes[value >> 1 & 7], .access = access, .gate = counter->gate,
		.read_high = access == ACCESS_HIGH, .write_high = access == ACCESS_HIGH,
	};
}

/* A rising gate starts modes 2 and 3 afresh; modes 0 and 4 go on counting. */
static void counter_set_gate(const struct pit *pit, struct pit_counter *counter, bool gate, u64 now)
{
	if (!gate && is_periodic(counter))
		counter->clocks = 0;
	if (gate && !counter->gate)
		counter->start = now - tsc_of(pit, counter->clocks);
	counter->gate = gate;
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
	for (unsigned i = 0; i < PIT_COUNTERS; i++)
		pit->counter[i] = (struct pit_counter){
			.start = now, .access = ACCESS_BOTH, .gate = i < 2,
		};
}

/* Returns the counter that a port belongs to, brought up to now, or NULL. */
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
		counter_write(pit, counter, value, now);
	}
}

u64 pit_deadline(const struct pit *pit)
{
	const struct pit_counter *counter = &pit->counter[0];

	if (pit->edge_kept)
		return 0;
	if (!counter->loaded || (!is_periodic(counter) && counter->edges_taken > 0))
		return TIME_NEVER;
	return counter->start + tsc_of(pit, counter->count * (counter->edges_taken + 1));
}

bool pit_expire(struct pit *pit, u64 now)
{
	struct pit_counter *counter = &pit->counter[0];
	u64 edges;
	bool risen;

	counter_settle(pit, counter, now);
	edges = counter_edges(counter);
	risen = pit->edge_kept || edges > counter->edges_taken;
	counter->edges_taken = edges;
	pit->edge_kept = false;
	return risen;
}
