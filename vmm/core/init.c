/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the VMM by a list of calls, in the order in which its parts depend on each other. */
#include "core/init.h"

#include "arch.h"
#include "core/cores.h"
#include "core/feature.h"
#include "core/hypercall.h"
#include "core/idle.h"
#include "core/interrupt.h"
#include "core/log.h"
#include "core/message.h"
#include "core/module.h"
#include "core/pool.h"
#include "core/rate.h"
#include "core/schedule.h"
#include "display.h"

#define VERSION "0.1"
enum { UART_DEFAULT_PORT = 0x3f8, UART_DEFAULT_BAUD = 115200 };

static void init_guests(void)
{
	vm_create_all();
	for (u32 i = 0; i < core.vm_count; i++)
		interrupt_assign(vms[i].guest->interrupts, vms[i].vcpus);
	console_set_focus(&consoles, vms[system_table.focus].console);
}

_Noreturn void init(u32 magic, u32 information)
{
	cores_keep();
	log_init(UART_DEFAULT_PORT, UART_DEFAULT_BAUD);
	memory_init();
	schedule_init();
	idle_init();
	entries_make();
	processor_init();
	module_load(&system_table, magic, information);
	log_init((u16)system_table.console_port, system_table.console_baud);
	display_begin((system_table.flags & GANDALF_TABLE_SCREEN) != 0);
	core.pauses = core.interruptible = (system_table.flags & GANDALF_TABLE_INTERRUPTIBLE) != 0;
	log_line("Gandalf " VERSION ": %u guest%s", system_table.guest_count,
		 &"s"[system_table.guest_count == 1]);
	interrupt_init(log_has_uart() ? (int)system_table.console_interrupt : -1);
	keyboard_listen();
	features_check();
	hypercall_init();
	vm_prepare_kinds();
	pool_init(system_table.pool_base, system_table.pool_size - cores_start());
	init_guests();
	message_begin();
	rate_begin();
	log_start();
	idle_run();
}
