/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders from core to core, and images that one core writes for a guest of another. Both cores are
 * played here: core.index says whose turn it is.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>

#include "fake/map_at.h"
#include "fake/asked.h"
#include "fake/serve_message.h"

#include "core/guest_kind.h"
#include "core/message.h"
#include "core/module.h"
#include "core/order.h"
#include "core/relay.h"
#include "core/schedule.h"
#include "elsewhere.h"
#include "lib/crc32.h"

#define PLACE 2u
#define HOME 1u  /* the core of the guest */
#define FAR 0u   /* the core that gives orders */
#define THIRD 2u /* another one that does */
#define ROOM 600u
#define OFFSET 0x100u
#define OUTBOXES (GANDALF_CPUS_MAXIMUM * OUTBOX_PAGES * PAGE_SIZE)

struct vm vms[PLACES_MAXIMUM];
struct vcpu vcpus[PLACES_MAXIMUM];
struct gandalf_table system_table;
u32 module_base = 0x5000;
u32 time_tsc_khz = 1000;

static const struct gandalf_guest guest = {
	.kind = GANDALF_KIND_RTOS, .cpu = HOME, .memory_size = 0x40000,
};
static const struct guest_kind kind = {.number = GANDALF_KIND_RTOS, .real_time = true};
static struct vm *const vm = &vms[PLACE], *const other = &vms[1];
static u8 store[ROOM];
static u8 image[ROOM];
static u32 sent[GANDALF_CPUS_MAXIMUM];
static u32 acts, action_done, asked_of_idle;
static const struct vm *acted_on;
static int act_result;

/*
 * Own stand-ins: memory_copy_in() and memory_copy_out() have the store; message_send(),
 * schedule_housekeeping() and vm_act() are asked of the right core only.
 */
void message_send(u32 to, u32 message)
{
	assert_int_equal(message, MESSAGE_ORDER);
	sent[to]++;
}

u32 relay_type(const struct vm *which, UNUSED const u8 *bytes, u32 size)
{
	assert_ptr_equal(which, vm);
	return size - 1;
}

int vm_act(struct vm *which, u32 action)
{
	assert_true(which == vm || which == other);
	assert_int_equal(core.index, HOME);
	acted_on = which;
	action_done = action;
	acts++;
	return act_result;
}

void memory_copy_out(u32 to, const void *from, u32 size)
{
	u32 at = to - module_base - OFFSET;

	assert_true(at <= ROOM && size <= ROOM - at);
	memcpy(store + at, from, size);
}

void memory_copy_in(void *to, u32 from, u32 size)
{
	u32 at = from - module_base - OFFSET;

	assert_true(at <= ROOM && size <= ROOM - at);
	memcpy(to, store + at, size);
}

void schedule_housekeeping(u32 work)
{
	assert_int_equal(core.index, HOME);
	asked_of_idle |= work;
}

void processor_sleep(void)
{
	fail();
}

static void serve_on_home(u32 from)
{
	core.index = HOME;
	serve_message(from, MESSAGE_ORDER);
}

static void idle_at_home(void)
{
	core.index = HOME;
	orders_attend();
}

static int act_from(u32 index, u32 action, u32 size, u32 entry, u32 crc)
{
	core.index = index;
	return elsewhere_act(vm, action, size, entry, crc);
}

static int write_from(u32 index, u32 offset, u32 size)
{
	core.index = index;
	return elsewhere_write(vm, GANDALF_OBJECT_IMAGE, offset, image + offset, size);
}

static int start(void **state)
{
	(void)state;
	memset((void *)LAYOUT_OUTBOXES, 0, OUTBOXES);
	memset(vms, 0, sizeof(vms));
	memset(store, 0xee, sizeof(store));
	memset(sent, 0, sizeof(sent));
	for (u32 i = 0; i < ROOM; i++)
		image[i] = (u8)(i * 7);
	acts = 0;
	act_result = 0;
	asked_of_idle = 0;
	asked.on_admission = NULL;
	system_table.cpus = 3;
	core.vm_count = PLACE + 1;
	core.vcpu_count = 1;
	core.current = &vcpus[1];
	vcpus[0].vm = vm;
	vm->guest = &guest;
	vm->kind = &kind;
	vm->index = PLACE;
	vm->image.room = ROOM;
	vm->image.offset = OFFSET;
	vm->image.memory_size = 77;
	*other = *vm;
	other->index = 1;
	vcpus[1].vm = other;
	for (u32 i = 0; i < system_table.cpus; i++)
		outbox_of(i)->alive = 1;
	orders_init();
	return 0;
}

static void an_order_is_carried_out_once_and_answered(void **state)
{
	(void)state;
	assert_int_equal(act_from(FAR, GANDALF_ACTION_STOP, 1, 0, 0), GANDALF_ERROR_BUSY);
	assert_int_equal(sent[HOME], 1);
	assert_int_equal(act_from(FAR, GANDALF_ACTION_STOP, 1, 0, 0), GANDALF_ERROR_BUSY);
	assert_int_equal(sent[HOME], 1);
	act_result = GANDALF_ERROR_STATE;
	serve_on_home(FAR);
	serve_on_home(FAR);
	assert_int_equal(acts, 1);
	assert_int_equal(action_done, GANDALF_ACTION_STOP);
	assert_int_equal(act_from(FAR, GANDALF_ACTION_STOP, 1, 0, 0), GANDALF_ERROR_STATE);
	/* Fetched once; the same again is another one. */
	assert_int_equal(act_from(FAR, GANDALF_ACTION_STOP, 1, 0, 0), GANDALF_ERROR_BUSY);
	serve_on_home(FAR);
	assert_int_equal(acts, 2);
	core.index = FAR;
	assert_int_equal(elsewhere_act(vm, GANDALF_ACTION_LOAD + 1, 0, 0, 0),
			 GANDALF_ERROR_ARGUMENT);
}

static void an_answer_that_nobody_has_fetched_is_not_anothers(void **state)
{
	(void)state;
	act_from(FAR, GANDALF_ACTION_STOP, 1, 0, 0);
	serve_on_home(FAR);
	assert_int_equal(act_from(FAR, GANDALF_ACTION_STOP, 2, 0, 0), GANDALF_ERROR_BUSY);
	serve_on_home(FAR);
	assert_int_equal(acts, 2);
	assert_int_equal(act_from(FAR, GANDALF_ACTION_STOP, 2, 0, 0), 0);
}

static void a_guest_that_is_busy_is_asked_again(void **state)
{
	(void)state;
	act_result = GANDALF_ERROR_BUSY;
	act_from(FAR, GANDALF_ACTION_RESTART, 1, 0, 0);
	serve_on_home(FAR);
	assert_int_equal(act_from(FAR, GANDALF_ACTION_RESTART, 1, 0, 0), GANDALF_ERROR_BUSY);
	act_result = 0;
	core.index = HOME;
	assert_true(asked.deadline->expire(asked.deadline) == TIME_NEVER);
	assert_int_equal(acts, 2);
	assert_int_equal(act_from(FAR, GANDALF_ACTION_RESTART, 1, 0, 0), 0);
}

static u64 time_comes(void)
{
	core.index = HOME;
	return asked.deadline->expire(asked.deadline);
}

/* Many at once would take long. Those whose guests are busy do not hold up others. */
static void one_order_is_tried_at_a_time(void **state)
{
	const struct vm *first;

	(void)state;
	core.vcpu_count = 2;
	act_result = GANDALF_ERROR_BUSY;
	act_from(FAR, GANDALF_ACTION_STOP, 1, 0, 0);
	elsewhere_act(other, GANDALF_ACTION_STOP, 1, 0, 0);
	serve_on_home(FAR);
	assert_int_equal(acts, 1);
	first = acted_on;
	assert_int_equal(time_comes(), processor.tsc + time_tsc_khz / 4);
	assert_int_equal(acts, 2);
	assert_ptr_not_equal(acted_on, first);
	time_comes();
	assert_ptr_equal(acted_on, first);
	act_result = 0;
	assert_true(time_comes() != TIME_NEVER);
	assert_ptr_not_equal(acted_on, first);
	assert_true(time_comes() == TIME_NEVER);
	assert_ptr_equal(acted_on, first);
	assert_int_equal(acts, 5);
}

/* Nor does a core whose order finds its guest busy hold up those of other cores. */
static void the_orders_of_all_cores_are_tried_in_turn(void **state)
{
	const struct vm *first;

	(void)state;
	core.vcpu_count = 2;
	act_result = GANDALF_ERROR_BUSY;
	act_from(FAR, GANDALF_ACTION_STOP, 1, 0, 0);
	serve_on_home(FAR);
	core.index = THIRD;
	elsewhere_act(other, GANDALF_ACTION_STOP, 1, 0, 0);
	serve_on_home(THIRD);
	assert_ptr_equal(acted_on, other);
	time_comes();
	first = acted_on;
	time_comes();
	assert_ptr_not_equal(acted_on, first);
	act_result = 0;
	while (time_comes() != TIME_NEVER)
		;
	assert_int_equal(acts, 6);
}

/* The VMM's command line does not wait for an answer: what finds its guest busy is not lost. */
static void a_posted_order_is_carried_out_once_the_guest_is_free(void **state)
{
	(void)state;
	core.index = FAR;
	assert_int_equal(order_post(vm, GANDALF_ACTION_RESTART), 0);
	assert_int_equal(order_post(vm, GANDALF_ACTION_STOP), GANDALF_ERROR_BUSY);
	assert_int_equal(sent[HOME], 1);
	act_result = GANDALF_ERROR_BUSY;
	serve_on_home(FAR);
	core.index = FAR;
	assert_int_equal(order_post(vm, GANDALF_ACTION_STOP), GANDALF_ERROR_BUSY);
	act_result = 0;
	core.index = HOME;
	assert_true(asked.deadline->expire(asked.deadline) == TIME_NEVER);
	assert_int_equal(acts, 2);
	assert_int_equal(action_done, GANDALF_ACTION_RESTART);
	core.index = FAR;
	assert_int_equal(order_post(vm, GANDALF_ACTION_STOP), 0);
	serve_on_home(FAR);
	assert_int_equal(action_done, GANDALF_ACTION_STOP);
}

/* A guest that manages others gets the answer of its own order only. */
static void the_answer_of_a_posted_order_is_nobodys(void **state)
{
	(void)state;
	core.index = FAR;
	order_post(vm, GANDALF_ACTION_STOP);
	act_result = GANDALF_ERROR_STATE;
	serve_on_home(FAR);
	act_result = 0;
	assert_int_equal(act_from(FAR, GANDALF_ACTION_STOP, 0, 0, 0), GANDALF_ERROR_BUSY);
	serve_on_home(FAR);
	assert_int_equal(act_from(FAR, GANDALF_ACTION_STOP, 0, 0, 0), 0);
	assert_int_equal(acts, 2);
}

static void a_core_that_has_stopped_refuses(void **state)
{
	(void)state;
	outbox_of(HOME)->alive = 0;
	assert_int_equal(act_from(FAR, GANDALF_ACTION_START, 1, 0, 0), GANDALF_ERROR_CPU);
	assert_int_equal(write_from(FAR, 0, 10), GANDALF_ERROR_CPU);
	assert_int_equal(sent[HOME], 0);
}

/* The core may write: the guest's has made the image that was there incomplete. */
static void may_write(u32 index)
{
	assert_int_equal(write_from(index, 0, 500), GANDALF_ERROR_BUSY);
	serve_on_home(index);
	assert_int_equal(vm->image.memory_size, 0);
}

static int load_from(u32 index, u32 crc)
{
	u32 size = ROOM;

	assert_int_equal(act_from(index, GANDALF_ACTION_LOAD, size, 16, crc), GANDALF_ERROR_BUSY);
	serve_on_home(index);
	idle_at_home();
	return act_from(index, GANDALF_ACTION_LOAD, size, 16, crc);
}

static void an_image_is_loaded(void **state)
{
	(void)state;
	may_write(FAR);
	assert_int_equal(write_from(FAR, 0, 500), 500);
	assert_int_equal(write_from(FAR, 500, 100), 100);
	assert_int_equal(write_from(FAR, 599, 2), GANDALF_ERROR_SPACE);
	assert_int_equal(load_from(FAR, crc32_update(0, image, ROOM)), 0);
	assert_memory_equal(store, image, ROOM);
	assert_int_equal(vm->image.file_size, ROOM);
	assert_int_equal(vm->image.memory_size, ROOM);
	assert_int_equal(vm->entry, 16);
	/* From now on it may not write without asking. */
	assert_int_equal(write_from(FAR, 0, 500), GANDALF_ERROR_BUSY);
	assert_int_equal(vm->image.memory_size, ROOM);
}

static void an_image_that_is_damaged_is_none(void **state)
{
	(void)state;
	may_write(FAR);
	write_from(FAR, 0, 500);
	write_from(FAR, 500, 100);
	store[300] ^= 1;
	assert_int_equal(load_from(FAR, crc32_update(0, image, ROOM)), GANDALF_ERROR_IMAGE);
	assert_int_equal(vm->image.memory_size, 0);
}

static void half_an_image_is_none(void **state)
{
	(void)state;
	may_write(FAR);
	write_from(FAR, 0, 500);
	assert_int_equal(load_from(FAR, crc32_update(0, image, ROOM)), GANDALF_ERROR_IMAGE);
	assert_int_equal(vm->image.memory_size, 0);
}

static void a_guest_that_lives_takes_no_image(void **state)
{
	(void)state;
	vm->state = GANDALF_STATE_RUNNING;
	assert_int_equal(write_from(FAR, 0, 10), GANDALF_ERROR_BUSY);
	serve_on_home(FAR);
	assert_int_equal(write_from(FAR, 0, 10), GANDALF_ERROR_STATE);
	assert_int_equal(vm->image.memory_size, 77);
	assert_int_equal(store[0], 0xee);
}

static void of_two_that_load_the_last_one_may(void **state)
{
	(void)state;
	may_write(FAR);
	assert_int_equal(write_from(FAR, 0, 500), 500);
	may_write(THIRD);
	assert_int_equal(write_from(FAR, 500, 100), GANDALF_ERROR_BUSY);
	assert_int_equal(write_from(THIRD, 0, 500), 500);
	/* One that may not write cannot say that it is complete. */
	act_from(FAR, GANDALF_ACTION_LOAD, ROOM, 16, 0);
	serve_on_home(FAR);
	assert_int_equal(act_from(FAR, GANDALF_ACTION_LOAD, ROOM, 16, 0), GANDALF_ERROR_IMAGE);
}

static unsigned admissions;

static void writer_ends(void)
{
	if (++admissions == 3) {
		memcpy(store, image, ROOM);
		outbox_of(FAR)->writes = 0;
	}
}

/* A core that is still writing is waited for, unless it has stopped. */
static void nobody_is_in_the_middle_of_writing(void **state)
{
	(void)state;
	may_write(FAR);
	outbox_of(FAR)->writes = PLACE + 1;
	admissions = 0;
	asked.on_admission = writer_ends;
	assert_int_equal(load_from(FAR, crc32_update(0, image, ROOM)), 0);
	assert_true(admissions >= 3);
	core.index = HOME;
	outbox_of(FAR)->writes = PLACE + 1;
	assert_int_equal(elsewhere_takes_back(vm, 0), GANDALF_ERROR_BUSY);
	outbox_of(FAR)->ended = 1;
	assert_int_equal(elsewhere_takes_back(vm, 0), 0);
}

static void what_is_written_at_home_is_nobody_elses(void **state)
{
	(void)state;
	may_write(FAR);
	core.index = HOME;
	assert_int_equal(elsewhere_takes_back(vm, 0), 0);
	assert_int_equal(write_from(FAR, 0, 500), GANDALF_ERROR_BUSY);
	assert_int_equal(store[0], 0xee);
}

/* What is being compared with its checksum is not taken back, whoever wants to write at home: the
 * answer is for the core that has written it. */
static void what_is_being_checked_is_nobody_elses(void **state)
{
	(void)state;
	may_write(FAR);
	write_from(FAR, 0, 500);
	write_from(FAR, 500, 100);
	act_from(FAR, GANDALF_ACTION_LOAD, ROOM, 16, crc32_update(0, image, ROOM));
	serve_on_home(FAR);
	assert_int_equal(elsewhere_takes_back(vm, 0), GANDALF_ERROR_BUSY);
	assert_true(elsewhere_loads(vm));
	idle_at_home();
	assert_int_equal(act_from(FAR, GANDALF_ACTION_LOAD, ROOM, 16,
				  crc32_update(0, image, ROOM)), 0);
	core.index = HOME;
	assert_int_equal(elsewhere_takes_back(vm, 0), 0);
	assert_false(elsewhere_loads(vm));
}

/* What another core has begun to write is no image that could be complete at home. */
static void what_another_core_has_begun_is_not_complete_at_home(void **state)
{
	(void)state;
	core.index = HOME;
	assert_true(elsewhere_loads(vm));
	assert_int_equal(elsewhere_takes_back(vm, 0), 0);
	assert_false(elsewhere_loads(vm));
	may_write(FAR);
	assert_true(elsewhere_loads(vm));
	assert_int_equal(elsewhere_takes_back(vm, 0), 0);
	assert_false(elsewhere_loads(vm));
}

/* Another core has written over the beginning of what is written at home, or has had its own
 * compared: the rest of the former does not belong to it, and it is not complete. */
static void what_goes_on_at_home_is_what_began_there(void **state)
{
	(void)state;
	core.index = HOME;
	assert_int_equal(elsewhere_takes_back(vm, 500), GANDALF_ERROR_IMAGE);
	assert_int_equal(elsewhere_takes_back(vm, 0), 0);
	assert_int_equal(elsewhere_takes_back(vm, 500), 0);
	may_write(FAR);
	assert_int_equal(elsewhere_takes_back(vm, 500), GANDALF_ERROR_IMAGE);
	write_from(FAR, 0, 500);
	write_from(FAR, 500, 100);
	assert_int_equal(load_from(FAR, crc32_update(0, image, ROOM)), 0);
	core.index = HOME;
	assert_true(elsewhere_loads(vm));
	assert_int_equal(elsewhere_takes_back(vm, 500), GANDALF_ERROR_IMAGE);
}

/* The idle vCPU has work, for which it comes before a Linux that never halts. */
static void a_check_does_not_wait_for_a_halt(void **state)
{
	(void)state;
	may_write(FAR);
	assert_int_equal(asked_of_idle, 0);
	act_from(FAR, GANDALF_ACTION_LOAD, ROOM, 16, 0);
	serve_on_home(FAR);
	assert_int_equal(asked_of_idle, HOUSEKEEPING_RELEASE);
}

static void a_console_is_typed_on(void **state)
{
	(void)state;
	core.index = FAR;
	assert_int_equal(elsewhere_write(vm, GANDALF_OBJECT_CONSOLE, 0, image, 10), 9);
	assert_int_equal(elsewhere_write(vm, GANDALF_OBJECT_REPORT, 0, image, 10),
			 GANDALF_ERROR_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, start)
		TEST(an_order_is_carried_out_once_and_answered),
		TEST(an_answer_that_nobody_has_fetched_is_not_anothers),
		TEST(a_guest_that_is_busy_is_asked_again),
		TEST(one_order_is_tried_at_a_time),
		TEST(the_orders_of_all_cores_are_tried_in_turn),
		TEST(a_posted_order_is_carried_out_once_the_guest_is_free),
		TEST(the_answer_of_a_posted_order_is_nobodys),
		TEST(a_core_that_has_stopped_refuses),
		TEST(an_image_is_loaded),
		TEST(an_image_that_is_damaged_is_none),
		TEST(half_an_image_is_none),
		TEST(a_guest_that_lives_takes_no_image),
		TEST(of_two_that_load_the_last_one_may),
		TEST(nobody_is_in_the_middle_of_writing),
		TEST(what_is_written_at_home_is_nobody_elses),
		TEST(what_is_being_checked_is_nobody_elses),
		TEST(what_another_core_has_begun_is_not_complete_at_home),
		TEST(what_goes_on_at_home_is_what_began_there),
		TEST(a_check_does_not_wait_for_a_halt),
		TEST(a_console_is_typed_on),
	};

	if (!map_at(LAYOUT_OUTBOXES, OUTBOXES))
		return 1;
	return RUN_TESTS(tests);
}
