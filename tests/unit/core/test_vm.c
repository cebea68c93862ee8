/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a guest: what a command may do in which state, what it has to wait for
 * while the VMM works for the guest with interrupts enabled, and the watchdog.
 */
#include "unit.h"

#include <string.h>

#include "fake/last_words.h"
#include "fake/no_boot.h"
#include "fake/asked.h"
#include "fake/operations.h"

#include "core/core.h"
#include "core/guest_kind.h"
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
#include "arch/ia32/masked_sections.h"

struct console_mux consoles;

struct gandalf_table system_table;
u32 module_base;
static struct gandalf_shared shared;
static bool waits;
u32 time_tsc_khz = 1000;
static unsigned stopped, released, started, reported, restarts_told;
static char line[128];
static bool fetched_with_interrupts;

static void interrupts_are_disabled(void)
{
	assert_false(processor.interrupts);
}

/*
 * Own stand-ins: channel_tell() comes behind the page, log_line() counts restarts, report() looks
 * at what it is told, schedule_waits() says what the test wants.
 */
void log_line(const char *pattern, ...)
{
	va_list arguments;

	interrupts_are_disabled();
	va_start(arguments, pattern);
	vsnprintf(line, sizeof(line), pattern, arguments);
	va_end(arguments);
	restarts_told += strstr(line, "restarts") != NULL;
}

void report(struct vm *vm)
{
	interrupts_are_disabled();
	assert_false(vm->vcpus->working);
	assert_int_equal(vm->vcpus->state, VCPU_OFF);
	assert_int_equal(vm->code_count, 2);
	assert_memory_equal(vm->code, "\x0f\x0b", 2);
	reported++;
}

void channel_tell(const struct vm *vm)
{
	assert_ptr_equal(vm, &vms[0]);
	assert_int_equal(shared.abi_version, GANDALF_ABI_VERSION);
	asked.told++;
}

bool schedule_waits(struct vcpu *vcpu)
{
	assert_ptr_equal(vcpu, &vcpus[0]);
	return waits;
}

static void operation_start(struct vcpu *vcpu)
{
	assert_false(vcpu->working);
	assert_int_equal(shared.abi_version, GANDALF_ABI_VERSION);
	assert_int_equal(shared.memory_size, system_table.guests[0].memory_size);
	assert_int_equal(shared.tsc_khz, time_tsc_khz);
	assert_int_equal(shared.tsc_rate, rate_measured);
	assert_int_equal(shared.interrupt_flag, 0);
	started++;
}

static void operation_stop(struct vcpu *vcpu)
{
	interrupts_are_disabled();
	assert_false(vcpu->working);
	stopped++;
}

static void operation_release(struct vcpu *vcpu)
{
	assert_false(vcpu->working);
	released++;
}

static u32 operation_instruction(struct vcpu *vcpu, u8 *bytes, u32 size)
{
	assert_ptr_equal(vcpu, &vcpus[0]);
	assert_int_equal(size, 15);
	fetched_with_interrupts = processor.interrupts;
	memcpy(bytes, "\x0f\x0b", 2);
	return 2;
}

static bool linux_create(struct vm *vm)
{
	vm->vcpus->operations = &operations;
	vm->vcpus->shared = &shared;
	return true;
}

static const struct guest_kind linux_kind = {
	.number = GANDALF_KIND_LINUX_SHARED, .create = linux_create, .act = vm_act_here,
};
GUEST_KIND(linux_kind);

/* The idle vCPU's turn. */
static void housekeep(void)
{
	if (asked.housekeeping & HOUSEKEEPING_RELEASE)
		vm_release_stopped();
	if (asked.housekeeping & HOUSEKEEPING_START)
		vm_start_requested();
	asked.housekeeping = 0;
}

/* One Linux, which runs. */
static int start(void **state)
{
	(void)state;
	memset(&core, 0, sizeof(core));
	memset(&processor, 0, sizeof(processor));
	memset(&system_table, 0, sizeof(system_table));
	memset(vcpus, 0, sizeof(vcpus));
	memset(vms, 0, sizeof(vms));
	memset(&asked, 0, sizeof(asked));
	stopped = released = started = reported = restarts_told = 0;
	line[0] = '\0';
	panicked = NULL;
	memset(&shared, 0xff, sizeof(shared));
	waits = false;
	rate_measured = 299999999;
	system_table.guest_count = 1;
	system_table.guests[0].memory_size = 0x5000;
	system_table.guests[0].interrupts = 0x8080;
	system_table.image_count = 2;
	system_table.images[0].guest = 1;
	system_table.images[1].memory_size = 1;
	system_table.guests[0].kind = GANDALF_KIND_LINUX_SHARED;
	snprintf(system_table.guests[0].name, sizeof(system_table.guests[0].name), "linux");
	vm_create_all();
	assert_int_equal(asked.deadline->priority, 0);
	vms[0].console->input_count = 3;
	vm_request_start(&vms[0]);
	assert_int_equal(vms[0].console->input_count, 0); /* typed before its life */
	housekeep();
	assert_int_equal(started, 1);
	assert_int_equal(vcpus[0].state, VCPU_RUNNING);
	vcpus[0].interruptible = true;
	return 0;
}

/* The interrupt gate disables interrupts, IRET brings the flag back. */
static void interrupted_by(void (*command)(struct vm *vm))
{
	bool enabled = processor.interrupts;

	processor.interrupts = false;
	vcpus[0].working = enabled;
	command(&vms[0]);
	vcpus[0].working = false;
	processor.interrupts = enabled;
}

static int result; /* of the last command */

static void command_start(struct vm *vm)
{
	result = vm_act(vm, GANDALF_ACTION_START);
}

static void command_stop(struct vm *vm)
{
	result = vm_act(vm, GANDALF_ACTION_STOP);
}

static void command_restart(struct vm *vm)
{
	result = vm_act(vm, GANDALF_ACTION_RESTART);
}

static void command_pause(struct vm *vm)
{
	result = vm_act(vm, GANDALF_ACTION_PAUSE);
}

static void command_resume(struct vm *vm)
{
	result = vm_act(vm, GANDALF_ACTION_RESUME);
}

static void a_guest_that_is_not_worked_for_halts_at_once(void **state)
{
	(void)state;
	interrupted_by(command_stop);
	assert_int_equal(vms[0].state, GANDALF_STATE_OFF);
	assert_int_equal(stopped, 1);
	housekeep();
	assert_int_equal(released, 1);
	assert_string_equal(line, "guest linux stopped: by command");
}

static void a_halt_during_work_waits_for_its_end(void **state)
{
	(void)state;
	vcpus[0].attention = false;
	work_unmask(&vcpus[0]);
	interrupted_by(command_stop);
	assert_true(vcpus[0].attention);
	interrupted_by(command_stop);
	assert_int_equal(vms[0].state, GANDALF_STATE_RUNNING);
	assert_int_equal(vcpus[0].state, VCPU_RUNNING);
	assert_int_equal(stopped, 0);
	assert_int_equal(asked.housekeeping, 0);
	assert_string_equal(line, "");
	work_mask(return_to_guest);
	assert_true(vms[0].halt_wanted);
	vm_halt_wanted(&vms[0]);
	assert_int_equal(vms[0].state, GANDALF_STATE_OFF);
	assert_int_equal(vcpus[0].state, VCPU_OFF);
	assert_int_equal(stopped, 1);
	/* Once only: it can be started again, and goes on. */
	interrupted_by(vm_request_start);
	housekeep();
	assert_string_equal(line, "guest linux stopped: by command");
	assert_int_equal(started, 2);
	assert_false(vms[0].halt_wanted);
	assert_int_equal(vms[0].state, GANDALF_STATE_RUNNING);
	assert_int_equal(stopped, 1);
}

static void a_stop_by_the_work_itself_ends_the_work(void **state)
{
	(void)state;
	work_unmask(&vcpus[0]);
	vm_stop(&vms[0], "it is %s", "bad");
	assert_false(processor.interrupts);
	assert_true(vcpus[0].attention);
	assert_int_equal(stopped, 1);
	assert_int_equal(vms[0].state, GANDALF_STATE_STOPPED);
	assert_string_equal(vms[0].reason, "it is bad");
	/* What the work finds afterwards is not told. */
	vm_stop(&vms[0], "it is worse");
	/* The report takes long: the idle vCPU's. */
	assert_int_equal(reported, 0);
	housekeep();
	housekeep();
	assert_int_equal(reported, 1);
	assert_string_equal(vms[0].reason, "it is bad");
}

static void a_stop_by_the_work_serves_a_wanted_halt_too(void **state)
{
	(void)state;
	work_unmask(&vcpus[0]);
	interrupted_by(command_stop);
	vm_stop(&vms[0], "it is bad");
	vm_halt_wanted(&vms[0]);
	assert_int_equal(stopped, 1);
	assert_int_equal(vms[0].state, GANDALF_STATE_STOPPED);
	/* Nothing is left over for its next life. */
	vm_request_start(&vms[0]);
	housekeep();
	assert_false(vms[0].halt_wanted);
	assert_int_equal(vms[0].state, GANDALF_STATE_RUNNING);
}

/* The operator has the last word: a guest that resets itself just then stays off. */
static void a_wanted_halt_outlasts_a_restart(void **state)
{
	(void)state;
	system_table.guests[0].on_reboot = GANDALF_POLICY_RESTART;
	work_unmask(&vcpus[0]);
	interrupted_by(command_stop);
	work_mask(return_to_guest);
	vm_reboot(&vms[0]);
	assert_int_equal(vms[0].state, GANDALF_STATE_STARTING);
	vm_halt_wanted(&vms[0]);
	assert_int_equal(vms[0].state, GANDALF_STATE_OFF);
	housekeep();
	assert_string_equal(line, "guest linux stopped: by command");
	assert_int_equal(started, 1);
	assert_int_equal(stopped, 1);
}

static void every_state_has_its_commands(void **state)
{
	static const struct {
		u32 state;
		bool start, stop, restart, pause, resume;
	} rows[] = {
		{ GANDALF_STATE_OFF, true, false, true, false, false },
		{ GANDALF_STATE_STOPPED, true, false, true, false, false },
		{ GANDALF_STATE_STARTING, false, true, false, false, false },
		{ GANDALF_STATE_RUNNING, false, true, true, true, false },
		{ GANDALF_STATE_PAUSED, false, true, true, false, true },
	};

	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		const bool allowed[] = { rows[i].start, rows[i].stop, rows[i].restart,
					 rows[i].pause, rows[i].resume };

		for (u32 action = 0; action < ARRAY_SIZE(allowed); action++) {
			start(state);
			vms[0].state = rows[i].state;
			assert_int_equal(vm_act(&vms[0], action),
					 allowed[action] ? 0 : GANDALF_ERROR_STATE);
		}
		assert_int_equal(vm_act(&vms[0], GANDALF_ACTION_LOAD), GANDALF_ERROR_ARGUMENT);
	}
}

static void a_paused_guest_goes_on_as_it_was(void **state)
{
	(void)state;
	for (u32 was = VCPU_RUNNING; was <= VCPU_HALTED; was++) {
		vcpus[0].state = was;
		vcpus[0].attention = false;
		interrupted_by(command_pause);
		assert_int_equal(result, 0);
		assert_int_equal(vms[0].state, GANDALF_STATE_PAUSED);
		assert_int_equal(vcpus[0].state, VCPU_PAUSED);
		assert_true(vcpus[0].attention);
		assert_true(vm_any_alive());
		interrupted_by(command_resume);
		assert_int_equal(result, 0);
		assert_int_equal(vms[0].state, GANDALF_STATE_RUNNING);
		assert_int_equal(vcpus[0].state, was);
	}
	/* Nor is it taken from the VMM's work, or lost by a stop. */
	work_unmask(&vcpus[0]);
	interrupted_by(command_pause);
	assert_int_equal(result, GANDALF_ERROR_BUSY);
	work_mask(return_to_guest);
	interrupted_by(command_pause);
	interrupted_by(command_stop);
	assert_int_equal(vms[0].state, GANDALF_STATE_OFF);
	assert_int_equal(stopped, 1);
	assert_int_equal(started, 1);
}

static void a_restart_is_a_stop_and_a_start(void **state)
{
	(void)state;
	assert_int_equal(asked.renewed, 1);
	interrupted_by(command_restart);
	assert_int_equal(stopped, 1);
	assert_int_equal(asked.renewed, 1);
	assert_int_equal(vms[0].state, GANDALF_STATE_STARTING);
	housekeep();
	assert_int_equal(started, 2);
	assert_int_equal(asked.told, 2);
	assert_int_equal(asked.renewed, 3);
	assert_int_equal(vcpus[0].counters[COUNTER_restarts], 1);
	interrupted_by(command_stop);
	interrupted_by(command_restart);
	housekeep();
	assert_int_equal(started, 3);
	assert_int_equal(vcpus[0].counters[COUNTER_restarts], 1);
}

static void nothing_starts_from_half_an_image(void **state)
{
	(void)state;
	interrupted_by(command_stop);
	assert_ptr_equal(vms[0].first_image, &system_table.images[1]);
	assert_int_equal(vms[0].image.memory_size, 1);
	vms[0].image.memory_size = 0;
	interrupted_by(command_start);
	assert_int_equal(result, GANDALF_ERROR_IMAGE);
	interrupted_by(command_restart);
	assert_int_equal(result, GANDALF_ERROR_IMAGE);
	assert_int_equal(asked.housekeeping, HOUSEKEEPING_RELEASE);
}

/* As the timer interrupt does it; limit: 100 ms, 100,000 time stamps. */
static void watch_until(u64 now)
{
	struct deadline *deadline = &vms[0].watchdog;

	while (deadline->time <= now) {
		processor.tsc = deadline->time;
		deadline->time = deadline->expire(deadline);
	}
	processor.tsc = now;
	housekeep();
}

static void silence_is_a_fault(void **state)
{
	(void)state;
	vm_show_life(&vms[0]);
	assert_true(vms[0].watchdog.time == TIME_NEVER);
	system_table.guests[0].watchdog_ms = 100;
	watch_until(10000000);
	vm_show_life(&vms[0]);
	watch_until(10090000);
	vm_show_life(&vms[0]);
	watch_until(10189999);
	assert_int_equal(reported, 0);
	watch_until(10190000);
	assert_int_equal(reported, 1);
	assert_string_equal(vms[0].reason, "no sign of life for 100 ms");
	assert_int_equal(vms[0].state, GANDALF_STATE_STOPPED);
	assert_true(vms[0].watchdog.time == TIME_NEVER);
	/* The next life begins unwatched. */
	vm_request_start(&vms[0]);
	housekeep();
	watch_until(20000000);
	assert_int_equal(reported, 1);
	vm_show_life(&vms[0]);
	watch_until(20100000);
	assert_int_equal(reported, 2);
}

static void who_is_kept_from_the_cpu_is_not_silent(void **state)
{
	(void)state;
	system_table.guests[0].watchdog_ms = 100;
	processor.tsc = 1000;
	vm_show_life(&vms[0]);
	waits = true;
	/* Expiries at 101,000 and then every 50,333. */
	watch_until(500000);
	waits = false;
	assert_true(vms[0].watchdog.time == 101000 + 8 * 50333);
	watch_until(503663);
	vcpus[0].working = true;
	watch_until(800000);
	vcpus[0].working = false;
	interrupted_by(command_pause);
	watch_until(1200000);
	/* A sign of life just before it is paused lies in the future of none. */
	interrupted_by(command_resume);
	vm_show_life(&vms[0]);
	interrupted_by(command_pause);
	watch_until(1290000);
	assert_int_equal(reported, 0);
	/* Its time begins anew. */
	interrupted_by(command_resume);
	watch_until(1389999);
	assert_int_equal(reported, 0);
	watch_until(1450000);
	assert_int_equal(reported, 1);
}

/* A guest that waits when it is looked at keeps all of its time, if its last sign of life is
 * young. */
static void who_waits_soon_after_a_sign_of_life_loses_no_time(void **state)
{
	(void)state;
	system_table.guests[0].watchdog_ms = 100;
	processor.tsc = 5000;
	vm_show_life(&vms[0]);
	processor.tsc = 90000;
	vm_show_life(&vms[0]);
	waits = true;
	watch_until(105000);
	assert_true(vms[0].watchdog.time == 190000);
	waits = false;
	watch_until(189999);
	assert_int_equal(reported, 0);
	watch_until(190000);
	assert_int_equal(reported, 1);
}

/* Whoever asks before the idle vCPU has put the reason together is not told that of another
 * life. */
static void no_reason_outlives_the_fault_that_it_is_of(void **state)
{
	struct deadline *deadline = &vms[0].watchdog;

	(void)state;
	vm_stop(&vms[0], "it is bad");
	vm_request_start(&vms[0]);
	housekeep();
	system_table.guests[0].watchdog_ms = 100;
	processor.tsc = 1000;
	vm_show_life(&vms[0]);
	processor.tsc = deadline->time;
	deadline->time = deadline->expire(deadline);
	assert_string_equal(vms[0].reason, "");
	housekeep();
	assert_string_equal(vms[0].reason, "no sign of life for 100 ms");
	/* Nor is silence the reason of what comes after it. */
	vm_request_start(&vms[0]);
	housekeep();
	vm_stop(&vms[0], "it is bad");
	housekeep();
	assert_string_equal(vms[0].reason, "it is bad");
	assert_int_equal(reported, 3);
}

/* What has been done at each of the points where more urgent guests may run. */
static char progress[32];

static void note_progress(void)
{
	size_t length = strlen(progress);

	snprintf(progress + length, sizeof(progress) - length, "%c%u ",
		 vms[0].reason[0] != '\0' ? 'r' : '-', reported);
}

/* To put a reason together and to report take long, each by itself. */
static void the_end_of_a_guest_is_told_in_steps(void **state)
{
	(void)state;
	system_table.guests[0].watchdog_ms = 100;
	processor.tsc = 1000;
	vm_show_life(&vms[0]);
	progress[0] = '\0';
	asked.on_admission = note_progress;
	watch_until(101000);
	assert_string_equal(progress, "-0 r0 ");
	assert_int_equal(reported, 1);
}

/* The log would fill with the same line otherwise. */
static void a_refusal_is_logged_once(void **state)
{
	(void)state;
	vms[0].refused = true;
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
	housekeep();
	assert_string_equal(line, "guest linux tried to manage guests: refused");
	line[0] = '\0';
	schedule_housekeeping(HOUSEKEEPING_RELEASE);
	housekeep();
	assert_string_equal(line, "");
}

/* Interrupts of others wait for no end of a guest, which has many parts. */
static void interrupts_are_let_in_before_a_guest_goes_off(void **state)
{
	static void (*const ways[])(struct vm *vm) = { vm_reboot, vm_power_off };

	for (u32 i = 0; i < ARRAY_SIZE(ways); i++) {
		start(state);
		core.pauses = core.interruptible = true;
		core.current = &vcpus[0];
		ways[i](&vms[0]);
		assert_int_equal(processor.admissions, 1);
	}
}

static void restart_amid(void)
{
	processor.admit = NULL;
	assert_int_equal(vm_act(&vms[0], GANDALF_ACTION_RESTART), 0);
}

/* A guest whose vCPUs have all halted for ever is restarted before it is off. */
static void a_restart_amid_the_end_is_not_lost(void **state)
{
	start(state);
	core.pauses = core.interruptible = true;
	core.current = &idle_vcpu;
	vms[0].vcpus->working = false;
	processor.admit = restart_amid;
	vm_power_off(&vms[0]);
	assert_int_equal(vms[0].state, GANDALF_STATE_STARTING);
}

/* The page tables of a Linux may have to be filled for that, which is not done masked. */
static void the_instruction_is_fetched_with_interrupts_enabled(void **state)
{
	(void)state;
	vm_stop(&vms[0], "it is bad");
	assert_true(fetched_with_interrupts);
	assert_false(processor.interrupts);
	start(state);
	vcpus[0].interruptible = false;
	vm_stop(&vms[0], "it is bad");
	assert_false(fetched_with_interrupts);
}

/* The way back to the guests begins masked, whatever has been stopped before. */
static void a_second_stop_ends_the_work_too(void **state)
{
	(void)state;
	vm_stop(&vms[0], "it is bad");
	work_unmask(&vcpus[0]);
	vm_stop(&vms[0], "it is worse");
	assert_false(processor.interrupts);
	assert_string_equal(vms[0].reason, "it is bad");
}

/* The operator learns for which guest the VMM lacks something. */
static void a_kind_that_is_missing_ends_the_boot(void **state)
{
	jmp_buf here;

	(void)state;
	memset(&core, 0, sizeof(core));
	system_table.guests[0].kind = 77;
	panicked = &here;
	if (setjmp(here) == 0)
		vm_create_all();
	assert_string_equal(last_words, "guest linux: this VMM lacks its kind");
	assert_int_equal(core.vcpu_count, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_guest_that_is_not_worked_for_halts_at_once),
		TEST(a_halt_during_work_waits_for_its_end),
		TEST(a_stop_by_the_work_itself_ends_the_work),
		TEST(every_state_has_its_commands),
		TEST(a_paused_guest_goes_on_as_it_was),
		TEST(a_restart_is_a_stop_and_a_start),
		TEST(nothing_starts_from_half_an_image),
		TEST(silence_is_a_fault),
		TEST(who_is_kept_from_the_cpu_is_not_silent),
		TEST(a_stop_by_the_work_serves_a_wanted_halt_too),
		TEST(a_wanted_halt_outlasts_a_restart),
		TEST(who_waits_soon_after_a_sign_of_life_loses_no_time),
		TEST(no_reason_outlives_the_fault_that_it_is_of),
		TEST(the_end_of_a_guest_is_told_in_steps),
		TEST(a_refusal_is_logged_once),
		TEST(a_restart_amid_the_end_is_not_lost),
		TEST(interrupts_are_let_in_before_a_guest_goes_off),
		TEST(the_instruction_is_fetched_with_interrupts_enabled),
		TEST(a_second_stop_ends_the_work_too),
		TEST(a_kind_that_is_missing_ends_the_boot),
	};

	return RUN_TESTS(tests);
}
