/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the reports of stopped guests, which the idle vCPU logs in steps. */
#include "core/report.h"

#include "arch.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/trace.h"

#define TRACE_LINES 12u

static void report_instruction(const struct vm *vm)
{
	log_text(vm->code_count != 0 ? "  instruction: " : "  no instruction can be read there");
	for (u32 i = 0; i < vm->code_count; i++)
		log_text("%02x ", vm->code[i]);
	log_text("\r\n");
}

/* Who debugs a guest (tools/gandalf/debug) stops here when it is over. */
NAMED void report(struct vm *vm)
{
	log_copy(vm->report, GANDALF_REPORT_SIZE);
	log_line("guest %s stopped: %s", vm->guest->name, vm->reason);
	exception_log_place(vm->vcpus);
	report_instruction(vm);
	exception_log_registers(vm->vcpus);
	log_line("  its last events:");
	trace_log(vm->vcpus->trace, TRACE_LINES);
	log_copy(NULL, 0);
}
