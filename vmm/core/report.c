/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of stopped guests. */
#include "core/report.h"

#include "core/log.h"
#include "core/trace.h"
#include "ia32/decode.h"

#define TRACE_LINES 12u

static const char *const exceptions[] = {
	"divide error (#DE)", "debug exception (#DB)", "NMI", "breakpoint (#BP)",
	"overflow (#OF)", "bound range exceeded (#BR)", "invalid opcode (#UD)",
	"no floating-point unit (#NM)", "double fault (#DF)", "vector 9", "invalid TSS (#TS)",
	"segment not present (#NP)", "stack fault (#SS)", "general protection (#GP)",
	"page fault (#PF)", "vector 15", "floating-point error (#MF)", "alignment check (#AC)",
	"machine check (#MC)", "SIMD floating-point error (#XM)",
};

const char *report_exception_name(unsigned vector)
{
	return vector < ARRAY_SIZE(exceptions) ? exceptions[vector] : "an unknown exception";
}

static void report_instruction(struct vm *vm)
{
	struct decoded decoded;

	log_text(vm->code_count != 0 ? "  instruction: " : "  no instruction can be read there");
	for (u32 i = 0; i < vm->code_count; i++)
		log_text("%02x ", vm->code[i]);
	if (decode(&decoded, vm->code, vm->code_count) == DECODE_OK)
		log_text("(%s)", decode_name(decoded.operation));
	log_text("\r\n");
}

void report(struct vm *vm)
{
	const struct frame *frame = vm->vcpu->frame;

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
