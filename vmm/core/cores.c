/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several cores: each is given an instance of the VMM, with memory at the end of its own pool, and
 * comes up with it. The core that has booted the machine is core 0 and has its chips; what another
 * one does from its first line of C on is cores_enter(), as init() is that of core 0.
 */
#include "core/cores.h"

#include "arch.h"
#include "core/core.h"
#include "core/idle.h"
#include "core/log.h"
#include "core/message.h"
#include "core/module.h"
#include "core/notice.h"
#include "core/order.h"
#include "core/pool.h"
#include "core/rate.h"
#include "core/relay.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "guest_cpus.h"
#include "lib/owner.h"
#include "machine_watch.h"
#include "platform.h"
#include "whole.h"

/* In so many milliseconds a CPU that is there comes up, also where a busy host emulates it. */
#define START_PATIENCE 2000u

/* What the date was when this core looked at it, and what the time stamp was then. */
OF_MACHINE static u32 boot_seconds;
OF_MACHINE static u64 boot_time;

static u32 pool_base_of(u32 index)
{
	return system_table.pool_base + index * system_table.pool_size;
}

/* Where the console of a guest stands among all: the log is before them, and they are in the order
 * in which vm_create_all() comes to the guests. */
static const struct console *console_of(u32 guest)
{
	const struct gandalf_guest *all = system_table.guests;
	u32 place = 1;

	for (u32 i = 0; i < system_table.guest_count; i++)
		place += all[i].priority + (i < guest) > all[guest].priority;
	return &consoles.consoles[place];
}

/* Of consoles that share the page in the place of what a core does not need, nothing but names is
 * written: these lie apart there from what stands in front of the lines of others. */
#define IS_APART(count)                                                                  \
	((count) * sizeof(struct console) % PAGE_SIZE - offsetof(struct console, line) < \
	 PAGE_SIZE - 2 * offsetof(struct console, line))
_Static_assert(IS_APART(1) && IS_APART(2) && IS_APART(3) && IS_APART(4) && IS_APART(5) &&
		       IS_APART(6) && IS_APART(7) && IS_APART(8),
	       "arch/ia32/instance.c");

static bool is_on(const void *page, const void *variable, u32 size)
{
	return (u32)page - (u32)variable + PAGE_SIZE - 1 < PAGE_SIZE - 1 + size;
}

/* A core has no need of the trace rings, consoles and reports of guests that it has not; they come
 * last in the image. */
static bool page_is_needed(u32 index, const void *page)
{
	const u32 before = offsetof(struct console_mux, consoles) + sizeof(struct console);

	if ((u32)page < (u32)trace_ring_of(0) || is_on(page, &consoles, before))
		return true;
	for (u32 i = 0; i < system_table.guest_count; i++)
		if ((guest_cpus(&system_table.guests[i]) >> index & 1) != 0 &&
		    (is_on(page, trace_ring_of(i), sizeof(*trace_rings)) ||
		     is_on(page, console_of(i), sizeof(struct console)) ||
		     is_on(page, vm_reports[i], sizeof(vm_reports[i]))))
			return true;
	return false;
}

/* They are at the end of core 0's pool. */
static u32 outboxes_place(void)
{
	return pool_base_of(1) - outboxes_size();
}

void cores_keep(void)
{
	instance_keep();
}

u32 cores_seconds(void)
{
	if (boot_time == 0)
		return date_now();
	return boot_seconds + (u32)time_milliseconds(rdtsc() - boot_time) / 1000;
}

static void clock_look(void)
{
	boot_seconds = date_now();
	boot_time = rdtsc();
}

/* Finds the others in the firmware's order, which come behind this one; returns how many. */
static u32 cpus_find(void)
{
	struct firmware_cpus cpus = {1, system_table.cpus, core_cpu_ids};

	if (system_table.cpus == 1)
		return 1;
	if (!cpus_are_reachable())
		panic("without a " CPU_REFERENCE " there is one CPU, not %u", system_table.cpus);
	core_cpu_ids[0] = (u8)cpu_own_id();
	firmware_find_cpus(&cpus);
	return cpus.count;
}

static bool core_start(u32 index)
{
	u32 size = instance_size(index, page_is_needed);
	u64 end;

	log_line("CPU %u takes %u KiB beside its pool", index,
		 (size + OUTBOX_PAGES * PAGE_SIZE) >> 10);
	instance_create(pool_base_of(index + 1) - size, size, index, page_is_needed);
	cpu_start(core_cpu_ids[index], LAYOUT_START);
	for (end = rdtsc() + (u64)START_PATIENCE * time_tsc_khz; rdtsc() < end;)
		if (outbox_of(index)->started != 0)
			return true;
	cpu_stop(core_cpu_ids[index]); /* it would begin as the one that is started next */
	return false;
}

static void core_missing(u32 index)
{
	if ((system_table.flags & GANDALF_TABLE_CPUS_OPTIONAL) == 0)
		panic("CPU %u does not come up", index);
	log_line("CPU %u does not come up: its guests stay off", index);
}

u32 cores_start(void)
{
	u32 count;

	outboxes_map(outboxes_place());
	memory_zero(outboxes_place(), outboxes_size());
	outbox_own()->started = 1;
	messages_assign();
	message_init();
	relay_init();
	orders_init();
	notice_init();
	clock_look();
	count = cpus_find();
	machine_watch();
	for (u32 index = 1; index < system_table.cpus; index++)
		if (index >= count || !core_start(index))
			core_missing(index);
	return outboxes_size();
}

/* The end of another core than the first: its guests have stopped, and it says why. */
static _Noreturn void core_end(void)
{
	core.pauses = false;
	log_line("the VMM stops: %s", panic_text);
	relay_flush();
	notice_give_up();
	outbox_own()->started = 0;
	outbox_own()->ended = 1;
	outbox_own()->alive = 0;
	parts_give_up();
	for (;;)
		halt();
}

/* start.S: what another core runs, on its boot stack, with its instance's data. */
_Noreturn void cores_enter(void)
{
	memory_init();
	machine_watch();
	schedule_init();
	idle_init();
	processor_init();
	core.pauses = core.interruptible = (system_table.flags & GANDALF_TABLE_INTERRUPTIBLE) != 0;
	outboxes_map(outboxes_place());
	console_mux_init(&consoles);
	log_console = console_add(&consoles, "vmm");
	log_redirect(relay_kick, core_end);
	cpu_join(core.index);
	message_init();
	relay_init();
	orders_init();
	time_start();
	pool_init(pool_base_of(core.index),
		  system_table.pool_size - instance_size(core.index, page_is_needed));
	core.guests_started = true;
	outbox_own()->started = 1;
	notice_init();
	log_line("%u KiB of its pool are left", pool_available * (PAGE_SIZE >> 10));
	vm_create_all();
	message_begin();
	rate_begin();
	idle_run();
}
