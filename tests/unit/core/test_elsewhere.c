/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a core reads of the guests of another one. The other core's variables are played by a second
 * image of them, which core_read() looks up.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/asked.h"

#include "core/core.h"
#include "core/guest_kind.h"
#include "core/instances.h"
#include "core/log.h"
#include "core/message.h"
#include "core/module.h"
#include "core/pool.h"
#include "core/rate.h"
#include "core/object.h"
#include "core/trace.h"
#include "elsewhere.h"

#define OWN 1u
#define HOME 0u /* the core of the guest */
#define ABSENT 2u
#define PLACE 1u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

struct vm vms[PLACES_MAXIMUM];
struct vcpu vcpus[PLACES_MAXIMUM];
struct gandalf_table system_table;
struct console_mux consoles;
struct console *log_console = &consoles.consoles[0];
u32 time_tsc_khz = 1000000;
u32 pool_frames, pool_available, rate_measured;
struct gandalf_trace_ring trace_rings[TRACE_RINGS];
char panic_text[256];

static const struct gandalf_guest guest = {
	.kind = GANDALF_KIND_RTOS, .cpu = HOME, .name = "far",
	.priority = 7, .memory_size = 0x40000,
};
static const struct gandalf_guest near = {.kind = GANDALF_KIND_LINUX_SHARED, .cpu = OWN};
static const struct guest_kind kind = {.number = GANDALF_KIND_RTOS, .real_time = true};
static char report[GANDALF_REPORT_SIZE];
static struct vm *const vm = &vms[PLACE];

/* What the other core has of the variables above. */
static struct {
	struct core core;
	struct vm vm;
	struct vcpu vcpu;
	struct console console, log;
	char report[GANDALF_REPORT_SIZE];
	u32 pool_frames, pool_available, rate_measured;
	struct gandalf_trace_ring rings[TRACE_RINGS];
	char panic_text[256];
} other;

static u8 bytes[GANDALF_CONTROL_CHUNK];
static struct vcpu caller = {.vm = &vms[0]};

static bool take(void *to, const void *variable, u32 size, const void *own, u32 own_size,
		 const void *theirs)
{
	u32 distance = (u32)variable - (u32)own;

	if (distance >= own_size)
		return false;
	assert_in_range(distance + size, 0, own_size);
	memcpy(to, (const u8 *)theirs + distance, size);
	return true;
}

#define TAKE(own, theirs) take(to, variable, size, &(own), sizeof(own), &(theirs))

/* Own stand-ins: core_read() and pool_count() have what must be found in the answer. */
void core_read(u32 index, void *to, const void *variable, u32 size)
{
	if (index == OWN) {
		memcpy(to, variable, size);
		return;
	}
	assert_int_equal(index, HOME);
	assert_true(TAKE(core, other.core) || TAKE(vms[PLACE], other.vm) ||
		    TAKE(vcpus[0], other.vcpu) || TAKE(consoles.consoles[1], other.console) ||
		    TAKE(consoles.consoles[0], other.log) || TAKE(report, other.report) ||
		    TAKE(pool_frames, other.pool_frames) ||
		    TAKE(pool_available, other.pool_available) ||
		    TAKE(rate_measured, other.rate_measured) || TAKE(trace_rings, other.rings) ||
		    TAKE(panic_text, other.panic_text));
}

u32 pool_count(void)
{
	return 99;
}

void processor_sleep(void)
{
	fail();
}

static u32 name_of(u32 object, u32 place)
{
	return object | place << GANDALF_PLACE_SHIFT;
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(&other, 0, sizeof(other));
	memset(vms, 0, sizeof(vms));
	memset(bytes, 0xee, sizeof(bytes));
	system_table.cpus = 3;
	core.index = OWN;
	core.vm_count = 2;
	core.current = &vcpus[3];
	vm->guest = &guest;
	vm->index = PLACE;
	vm->kind = &kind;
	vm->report = report;
	vm->console = &consoles.consoles[1];
	vm->state = GANDALF_STATE_OFF; /* as this core believes */
	vm->image.room = 0x1000;
	other.vm = *vm;
	other.vm.vcpus = &vcpus[0];
	other.vm.state = GANDALF_STATE_RUNNING;
	vms[0].guest = &near;
	vms[0].kind = &kind;
	vms[0].report = report;
	vms[0].vcpus = &vcpus[2];
	vms[0].console = &consoles.consoles[2];
	outbox_of(HOME)->alive = outbox_of(OWN)->alive = 1;
	return 0;
}

static int read_at(u32 object, u32 place, u32 offset)
{
	return object_read(&caller, name_of(object, place), offset, bytes, sizeof(bytes));
}

/* The place is above the object's name, and the CPU above both. */
static int trace_read_at(u32 cpu, u32 place, u32 offset)
{
	return read_at(GANDALF_OBJECT_TRACE, cpu << 8 | place, offset);
}

static struct gandalf_trace_ring *trace_ring_of_home(u32 place)
{
	return &other.rings[1 + place];
}

static void expect_ring(u32 cpu, u32 place, u32 next)
{
	assert_int_equal(trace_read_at(cpu, place, 0), sizeof(bytes));
	assert_int_equal(*(u32 *)bytes, next);
}

static void each_object_is_of_the_core_that_has_it(void **state)
{
	const struct gandalf_guest_status *status = (struct gandalf_guest_status *)bytes;

	(void)state;
	vms[0].state = GANDALF_STATE_PAUSED;
	assert_int_equal(read_at(GANDALF_OBJECT_GUEST, 0, 0), sizeof(*status));
	assert_int_equal(status->state, GANDALF_STATE_PAUSED);
	read_at(GANDALF_OBJECT_GUEST, PLACE, 0);
	assert_int_equal(status->state, GANDALF_STATE_RUNNING);
	assert_int_equal(read_at(GANDALF_OBJECT_GUEST, 2, 0), GANDALF_ERROR_ARGUMENT);
	assert_int_equal(read_at(GANDALF_OBJECT_GUEST, GANDALF_PLACE_VMM, 0),
			 GANDALF_ERROR_ARGUMENT);
	assert_int_equal(read_at(GANDALF_OBJECT_IMAGE, PLACE, 0), GANDALF_ERROR_ARGUMENT);
	assert_int_equal(read_at(GANDALF_OBJECT_SYSTEM, 1, 0), GANDALF_ERROR_ARGUMENT);
}

/* The memory of its instance has never been written. This core knows that the guest is off. */
static void of_a_core_that_has_not_come_up_nothing_is_read(void **state)
{
	(void)state;
	outbox_of(HOME)->alive = 0;
	vms[PLACE].vcpus = &vcpus[1];
	vcpus[1].counters[COUNTER_halts] = 9;
	other.vcpu.counters[COUNTER_halts] = 17;
	strcpy(other.report, "of nobody");
	read_at(GANDALF_OBJECT_GUEST, PLACE, 0);
	assert_int_equal(((struct gandalf_guest_status *)bytes)->state, GANDALF_STATE_OFF);
	read_at(GANDALF_OBJECT_COUNTERS, PLACE, 0);
	assert_int_equal(((u32 *)bytes)[COUNTER_halts], 9);
	assert_int_equal(read_at(GANDALF_OBJECT_REPORT, PLACE, 0), 0);
	assert_int_equal(trace_read_at(HOME, PLACE, 0), GANDALF_ERROR_ARGUMENT);
	assert_int_equal(trace_read_at(HOME, GANDALF_PLACE_VMM, 0), GANDALF_ERROR_ARGUMENT);
	assert_int_equal(read_at(GANDALF_OBJECT_CORE, HOME, 0), sizeof(struct gandalf_core_status));
	assert_int_equal(((struct gandalf_core_status *)bytes)->state, GANDALF_CORE_ABSENT);
	assert_int_equal(read_at(GANDALF_OBJECT_CORE, 3, 0), GANDALF_ERROR_ARGUMENT);
}

static void a_guest_is_as_its_core_has_it(void **state)
{
	struct gandalf_guest_status *status = (struct gandalf_guest_status *)bytes;

	(void)state;
	other.vm.fault_restarts = 2;
	other.vm.started = 77;
	other.vcpu.counters[COUNTER_restarts] = 5;
	other.vcpu.ran = 1234;
	other.console.output_total = 4321;
	strcpy(other.vm.reason, "it failed");
	assert_int_equal(read_at(GANDALF_OBJECT_GUEST, PLACE, 0), sizeof(*status));
	assert_string_equal(status->name, "far");
	assert_string_equal(status->reason, "it failed");
	assert_int_equal(status->state, GANDALF_STATE_RUNNING);
	assert_int_equal(status->priority, 7);
	assert_int_equal(status->image_room, 0x1000);
	assert_int_equal(status->restarts, 5);
	assert_int_equal(status->fault_restarts, 2);
	assert_int_equal(status->console_bytes, 4321);
	assert_int_equal(status->ran, 1234);
	assert_int_equal(status->started, 77);
	/* From the middle on, and behind the end. */
	assert_int_equal(read_at(GANDALF_OBJECT_GUEST, PLACE, 16), sizeof(*status) - 16);
	assert_int_equal(*(u32 *)bytes, GANDALF_KIND_RTOS);
	assert_int_equal(read_at(GANDALF_OBJECT_GUEST, PLACE, sizeof(*status)), 0);
}

/* While it has the core its start is subtracted. */
static void a_guest_that_runs_has_run_until_now(void **state)
{
	struct gandalf_guest_status *status = (struct gandalf_guest_status *)bytes;
	u64 before = rdtsc();

	(void)state;
	other.core.current = &vcpus[0];
	other.vcpu.ran = 0;
	read_at(GANDALF_OBJECT_GUEST, PLACE, 0);
	assert_true(status->ran >= before && status->ran <= rdtsc());
}

static void a_report_ends_with_its_text(void **state)
{
	(void)state;
	memset(other.report, 'a', 700);
	strcpy(other.report + 900, "what an older one has left");
	assert_int_equal(read_at(GANDALF_OBJECT_REPORT, PLACE, 0), 512);
	assert_int_equal(read_at(GANDALF_OBJECT_REPORT, PLACE, 512), 188);
	assert_int_equal(bytes[187], 'a');
	for (u32 offset = 700; offset <= 900; offset++)
		assert_int_equal(read_at(GANDALF_OBJECT_REPORT, PLACE, offset), 0);
	assert_int_equal(read_at(GANDALF_OBJECT_REPORT, PLACE, GANDALF_REPORT_SIZE), 0);
	assert_int_equal(read_at(GANDALF_OBJECT_REPORT, PLACE, ~0u), 0);
}

static void counters_and_consoles_are_read(void **state)
{
	(void)state;
	other.vcpu.counters[COUNTER_halts] = 11;
	assert_int_equal(read_at(GANDALF_OBJECT_COUNTERS, PLACE, COUNTER_halts * 4),
			 (COUNTERS - COUNTER_halts) * 4);
	assert_int_equal(*(u32 *)bytes, 11);
	other.console.output[4095] = 'x';
	assert_int_equal(read_at(GANDALF_OBJECT_CONSOLE, PLACE, 4095), 1);
	assert_int_equal(bytes[0], 'x');
	other.log.output[3] = 'l';
	assert_int_equal(read_at(GANDALF_OBJECT_CONSOLE, GANDALF_PLACE_VMM, 3), 512);
	assert_int_equal(bytes[0], 'l');
	assert_int_equal(read_at(GANDALF_OBJECT_IMAGE, PLACE, 0), GANDALF_ERROR_ARGUMENT);
}

static void a_core_that_has_stopped_says_why(void **state)
{
	struct gandalf_core_status *status = (struct gandalf_core_status *)bytes;

	(void)state;
	other.pool_frames = 50;
	other.pool_available = 40;
	strcpy(other.panic_text, "because");
	read_at(GANDALF_OBJECT_CORE, HOME, 0);
	assert_int_equal(status->state, GANDALF_CORE_RUNS);
	assert_int_equal(status->pool_frames, 50);
	assert_int_equal(status->pool_counted, 40);
	assert_string_equal(status->reason, "");
	outbox_of(HOME)->alive = 0;
	outbox_of(HOME)->ended = 1;
	read_at(GANDALF_OBJECT_CORE, HOME, 0);
	assert_int_equal(status->state, GANDALF_CORE_STOPPED);
	assert_string_equal(status->reason, "because");
	read_at(GANDALF_OBJECT_GUEST, PLACE, 0);
	assert_int_equal(((struct gandalf_guest_status *)bytes)->state, GANDALF_STATE_STOPPED);
	assert_string_equal(((struct gandalf_guest_status *)bytes)->reason, "because");
	trace_ring_of_home(PLACE)->events[1].first = 42;
	assert_int_equal(trace_read_at(HOME, PLACE, offsetof(struct gandalf_trace_ring, events[1])),
			 512);
	assert_int_equal(((struct gandalf_trace_event *)bytes)->first, 42);
}

/* Each of this core's, and each of the other one's. */
static void a_trace_ring_is_of_a_guest_on_a_cpu(void **state)
{
	const u32 size = sizeof(struct gandalf_trace_ring);
	const u32 last = offsetof(struct gandalf_trace_ring,
				  events[GANDALF_TRACE_EVENTS - 1].second);

	(void)state;
	memset(trace_rings, 0, sizeof(trace_rings));
	trace_ring_of(0)->next = 10;
	trace_ring_of(PLACE)->next = 11; /* nobody writes to it */
	trace_rings[0].next = 12;
	trace_ring_of_home(0)->next = 20; /* the same */
	trace_ring_of_home(PLACE)->next = 21;
	other.rings[0].next = 22;
	expect_ring(OWN, 0, 10);
	expect_ring(OWN, GANDALF_PLACE_VMM, 12);
	expect_ring(HOME, PLACE, 21);
	expect_ring(HOME, GANDALF_PLACE_VMM, 22);
	other.rings[0].events[GANDALF_TRACE_EVENTS - 1].second = 5;
	assert_int_equal(trace_read_at(HOME, GANDALF_PLACE_VMM, last), size - last);
	assert_int_equal(*(u32 *)bytes, 5);
	assert_int_equal(trace_read_at(HOME, GANDALF_PLACE_VMM, size), 0);
	assert_int_equal(trace_read_at(HOME, GANDALF_PLACE_VMM, UINT32_MAX), 0);
}

/* The other core would have no memory for it. */
static void a_guest_has_no_ring_where_it_has_no_vcpu(void **state)
{
	(void)state;
	assert_int_equal(trace_read_at(HOME, 0, 0), 0);
	assert_int_equal(trace_read_at(OWN, PLACE, 0), 0);
	assert_int_equal(bytes[0], 0xee);
}

static void a_ring_of_what_does_not_exist_is_refused(void **state)
{
	static const u32 places[] = { 0, PLACE, GANDALF_PLACE_VMM };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(places); i++) {
		assert_int_equal(trace_read_at(ABSENT, places[i], 0), GANDALF_ERROR_ARGUMENT);
		assert_int_equal(trace_read_at(3, places[i], 0), GANDALF_ERROR_ARGUMENT);
		assert_int_equal(trace_read_at(255, places[i], 0), GANDALF_ERROR_ARGUMENT);
		assert_int_equal(trace_read_at(0xffff, places[i], 0), GANDALF_ERROR_ARGUMENT);
	}
	assert_int_equal(trace_read_at(OWN, 2, 0), GANDALF_ERROR_ARGUMENT);
	assert_int_equal(trace_read_at(HOME, 2, 0), GANDALF_ERROR_ARGUMENT);
	assert_int_equal(trace_read_at(HOME, GANDALF_PLACE_VMM - 1, 0), GANDALF_ERROR_ARGUMENT);
	assert_int_equal(bytes[0], 0xee);
}

static void the_rate_is_that_of_core_0(void **state)
{
	(void)state;
	rate_measured = 1;
	other.rate_measured = 299999987;
	assert_true(elsewhere_tells_rate(&rate_measured));
	assert_int_equal(rate_measured, 299999987);
	core.index = 0;
	rate_measured = 1;
	assert_false(elsewhere_tells_rate(&rate_measured));
	assert_int_equal(rate_measured, 1);
}

static void the_system_has_the_log_of_core_0(void **state)
{
	struct gandalf_system_status status;

	(void)state;
	other.log.output_total = 500;
	consoles.consoles[0].output_total = 1;
	rate_measured = 4711;
	vms[0].index = 6;
	assert_int_equal(read_at(GANDALF_OBJECT_SYSTEM, 0, 0), sizeof(status));
	memcpy(&status, bytes, sizeof(status));
	assert_int_equal(status.abi_version, GANDALF_ABI_VERSION);
	assert_int_equal(status.place, 6);
	assert_int_equal(status.guest_count, 2);
	assert_int_equal(status.tsc_rate, 4711);
	assert_int_equal(status.log_bytes, 500);
	assert_int_equal(status.cores, 3);
	assert_int_equal(read_at(GANDALF_OBJECT_SYSTEM, 0, sizeof(status) - 8), 8);
	assert_memory_equal(bytes, (u8 *)&status + sizeof(status) - 8, 8);
	assert_int_equal(read_at(GANDALF_OBJECT_SYSTEM, 0, sizeof(status)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(each_object_is_of_the_core_that_has_it),
		TEST(of_a_core_that_has_not_come_up_nothing_is_read),
		TEST(a_guest_is_as_its_core_has_it),
		TEST(a_guest_that_runs_has_run_until_now),
		TEST(a_report_ends_with_its_text),
		TEST(counters_and_consoles_are_read),
		TEST(a_core_that_has_stopped_says_why),
		TEST(a_trace_ring_is_of_a_guest_on_a_cpu),
		TEST(a_guest_has_no_ring_where_it_has_no_vcpu),
		TEST(a_ring_of_what_does_not_exist_is_refused),
		TEST(the_rate_is_that_of_core_0),
		TEST(the_system_has_the_log_of_core_0),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
