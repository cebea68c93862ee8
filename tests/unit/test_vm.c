/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopping a guest that the VMM works for with interrupts enabled: a command waits
 * for the end of the work, and a stop by the work itself ends it.
 */
#include "unit.h"

#include <string.h>

#include "fake/quiet_processor.h"

#include "core/core.h"
#include "core/guest_linux.h"
#include "core/guest_rtos.h"
#include "core/init.h"
#include "core/log.h"
#include "core/memory.h"
#include "core/module.h"
#include "core/report.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "core/work.h"
#include "ia32/fpu.h"
#include "ia32/segment.h"
#include "ia32/switch.h"

struct core core;
struct console_mux consoles;

static struct gandalf_table table;
static u32 housekeeping;
static unsigned stopped, released, started, reported, restarts_told, breaths;
static char line[128];

static void interrupts_are_disabled(void)
{
	assert_false(processor.interrupts);
}

void trace(enum trace_type type, u32 first, u32 second)
{
	(void)type;
	(void)first;
	(void)second;
}

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
	assert_false(vm->vcpu->working);
	reported++;
}

const struct gandalf_table *init_table(void)
{
	return &table;
}

struct console *console_add(struct console_mux *mux, const char *name)
{
	(void)mux;
	(void)name;
	return NULL;
}

void console_finish_line(struct console_mux *mux, struct console *console)
{
	(void)mux;
	(void)console;
	interrupts_are_disabled();
}

void schedule_add(struct vcpu *vcpu)
{
	assert_ptr_equal(vcpu, &vcpus[core.vcpu_count]);
	core.vcpu_count++;
}

void schedule_housekeeping(u32 work)
{
	interrupts_are_disabled();
	housekeeping |= work;
}

void schedule_breathe(void)
{
	breaths++;
}

bool segment_create(struct vcpu *vcpu)
{
	(void)vcpu;
	return true;
}

void segment_reset(struct vcpu *vcpu)
{
	(void)vcpu;
}

bool switch_create(struct vcpu *vcpu)
{
	(void)vcpu;
	return true;
}

void fpu_reset(struct vcpu *vcpu)
{
	(void)vcpu;
}

u32 module_address(void)
{
	return 0;
}

void memory_copy(u32 to, u32 from, u32 size)
{
	(void)to;
	(void)from;
	(void)size;
}

void memory_zero(u32 physical, u32 size)
{
	(void)physical;
	(void)size;
}

void processor_sleep(void)
{
	fail();
}

static void operation_start(struct vcpu *vcpu)
{
	assert_false(vcpu->working);
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

static const struct vcpu_operations operations = {
	.start = operation_start,
	.stop = operation_stop,
	.release = operation_release,
};

bool linux_create(struct vm *vm)
{
	vm->vcpu->operations = &operations;
	return true;
}

bool rtos_create(struct vm *vm)
{
	return linux_create(vm);
}

/* The idle vCPU's turn. */
static void housekeep(void)
{
	if (housekeeping & HOUSEKEEPING_RELEASE)
		vm_release_stopped();
	if (housekeeping & HOUSEKEEPING_START)
		vm_start_requested();
	housekeeping = 0;
}

/* One Linux, which runs. */
static int start(void **state)
{
	(void)state;
	memset(&core, 0, sizeof(core));
	memset(&processor, 0, sizeof(processor));
	memset(&table, 0, sizeof(table));
	memset(vcpus, 0, sizeof(vcpus));
	memset(vms, 0, sizeof(vms));
	stopped = released = started = reported = restarts_told = housekeeping = 0;
	line[0] = '\0';
	table.guest_count = 1;
	table.guests[0].kind = GANDALF_KIND_LINUX_SHARED;
	snprintf(table.guests[0].name, sizeof(table.guests[0].name), "linux");
	assert_null(vm_create_all());
	vm_request_start(&vms[0]);
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

static void command_stop(struct vm *vm)
{
	vm_halt(vm, "by command");
}

static void a_guest_that_is_not_worked_for_halts_at_once(void **state)
{
	(void)state;
	interrupted_by(command_stop);
	assert_int_equal(vms[0].state, GANDALF_STATE_OFF);
	assert_int_equal(stopped, 1);
	assert_string_equal(line, "guest linux stopped: by command");
	housekeep();
	assert_int_equal(released, 1);
}

static void a_halt_during_work_waits_for_its_end(void **state)
{
	(void)state;
	vcpus[0].attention = false;
	work_begin(&vcpus[0]);
	interrupted_by(command_stop);
	assert_true(vcpus[0].attention);
	interrupted_by(command_stop);
	assert_int_equal(vms[0].state, GANDALF_STATE_RUNNING);
	assert_int_equal(vcpus[0].state, VCPU_RUNNING);
	assert_int_equal(stopped, 0);
	assert_int_equal(housekeeping, 0);
	assert_string_equal(line, "");
	work_end();
	assert_string_equal(vms[0].halt_wanted, "by command");
	vm_halt_wanted(&vms[0]);
	assert_int_equal(vms[0].state, GANDALF_STATE_OFF);
	assert_int_equal(vcpus[0].state, VCPU_OFF);
	assert_int_equal(stopped, 1);
	assert_string_equal(line, "guest linux stopped: by command");
	/* Once only: it can be started again, and goes on. */
	interrupted_by(vm_request_start);
	housekeep();
	assert_int_equal(started, 2);
	assert_null(vms[0].halt_wanted);
	assert_int_equal(vms[0].state, GANDALF_STATE_RUNNING);
	assert_int_equal(stopped, 1);
}

static void a_stop_by_the_work_itself_ends_the_work(void **state)
{
	(void)state;
	work_begin(&vcpus[0]);
	vm_stop(&vms[0], "it is %s", "bad");
	assert_false(processor.interrupts);
	assert_true(vcpus[0].attention);
	assert_int_equal(reported, 1);
	assert_int_equal(stopped, 1);
	assert_int_equal(vms[0].state, GANDALF_STATE_STOPPED);
	assert_string_equal(vms[0].reason, "it is bad");
	/* What the work finds afterwards is not told. */
	vm_stop(&vms[0], "it is worse");
	assert_int_equal(reported, 1);
	assert_string_equal(vms[0].reason, "it is bad");
}

static void a_stop_by_the_work_serves_a_wanted_halt_too(void **state)
{
	(void)state;
	work_begin(&vcpus[0]);
	interrupted_by(command_stop);
	vm_stop(&vms[0], "it is bad");
	vm_halt_wanted(&vms[0]);
	assert_int_equal(stopped, 1);
	assert_int_equal(vms[0].state, GANDALF_STATE_STOPPED);
	/* Nothing is left over for its next life. */
	vm_request_start(&vms[0]);
	housekeep();
	assert_null(vms[0].halt_wanted);
	assert_int_equal(vms[0].state, GANDALF_STATE_RUNNING);
}

/* The operator has the last word: a guest that resets itself just then stays off. */
static void a_wanted_halt_outlasts_a_restart(void **state)
{
	(void)state;
	table.guests[0].on_reboot = GANDALF_POLICY_RESTART;
	work_begin(&vcpus[0]);
	interrupted_by(command_stop);
	work_end();
	vm_reboot(&vms[0]);
	assert_int_equal(vms[0].state, GANDALF_STATE_STARTING);
	vm_halt_wanted(&vms[0]);
	assert_int_equal(vms[0].state, GANDALF_STATE_OFF);
	assert_string_equal(line, "guest linux stopped: by command");
	housekeep();
	assert_int_equal(started, 1);
	assert_int_equal(stopped, 1);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_guest_that_is_not_worked_for_halts_at_once),
		TEST(a_halt_during_work_waits_for_its_end),
		TEST(a_stop_by_the_work_itself_ends_the_work),
		TEST(a_stop_by_the_work_serves_a_wanted_halt_too),
		TEST(a_wanted_halt_outlasts_a_restart),
	};

	return RUN_TESTS(tests);
}
