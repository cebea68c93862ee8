/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulation of privileged instructions (SDM vol. 2). Every function leaves the
 * registers as the instruction would in ring 0 of a machine of the guest's own.
 */
#include "guests/x86/emulate.h"

#include "arch/ia32/debug.h"
#include "arch/ia32/fpu.h"
#include "core/trace.h"
#include "core/work.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"
#include "guests/x86/linux.h"
#include "guests/x86/port.h"
#include "lib/string.h"
#include "platform/pc/apic.h"

#define OPCODE_HLT 0xf4
#define SYSTEM_SELECTOR_MASK 0xfff8u

enum emulated {
	EMULATED_NEXT,    /* go on behind the instruction */
	EMULATED_JUMP,    /* EIP is set, or an exception has been given */
	EMULATED_FAULT,   /* the #GP to the guest, with the CPU's error code */
};

/* One instruction of a guest. */
struct emulation {
	struct pc *pc;
	struct frame *frame;
	struct decoded decoded;
	u32 error; /* of the exception that led here */
};

typedef enum emulated (*emulate_function)(const struct emulation *e);

/* Operands */

/* The frame holds the registers in PUSHA's order, the last first. */
static u32 *register_pointer(struct frame *frame, unsigned number)
{
	return number == REGISTER_ESP ? &frame->esp : &frame->edi + (7 - number);
}

static u32 *operand_register(const struct emulation *e)
{
	return register_pointer(e->frame, e->decoded.rm);
}

static u32 segment_selector(const struct frame *frame, unsigned segment)
{
	const u32 selectors[] = {frame->es, frame->cs, frame->ss, frame->ds, frame->fs, frame->gs};

	return selectors[segment] & 0xffff;
}

static u32 operand_address(const struct emulation *e)
{
	const struct decoded *decoded = &e->decoded;
	u32 index = segment_selector(e->frame, decoded->segment) / 8;
	u32 address = decoded->displacement;

	if (decoded->base != REGISTER_NONE)
		address += *register_pointer(e->frame, decoded->base);
	if (decoded->index != REGISTER_NONE)
		address += *register_pointer(e->frame, decoded->index) << decoded->scale;
	return address + (index < SEGMENT_GUEST_ENTRIES
				  ? descriptor_base(e->pc->vcpu->tables->gdt[index])
				  : 0);
}

/* Reads a memory operand; a page fault goes to the guest. */
MUST_CHECK COLD static bool operand_read(const struct emulation *e, void *to, u32 size)
{
	u32 address = operand_address(e);

	if (guest_read(address, to, size))
		return true;
	inject_page_fault(e->pc, address, 0);
	return false;
}

MUST_CHECK COLD static bool operand_16(const struct emulation *e, u16 *value)
{
	if (e->decoded.has_memory)
		return operand_read(e, value, sizeof(*value));
	*value = (u16)*operand_register(e);
	return true;
}

/* Descriptor tables */

/* A segment that is loaded stays usable after LGDT, whatever the new table has
 * in its place, until the guest loads it again: Linux's first LGDT relies on
 * that. The real entry stays instead of the CPU's hidden part. */
COLD static bool entry_is_loaded(const struct frame *frame, u32 index)
{
	for (unsigned segment = SEGMENT_ES; segment <= SEGMENT_GS; segment++)
		if (segment_selector(frame, segment) / 8 == index)
			return true;
	return false;
}

COLD static void reload_gdt_entries(struct pc *pc, u32 first, u32 last)
{
	u32 entries = (pc->gdt_limit + 1u) / 8;

	for (u32 i = first; i <= last; i++) {
		u64 descriptor = 0;

		if (i < entries && !guest_read(pc->gdt_base + i * 8, &descriptor, 8)) {
			vm_stop(pc->vm, "its GDT at %x cannot be read", pc->gdt_base);
			return;
		}
		if ((descriptor & DESCRIPTOR_PRESENT) == 0 && entry_is_loaded(pc->vcpu->frame, i))
			continue;
		pc_set_descriptor(pc, i, descriptor);
	}
	if (pc->armed)
		segment_set_user_code(pc->vcpu, false);
}

COLD void emulate_reload_gdt(struct pc *pc)
{
	reload_gdt_entries(pc, 1, SEGMENT_GUEST_ENTRIES - 1);
}

/* What every load of a register by way of the GDT ends with. */
COLD static enum emulated gdt_reload(const struct emulation *e)
{
	emulate_reload_gdt(e->pc);
	inject_reload_stack(e->pc);
	return EMULATED_NEXT;
}

/* Without the hypercall for TLS, stores to the GDT must not pass unseen. */
COLD static void protect_gdt(struct pc *pc)
{
	u32 frame;

	if (!pc->tls_hook && shadow_translate(pc, pc->gdt_base, &frame))
		shadow_protect(pc, frame);
}

/* Gates straight to ring 1: the system call, and on a dedicated CPU every
 * interrupt. On a shared CPU IF stays 1 in the kernel, hence a trap gate. */
COLD static void reload_gates(struct pc *pc)
{
	for (unsigned vector = EXCEPTIONS; vector < 256; vector++) {
		u64 gate = 0;
		unsigned type;

		if (vector != 0x80 && !pc->dedicated)
			continue;
		if (vector * 8 + 7 <= pc->idt_limit &&
		    !guest_read(pc->idt_base + vector * 8, &gate, sizeof(gate)))
			gate = 0;
		type = (unsigned)(gate >> 40) & 0x1f;
		if ((gate & DESCRIPTOR_PRESENT) == 0 ||
		    (type != GATE_INTERRUPT && type != GATE_TRAP))
			segment_clear_gate(pc->vcpu, vector);
		else
			segment_set_gate(pc->vcpu, vector,
					 (u32)(gate & 0xffff) | ((u32)(gate >> 32) & 0xffff0000),
					 pc->dedicated ? type : GATE_TRAP, descriptor_dpl(gate));
	}
}

COLD static enum emulated emulate_load_table(const struct emulation *e)
{
	struct pc *pc = e->pc;
	struct table_register table;

	if (!operand_read(e, &table, sizeof(table)))
		return EMULATED_JUMP;
	if (e->decoded.operation == DECODED_LIDT) {
		pc->idt_limit = table.limit;
		pc->idt_base = table.base;
		reload_gates(pc);
		return EMULATED_NEXT;
	}
	pc->gdt_limit = table.limit;
	pc->gdt_base = table.base;
	protect_gdt(pc);
	return gdt_reload(e);
}

COLD static enum emulated emulate_ltr(const struct emulation *e)
{
	struct pc *pc = e->pc;
	u64 descriptor;
	u16 selector;

	if (!operand_16(e, &selector))
		return EMULATED_JUMP;
	if ((selector & SYSTEM_SELECTOR_MASK) == 0 || (selector | 7u) > pc->gdt_limit ||
	    !guest_read(pc->gdt_base + (selector & SYSTEM_SELECTOR_MASK), &descriptor, 8))
		return EMULATED_FAULT;
	pc->tr = selector;
	pc->tss_base = descriptor_base(descriptor);
	if (pc->tss_base >= GANDALF_BASE - PAGE_SIZE)
		pc->tss_base = 0; /* none that inject_reload_stack() could read */
	return gdt_reload(e);
}

/* A local descriptor table is not offered: Linux uses one only for
 * modify_ldt(), which its configuration leaves out. */
COLD static enum emulated emulate_lldt(const struct emulation *e)
{
	u16 selector;

	if (!operand_16(e, &selector))
		return EMULATED_JUMP;
	if ((selector & SYSTEM_SELECTOR_MASK) != 0)
		return EMULATED_FAULT;
	return gdt_reload(e);
}

/* Control and debug registers */

COLD static void cr0_set(struct pc *pc, u32 value)
{
	u32 changed = pc->cr0 ^ value;

	pc->cr0 = value | CR0_ET;
	pc->vcpu->cr0_guest = (pc->vcpu->cr0_guest & ~(CR0_TS | CR0_EM | CR0_AM)) |
			      (value & (CR0_TS | CR0_EM | CR0_AM));
	if (changed & CR0_PG)
		shadow_set_paging(pc);
	work_end(cr0);
	fpu_show(pc->vcpu);
}

static void cr3_set(struct pc *pc, u32 value)
{
	bool same = pc->cr3 == value;

	pc->cr3 = value;
	shadow_load(pc, same);
}

COLD static void cr4_set(struct pc *pc, u32 value)
{
	u32 changed = pc->cr4 ^ value;

	if (value & CR4_PAE) {
		vm_stop(pc->vm, "it wants PAE, which is not offered");
		return;
	}
	pc->cr4 = value;
	if (changed & (CR4_PGE | CR4_PSE))
		shadow_flush_all(pc);
}

static enum emulated emulate_mov_to_cr(const struct emulation *e)
{
	u32 value = *operand_register(e);

	if (e->decoded.reg == 0)
		cr0_set(e->pc, value);
	else if (e->decoded.reg == 2)
		e->pc->vcpu->shared->cr2 = value;
	else if (e->decoded.reg == 3)
		cr3_set(e->pc, value);
	else if (e->decoded.reg == 4)
		cr4_set(e->pc, value);
	else
		return EMULATED_FAULT;
	return EMULATED_NEXT;
}

COLD static enum emulated emulate_mov_from_cr(const struct emulation *e)
{
	const u32 values[] = {e->pc->cr0, 0, e->pc->vcpu->shared->cr2, e->pc->cr3, e->pc->cr4};

	if (e->decoded.reg >= ARRAY_SIZE(values) || e->decoded.reg == 1)
		return EMULATED_FAULT;
	*operand_register(e) = values[e->decoded.reg];
	return EMULATED_NEXT;
}

COLD static enum emulated emulate_mov_to_dr(const struct emulation *e)
{
	work_end(debug_register);
	debug_write(e->pc->vcpu, e->decoded.reg, *operand_register(e));
	return EMULATED_NEXT;
}

COLD static enum emulated emulate_mov_from_dr(const struct emulation *e)
{
	*operand_register(e) = debug_read(e->pc->vcpu, e->decoded.reg);
	return EMULATED_NEXT;
}

COLD static enum emulated emulate_lmsw(const struct emulation *e)
{
	u16 value;

	if (!operand_16(e, &value))
		return EMULATED_JUMP;
	/* PE can be set but not cleared. */
	cr0_set(e->pc, (e->pc->cr0 & ~0xeu) | (value & 0xfu));
	return EMULATED_NEXT;
}

COLD static enum emulated emulate_clts(const struct emulation *e)
{
	cr0_set(e->pc, e->pc->cr0 & ~CR0_TS);
	return EMULATED_NEXT;
}

static enum emulated emulate_invlpg(const struct emulation *e)
{
	shadow_invalidate(e->pc, operand_address(e));
	return EMULATED_NEXT;
}

/* Caches are written back by the hardware; a guest has no say in that. */
COLD static enum emulated emulate_cache(UNUSED const struct emulation *e)
{
	return EMULATED_NEXT;
}

/* MSRs: those that Linux 6.1 reads without a safety net on the CPUs that
 * Gandalf is for read as 0 and ignore writes; any other is a #GP, which Linux
 * expects of an MSR that does not exist. */

#define MSR_TSC 0x10

/* PLATFORM_ID, APIC_BASE (which stays where and what it is: disabled, or on a dedicated CPU the
 * real one, which is never an x2APIC's), EBL_CR_POWERON, FEATURE_CONTROL, BIOS_UPDT_TRIG,
 * BIOS_SIGN_ID; SYSENTER_CS, ESP, EIP; PERFEVTSEL0, 1 and the counters; MISC_ENABLE,
 * DEBUGCTL. */
static const u16 msrs_of_zeroes[] = {
	0x17, 0x1b, 0x2a, 0x3a, 0x79, 0x8b, 0x174, 0x175, 0x176, 0x186, 0x187, 0xc1, 0xc2,
	0x1a0, 0x1d9,
};

COLD static bool msr_is_zero(u32 index)
{
	for (u32 i = 0; i < ARRAY_SIZE(msrs_of_zeroes); i++)
		if (msrs_of_zeroes[i] == index)
			return true;
	return false;
}

COLD static enum emulated emulate_rdmsr(const struct emulation *e)
{
	u64 value = 0;

	if (e->frame->ecx == MSR_TSC)
		value = rdtsc();
	else if (e->frame->ecx == MSR_APIC_BASE)
		value = e->pc->shadow.apic;
	else if (!msr_is_zero(e->frame->ecx))
		return EMULATED_FAULT;
	e->frame->eax = (u32)value;
	e->frame->edx = (u32)(value >> 32);
	return EMULATED_NEXT;
}

COLD static enum emulated emulate_wrmsr(const struct emulation *e)
{
	return msr_is_zero(e->frame->ecx) ? EMULATED_NEXT : EMULATED_FAULT;
}

/* The interrupt flag */

COLD static enum emulated emulate_cli(const struct emulation *e)
{
	linux_set_interrupts(e->pc, false);
	return EMULATED_NEXT;
}

static enum emulated emulate_hlt(const struct emulation *e)
{
	struct pc *pc = e->pc;

	work_end(halt);
	pc_settle(pc);
	e->frame->eip += e->decoded.length;
	vcpu_count(pc->vcpu, COUNTER_halts);
	if (linux_interrupt_flag(pc) == 0)
		vm_power_off(pc->vm);
	else if (!pc->interrupt_waits)
		vcpu_halt(pc->vcpu);
	return EMULATED_JUMP;
}

/* STI; HLT is one: an interrupt between the two would be slept over. */
static enum emulated emulate_sti(const struct emulation *e)
{
	u8 next = 0;

	linux_set_interrupts(e->pc, true);
	if (!guest_read(e->frame->eip + e->decoded.length, &next, 1) || next != OPCODE_HLT)
		return EMULATED_NEXT;
	e->frame->eip++;
	return emulate_hlt(e);
}

/* Returns */

static void return_to(struct pc *pc, struct frame *frame, const u32 *words)
{
	frame->eip = words[0];
	frame->eflags = vcpu_eflags(pc->vcpu, words[2]);
	if (pc->dedicated)
		frame->eflags |= words[2] & EFLAGS_IF;
	if ((words[1] & 3) == 3) {
		frame->cs = words[1] & 0xffff;
		frame->esp = words[3];
		frame->ss = words[4] & 0xffff;
	} else {
		frame->cs = (words[1] & 0xfffcu) | 1;
		frame->esp += 3 * (u32)sizeof(u32);
		linux_set_interrupts(pc, (words[2] & EFLAGS_IF) != 0);
	}
}

/* Whether the real tables have a segment for this selector at its RPL; ring 3's
 * code segments may be absent for a while only. */
static bool selector_is_loadable(const struct pc *pc, u32 selector, bool code)
{
	u32 index = (selector & 0xffff) / 8;
	u64 wanted = DESCRIPTOR_USER | (code ? DESCRIPTOR_CODE : DESCRIPTOR_WRITABLE);
	u64 mask = DESCRIPTOR_USER | DESCRIPTOR_CODE | (code ? 0 : DESCRIPTOR_WRITABLE);
	u64 descriptor;

	if (index >= SEGMENT_GUEST_ENTRIES || (selector & 4))
		return false;
	descriptor = pc->vcpu->tables->gdt[index];
	if ((descriptor & DESCRIPTOR_PRESENT) == 0 && !(pc->armed && code))
		return false;
	return (descriptor & mask) == wanted &&
	       descriptor_dpl(descriptor) == ((selector & 3) == 3 ? 3 : 1);
}

/* What the VMM's own IRET to this frame would refuse, the guest's must. */
static bool return_is_possible(const struct pc *pc, const u32 *words)
{
	if ((words[2] & EFLAGS_VM) || !selector_is_loadable(pc, words[1], true) ||
	    words[0] > descriptor_limit(pc->vcpu->tables->gdt[(words[1] & 0xffff) / 8]))
		return false;
	return (words[1] & 3) != 3 ||
	       ((words[4] & 3) == 3 && selector_is_loadable(pc, words[4], false));
}

static enum emulated emulate_iret(const struct emulation *e)
{
	u32 words[5]; /* EIP, CS, EFLAGS, and to ring 3 ESP, SS */
	u32 esp = e->frame->esp;

	if (e->error == SELECTOR_VMM_CODE && guest_read(esp, words, 3 * sizeof(u32)))
		upcall_return(e->pc, words);
	if (e->decoded.operand_size != 4 || !guest_read(esp, words, 3 * sizeof(u32)) ||
	    ((words[1] & 3) == 3 && !guest_read(esp, words, sizeof(words))) ||
	    !return_is_possible(e->pc, words))
		return EMULATED_FAULT;
	vcpu_count(e->pc->vcpu, COUNTER_returns);
	return_to(e->pc, e->frame, words);
	return EMULATED_JUMP;
}

/* A stack segment with RPL 0, as ring 0 loads it. */
COLD static enum emulated emulate_mov_to_sreg(const struct emulation *e)
{
	u16 selector;

	if (e->decoded.reg != SEGMENT_SS)
		return EMULATED_FAULT;
	if (!operand_16(e, &selector))
		return EMULATED_JUMP;
	if ((selector & 3) != 0 || !selector_is_loadable(e->pc, selector, false))
		return EMULATED_FAULT;
	e->frame->ss = selector | 1u;
	return EMULATED_NEXT;
}

/* Ports */

static u16 port_operand(const struct emulation *e)
{
	return (u16)(e->decoded.has_immediate ? e->decoded.immediate : e->frame->edx);
}

static enum emulated emulate_in(const struct emulation *e)
{
	u32 size = e->decoded.size;
	u32 mask = size == 4 ? 0xffffffff : (1u << 8 * size) - 1;
	u32 value;

	work_end(port_in);
	value = port_read(e->pc, port_operand(e), size);
	e->frame->eax = (e->frame->eax & ~mask) | (value & mask);
	return EMULATED_NEXT;
}

static enum emulated emulate_out(const struct emulation *e)
{
	work_end(port_out);
	port_write(e->pc, port_operand(e), e->decoded.size, e->frame->eax);
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
	[DECODED_MOV_TO_SREG] = emulate_mov_to_sreg,
};

MUST_CHECK COLD static bool emulation_begin(struct emulation *e, struct pc *pc)
{
	u8 bytes[DECODE_LENGTH_MAXIMUM];
	u32 count = guest_fetch(pc->vcpu, bytes, sizeof(bytes));

	e->pc = pc;
	e->frame = pc->vcpu->frame;
	e->error = e->frame->error;
	return decode(&e->decoded, bytes, count) == DECODE_OK;
}

static void emulate(const struct emulation *e)
{
	enum emulated result;

	vcpu_count(e->pc->vcpu, COUNTER_emulations);
	trace_fast(e->pc->vcpu->id, TRACE_emulate, e->decoded.operation, e->frame->eip);
	result = functions[e->decoded.operation](e);
	if (result == EMULATED_NEXT)
		e->frame->eip += e->decoded.length;
	else if (result == EMULATED_FAULT)
		inject_general_protection(e->pc, e->error);
}

/* The error code is a selector where the instruction names one. */
COLD static bool may_emulate(const struct emulation *e)
{
	return functions[e->decoded.operation] != NULL && !e->decoded.lock &&
	       (e->error == 0 || e->decoded.operation == DECODED_IRET ||
		e->decoded.operation == DECODED_MOV_TO_SREG);
}

COLD static void emulate_seldom(struct pc *pc, u32 error)
{
	struct emulation e;

	/* A bad address or selector is the guest's own business. */
	if (!emulation_begin(&e, pc) || e.decoded.operation == DECODED_MOV_STORE)
		inject_general_protection(pc, error);
	else if (may_emulate(&e))
		emulate(&e);
	else if (error != 0)
		inject_general_protection(pc, error);
	else
		vm_stop(pc->vm, "%s is not an instruction for a guest",
			decode_name(e.decoded.operation));
}

static void emulate_read_cr2(struct vcpu *vcpu, unsigned number)
{
	struct frame *frame = vcpu->frame;

	vcpu_count(vcpu, COUNTER_emulations);
	trace_fast(vcpu->id, TRACE_emulate, DECODED_MOV_FROM_CR, frame->eip);
	*register_pointer(frame, number) = vcpu->shared->cr2;
	frame->eip += 3;
}

APART static void emulate_other(struct pc *pc, u32 error, u32 code)
{
	struct emulation e;

	e.pc = pc;
	e.frame = pc->vcpu->frame;
	e.error = error;
	if (decode_frequent(&e.decoded, code) &&
	    (error == 0 || e.decoded.operation == DECODED_IRET))
		emulate(&e);
	else
		emulate_seldom(pc, error);
}

void emulate_general_protection(struct pc *pc, u32 error)
{
	u32 code, more;

	if (!guest_read_8(pc->vcpu->frame->eip, &code, &more))
		emulate_seldom(pc, error);
	else if (error == 0 && decode_reads_cr2(code))
		emulate_read_cr2(pc->vcpu, code >> 16 & 7);
	else
		emulate_other(pc, error, code);
}

COLD bool emulate_blocked_return(struct pc *pc)
{
	struct emulation e;

	if (!pc->armed || !emulation_begin(&e, pc) || e.decoded.operation != DECODED_IRET)
		return false;
	vcpu_count(pc->vcpu, COUNTER_return_faults);
	emulate(&e);
	return true;
}

/* Stores */

MUST_CHECK COLD static bool store_begin(struct emulation *e, struct pc *pc, u32 *value)
{
	if (!emulation_begin(e, pc) || e->decoded.operation != DECODED_MOV_STORE)
		return false;
	*value = e->decoded.has_immediate ? e->decoded.immediate
					  : *register_pointer(e->frame, e->decoded.reg);
	return e->decoded.size == 4;
}

bool emulate_alias_store(struct pc *pc)
{
	struct emulation e;
	u32 value;

	if (!store_begin(&e, pc, &value) || operand_address(&e) != GANDALF_SHARED_ALIAS)
		return false;
	vcpu_count(pc->vcpu, COUNTER_alias_faults);
	e.frame->eip += e.decoded.length;
	linux_set_interrupts(pc, (value & GANDALF_INTERRUPT_FLAG) != 0);
	return true;
}

/* Without the hypercall, Linux does that at each switch of tasks, six times, mostly with what is
 * there: so no more than what is written is read again, and that only if it may change something.
 * Only the page of the GDT's start is protected. */
static void gdt_store(struct pc *pc, u32 linear, u32 value)
{
	u32 offset = linear - pc->gdt_base;
	u32 first = offset % PAGE_SIZE / 8;
	u32 old, next;

	vcpu_count(pc->vcpu, COUNTER_gdt_writes);
	if (offset % 4 == 0 && first < SEGMENT_GUEST_ENTRIES &&
	    read_or_fail((const u32 *)linear, &old, &next) && old == value &&
	    (pc->vcpu->tables->gdt[first] & DESCRIPTOR_PRESENT) == 0)
		return;
	/* Not where the guest sees the page, which the CPU may remember to be another one: the
	 * VMM's stores pass by its protection. */
	memcpy((u8 *)shadow_protected_page(&pc->shadow) + linear % PAGE_SIZE, &value,
	       sizeof(value));
	reload_gdt_entries(pc, first, (offset + 3) % PAGE_SIZE / 8);
}

/* MOV of a register to an address that is in the instruction. */
bool emulate_gdt_store(struct pc *pc, u32 linear)
{
	struct frame *frame = pc->vcpu->frame;
	u32 code, more, number = REGISTER_EAX;

	if (linear % PAGE_SIZE == 0 || linear % 4 != 0 || !guest_read_8(frame->eip, &code, &more))
		return false;
	if ((code & 0xc7ff) == 0x0589) {
		number = code >> 11 & 7;
		frame->eip++;
	} else if ((u8)code != 0xa3) {
		return false;
	}
	frame->eip += 5;
	vcpu_count(pc->vcpu, COUNTER_gdt_quick_writes);
	gdt_store(pc, linear, *register_pointer(frame, number));
	return true;
}

COLD void emulate_store(struct pc *pc, u32 linear, bool to_apic)
{
	struct emulation e;
	u32 value;

	/* Within a page: one that begins on the page before may fault at the start of this one. */
	if (!store_begin(&e, pc, &value) || linear % PAGE_SIZE > PAGE_SIZE - sizeof(value) ||
	    (linear % PAGE_SIZE == 0 && operand_address(&e) != linear)) {
		vm_stop(pc->vm, "it writes its %s at %x in an unknown way",
			to_apic ? "APIC" : "GDT", linear);
		return;
	}
	e.frame->eip += e.decoded.length;
	if (to_apic)
		upcall_apic_write(pc, linear % PAGE_SIZE, value);
	else
		gdt_store(pc, linear, value);
	pc->shadow.protected_page = to_apic ? 0 : linear & PTE_FRAME;
}
