/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hypercalls by which a guest manages the others: who may, what can be read and
 * written, and that a chunk is all that is moved at once.
 */
#include "unit.h"

#include <string.h>

#include "fake/asked.h"

#include "fake/kind.h"

#include "core/core.h"
#include "core/guest_kind.h"
#include "core/hypercall.h"
#include "core/log.h"
#include "arch/ia32/memory.h"
#include "core/masked_sections.h"
#include "core/pool.h"
#include "core/module.h"
#include "core/rate.h"
#include "core/schedule.h"
#include "core/trace.h"

#define ROOM 0x700u
#define STORE 0x100000u
#define GUESTS 3u

enum { LINUX, RTOS, OTHER };

struct vm vms[PLACES_MAXIMUM];
u32 time_tsc_khz = 1000000;
struct console_mux consoles;

static struct vcpu vcpus_made[GUESTS];
static struct gandalf_guest guests[GUESTS];
#define IMAGE_OFFSET 0x4000u
u32 module_base = STORE - IMAGE_OFFSET;
static struct console made[GUESTS + 1];
struct console *log_console = &made[GUESTS];
static struct frame frame;
static char report[GANDALF_REPORT_SIZE];
static u8 guest_memory[0x1000]; /* the caller's, from address 0 */
static u8 store[ROOM];
static unsigned told, woken, typed, bad_addresses;
static u32 input_room; /* what can be typed until the guest reads some of it */
static u32 acted;
static int act_result;

/*
 * Own stand-ins: memory_copy_out() has the store; pool_count() lets interrupts in;
 * schedule_housekeeping() and vm_act() look at what is asked.
 */
void schedule_housekeeping(u32 work)
{
	assert_false(processor.interrupts);
	assert_int_equal(work, HOUSEKEEPING_RELEASE);
	assert_true(vms[LINUX].refused);
	told++;
}

u32 hypercall_bad_address(struct vcpu *vcpu, u32 address)
{
	assert_ptr_equal(vcpu, &vcpus_made[LINUX]);
	assert_int_equal(address, frame.ecx);
	bad_addresses++;
	return 0;
}

static bool is_inside(u32 linear, u32 size)
{
	return linear <= sizeof(guest_memory) && size <= sizeof(guest_memory) - linear;
}

/* For both others may have to leave the shadow: never while interrupts are masked. */
static bool guest_read(u32 linear, void *to, u32 size)
{
	assert_true(processor.interrupts);
	if (is_inside(linear, size))
		memcpy(to, guest_memory + linear, size);
	return is_inside(linear, size);
}

static bool guest_write(u32 linear, const void *from, u32 size)
{
	assert_true(size > 0 && processor.interrupts);
	if (is_inside(linear, size))
		memcpy(guest_memory + linear, from, size);
	return is_inside(linear, size);
}

static const struct guest_kind linux_kind = { .read = guest_read, .write = guest_write };
static const struct guest_kind rtos_kind = { .real_time = true };

void memory_copy_out(u32 to, const void *from, u32 size)
{
	assert_false(processor.interrupts);
	assert_true(to >= STORE && to + size <= STORE + ROOM);
	memcpy(store + (to - STORE), from, size);
}

u32 pool_frames = 9, pool_available = 7;

u32 pool_count(void)
{
	assert_true(processor.interrupts);
	return 8;
}

int vm_act(struct vm *vm, u32 action)
{
	assert_false(processor.interrupts);
	acted = action << 8 | vm->index;
	return act_result;
}

bool console_type(struct console *console, u8 byte)
{
	assert_ptr_equal(console, &made[RTOS]);
	assert_false(processor.interrupts);
	if (typed == input_room)
		return false;
	console->input[typed++] = byte;
	return true;
}

static void operation_console(struct vcpu *vcpu)
{
	assert_ptr_equal(vcpu, &vcpus_made[RTOS]);
	woken++;
}

static const struct vcpu_operations operations = { .console = operation_console };

void processor_sleep(void)
{
	fail();
}

static int start(void **state)
{
	(void)state;
	memset(&core, 0, sizeof(core));
	memset(vms, 0, sizeof(vms));
	memset(vcpus_made, 0, sizeof(vcpus_made));
	memset(guests, 0, sizeof(guests));
	memset(made, 0, sizeof(made));
	memset(guest_memory, 0, sizeof(guest_memory));
	told = woken = typed = bad_addresses = acted = 0;
	act_result = 0;
	input_room = 10;
	processor.admissions = 0;
	processor.admit = NULL;
	core.vm_count = core.vcpu_count = GUESTS;
	for (u32 i = 0; i < GUESTS; i++) {
		snprintf(guests[i].name, sizeof(guests[i].name), "guest%u", i);
		guests[i].memory_size = 0x2000;
		guests[i].cpu = 0;
		vms[i] = (struct vm){ .kind = &linux_kind, .guest = &guests[i], .index = i,
				      .vcpus = &vcpus_made[i],
				      .console = &made[i], .report = report };
		vcpus_made[i].vm = &vms[i];
		vcpus_made[i].trace = trace_ring_of(i);
		vcpus_made[i].operations = &operations;
	}
	vms[RTOS].image =
		(struct gandalf_image){ .offset = IMAGE_OFFSET, .room = ROOM, .memory_size = 1 };
	vms[RTOS].kind = &rtos_kind;
	vcpus_made[LINUX].frame = &frame;
	vcpus_made[LINUX].interruptible = true;
	guests[LINUX].flags = GANDALF_GUEST_CONTROL;
	core.current = &vcpus_made[LINUX];
	return 0;
}

static int call(u32 number, u32 what, u32 ecx, u32 edx, u32 esi)
{
	frame = (struct frame){ .eax = number, .ebx = what, .ecx = ecx, .edx = edx, .esi = esi };
	processor.interrupts = true;
	return (int)hypercall_linked(frame.eax)(&vcpus_made[LINUX]);
}

static u32 of(u32 what, u32 place)
{
	return what | place << GANDALF_PLACE_SHIFT;
}

static void only_who_is_allowed_manages(void **state)
{
	(void)state;
	for (unsigned how = 0; how < 2; how++) {
		guests[LINUX].flags = how ? GANDALF_GUEST_CONTROL : GANDALF_GUEST_STRICT_TLS;
		/* An RTOS may not, whatever its table says. */
		vms[LINUX].kind = how ? &rtos_kind : &linux_kind;
		for (u32 number = GANDALF_HYPERCALL_READ; number <= GANDALF_HYPERCALL_ACT; number++)
			assert_int_equal(call(number, of(0, RTOS), 0, 4, 0),
					 GANDALF_ERROR_PERMISSION);
		/* The first is told, and the others are counted. */
		assert_int_equal(told, 1);
	}
	assert_int_equal(vcpus_made[LINUX].counters[COUNTER_refusals], 6);
	assert_int_equal(told, 1);
	assert_int_equal(acted, 0);
}

/* Whoever reads the log learns of it when it happens, and not when it is tried again. */
static void the_first_refusal_is_told_at_once(void **state)
{
	(void)state;
	guests[LINUX].flags = 0;
	for (u32 times = 1; times <= 3; times++) {
		assert_int_equal(call(GANDALF_HYPERCALL_ACT, of(0, RTOS), 0, 0, 0),
				 GANDALF_ERROR_PERMISSION);
		assert_int_equal(told, 1);
	}
}

static void the_system_is_told(void **state)
{
	struct gandalf_system_status status;

	(void)state;
	made[GUESTS].output_total = 123;
	rate_measured = 5000;
	processor.tsc = 77;
	assert_int_equal(call(GANDALF_HYPERCALL_READ, GANDALF_OBJECT_SYSTEM, 8, 4096, 0),
			 sizeof(status));
	memcpy(&status, guest_memory + 8, sizeof(status));
	assert_int_equal(status.abi_version, GANDALF_ABI_VERSION);
	assert_int_equal(status.guest_count, GUESTS);
	assert_int_equal(status.place, LINUX);
	assert_int_equal(status.tsc_khz, time_tsc_khz);
	assert_int_equal(status.pool_frames, 9);
	assert_int_equal(status.pool_free, 7);
	assert_int_equal(status.pool_counted, 8);
	assert_int_equal(status.tsc_rate, 5000);
	assert_int_equal(status.log_bytes, 123);
	assert_true(status.now == 77);
	/* What others change was looked at with interrupts disabled; the answer is written with
	 * interrupts enabled, since a page table may have to be made room for. */
	assert_true(processor.interrupts);
}

static void a_guest_is_told(void **state)
{
	struct gandalf_guest_status status;

	(void)state;
	guests[RTOS].kind = GANDALF_KIND_RTOS;
	guests[RTOS].priority = 6;
	guests[RTOS].watchdog_ms = 50;
	vms[RTOS].state = GANDALF_STATE_STOPPED;
	vms[RTOS].fault_restarts = 2;
	vms[RTOS].started = 99;
	strcpy(vms[RTOS].reason, "why");
	vcpus_made[RTOS].ran = 1234;
	vcpus_made[RTOS].counters[COUNTER_restarts] = 3;
	made[RTOS].output_total = 4321;
	call(GANDALF_HYPERCALL_READ, of(GANDALF_OBJECT_GUEST, RTOS), 0, 512, 0);
	memcpy(&status, guest_memory, sizeof(status));
	assert_string_equal(status.name, "guest1");
	assert_int_equal(status.kind, GANDALF_KIND_RTOS);
	assert_int_equal(status.state, GANDALF_STATE_STOPPED);
	assert_int_equal(status.priority, 6);
	assert_int_equal(status.memory_size, 0x2000);
	assert_int_equal(status.restarts, 3);
	assert_int_equal(status.fault_restarts, 2);
	assert_int_equal(status.image_room, ROOM);
	assert_int_equal(status.watchdog_ms, 50);
	assert_int_equal(status.console_bytes, 4321);
	assert_true(status.ran == 1234 && status.started == 99);
	assert_string_equal(status.reason, "why");
	assert_true(processor.interrupts);
	/* The caller has run since it was switched in. */
	vcpus_made[LINUX].ran = 10 - 100ull;
	processor.tsc = 150;
	call(GANDALF_HYPERCALL_READ, of(GANDALF_OBJECT_GUEST, LINUX), 0, 512, 0);
	memcpy(&status, guest_memory, sizeof(status));
	assert_true(status.ran == 60);
	assert_int_equal(status.image_room, 0);
	assert_int_equal(status.flags, GANDALF_GUEST_CONTROL);
}

/* Every object byte for byte, in chunks, and nothing behind its end. */
static void expect_object(u32 what, const void *bytes, u32 size)
{
	u32 done = 0;
	int moved;

	while ((moved = call(GANDALF_HYPERCALL_READ, what, 16, 4096, done)) > 0) {
		assert_true((u32)moved <= GANDALF_CONTROL_CHUNK);
		assert_memory_equal(guest_memory + 16, (const u8 *)bytes + done, (size_t)moved);
		done += (u32)moved;
	}
	assert_int_equal(moved, 0);
	assert_int_equal(done, size);
	assert_int_equal(call(GANDALF_HYPERCALL_READ, what, 16, 5, UINT32_MAX), 0);
	assert_int_equal(call(GANDALF_HYPERCALL_READ, what, 16, 3, 0), size < 3 ? size : 3);
	for (u32 rest = 0; rest < 3; rest++)
		assert_int_equal(call(GANDALF_HYPERCALL_READ, what, 16, 4096, size - rest), rest);
}

static void objects_are_read_in_chunks(void **state)
{
	(void)state;
	for (u32 i = 0; i < sizeof(trace_rings); i++)
		((u8 *)trace_rings)[i] = (u8)(i * 31 ^ i >> 8);
	for (u32 i = 0; i < CONSOLE_OUTPUT_SIZE; i++) {
		made[OTHER].output[i] = (u8)(i * 5);
		made[GUESTS].output[i] = (u8)(i * 3);
	}
	vcpus_made[OTHER].counters[COUNTER_halts] = 17;
	strcpy(report, "a report");
	expect_object(of(GANDALF_OBJECT_TRACE, GANDALF_PLACE_VMM), &trace_rings[0],
		      sizeof(struct gandalf_trace_ring));
	for (u32 place = 0; place < GUESTS; place++)
		expect_object(of(GANDALF_OBJECT_TRACE, place), &trace_rings[1 + place],
			      sizeof(struct gandalf_trace_ring));
	expect_object(of(GANDALF_OBJECT_COUNTERS, OTHER), vcpus_made[OTHER].counters,
		      COUNTERS * sizeof(u32));
	for (u32 place = 0; place < GUESTS; place++)
		expect_object(of(GANDALF_OBJECT_REPORT, place), report, 8);
	expect_object(of(GANDALF_OBJECT_CONSOLE, OTHER), made[OTHER].output, GANDALF_CONSOLE_RING);
	expect_object(of(GANDALF_OBJECT_CONSOLE, GANDALF_PLACE_VMM), made[GUESTS].output,
		      GANDALF_CONSOLE_RING);
}

/* Interrupt handlers change every one of them: half of it would be of another time. The counting
 * of the pool is long, and comes before; the length of a report, too. */
static void what_is_read_is_copied_with_interrupts_disabled(void **state)
{
	static const u32 objects[] = { GANDALF_OBJECT_GUEST, GANDALF_OBJECT_COUNTERS,
				       GANDALF_OBJECT_CONSOLE, GANDALF_OBJECT_REPORT,
				       GANDALF_OBJECT_TRACE };

	(void)state;
	strcpy(report, "a report");
	for (u32 i = 0; i < ARRAY_SIZE(objects); i++) {
		processor.masked = MASKED_sleep;
		assert_true(call(GANDALF_HYPERCALL_READ, of(objects[i], OTHER), 0, 4, 0) > 0);
		assert_int_equal(processor.masked, MASKED_control_object);
	}
	call(GANDALF_HYPERCALL_READ, GANDALF_OBJECT_SYSTEM, 0, 4, 0);
	assert_int_equal(processor.masked, MASKED_control_status);
}

static void what_does_not_exist_is_refused(void **state)
{
	(void)state;
	for (u32 number = GANDALF_HYPERCALL_READ; number <= GANDALF_HYPERCALL_WRITE; number++) {
		assert_int_equal(call(number, of(GANDALF_OBJECT_GUEST, GUESTS), 0, 4, 0),
				 GANDALF_ERROR_ARGUMENT);
		assert_int_equal(call(number, of(7, RTOS), 0, 4, 0), GANDALF_ERROR_ARGUMENT);
		assert_int_equal(call(number, UINT32_MAX, 0, 4, 0), GANDALF_ERROR_ARGUMENT);
		assert_int_equal(call(number, 0x10000, 0, 4, 0), GANDALF_ERROR_ARGUMENT);
	}
	assert_int_equal(call(GANDALF_HYPERCALL_ACT, of(0, GUESTS), 0, 0, 0),
			 GANDALF_ERROR_ARGUMENT);
	/* Itself. */
	assert_int_equal(call(GANDALF_HYPERCALL_ACT, of(0, LINUX), 0, 0, 0),
			 GANDALF_ERROR_ARGUMENT);
	assert_int_equal(call(GANDALF_HYPERCALL_WRITE, of(GANDALF_OBJECT_CONSOLE, LINUX), 0, 4, 0),
			 GANDALF_ERROR_ARGUMENT);
	assert_int_equal(bad_addresses, 0);
}

/* Here is one CPU, which has a ring of each guest and of the VMM; nobody writes there. */
static void a_trace_ring_is_of_a_guest_and_of_this_cpu(void **state)
{
	static const u32 places[] = { LINUX, RTOS, GANDALF_PLACE_VMM };

	(void)state;
	assert_int_equal(call(GANDALF_HYPERCALL_READ, of(GANDALF_OBJECT_TRACE, GUESTS), 0, 4, 0),
			 GANDALF_ERROR_ARGUMENT);
	for (u32 i = 0; i < ARRAY_SIZE(places); i++) {
		u32 ring = of(GANDALF_OBJECT_TRACE, places[i]);

		assert_int_equal(call(GANDALF_HYPERCALL_READ, ring, 0, 4, 0), 4);
		assert_int_equal(call(GANDALF_HYPERCALL_READ, ring | 1 << GANDALF_TRACE_CPU_SHIFT,
				      0, 4, 0), GANDALF_ERROR_ARGUMENT);
		assert_int_equal(call(GANDALF_HYPERCALL_WRITE, ring, 0, 4, 0),
				 GANDALF_ERROR_ARGUMENT);
	}
}

/* A vCPU that takes turns with its siblings on one CPU has a VM of its own, which is another vCPU
 * of the caller's guest. What is known of it may be read. */
static void a_guest_does_not_manage_its_other_vcpus(void **state)
{
	(void)state;
	vms[OTHER].guest = &guests[LINUX];
	for (u32 action = GANDALF_ACTION_START; action <= GANDALF_ACTION_LOAD; action++)
		assert_int_equal(call(GANDALF_HYPERCALL_ACT, of(action, OTHER), 0, 0, 0),
				 GANDALF_ERROR_ARGUMENT);
	assert_int_equal(acted, 0);
	for (u32 object = GANDALF_OBJECT_SYSTEM; object <= GANDALF_OBJECT_IMAGE; object++)
		assert_int_equal(call(GANDALF_HYPERCALL_WRITE, of(object, OTHER), 0, 4, 0),
				 GANDALF_ERROR_ARGUMENT);
	assert_int_equal(typed, 0);
	assert_true(call(GANDALF_HYPERCALL_READ, of(GANDALF_OBJECT_GUEST, OTHER), 0, 4, 0) > 0);
}

static void bad_addresses_are_noticed(void **state)
{
	(void)state;
	call(GANDALF_HYPERCALL_READ, GANDALF_OBJECT_TRACE, 0xfff, 2, 0);
	call(GANDALF_HYPERCALL_WRITE, of(GANDALF_OBJECT_IMAGE, RTOS), 0xffffffff, 2, 0);
	assert_int_equal(bad_addresses, 2);
	assert_int_equal(vms[RTOS].image.memory_size, 1);
}

static void actions_are_passed_on(void **state)
{
	(void)state;
	for (u32 action = GANDALF_ACTION_START; action <= GANDALF_ACTION_RESUME; action++) {
		act_result = action == GANDALF_ACTION_PAUSE ? GANDALF_ERROR_BUSY : 0;
		vcpus_made[LINUX].attention = false;
		assert_int_equal(call(GANDALF_HYPERCALL_ACT, of(action, OTHER), 0, 0, 0),
				 act_result);
		assert_int_equal(acted, action << 8 | OTHER);
		assert_true(vcpus_made[LINUX].attention);
	}
}

static int image_write(u32 offset, u32 size)
{
	return call(GANDALF_HYPERCALL_WRITE, of(GANDALF_OBJECT_IMAGE, RTOS), 0, size, offset);
}

static int image_finish(u32 size, u32 entry)
{
	return call(GANDALF_HYPERCALL_ACT, of(GANDALF_ACTION_LOAD, RTOS), size, entry, 0);
}

static void an_image_is_written_whole(void **state)
{
	(void)state;
	for (u32 i = 0; i < sizeof(guest_memory); i++)
		guest_memory[i] = (u8)(i * 7);
	assert_int_equal(image_write(0, 0x1000), GANDALF_CONTROL_CHUNK);
	/* Half of it: it cannot be started, whatever was there before. */
	assert_int_equal(vms[RTOS].image.memory_size, 0);
	assert_int_equal(image_write(GANDALF_CONTROL_CHUNK, 0x20), 0x20);
	vms[RTOS].image.load_address = 0x300;
	assert_memory_equal(store, guest_memory, GANDALF_CONTROL_CHUNK);
	assert_memory_equal(store + GANDALF_CONTROL_CHUNK, guest_memory, 0x20);
	assert_int_equal(image_finish(0x220, 0x21f), 0);
	assert_int_equal(vms[RTOS].image.memory_size, 0x220);
	assert_int_equal(vms[RTOS].image.file_size, 0x220);
	assert_int_equal(vms[RTOS].image.load_address, 0);
	assert_int_equal(vms[RTOS].entry, 0x21f);
}

static void an_image_must_fit(void **state)
{
	(void)state;
	/* An image that fills its room may end with a chunk of nothing. */
	assert_int_equal(image_write(ROOM, 0), 0);
	assert_int_equal(image_write(ROOM, 1), GANDALF_ERROR_SPACE);
	assert_int_equal(image_write(ROOM + 1, 0), GANDALF_ERROR_SPACE);
	assert_int_equal(image_write(ROOM - 3, 4), GANDALF_ERROR_SPACE);
	assert_int_equal(image_write(UINT32_MAX - 1, 2), GANDALF_ERROR_SPACE);
	assert_int_equal(image_write(ROOM - 4, 4), 4);
	assert_int_equal(image_finish(ROOM + 1, 0), GANDALF_ERROR_SPACE);
	assert_int_equal(image_finish(ROOM, ROOM), GANDALF_ERROR_ARGUMENT);
	assert_int_equal(image_finish(0, 0), GANDALF_ERROR_ARGUMENT);
	vms[RTOS].image.room = 0x2000;
	assert_int_equal(image_finish(0x1001, 0), GANDALF_ERROR_SPACE);
	assert_int_equal(vms[RTOS].image.memory_size, 0);
	assert_int_equal(image_finish(0x1000, 0), 0);
	assert_int_equal(vms[RTOS].image.memory_size, 0x1000);
	/* Linux has images of another kind, and who runs keeps its own. */
	vms[RTOS].kind = &linux_kind;
	assert_int_equal(image_write(0, 4), GANDALF_ERROR_SPACE);
	assert_int_equal(image_finish(4, 0), GANDALF_ERROR_SPACE);
	start(state);
	vms[RTOS].state = GANDALF_STATE_RUNNING;
	assert_int_equal(image_write(0, 4), GANDALF_ERROR_STATE);
	assert_int_equal(image_finish(4, 0), GANDALF_ERROR_STATE);
	assert_int_equal(vms[RTOS].image.memory_size, 1);
}

static void a_console_is_typed_on(void **state)
{
	const u32 what = of(GANDALF_OBJECT_CONSOLE, RTOS);

	(void)state;
	assert_int_equal(call(GANDALF_HYPERCALL_WRITE, what, 0, 4, 0), GANDALF_ERROR_STATE);
	vms[RTOS].state = GANDALF_STATE_RUNNING;
	memcpy(guest_memory, "0123456789ab", 12);
	assert_int_equal(call(GANDALF_HYPERCALL_WRITE, what, 0, 4, 0), 4);
	assert_int_equal(call(GANDALF_HYPERCALL_WRITE, what, 4, 8, 0), 6);
	assert_int_equal(call(GANDALF_HYPERCALL_WRITE, what, 10, 2, 0), 0);
	assert_memory_equal(made[RTOS].input, "0123456789", 10);
	assert_int_equal(woken, 3);
	/* It may be more urgent than who typed. */
	vcpus_made[LINUX].attention = 0;
	call(GANDALF_HYPERCALL_WRITE, what, 0, 1, 0);
	assert_true(vcpu_is_notified(&vcpus_made[LINUX]));
}

static unsigned typed_until_now;

static void no_more_than_16_bytes_were_typed(void)
{
	assert_int_equal(typed - typed_until_now, 16);
	typed_until_now = typed;
}

/* A long line of the one who manages would keep the interrupts of all others waiting. */
static void interrupts_are_let_in_while_a_line_is_typed(void **state)
{
	const u32 what = of(GANDALF_OBJECT_CONSOLE, RTOS);

	(void)state;
	vms[RTOS].state = GANDALF_STATE_RUNNING;
	input_room = 60;
	core.pauses = core.interruptible = true;
	vcpus_made[LINUX].state = VCPU_RUNNING;
	typed_until_now = 0;
	processor.admit = no_more_than_16_bytes_were_typed;
	assert_int_equal(call(GANDALF_HYPERCALL_WRITE, what, 0, 47, 0), 47);
	assert_int_equal(processor.admissions, 2);
	assert_int_equal(typed, 47);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_who_is_allowed_manages),
		TEST(the_first_refusal_is_told_at_once),
		TEST(the_system_is_told),
		TEST(a_guest_is_told),
		TEST(objects_are_read_in_chunks),
		TEST(what_is_read_is_copied_with_interrupts_disabled),
		TEST(what_does_not_exist_is_refused),
		TEST(a_trace_ring_is_of_a_guest_and_of_this_cpu),
		TEST(a_guest_does_not_manage_its_other_vcpus),
		TEST(bad_addresses_are_noticed),
		TEST(actions_are_passed_on),
		TEST(an_image_is_written_whole),
		TEST(an_image_must_fit),
		TEST(a_console_is_typed_on),
		TEST(interrupts_are_let_in_while_a_line_is_typed),
	};

	return RUN_TESTS(tests);
}
