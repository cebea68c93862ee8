/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How guests are made of the table, loaded and started, and what is told and begins
 * again when they end: two RTOSes and a Linux.
 */
#include "unit.h"

#include <string.h>

#include "fake/last_words.h"
#include "fake/no_boot.h"
#include "fake/asked.h"
#include "fake/operations.h"

#include "core/core.h"
#include "core/guest_kind.h"
#include "core/idle.h"
#include "core/loader.h"
#include "core/log.h"
#include "arch/ia32/memory.h"
#include "core/module.h"
#include "core/rate.h"
#include "core/report.h"
#include "core/remote.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/work.h"
#include "arch/ia32/fpu.h"
#include "arch/ia32/segment.h"
#include "arch/ia32/switch.h"

enum { LINUX, SLOW, FAST, GUESTS };

#include "fake/guest_memory.h"

struct console_mux consoles;
struct gandalf_table system_table;
u32 module_base = MEMORY;
u32 time_tsc_khz = 1000;

static struct gandalf_shared shared[GUESTS];
static struct console made[GUESTS];
static unsigned reports_logged, finished;
static unsigned admissions;
static void (*during_admission)(void);
/* What the stages of a start did, in their order. */
static char stages[128];
static const char *failing;    /* the stage of making a vCPU that does */

static void stage(const char *name)
{
	snprintf(stages + strlen(stages), sizeof(stages) - strlen(stages), "%s ", name);
}

static bool creates(const char *name)
{
	stage(name);
	return failing == NULL || strcmp(name, failing) != 0;
}

static void expect_trace(enum trace_type type, u32 first, u32 second)
{
	assert_int_equal(asked.traced.type, type);
	assert_int_equal(asked.traced.first, first);
	assert_int_equal(asked.traced.second, second);
}

/*
 * Own stand-ins: the stages of a start are written down in their order by channel_tell(),
 * fpu_reset(), fpu_show(), segment_create(), segment_reset() and switch_create(), of which a test
 * has one fail; console_add() and console_finish_line() have a console of each guest; report() is
 * of one that has failed; schedule_admit() ends a step.
 */
void report(struct vm *vm)
{
	assert_true(vm->faulted);
	reports_logged++;
}

static struct console a_console;

struct console *console_add(struct console_mux *mux, const char *name)
{
	assert_ptr_equal(mux, &consoles);
	for (u32 i = 0; i < GUESTS; i++)
		if (strcmp(name, system_table.guests[i].name) == 0)
			return &made[i];
	fail();
	return &a_console;
}

void console_finish_line(struct console *console)
{
	assert_in_range(console - made, 0, GUESTS - 1);
	finished |= 1u << (console - made);
}

void schedule_admit(void)
{
	since_admission = 0;
	admissions++;
	if (during_admission != NULL)
		during_admission();
}

void channel_tell(const struct vm *vm)
{
	(void)vm;
	stage("channels");
}

bool segment_create(struct vcpu *vcpu)
{
	(void)vcpu;
	return creates("segments");
}

void segment_reset(struct vcpu *vcpu)
{
	(void)vcpu;
	stage("segments");
}

bool switch_create(struct vcpu *vcpu)
{
	(void)vcpu;
	return creates("switch");
}

void fpu_reset(struct vcpu *vcpu)
{
	(void)vcpu;
	stage("fpu");
}

void fpu_show(struct vcpu *vcpu)
{
	(void)vcpu;
	stage("shown");
}

static void operation_start(struct vcpu *vcpu)
{
	static const u32 none[8];

	assert_memory_equal(vcpu->dr, none, sizeof(none));
	assert_int_equal(vcpu->shared->abi_version, GANDALF_ABI_VERSION);
	assert_int_equal(vcpu->shared->memory_size, GUEST_SIZE);
	assert_int_equal(vcpu->shared->interrupt_flag, 0);
	assert_int_not_equal(vcpu->state, VCPU_RUNNING);
	stage("start");
}

static void operation_stop(struct vcpu *vcpu)
{
	(void)vcpu;
	stage("stop");
}

static void operation_release(struct vcpu *vcpu)
{
	assert_false(vcpu->state == VCPU_RUNNING);
	stage("release");
}

static u32 operation_instruction(struct vcpu *vcpu, u8 *bytes, u32 size)
{
	(void)vcpu;
	(void)bytes;
	(void)size;
	return 0;
}

/* An RTOS leaves nothing to release. */
static void nothing_is_released(struct vcpu *vcpu)
{
	assert_false(vcpu->state == VCPU_RUNNING);
}

static const struct vcpu_operations rtos_operations = {
	.instruction = operation_instruction,
	.start = operation_start,
	.stop = operation_stop,
	.release = nothing_is_released,
};

static bool linux_create(struct vm *vm)
{
	vm->vcpus->operations = &operations;
	vm->vcpus->shared = &shared[vm->index];
	return creates("linux");
}

static bool rtos_create(struct vm *vm)
{
	vm->vcpus->operations = &rtos_operations;
	vm->vcpus->shared = &shared[vm->index];
	return creates("rtos");
}

static const struct guest_kind linux_kind = {
	.number = GANDALF_KIND_LINUX_SHARED, .create = linux_create, .act = vm_act_here,
};
static const struct guest_kind rtos_kind = {
	.number = GANDALF_KIND_RTOS, .real_time = true, .create = rtos_create,
	.act = vm_act_here,
};
GUEST_KIND(linux_kind);
GUEST_KIND(rtos_kind);

static u32 base_of(u32 guest)
{
	return MEMORY + MODULE_SIZE + guest * GUEST_SIZE;
}

static void put_image(u32 guest, u32 to, u32 file_size, u32 memory_size)
{
	u32 number = system_table.image_count++;

	system_table.images[number] = (struct gandalf_image){
		.guest = guest, .offset = number * 0x800, .file_size = file_size,
		.load_address = to, .memory_size = memory_size };
}

/* What the tests have seen. */
static void forget(void)
{
	memset(&asked, 0, sizeof(asked));
	reports_logged = finished = 0;
	since_admission = admissions = 0;
	during_admission = NULL;
	failing = NULL;
	stages[0] = '\0';
}

static void put_guest(u32 number)
{
	static const char *const names[GUESTS] = { "linux", "slow", "fast" };
	static const u32 priorities[GUESTS] = { 0, 2, GANDALF_PRIORITY_MAXIMUM };
	struct gandalf_guest *guest = &system_table.guests[number];

	guest->kind = number == LINUX ? GANDALF_KIND_LINUX_SHARED : GANDALF_KIND_RTOS;
	guest->priority = priorities[number];
	guest->memory_base = base_of(number);
	guest->memory_size = GUEST_SIZE;
	guest->interrupts = 1u << number;
	guest->entry = 0x100 + number;
	snprintf(guest->name, sizeof(guest->name), "%s", names[number]);
}

/* The table; nothing is made of it. */
static int start(void **state)
{
	(void)state;
	memset(&core, 0, sizeof(core));
	memset(&processor, 0, sizeof(processor));
	memset(&system_table, 0, sizeof(system_table));
	memset(vcpus, 0, sizeof(vcpus));
	memset(vms, 0, sizeof(vms));
	memset(shared, 0xff, sizeof(shared));
	memset(memory, UNTOUCHED, sizeof(memory));
	forget();
	rate_measured = 299999999;
	for (u32 i = 0; i < MODULE_SIZE; i++)
		memory[i] = (u8)(i * 7 + i / 0x100);
	system_table.guest_count = GUESTS;
	for (u32 i = 0; i < GUESTS; i++)
		put_guest(i);
	put_image(SLOW, 0, 0x600, 0x600);
	put_image(LINUX, 0x1000, 0x440, 0x800);
	put_image(FAST, 0, 1, 0x800);
	put_image(SLOW, 0x1801, 0x7ff, 0x7ff);
	/* Behind the last: no image. */
	system_table.images[4] = (struct gandalf_image){
		.guest = LINUX, .file_size = 8, .memory_size = 8 };
	return 0;
}

/* The guests, whose start nobody has asked for. */
static int create(void **state)
{
	start(state);
	vm_create_all();
	for (u32 i = 0; i < GUESTS; i++)
		vms[i].state = GANDALF_STATE_OFF;
	asked.housekeeping = 0;
	stages[0] = '\0';
	return 0;
}

static void the_events_of_each_guest_have_a_ring(void **state)
{
	(void)state;
	for (u32 i = 0; i < GUESTS; i++)
		assert_ptr_equal(vms[i].vcpus->trace, trace_ring_of(i));
	assert_ptr_equal(idle_vcpu.trace, &trace_rings[0]);
}

static void housekeep(void)
{
	u32 work = asked.housekeeping;

	asked.housekeeping = 0;
	housekeeping_of_guests(work);
}

static void begin(u32 guest)
{
	vm_request_start(&vms[guest]);
	housekeep();
	assert_int_equal(vms[guest].state, GANDALF_STATE_RUNNING);
	stages[0] = '\0';
}

static void guests_are_made_in_the_order_of_priority(void **state)
{
	static const u32 order[GUESTS] = { FAST, SLOW, LINUX };

	(void)state;
	vm_create_all();
	assert_string_equal(stages, "segments rtos switch segments rtos switch "
				    "segments linux switch ");
	assert_int_equal(core.vcpu_count, GUESTS);
	for (u32 i = 0; i < GUESTS; i++) {
		const struct vcpu *vcpu = &vcpus[i];
		const struct vm *vm = &vms[order[i]];

		assert_ptr_equal(vcpu->vm, vm);
		assert_ptr_equal(vm->vcpus, vcpu);
		assert_ptr_equal(vm->guest, &system_table.guests[order[i]]);
		assert_ptr_equal(vm->console, &made[order[i]]);
		assert_int_equal(vm->index, order[i]);
		assert_int_equal(vcpu->id, order[i]);
		assert_int_equal(vcpu->priority, vm->guest->priority);
		assert_int_equal(vm->state, GANDALF_STATE_STARTING);
		assert_int_equal(vcpu->state, VCPU_OFF);
	}
	/* Its first image, and a text for its report. */
	assert_ptr_equal(vms[SLOW].first_image, &system_table.images[0]);
	assert_ptr_equal(vms[FAST].first_image, &system_table.images[2]);
	assert_true(vms[SLOW].report >= vms[LINUX].report + GANDALF_REPORT_SIZE);
	assert_true(vms[FAST].report >= vms[SLOW].report + GANDALF_REPORT_SIZE);
	assert_int_equal(asked.housekeeping, HOUSEKEEPING_START);
}

static void a_pool_that_is_too_small_ends_the_boot(void **state)
{
	static const char *const parts[] = { "segments", "linux", "rtos", "switch" };
	jmp_buf here;

	(void)state;
	for (volatile u32 i = 0; i < ARRAY_SIZE(parts); i++) {
		start(NULL);
		last_words[0] = '\0';
		failing = parts[i];
		panicked = &here;
		if (setjmp(here) == 0)
			vm_create_all();
		assert_memory_equal(last_words, "the pool is too small for ", 26);
	}
}

static void guests_are_found_by_name(void **state)
{
	(void)state;
	assert_ptr_equal(vm_find("linux"), &vms[LINUX]);
	assert_ptr_equal(vm_find("slow"), &vms[SLOW]);
	assert_ptr_equal(vm_find("fast"), &vms[FAST]);
	assert_null(vm_find("slower"));
	assert_null(vm_find(""));
}

static void any_of_them_keeps_the_machine_on(void **state)
{
	static const u32 alive[] = { GANDALF_STATE_RUNNING, GANDALF_STATE_STARTING,
				     GANDALF_STATE_PAUSED };

	(void)state;
	for (u32 guest = 0; guest < GUESTS; guest++) {
		for (u32 i = 0; i < ARRAY_SIZE(alive); i++) {
			vms[guest].state = alive[i];
			assert_true(vm_any_alive());
			assert_true(vm_is_alive(&vms[guest]));
		}
		vms[guest].state = GANDALF_STATE_STOPPED;
		assert_false(vm_is_alive(&vms[guest]));
		assert_false(vm_any_alive());
	}
	vms[GUESTS].state = GANDALF_STATE_RUNNING; /* behind the last */
	assert_false(vm_any_alive());
}

static void an_rtos_has_its_images_and_zeroes(void **state)
{
	const u32 base = base_of(SLOW);

	(void)state;
	vm_request_start(&vms[SLOW]);
	assert_int_equal(vms[SLOW].state, GANDALF_STATE_STARTING);
	housekeep();
	check_bytes(base, 0, 0x600);
	check_filled(base + 0x600, 0x1201, 0);
	check_bytes(base + 0x1801, 0x1800, 0x7ff);
	/* Nobody else's memory was touched. */
	check_filled(base_of(LINUX), GUEST_SIZE, UNTOUCHED);
	check_filled(base_of(FAST), GUEST_SIZE, UNTOUCHED);
	begin(FAST);
	check_bytes(base_of(FAST), 0x1000, 1);
	check_filled(base_of(FAST) + 1, GUEST_SIZE - 1, 0);
}

/* The table keeps the one that it had; the others are as the table has them. */
static void an_rtos_has_the_image_that_took_the_place_of_its_first(void **state)
{
	(void)state;
	assert_int_equal(vms[SLOW].entry, system_table.guests[SLOW].entry);
	vms[SLOW].image.load_address = 0x80;
	vms[SLOW].image.file_size = vms[SLOW].image.memory_size = 0x100;
	begin(SLOW);
	check_filled(base_of(SLOW), 0x80, 0);
	check_bytes(base_of(SLOW) + 0x80, 0, 0x100);
	check_filled(base_of(SLOW) + 0x180, 0x1801 - 0x180, 0);
	check_bytes(base_of(SLOW) + 0x1801, 0x1800, 0x7ff);
	assert_int_equal(system_table.images[0].file_size, 0x600);
}

/* Its memory is large, and it expects nothing of what no image fills. */
static void a_linux_has_its_images_and_what_was_there(void **state)
{
	const u32 base = base_of(LINUX);

	(void)state;
	begin(LINUX);
	check_filled(base, 0x1000, UNTOUCHED);
	check_bytes(base + 0x1000, 0x800, 0x440);
	check_filled(base + 0x1440, 0x3c0, 0);
	check_filled(base + 0x1800, 0x800, UNTOUCHED);
}

static void a_start_has_its_stages(void **state)
{
	struct vcpu *vcpu = vms[SLOW].vcpus;

	(void)state;
	memset(vcpu->dr, 0xff, sizeof(vcpu->dr));
	vcpu->pending = 5;
	vms[SLOW].alive = 7;
	processor.tsc = 4711;
	vm_request_start(&vms[SLOW]);
	housekeep();
	assert_string_equal(stages, "fpu segments channels start shown ");
	assert_int_equal(vcpu->state, VCPU_RUNNING);
	assert_true(vcpu->attention);
	assert_int_equal(vcpu->pending, 0);
	assert_true(vms[SLOW].started == 4711);
	assert_true(vms[SLOW].alive == 0);
	assert_int_equal(asked.renewed, 1);
	assert_int_equal(asked.rung, 1);
	assert_int_equal(shared[SLOW].tsc_khz, time_tsc_khz);
	assert_int_equal(shared[SLOW].tsc_rate, rate_measured);
	expect_trace(TRACE_start, SLOW, 0x101);
	/* Only who was asked for. */
	assert_int_equal(vms[LINUX].state, GANDALF_STATE_OFF);
	assert_int_equal(vms[FAST].state, GANDALF_STATE_OFF);
}

/* More urgent guests have the CPU between any two of the stages that take long. */
static void a_start_lets_others_run(void **state)
{
	/* Its memory is cleared, and gets an image of 0x600 bytes and one of 0x7ff. */
	unsigned copies = (GUEST_SIZE + STEP - 1) / STEP + 2 + 3;

	(void)state;
	vm_request_start(&vms[SLOW]);
	housekeep();
	assert_int_equal(admissions, copies + 4);
}

static u32 admissions_before_the_stop;

static void stop_amid(void)
{
	if (admissions == admissions_before_the_stop)
		assert_int_equal(vm_act(&vms[SLOW], GANDALF_ACTION_STOP), 0);
}

/* Starts a guest anew that amid stops at one of the steps. */
static void start_with(void (*amid)(void))
{
	create(NULL);
	during_admission = amid;
	vm_request_start(&vms[SLOW]);
	housekeep();
	assert_int_equal(vms[SLOW].state, GANDALF_STATE_OFF);
}

static void a_stop_amid_the_start_wins(void **state)
{
	struct vcpu *vcpu = vms[SLOW].vcpus;

	(void)state;
	for (admissions_before_the_stop = 1; admissions_before_the_stop <= 14;
	     admissions_before_the_stop++) {
		start_with(stop_amid);
		assert_int_equal(vcpu->state, VCPU_OFF);
		assert_string_equal(stages, "fpu segments channels start shown stop ");
		assert_in_range(asked.renewed, 0, 1);
		/* It is told, though nothing else asks for housekeeping. */
		housekeep();
		assert_string_equal(asked.line, "guest slow stopped: by command");
	}
}

static void stop_and_write_amid(void)
{
	stop_amid();
	if (admissions == admissions_before_the_stop)
		vms[SLOW].image.memory_size = 0; /* as control.c and order.c do */
}

/* Its manager writes another image behind the stop. What is being loaded stays where it belongs
 * (fake/guest_memory.h), and has the size that it had. */
static void another_image_amid_the_load_harms_nobody(void **state)
{
	(void)state;
	for (admissions_before_the_stop = 1; admissions_before_the_stop <= 14;
	     admissions_before_the_stop++) {
		start_with(stop_and_write_amid);
		assert_in_range(admissions, 14, 20);
	}
}

/* What its last life has left is released, by who starts it at the latest. */
static void the_next_life_begins_without_the_last(void **state)
{
	(void)state;
	begin(LINUX);
	vms[LINUX].vcpus->takes_messages = vms[LINUX].vcpus->serves_consoles = true;
	vm_reboot(&vms[LINUX]);
	vm_request_start(&vms[LINUX]);
	vm_start_requested();
	assert_string_equal(stages, "stop release fpu segments channels start shown ");
	assert_false(vms[LINUX].vcpus->takes_messages || vms[LINUX].vcpus->serves_consoles);
	stages[0] = '\0';
	asked.housekeeping = HOUSEKEEPING_RELEASE;
	housekeep();
	assert_string_equal(stages, "");
	/* Once. */
	vm_power_off(&vms[LINUX]);
	housekeep();
	vm_release_stopped();
	assert_string_equal(stages, "stop release ");
	begin(FAST);
	vm_power_off(&vms[FAST]);
	housekeep();
	assert_string_equal(stages, "stop ");
}

static void who_goes_down_leaves_nothing_behind(void **state)
{
	struct vcpu *vcpu = vms[SLOW].vcpus;

	(void)state;
	begin(SLOW);
	begin(FAST);
	core.fpu_owner = vcpu;
	vcpu->attention = false;
	vms[SLOW].alive = 5;
	vm_power_off(&vms[SLOW]);
	expect_trace(TRACE_stop, SLOW, GANDALF_STATE_OFF);
	assert_null(core.fpu_owner);
	assert_int_equal(finished, 1u << SLOW);
	assert_int_equal(vcpu->state, VCPU_OFF);
	assert_true(vcpu->attention);
	assert_true(vms[SLOW].alive == 0);
	assert_int_equal(asked.renewed, 2);
	housekeep();
	assert_int_equal(asked.renewed, 3);
	assert_int_equal(asked.rung, 3);
	/* Another's FPU is its own. */
	begin(SLOW);
	core.fpu_owner = vms[FAST].vcpus;
	vm_power_off(&vms[SLOW]);
	assert_ptr_equal(core.fpu_owner, vms[FAST].vcpus);
}

static void a_reset_is_obeyed_as_the_system_says(void **state)
{
	(void)state;
	begin(SLOW);
	vm_reboot(&vms[SLOW]);
	assert_int_equal(vms[SLOW].state, GANDALF_STATE_OFF);
	housekeep();
	assert_string_equal(asked.line, "guest slow asked for a reset and stays off");
	assert_int_equal(vms[SLOW].vcpus->counters[COUNTER_restarts], 0);
	system_table.guests[SLOW].on_reboot = GANDALF_POLICY_RESTART;
	begin(SLOW);
	vm_reboot(&vms[SLOW]);
	assert_int_equal(vms[SLOW].state, GANDALF_STATE_STARTING);
	housekeep();
	assert_string_equal(asked.line, "guest slow restarts");
	assert_int_equal(vms[SLOW].vcpus->counters[COUNTER_restarts], 1);
	assert_int_equal(vms[SLOW].state, GANDALF_STATE_RUNNING);
	vm_power_off(&vms[SLOW]);
	housekeep();
	assert_string_equal(asked.line, "guest slow is off");
	assert_int_equal(vms[SLOW].state, GANDALF_STATE_OFF);
	assert_int_equal(asked.lines, 3);
}

static void faults_restart_a_guest_so_often(void **state)
{
	struct vm *vm = &vms[FAST];
	char expected[64];

	(void)state;
	system_table.guests[FAST].on_fault = GANDALF_POLICY_RESTART;
	system_table.guests[FAST].restart_limit = 2;
	begin(FAST);
	for (u32 i = 1; i <= 2; i++) {
		vm_stop(vm, "bad");
		assert_int_equal(vm->state, GANDALF_STATE_STARTING);
		housekeep();
		snprintf(expected, sizeof(expected), "guest fast restarts, %u of 2", i);
		assert_string_equal(asked.line, expected);
		assert_int_equal(vm->state, GANDALF_STATE_RUNNING);
		assert_int_equal(vm->fault_restarts, i);
		assert_int_equal(vm->vcpus->counters[COUNTER_restarts], i);
	}
	vm_stop(vm, "bad");
	housekeep();
	assert_string_equal(asked.line, "guest fast stays stopped after 2 restarts");
	assert_int_equal(vm->state, GANDALF_STATE_STOPPED);
	assert_int_equal(vm->fault_restarts, 2);
	assert_int_equal(reports_logged, 3);
}

static void a_fault_stops_a_guest_that_is_not_to_restart(void **state)
{
	(void)state;
	begin(FAST);
	vm_stop(&vms[FAST], "bad");
	expect_trace(TRACE_stop, FAST, GANDALF_STATE_STOPPED);
	housekeep();
	assert_int_equal(vms[FAST].state, GANDALF_STATE_STOPPED);
	assert_int_equal(asked.lines, 0);
	assert_int_equal(reports_logged, 1);
}

/* Between the writing of the reason, which is long, and what a fault brings; where interrupts
 * are not enabled until then in front of it, too. */
static void a_stop_lets_interrupts_in(void **state)
{
	(void)state;
	for (u32 interruptible = 0; interruptible < 2; interruptible++) {
		create(NULL);
		begin(SLOW);
		core.pauses = core.interruptible = true;
		core.current = vms[SLOW].vcpus;
		core.current->interruptible = interruptible;
		processor.admissions = 0;
		vm_stop(&vms[SLOW], "bad");
		assert_int_equal(processor.admissions, 2 - interruptible);
	}
}

static void expire(struct vm *vm, u64 now)
{
	processor.tsc = now;
	vm->watchdog.time = vm->watchdog.expire(&vm->watchdog);
}

/* A guest is watched from its first sign of life on, in each life anew. */
static void no_silence_before_the_first_sign_of_life(void **state)
{
	struct vm *vm = &vms[SLOW];

	(void)state;
	system_table.guests[SLOW].watchdog_ms = 100;
	begin(SLOW);
	processor.tsc = 5000;
	vm_show_life(vm);
	assert_true(vm->watchdog.time == 105000);
	/* Off: nobody is silent. */
	vm_power_off(vm);
	expire(vm, 105000);
	assert_int_equal(vm->state, GANDALF_STATE_OFF);
	assert_true(vm->watchdog.time == TIME_NEVER);
	begin(SLOW);
	vm_show_life(vm);
	assert_int_equal(vm_act(vm, GANDALF_ACTION_RESTART), 0);
	housekeep();
	/* Its second life has shown none, before a pause and after. */
	assert_int_equal(vm_act(vm, GANDALF_ACTION_PAUSE), 0);
	assert_int_equal(vm_act(vm, GANDALF_ACTION_RESUME), 0);
	expire(vm, 500000);
	assert_int_equal(vm->state, GANDALF_STATE_RUNNING);
	assert_true(vm->watchdog.time == TIME_NEVER);
	vm_show_life(vm);
	assert_true(vm->watchdog.time == 600000);
	/* Later signs move nothing: the expiry looks. */
	processor.tsc = 550000;
	vm_show_life(vm);
	assert_true(vm->watchdog.time == 600000);
	expire(vm, 600000);
	assert_true(vm->watchdog.time == 650000);
	expire(vm, 650000);
	assert_int_equal(vm->state, GANDALF_STATE_STOPPED);
}

#define TEST(name, setup) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(guests_are_made_in_the_order_of_priority, start),
		TEST(a_pool_that_is_too_small_ends_the_boot, start),
		TEST(the_events_of_each_guest_have_a_ring, create),
		TEST(guests_are_found_by_name, create),
		TEST(any_of_them_keeps_the_machine_on, create),
		TEST(an_rtos_has_its_images_and_zeroes, create),
		TEST(an_rtos_has_the_image_that_took_the_place_of_its_first, create),
		TEST(a_linux_has_its_images_and_what_was_there, create),
		TEST(a_start_has_its_stages, create),
		TEST(a_start_lets_others_run, create),
		TEST(a_stop_amid_the_start_wins, create),
		TEST(another_image_amid_the_load_harms_nobody, create),
		TEST(the_next_life_begins_without_the_last, create),
		TEST(who_goes_down_leaves_nothing_behind, create),
		TEST(a_reset_is_obeyed_as_the_system_says, create),
		TEST(faults_restart_a_guest_so_often, create),
		TEST(a_fault_stops_a_guest_that_is_not_to_restart, create),
		TEST(a_stop_lets_interrupts_in, create),
		TEST(no_silence_before_the_first_sign_of_life, create),
	};

	return RUN_TESTS(tests);
}
