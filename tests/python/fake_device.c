/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands behind gandalfctl in the place of /dev/gandalf: a machine of four guests
 * that answers as control.h says. Words in the variable FAKE change it:
 *	denied=1	it refuses everything
 *	busy=N		it refuses the first N actions and writes to an image as busy
 *	kept=N		another program has something done to the guest at the first N looks
 *	version=N	its interface has that version
 *	running=M	bit n: guest n runs at the start
 *	room=N		bytes that the image of the guest "rtos" may have
 *	log=N		bytes that the log has; a line has 64
 *	console=N	bytes that the consoles have
 *	output=N	bytes that a console writes between two looks at it
 *	events=N	events that were ever traced
 *	race=N		events of Linux's that reading its trace makes
 *	races=N		only the first N readings make some
 *	late=N		event N has the time that event N + 1 should have, and the other way round
 *	alive=E		what a sign of life is answered
 *	counted=N	free frames in the list, instead of 1000
 *	locked=1	another program is loading an image
 *	fail=1		started guests fail at once
 *	cpus=N		the machine has N CPUs; the last one's VMM has stopped
 *	migrates=1	the guest "linux" has two vCPUs that move, the second on CPU 1
 *	policies=3	the image of the VMM has so many policies, the first of all
 *	first=N		the first of them is on CPU N
 *	only=N		the second of them may be on CPU N and no other
 *	other=N		the guest "fixed" is one whose vCPUs move, too, the first on CPU N
 * The file that IMAGE names gets an image that was loaded, the one that TYPED
 * names what was typed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "table.h"

#define GUESTS 4
#define LINUX 0
#define RTOS 1
#define OTHER 2
#define KHZ 1000000
#define LINE 64
#define RING GANDALF_CONSOLE_RING
#define MEMORY 0x40000

static struct gandalf_guest_status guests[GUESTS] = {
	{.name = "linux", .kind = GANDALF_KIND_LINUX_SHARED, .flags = GANDALF_GUEST_CONTROL,
	 .memory_size = 192 << 20},
	{.name = "rtos", .kind = GANDALF_KIND_RTOS, .priority = 10, .memory_size = MEMORY},
	{.name = "fixed", .kind = GANDALF_KIND_RTOS, .priority = 20, .memory_size = MEMORY},
	{.name = "dead", .kind = GANDALF_KIND_RTOS, .priority = 30, .memory_size = MEMORY,
	 .state = GANDALF_STATE_STOPPED, .reason = "divide error (#DE) without a handler"},
};
static uint8_t image[MEMORY];
static uint32_t busy, kept, log_bytes, console_bytes, output, events, race, races, raced, late;

static uint32_t number(const char *name, uint32_t otherwise)
{
	const char *words = getenv("FAKE");
	const char *found = words ? strstr(words, name) : NULL;

	return found ? (uint32_t)strtoul(found + strlen(name), NULL, 0) : otherwise;
}

bool device_open(void)
{
	uint32_t running = number("running=", 1 << LINUX | 1 << RTOS);

	for (uint32_t i = 0; i < GUESTS; i++)
		if (running & 1u << i)
			guests[i].state = GANDALF_STATE_RUNNING;
	if (number("migrates=", 0))
		guests[LINUX].flags |= GANDALF_GUEST_MIGRATES;
	if (number("other=", 0))
		guests[OTHER].flags |= GANDALF_GUEST_MIGRATES;
	guests[LINUX].ran = 1500ull * KHZ;
	guests[LINUX].started = guests[RTOS].started = 1000ull * KHZ;
	guests[RTOS].ran = 250ull * KHZ;
	guests[RTOS].image_room = number("room=", 0x10000);
	guests[RTOS].restarts = 3;
	busy = number("busy=", 0);
	kept = number("kept=", 0);
	log_bytes = number("log=", 128);
	console_bytes = number("console=", 10);
	output = number("output=", 0);
	events = number("events=", 3);
	race = number("race=", 0);
	races = number("races=", UINT32_MAX);
	late = number("late=", 0);
	return true;
}

bool device_keep(uint32_t place)
{
	(void)place;
	if (kept == 0)
		return true;
	kept--;
	return false;
}

bool device_lock(void)
{
	return !number("locked=", 0);
}

/* Lines of the same length, with what JSON has to escape. */
static char log_byte(uint32_t n)
{
	char text[LINE], line[LINE + 1];

	snprintf(text, sizeof(text), "line %u says \"\\ \x1b \xe9", n / LINE);
	snprintf(line, sizeof(line), "%-*.*s\n", LINE - 1, LINE - 1, text);
	return line[n % LINE];
}

static void ring_fill(char ring[RING], uint32_t written, bool log)
{
	for (uint32_t n = written > RING ? written - RING : 0; n != written; n++)
		ring[n % RING] = log ? log_byte(n) : (char)('a' + n % 26);
}

/* An event each millisecond; the late one and the next have each other's time. */
static uint64_t trace_time(uint32_t n)
{
	uint32_t milliseconds = n;

	if (late && n == late)
		milliseconds = n + 1;
	else if (late && n == late + 1)
		milliseconds = late;
	return 1000ull * milliseconds * KHZ / 1000;
}

/* The guests at places 0 and 1 and the VMM record in turn, so each of their rings has each third
 * event. The others have recorded none. */
static void trace_fill(struct gandalf_trace_ring *ring, uint32_t cpu, uint32_t guest)
{
	uint32_t vcpu = guest == GANDALF_PLACE_VMM ? 0xffff : guest;
	uint32_t end = events + cpu + (vcpu == 0 ? 3 * raced : 0);

	ring->next = 0;
	for (uint32_t n = 0; n < end; n++)
		if (vcpu == (n % 3 == 2 ? 0xffff : n % 3))
			ring->events[ring->next++ % GANDALF_TRACE_EVENTS] =
				(struct gandalf_trace_event){
					.time = trace_time(n) + 100ull * cpu * KHZ / 1000,
					.type = (uint16_t)(n % 14),
					.vcpu = (uint16_t)vcpu,
					.first = n,
					.second = 2 * n,
				};
}

static long copy(void *to, uint32_t size, uint32_t offset, const void *from, uint32_t whole)
{
	if (offset >= whole)
		return 0;
	size = size < whole - offset ? size : whole - offset;
	memcpy(to, (const char *)from + offset, size);
	return (long)size;
}

static long read_system(void *to, uint32_t size, uint32_t offset)
{
	struct gandalf_system_status system = {
		.abi_version = number("version=", GANDALF_ABI_VERSION),
		.guest_count = GUESTS,
		.place = LINUX,
		.tsc_khz = KHZ,
		.pool_frames = 2048,
		.pool_free = 1000,
		.pool_counted = number("counted=", 1000),
		.tsc_rate = KHZ * 100,
		.log_bytes = log_bytes,
		.cores = number("cpus=", 0),
		.now = 5000ull * KHZ,
	};

	return copy(to, size, offset, &system, sizeof(system));
}

/* Each CPU has one event more than the one in front of it. */
static long read_core(void *to, uint32_t cpu, uint32_t size, uint32_t offset)
{
	uint32_t cpus = number("cpus=", 0);
	struct gandalf_core_status status = {
		.state = cpu == cpus - 1 ? GANDALF_CORE_STOPPED : GANDALF_CORE_RUNS,
		.pool_frames = 2048,
		.pool_free = 1000 + cpu,
		.pool_counted = 1000 + cpu,
		.reason = "",
	};

	if (cpu >= cpus)
		return GANDALF_ERROR_ARGUMENT;
	if (status.state == GANDALF_CORE_STOPPED)
		strcpy(status.reason, "its reason");
	return copy(to, size, offset, &status, sizeof(status));
}

static long read_counters(void *to, uint32_t size, uint32_t offset)
{
	uint32_t values[] = {
#define X(name, text) sizeof(#name),
		GANDALF_COUNTER_LIST(X)
#undef X
	};

	return copy(to, size, offset, values, sizeof(values));
}

static long read_console(void *to, uint32_t place, uint32_t size, uint32_t offset)
{
	bool log = place == GANDALF_PLACE_VMM;
	char ring[RING];

	ring_fill(ring, log ? log_bytes : console_bytes, log);
	return copy(to, size, offset, ring, sizeof(ring));
}

/* The guest at place 3 has no vCPU on the first CPU. */
static long read_trace(void *to, uint32_t place, uint32_t size, uint32_t offset)
{
	static struct gandalf_trace_ring ring;
	uint32_t cpu = place >> (GANDALF_TRACE_CPU_SHIFT - GANDALF_PLACE_SHIFT);
	uint32_t guest = place % (1 << (GANDALF_TRACE_CPU_SHIFT - GANDALF_PLACE_SHIFT));

	if (guest >= GUESTS && guest != GANDALF_PLACE_VMM)
		return GANDALF_ERROR_ARGUMENT;
	if (guest == 3 && cpu == 0)
		return 0;
	trace_fill(&ring, cpu, guest);
	if (guest == LINUX && size > sizeof(ring.next) && races) {
		raced += race;
		races--;
	}
	return copy(to, size, offset, &ring, sizeof(ring));
}

long device_read(uint32_t object, uint32_t place, uint32_t offset, void *to, uint32_t size)
{
	static const char report[] = "guest dead stopped: divide error (#DE) without a handler\n"
				     "  at cs:eip 0061:00001193\n";

	if (number("denied=", 0))
		return GANDALF_ERROR_PERMISSION;
	if (object == GANDALF_OBJECT_TRACE)
		return read_trace(to, place, size, offset);
	if (place >= GUESTS && place != GANDALF_PLACE_VMM)
		return GANDALF_ERROR_ARGUMENT;
	switch (object) {
	case GANDALF_OBJECT_SYSTEM:
		return read_system(to, size, offset);
	case GANDALF_OBJECT_CORE:
		return read_core(to, place, size, offset);
	case GANDALF_OBJECT_GUEST:
		guests[place].console_bytes = console_bytes += output;
		return copy(to, size, offset, &guests[place], sizeof(guests[place]));
	case GANDALF_OBJECT_COUNTERS:
		return read_counters(to, size, offset);
	case GANDALF_OBJECT_REPORT:
		return copy(to, size, offset, report,
			    *guests[place].reason ? sizeof(report) - 1 : 0);
	case GANDALF_OBJECT_CONSOLE:
		return read_console(to, place, size, offset);
	}
	return GANDALF_ERROR_ARGUMENT;
}

static void append(const char *variable, const void *bytes, size_t size)
{
	FILE *file = fopen(getenv(variable), "ab");

	fwrite(bytes, 1, size, file);
	fclose(file);
}

/* Seven bytes of what was typed at a time; of an image, 4096. */
long device_write(uint32_t object, uint32_t place, uint32_t offset, const void *from, uint32_t size)
{
	if (object == GANDALF_OBJECT_CONSOLE) {
		size = size < 7 ? size : 7;
		append("TYPED", from, size);
		return (long)size;
	}
	if (object != GANDALF_OBJECT_IMAGE || place != RTOS || offset >= guests[RTOS].image_room)
		return GANDALF_ERROR_ARGUMENT;
	if (guests[RTOS].state == GANDALF_STATE_RUNNING)
		return GANDALF_ERROR_STATE;
	if (busy) {
		busy--;
		return GANDALF_ERROR_BUSY;
	}
	size = size < 4096 ? size : 4096;
	memcpy(image + offset, from, size);
	return (long)size;
}

static long start(struct gandalf_guest_status *guest)
{
	if (number("fail=", 0)) {
		guest->state = GANDALF_STATE_STOPPED;
		strcpy(guest->reason, "it failed");
	} else {
		guest->state = GANDALF_STATE_RUNNING;
	}
	return 0;
}

/* The states in which an action is right, as bits. */
static bool suits(const struct gandalf_guest_status *guest, uint32_t states)
{
	return states & 1u << guest->state;
}

static long act_on_vcpu(uint32_t action, uint32_t place, uint32_t vcpu, uint32_t cpu)
{
	static uint32_t at = 1, moves;

	if (place == OTHER && action == GANDALF_ACTION_WHERE && vcpu == 0)
		return (long)number("other=", 0);
	if (place != LINUX || !number("migrates=", 0) || vcpu > 1)
		return GANDALF_ERROR_ARGUMENT;
	if (action == GANDALF_ACTION_WHERE)
		return vcpu ? (long)(moves << 8 | at) : (long)number("first=", 0);
	if (action == GANDALF_ACTION_TICKS)
		return cpu < GANDALF_TICKS_KINDS ? (long)(1000 * vcpu + cpu)
						 : GANDALF_ERROR_ARGUMENT;
	if (!vcpu || cpu > 1 || cpu != number("only=", cpu))
		return GANDALF_ERROR_ARGUMENT;
	moves += at != cpu;
	at = cpu;
	return 0;
}

/* At first the guest has none. */
static long act_on_policy(uint32_t place, uint32_t wanted)
{
	static long policy = GANDALF_PREEMPTION_NONE;

	if (place != LINUX || !number("migrates=", 0))
		return GANDALF_ERROR_ARGUMENT;
	if (wanted < number("policies=", GANDALF_PREEMPTION_POLICIES))
		policy = (long)wanted;
	else if (wanted != GANDALF_PREEMPTION_ASK)
		return GANDALF_ERROR_ARGUMENT;
	return policy;
}

long device_act(uint32_t action, uint32_t place, uint32_t size, uint32_t entry, uint32_t crc)
{
	struct gandalf_guest_status *guest = &guests[place];
	const uint32_t down = 1 << GANDALF_STATE_OFF | 1 << GANDALF_STATE_STOPPED;
	const uint32_t wanted[] = {down, ~down, ~0u, 1 << GANDALF_STATE_RUNNING,
				   1 << GANDALF_STATE_PAUSED, down};

	if (busy) {
		busy--;
		return GANDALF_ERROR_BUSY;
	}
	if (action >= GANDALF_ACTION_MOVE && action <= GANDALF_ACTION_TICKS)
		return act_on_vcpu(action, place, size, entry);
	if (action == GANDALF_ACTION_POLICY)
		return act_on_policy(place, size);
	if (!suits(guest, wanted[action]))
		return GANDALF_ERROR_STATE;
	switch (action) {
	case GANDALF_ACTION_START:
	case GANDALF_ACTION_RESTART:
		return start(guest);
	case GANDALF_ACTION_STOP:
		guest->state = GANDALF_STATE_OFF;
		return 0;
	case GANDALF_ACTION_PAUSE:
		guest->state = GANDALF_STATE_PAUSED;
		return 0;
	case GANDALF_ACTION_RESUME:
		guest->state = GANDALF_STATE_RUNNING;
		return 0;
	}
	append("IMAGE", &entry, sizeof(entry));
	append("IMAGE", &crc, sizeof(crc));
	append("IMAGE", image, size);
	return 0;
}

long device_alive(void)
{
	return (int)number("alive=", 0);
}
