/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measurement itself. All of it hangs on measurement_sample(), which compares the CPU's state
 * with the last one and, if it is another, attributes the instructions in between.
 *
 * It is called where each block of translated code begins, before the instruction behind a CLI and
 * around each delivery of an interrupt or exception. That is enough: QEMU ends a block behind every
 * other instruction that changes IF, the privilege level or the shadow of STI and MOV SS, and an
 * instruction that faults in the middle of a block is followed by a delivery. Instructions are
 * counted one by one, so a block that is left early counts what was begun.
 */
#include "measurement.h"

#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "history.h"
#include "options.h"
#include "section.h"

struct measurement measurement;
struct recorded recorded[RECORDED];
uint64_t instructions;
uint64_t events[RINGS][EVENT_COUNT];

/* The blocks of the VMM's present window, with the count of instructions at each. Those of a window
 * too long for it add up to its last entry. */
static struct block trail[BLOCKS];
static unsigned trail_length;

/* The delivery behind which the CPU is looked at; NONE at any other look. */
static struct arrival arrival;

/* Where a table of so many entries begins to look for an address. */
static uint32_t hash(uint64_t linear, uint32_t entries)
{
	uint32_t mixed = (uint32_t)(linear ^ linear >> 32) * 2654435761u;

	return (uint32_t)((uint64_t)mixed * entries >> 32);
}

/* Gives the instructions since the last call to the block that was executed, and names the next:
 * 0 if that is not the VMM's. A full table drops the rest. */
static void profile_move(uint64_t linear)
{
	struct block *running = measurement.running;
	uint32_t start = hash(linear, PROFILE);

	if (running)
		running->instructions += instructions - measurement.running_since;
	measurement.running = NULL;
	measurement.running_since = instructions;
	for (uint32_t i = 0; linear && i < PROFILE && !measurement.running; i++) {
		struct block *at = &measurement.profile[(start + i) % PROFILE];

		if (at->linear == 0)
			at->linear = linear;
		if (at->linear == linear)
			measurement.running = at;
	}
}

static void trail_add(uint64_t linear)
{
	if (trail_length < BLOCKS)
		trail[trail_length++] = (struct block){ linear, instructions };
}

static int compare_places(const void *a, const void *b)
{
	const struct block *first = a, *second = b;

	return first->linear < second->linear ? -1 : first->linear > second->linear;
}
static int compare_costs(const void *a, const void *b)
{
	const struct block *first = a, *second = b;

	return first->instructions < second->instructions ? 1 :
	       first->instructions > second->instructions ? -1 :
							    compare_places(a, b);
}

/* Turns counts at the beginnings of blocks into sums for each block, the most costly first. */
static unsigned trail_sum(void)
{
	unsigned sums = 0;

	for (unsigned i = 0; i < trail_length; i++) {
		uint64_t next = i + 1 < trail_length ? trail[i + 1].instructions : instructions;

		trail[i].instructions = next - trail[i].instructions;
	}
	qsort(trail, trail_length, sizeof(*trail), compare_places);
	for (unsigned i = 0; i < trail_length; i++) {
		if (sums && trail[sums - 1].linear == trail[i].linear)
			trail[sums - 1].instructions += trail[i].instructions;
		else
			trail[sums++] = trail[i];
	}
	qsort(trail, sums, sizeof(*trail), compare_costs);
	return sums;
}

/* The handler at an address, or a free place for it; null if there are too many. */
static struct handler *handler_place(uint64_t linear)
{
	uint32_t start = hash(linear, HANDLERS);

	for (uint32_t i = 0; i < HANDLERS; i++) {
		struct handler *handler = &measurement.handlers[(start + i) % HANDLERS];

		if (handler->linear == linear || handler->linear == 0)
			return handler;
	}
	return NULL;
}

static struct handler *handler_make(uint64_t linear)
{
	struct handler *handler = handler_place(linear);

	if (handler)
		handler->linear = linear;
	return handler;
}

static struct window *windows_place(struct windows *windows, uint64_t length)
{
	struct window *shortest = &windows->longest[0];

	if (windows->kept < LONGEST)
		return &windows->longest[windows->kept++];
	for (unsigned i = 1; i < LONGEST; i++)
		if (windows->longest[i].instructions < shortest->instructions)
			shortest = &windows->longest[i];
	return length > shortest->instructions ? shortest : NULL;
}

/* The handler's own longest window, if one begins at a handler and this is longer. */
static struct window *windows_place_of_handler(struct windows *windows, uint64_t length)
{
	struct handler *handler = handler_place(windows->begin);

	if (windows != &measurement.vmm || !handler || handler->linear == 0)
		return NULL;
	return length > handler->window.instructions ? &handler->window : NULL;
}

static void window_fill(struct window *window, const struct windows *windows, uint64_t end,
			uint64_t last, unsigned sums)
{
	window->instructions = instructions - windows->since;
	window->at = windows->since - measurement.begun;
	window->begin = windows->begin;
	window->end = end;
	window->last = last;
	window->blocks = sums < SHOWN_BLOCKS ? sums : SHOWN_BLOCKS;
	memcpy(window->block, trail, window->blocks * sizeof(*trail));
}

static void windows_keep(struct windows *windows, uint64_t length, uint64_t end)
{
	struct window *places[] = { windows_place(windows, length),
				    windows_place_of_handler(windows, length),
				    section_count(windows, length) };
	uint64_t last = 0;
	unsigned sums = 0;

	if (!places[0] && !places[1] && !places[2])
		return;
	if (windows == &measurement.vmm && trail_length > 0) {
		last = trail[trail_length - 1].linear;
		sums = trail_sum();
	}
	for (unsigned i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (places[i])
			window_fill(places[i], windows, end, last, sums);
}

static void windows_record(const struct windows *windows, uint64_t length, uint64_t end)
{
	if (windows != &measurement.all || !options.record || length < options.record)
		return;
	recorded[measurement.recorded_count++ % RECORDED] = (struct recorded){
		.clock = windows->since_clock,
		.instructions = length,
		.begin = windows->begin,
		.end = end,
	};
}

static void windows_close(struct windows *windows, uint64_t linear)
{
	uint64_t length = instructions - windows->since;
	unsigned bits = length ? 64 - (unsigned)__builtin_clzll(length) : 0;

	windows->open = false;
	windows->count++;
	windows->total += length;
	windows->lengths[bits < LENGTHS ? bits : LENGTHS - 1]++;
	windows_keep(windows, length, linear);
	windows_record(windows, length, linear);
}

static void windows_track(struct windows *windows, bool inside, uint64_t linear)
{
	if (inside == windows->open)
		return;
	if (!inside) {
		windows_close(windows, linear);
		return;
	}
	windows->open = true;
	windows->headless = false;
	windows->arrival = arrival;
	windows->since = instructions;
	windows->since_clock = clock_now();
	windows->begin = linear;
	if (windows == &measurement.vmm)
		trail_length = 0;
}

static void stay_end(void)
{
	struct handler *handler = measurement.stay;
	uint64_t length = instructions - measurement.stay_since;

	measurement.stay = NULL;
	if (!handler)
		return;
	handler->stays++;
	handler->instructions += length;
	handler->masked += measurement.stay_masked;
	if (length > handler->longest)
		handler->longest = length;
}

static void cross(uint32_t from, uint32_t to, bool from_guest, uint64_t linear)
{
	measurement.crossings[from][to]++;
	if (from == 0)
		stay_end();
	if (to != 0)
		return;
	measurement.stay = handler_make(linear);
	measurement.stay_since = instructions;
	measurement.stay_masked = 0;
	if (measurement.stay)
		measurement.stay->from_guest += from_guest;
}

/* The shadow keeps a window shut that IF no longer does, and opens none by itself. */
static unsigned state_now(uint64_t linear)
{
	uint32_t hflags = *cpu.hflags;
	unsigned state = hflags & HFLAGS_RING;

	if (state == 0 && linear - options.vmm < options.vmm_size)
		state |= STATE_VMM;
	if (state == 3 && linear - options.guest < options.guest_size)
		state |= STATE_GUEST;
	if (!(*cpu.eflags & EFLAGS_IF))
		return state | STATE_MASKED;
	return hflags & HFLAGS_SHADOW ? state | (measurement.state & STATE_MASKED) : state;
}

/* Gives the instructions since the last change to the state that they were executed in. */
static void state_account(void)
{
	uint64_t length = instructions - measurement.since;

	measurement.executed[measurement.state] += length;
	if ((measurement.state & (RINGS - 1)) == 0 && measurement.state & STATE_MASKED)
		measurement.stay_masked += length;
	measurement.since = instructions;
}

static void state_change(unsigned state, uint64_t linear)
{
	uint32_t from = measurement.state & (RINGS - 1), to = state & (RINGS - 1);
	bool from_guest = measurement.state & STATE_GUEST;
	unsigned masked_vmm = STATE_MASKED | STATE_VMM;

	state_account();
	measurement.state = state;
	windows_track(&measurement.all, state & STATE_MASKED, linear);
	windows_track(&measurement.vmm, (state & masked_vmm) == masked_vmm, linear);
	if (from != to)
		cross(from, to, from_guest, linear);
}

void measurement_sample(uint64_t linear)
{
	if (measurement.progress != PROGRESS_ON)
		return;
	unsigned state = state_now(linear);

	if (state != measurement.state)
		state_change(state, linear);
	if (measurement.vmm.open)
		trail_add(linear);
	if (state & STATE_VMM || measurement.running)
		profile_move(state & STATE_VMM ? linear : 0);
}

const char *measurement_prepare(void)
{
	const char *wrong = rings_make();

	return wrong ? wrong : history_open();
}

void measurement_begin(uint64_t linear)
{
	memset(&measurement, 0, sizeof(measurement));
	intervals_reset();
	history_begin();
	measurement.begun = measurement.since = instructions;
	measurement.recorded_since = clock_now();
	memcpy(measurement.events, events, sizeof(events));
	measurement.state = state_now(linear);
	measurement.progress = PROGRESS_ON;
	/* A window that is open already is counted from here. */
	unsigned state = measurement.state;

	measurement.state = state & ~STATE_MASKED;
	measurement.all.cut = (state & STATE_MASKED) != 0;
	measurement.vmm.cut = (state & STATE_MASKED) && state & STATE_VMM;
	state_change(state, linear);
	measurement.vmm.headless = measurement.vmm.open;
	measurement_sample(linear);
}

static void windows_cut(struct windows *windows, uint64_t linear)
{
	if (!windows->open)
		return;
	windows->cut++;
	windows_close(windows, linear);
}

void measurement_end(uint64_t linear)
{
	if (measurement.progress != PROGRESS_ON)
		return;
	history_end();
	state_account();
	profile_move(0);
	windows_cut(&measurement.all, linear);
	windows_cut(&measurement.vmm, linear);
	for (unsigned ring = 0; ring < RINGS; ring++)
		for (unsigned i = 0; i < EVENT_COUNT; i++)
			measurement.events[ring][i] =
				events[ring][i] - measurement.events[ring][i];
	measurement.ended = instructions;
	measurement.progress = PROGRESS_ENDED;
}

static void handler_count(enum delivery what, uint32_t from_ring)
{
	struct handler *handler = handler_make(cpu_linear());

	if (!handler)
		return;
	handler->ring = cpu_ring();
	handler->from[from_ring]++;
	if (what == DELIVERY_HARDWARE)
		handler->hardware++;
	else
		handler->exceptions++;
}

void measurement_deliver(enum delivery what, uint32_t from_ring)
{
	if (what == DELIVERY_NONE && (options.record || options.time))
		clock_set();
	if (what == DELIVERY_HARDWARE && options.time)
		clock_look_at_timer();
	if (measurement.progress != PROGRESS_ON)
		return;
	history_look();
	if (what == DELIVERY_NONE)
		section_expect();
	else
		arrival = section_arrival(what, from_ring);
	measurement_sample(cpu_linear());
	arrival = (struct arrival){ .what = DELIVERY_NONE };
	if (what == DELIVERY_NONE) {
		measurement.clock_ended = clock_ask();
		if (!measurement.clock_begun)
			measurement.clock_begun = measurement.clock_ended;
	} else {
		handler_count(what, from_ring);
	}
}
