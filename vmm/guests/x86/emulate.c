/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulates privileged instructions (SDM vol. 2). A #GP leads to the function of the operation,
 * which changes the guest's state as the instruction would in ring 0 of the guest's own machine.
 */
#include "guests/x86/emulate.h"

#include "arch/ia32/decode_quick.h"
#include "core/trace.h"
#include "core/work.h"
#include "guests/x86/emulation.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"
#include "guests/x86/io_permission.h"
#include "guests/x86/board.h"
#include "guests/x86/masked_sections.h"
#include "siblings.h"
#include "views.h"

typedef enum emulated (*emulate_function)(const struct emulation *e);

static u16 port_operand(const struct emulation *e)
{
	return (u16)(e->decoded.has_immediate ? e->decoded.immediate : e->frame->edx);
}

static enum emulated emulate_in(const struct emulation *e)
{
	u32 size = e->decoded.size;
	u32 mask = 0xffffffff >> (32 - 8 * size);
	u32 value;

	work_mask(port_in);
	if (port_is_asked(e->x86, port_operand(e), size, NULL, e->decoded.length))
		return EMULATED_JUMP;
	value = port_read(e->x86, port_operand(e), size);
	e->frame->eax = (e->frame->eax & ~mask) | (value & mask);
	return EMULATED_NEXT;
}

static enum emulated emulate_out(const struct emulation *e)
{
	work_mask(port_out);
	if (port_is_asked(e->x86, port_operand(e), e->decoded.size, &e->frame->eax,
			  e->decoded.length))
		return EMULATED_JUMP;
	port_write(e->x86, port_operand(e), e->decoded.size, e->frame->eax);
	return EMULATED_NEXT;
}

static const emulate_function functions[DECODED_OPERATIONS] = {
	[DECODED_LGDT] = emulate_load_table, [DECODED_LIDT] = emulate_load_table,
	[DECODED_LLDT] = emulate_lldt, [DECODED_LTR] = emulate_ltr, [DECODED_LMSW] = emulate_lmsw,
	[DECODED_MOV_FROM_CR] = emulate_mov_from_cr, [DECODED_MOV_TO_CR] = emulate_mov_to_cr,
	[DECODED_MOV_FROM_DR] = emulate_mov_from_dr, [DECODED_MOV_TO_DR] = emulate_mov_to_dr,
	[DECODED_INVLPG] = emulate_invlpg, [DECODED_CLTS] = emulate_clts,
	[DECODED_INVD] = emulate_cache, [DECODED_WBINVD] = emulate_cache,
	[DECODED_HLT] = emulate_hlt, [DECODED_CLI] = emulate_cli, [DECODED_STI] = emulate_sti,
	[DECODED_IRET] = emulate_iret, [DECODED_IN] = emulate_in, [DECODED_OUT] = emulate_out,
	[DECODED_RDMSR] = emulate_rdmsr, [DECODED_WRMSR] = emulate_wrmsr,
	[DECODED_RDTSC] = emulate_rdtsc,
	[DECODED_MOV_TO_SREG] = emulate_mov_to_sreg,
};

/* Counts and traces an instruction that is emulated. It is a macro for the same reason as
 * trace_write(). */
#define emulation_note(of, operation, frame)                                                       \
	do {                                                                                       \
		vcpu_count(of, COUNTER_emulations);                                                \
		trace_fast(of, TRACE_emulate, operation, (frame)->eip);                      \
	} while (0)

static void emulate(const struct emulation *e)
{
	struct vcpu *vcpu = e->x86->vcpu;
	enum emulated result;

	emulation_note(vcpu, e->decoded.operation, e->frame);
	flushes_follow(e->x86);
	result = functions[e->decoded.operation](e);
	if (result == EMULATED_NEXT)
		e->frame->eip += e->decoded.length;
	else if (result == EMULATED_FAULT)
		inject_general_protection(e->x86, e->error);
}

/* Returns whether the instruction may be emulated. An error code other than 0 is a selector, which
 * only a return or a load of a segment register can have caused. */
static bool may_emulate(const struct emulation *e)
{
	return functions[e->decoded.operation] != NULL && !e->decoded.lock &&
	       (e->error == 0 || e->decoded.operation == DECODED_IRET ||
		e->decoded.operation == DECODED_MOV_TO_SREG);
}

static void emulate_seldom(struct x86 *x86, u32 error)
{
	struct emulation e;

	/* The guest gets the #GP of a store or of an unknown instruction: what it did there needs
	 * no privilege, and its address or selector is bad. */
	if (!emulation_begin(&e, x86) || e.decoded.operation == DECODED_MOV_STORE)
		inject_general_protection(x86, error);
	else if (may_emulate(&e))
		emulate(&e);
	else if (error != 0)
		inject_general_protection(x86, error);
	else
		vm_stop(x86->vm, "%s is not an instruction for a guest",
			decode_name(e.decoded.operation));
}

/* Does an access to a port that the kernel permits the process. The process gets the #GP of any
 * other one, and of all else. */
APART static void emulate_of_process(struct x86 *x86, u32 error)
{
	struct emulation e;

	if (error == 0 && emulation_begin(&e, x86) && !e.decoded.lock &&
	    (e.decoded.operation == DECODED_IN || e.decoded.operation == DECODED_OUT) &&
	    io_is_permitted(x86, port_operand(&e), e.decoded.size))
		emulate(&e);
	else
		inject_general_protection(x86, error);
}

static void emulate_read_cr2(struct vcpu *vcpu, unsigned number)
{
	struct frame *frame = vcpu->frame;

	emulation_note(vcpu, DECODED_MOV_FROM_CR, frame);
	*register_pointer(frame, number) = vcpu->shared->cr2;
	frame->eip += DECODE_CR_LENGTH;
}

APART static void emulate_load_cr3(struct vcpu *vcpu, unsigned number)
{
	struct frame *frame = vcpu->frame;

	emulation_note(vcpu, DECODED_MOV_TO_CR, frame);
	flushes_follow(vcpu->x86);
	frame->eip += DECODE_CR_LENGTH;
	shadow_load(vcpu->x86, *register_pointer(frame, number));
}

/*
 * Decodes what Linux executes often, in a tenth of the time: what arch/ia32/decode_quick.h
 * recognises as INVLPG, IRET, or IN or OUT of a byte. code has the first four bytes. Returns false
 * if the instruction is another one.
 */
MUST_CHECK static bool decode_frequent(struct decoded *decoded, u32 code)
{
	decoded->length = 3;
	decoded->operand_size = 4;
	decoded->rm = decoded->base = code >> 16 & 7;
	decoded->lock = decoded->has_memory = decoded->has_immediate = false;
	if (decode_invalidates_page(code)) {
		decoded->operation = DECODED_INVLPG;
		decoded->has_memory = true;
		decoded->segment = SEGMENT_DS;
		decoded->index = REGISTER_NONE;
		decoded->displacement = 0;
	} else if (decode_returns((u8)code)) {
		decoded->operation = DECODED_IRET;
		decoded->length = 1;
	} else if (decode_moves_port_byte(code)) {
		decoded->operation = decode_is_out(code) ? DECODED_OUT : DECODED_IN;
		decoded->size = 1;
		decoded->has_immediate = decode_has_port(code);
		decoded->length = 1 + decoded->has_immediate;
		decoded->immediate = (u8)(code >> 8);
	} else {
		return false;
	}
	return true;
}

APART static void emulate_other(struct x86 *x86, u32 error, u32 code)
{
	struct emulation e;

	e.x86 = x86;
	e.frame = x86->vcpu->frame;
	e.error = error;
	if (decode_frequent(&e.decoded, code) &&
	    (error == 0 || e.decoded.operation == DECODED_IRET))
		emulate(&e);
	else
		emulate_seldom(x86, error);
}

/* Returns whether a guest with strict TLS only needs the other half of a segment. */
static bool is_of_tls(struct x86 *x86, u32 error)
{
	return error == 0 && (x86->vm->guest->flags & GANDALF_GUEST_STRICT_TLS) != 0 &&
	       x86_flip_tls(x86);
}

void emulate_general_protection(struct vcpu *vcpu, struct frame *frame)
{
	struct x86 *x86 = vcpu->x86;
	u32 error = frame->error;
	u32 code, more;

	if (is_of_tls(x86, error))
		return;
	if (!views_in_kernel(vcpu, frame))
		emulate_of_process(x86, error);
	else if (!guest_read_8(frame->eip, &code, &more))
		emulate_seldom(x86, error);
	else if (error == 0 && decode_reads_cr2(code))
		emulate_read_cr2(vcpu, code >> 16 & 7);
	else if (error == 0 && decode_loads_cr3(code))
		emulate_load_cr3(vcpu, code >> 16 & 7);
	else
		emulate_other(x86, error, code);
}

bool emulate_blocked_return(struct x86 *x86)
{
	struct emulation e;

	if (!views_stop_now(returns_are_stopped(x86)) || !emulation_begin(&e, x86) ||
	    e.decoded.operation != DECODED_IRET)
		return false;
	vcpu_count(x86->vcpu, COUNTER_return_faults);
	emulate(&e);
	return true;
}
