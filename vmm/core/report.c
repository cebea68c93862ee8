/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of stopped guests. */
#include "core/report.h"

#include "arch/ia32/switch.h"
#include "core/log.h"
#include "core/schedule.h"
#include "core/trace.h"
#include "guests/x86/decode.h"
#include "lib/string.h"

#define TRACE_LINES 12u

static const char exceptions[] =
	"divide error (#DE)\0" "debug exception (#DB)\0" "NMI\0" "breakpoint (#BP)\0"
	"overflow (#OF)\0" "bound range exceeded (#BR)\0" "invalid opcode (#UD)\0"
	"no floating-point unit (#NM)\0" "double fault (#DF)\0" "vector 9\0" "invalid TSS (#TS)\0"
	"segment not present (#NP)\0" "stack fault (#SS)\0" "general protection (#GP)\0"
	"page fault (#PF)\0" "vector 15\0" "floating-point error (#MF)\0"
	"alignment check (#AC)\0" "machine check (#MC)\0" "SIMD floating-point error (#XM)\0"
	"an unknown exception";

const char *report_exception_name(unsigned vector)
{
	return string_of_list(exceptions, minimum(vector, EXCEPTION_XM + 1));
}

static void report_instruction(struct vm *vm)
{
	struct decoded decoded;
	enum decode_result result;

	schedule_breathe();
	result = decode(&decoded, vm->code, vm->code_count);
	schedule_breathe();
	log_text(vm->code_count != 0 ? "  instruction: " : "  no instruction can be read there");
	for (u32 i = 0; i < vm->code_count; i++)
		log_text("%02x ", vm->code[i]);
	if (result == DECODE_OK)
		log_text("(%s)", decode_name(decoded.operation));
	log_text("\r\n");
}

void report(struct vm *vm)
{
	const struct frame *frame = switch_frame(vm->vcpu);

	log_copy(vm->report, GANDALF_REPORT_SIZE);
	log_line("guest %s stopped: %s", vm->guest->name, vm->reason);
	log_line("  at cs:eip %04x:%08x, ss:esp %04x:%08x, eflags %08x, error code %x",
		 frame->cs & 0xffff, frame->eip, frame->ss & 0xffff, frame->esp, frame->eflags,
		 frame->error);
	report_instruction(vm);
	log_line("  eax %08x ebx %08x ecx %08x edx %08x", frame->eax, frame->ebx, frame->ecx,
		 frame->edx);
	log_line("  esi %08x edi %08x ebp %08x cr2 %08x", frame->esi, frame->edi, frame->ebp,
		 vm->vcpu->fault_address);
	log_line("  ds %04x es %04x fs %04x gs %04x, interrupt flag %x", frame->ds & 0xffff,
		 frame->es & 0xffff, frame->fs & 0xffff, frame->gs & 0xffff,
		 vm->vcpu->shared->interrupt_flag);
	log_line("  its last events:");
	trace_log(vm->vcpu->id, TRACE_LINES);
	log_copy(NULL, 0);
}
