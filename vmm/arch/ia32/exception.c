/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a report that is IA-32's: exceptions by name, and a vCPU's registers. */
#include "arch/ia32/exception.h"

#include "arch/ia32/switch.h"
#include "core/log.h"
#include "lib/string.h"

static const char exceptions[] =
	"divide error (#DE)\0" "debug exception (#DB)\0" "NMI\0" "breakpoint (#BP)\0"
	"overflow (#OF)\0" "bound range exceeded (#BR)\0" "invalid opcode (#UD)\0"
	"no floating-point unit (#NM)\0" "double fault (#DF)\0" "vector 9\0" "invalid TSS (#TS)\0"
	"segment not present (#NP)\0" "stack fault (#SS)\0" "general protection (#GP)\0"
	"page fault (#PF)\0" "vector 15\0" "floating-point error (#MF)\0"
	"alignment check (#AC)\0" "machine check (#MC)\0" "SIMD floating-point error (#XM)\0"
	"an unknown exception";

const char *exception_name(unsigned vector)
{
	return string_of_list(exceptions, minimum(vector, EXCEPTION_XM + 1));
}

void exception_log_place(const struct vcpu *vcpu)
{
	const struct frame *frame = switch_frame(vcpu);

	log_line("  at cs:eip %04x:%08x, ss:esp %04x:%08x, eflags %08x, error code %x",
		 frame->cs & 0xffff, frame->eip, frame->ss & 0xffff, frame->esp, frame->eflags,
		 frame->error);
}

void exception_log_registers(const struct vcpu *vcpu)
{
	const struct frame *frame = switch_frame(vcpu);

	log_line("  eax %08x ebx %08x ecx %08x edx %08x", frame->eax, frame->ebx, frame->ecx,
		 frame->edx);
	log_line("  esi %08x edi %08x ebp %08x cr2 %08x", frame->esi, frame->edi, frame->ebp,
		 vcpu->fault_address);
	log_line("  ds %04x es %04x fs %04x gs %04x, interrupt flag %x", frame->ds & 0xffff,
		 frame->es & 0xffff, frame->fs & 0xffff, frame->gs & 0xffff,
		 vcpu->shared->interrupt_flag);
}
