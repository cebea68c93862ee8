/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulation of privileged instructions (SDM vol. 2). Every function leaves the
 * registers as the instruction would in ring 0 of a machine of the guest's own.
 */
#include "ia32/emulate.h"

#include "core/core.h"
#include "core/guest_linux.h"
#include "core/trace.h"
#include "ia32/cpu.h"
#include "ia32/debug.h"
#include "ia32/guest_access.h"
#include "ia32/inject.h"
#include "ia32/segment.h"

#define OPCODE_HLT 0xf4
#define TSS_ESP0 4
#define SYSTEM_SELECTOR_MASK 0xfff8u

enum emulated {
	EMULATED_NEXT,  /* go on behind the instruction */
	EMULATED_JUMP,  /* EIP is set */
	EMULATED_FAULT, /* #GP(0) to the guest */
	EMULATED_FAULTED, /* an exception has been given to the guest */
};

typedef enum emulated (*emulate_function)(struct pc *pc, struct frame *frame,
					  const struct decoded *decoded);

/* Operands */

/* The frame holds the registers in PUSHA's order, the last first. */
static u32 *register_pointer(struct frame *frame, unsigned number)
{
	return number == REGISTER_ESP ? &frame->esp : &frame->edi + (7 - number);
}

static u32 segment_selector(const struct frame *frame, unsigned segment)
{
	const u32 selectors[] = {frame->es, frame->cs, frame->ss,
				 frame->ds, frame->fs, frame->gs};

	return selectors[segment] & 0xffff;
}

static u32 operand_address(const struct pc *pc, struct frame *frame,
			   const struct decoded *decoded)
{
	u32 registers[8];
	u32 index = segment_selector(frame, decoded->segment) / 8;
	unsigned i;

	for (i = 0; i < 8; i++)
		registers[i] = *register_pointer(frame, i);
	return decode_effective_address(decoded, registers) +
	       (index < SEGMENT_GUEST_ENTRIES ? descriptor_base(pc->vcpu->tables->gdt[index]) : 0);
}

/* Reads a memory operand; a page fault goes to the guest. */
static bool operand_read(struct pc *pc, struct frame *frame, const struct decoded *decoded,
			 void *to, u32 size)
{
	u32 address = operand_address(pc, frame, decoded);

	if (guest_read(address, to, size))
		return true;
	inject_page_fault(pc, address, 0);
	return false;
}

static bool operand_16(struct pc *pc, struct frame *frame, const struct decoded *decoded,
		       u16 *value)
{
	if (decoded->has_memory)
		return operand_read(pc, frame, decoded, value, sizeof(*value));
	*value = (u16)*register_pointer(frame, decoded->rm);
	return true;
}

/* Descriptor tables */

/* A segment that is loaded stays usable after LGDT, whatever the new table has
 * in its place, until the guest loads it again: Linux's first LGDT relies on
 * that. The real entry stays instead of the CPU's hidden part. */
static bool entry_is_loaded(const struct frame *frame, u32 index)
{
	unsigned segment;

	for (segment = SEGMENT_ES; segment <= SEGMENT_GS; segment++)
		if (segment_selector(frame, segment) / 8 == index)
			return true;
	return false;
}

void emulate_reload_gdt(struct pc *pc)
{
	u32 entries = (pc->gdt_limit + 1u) / 8;
	u32 i;

	for (i = 1; i < SEGMENT_GUEST_ENTRIES; i++) {
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

void emulate_reload_stack(struct pc *pc)
{
	u32 stack[2]; /* ESP0, SS0 */

	if (pc->tss_base != 0 && guest_read(pc->tss_base + TSS_ESP0, stack, sizeof(stack)))
		segment_set_guest_stack(pc->vcpu, stack[1] & 0xffff, stack[0]);
}

/* Without the hypercall for TLS, stores to the GDT must not pass unseen. */
static void protect_gdt(struct pc *pc)
{
	u32 error = PF_P;
	u32 pde, pte, frame;
	u32 *entry;

	if (pc->tls_hook || pc->shadow.current == NULL ||
	    shadow_fill(pc, pc->gdt_base, &error) != SHADOW_FILLED)
		return;
	entry = shadow_guest_memory(pc, (pc->cr3 & PTE_FRAME) + (pc->gdt_base >> 22) * 4);
	if (entry == NULL)
		return;
	pde = *entry;
	if (pde & PTE_PS) {
		frame = (pde & PTE_LARGE_FRAME) | (pc->gdt_base & (LARGE_PAGE_SIZE - 1) & PTE_FRAME);
	} else {
		entry = shadow_guest_memory(pc, (pde & PTE_FRAME) +
							(pc->gdt_base >> 12) % 1024 * 4);
		if (entry == NULL)
			return;
		pte = *entry;
		frame = pte & PTE_FRAME;
	}
	shadow_protect(pc, frame);
}

static enum emulated emulate_lgdt(struct pc *pc, struct frame *frame,
				  const struct decoded *decoded)
{
	u8 operand[6];

	if (!operand_read(pc, frame, decoded, operand, sizeof(operand)))
		return EMULATED_FAULTED;
	pc->gdt_limit = (u16)(operand[0] | operand[1] << 8);
	pc->gdt_base = operand[2] | (u32)operand[3] << 8 | (u32)operand[4] << 16 |
		       (u32)operand[5] << 24;
	emulate_reload_gdt(pc);
	emulate_reload_stack(pc);
	protect_gdt(pc);
	return EMULATED_NEXT;
}

/* Gates straight to ring 1: the system call, and on a dedicated CPU every
 * interrupt. On a shared CPU IF stays 1 in the kernel, hence a trap gate. */
static void reload_gates(struct pc *pc)
{
	unsigned vector;

	for (vector = EXCEPTIONS; vector < 256; vector++) {
		u64 gate = 0;
		unsigned type;

		if (vector != 0x80 && !pc->dedicated)
			continue;
		if (vector * 8 + 7 <= pc->idt_limit)
			guest_read(pc->idt_base + vector * 8, &gate, sizeof(gate));
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

static enum emulated emulate_lidt(struct pc *pc, struct frame *frame,
				  const struct decoded *decoded)
{
	u8 operand[6];

	if (!operand_read(pc, frame, decoded, operand, sizeof(operand)))
		return EMULATED_FAULTED;
	pc->idt_limit = (u16)(operand[0] | operand[1] << 8);
	pc->idt_base = operand[2] | (u32)operand[3] << 8 | (u32)operand[4] << 16 |
		       (u32)operand[5] << 24;
	reload_gates(pc);
	return EMULATED_NEXT;
}

static enum emulated emulate_ltr(struct pc *pc, struct frame *frame, const struct decoded *decoded)
{
	u64 descriptor;
	u16 selector;

	if (!operand_16(pc, frame, decoded, &selector))
		return EMULATED_FAULTED;
	if ((selector & SYSTEM_SELECTOR_MASK) == 0 || (selector | 7u) > pc->gdt_limit ||
	    !guest_read(pc->gdt_base + (selector & SYSTEM_SELECTOR_MASK), &descriptor, 8))
		return EMULATED_FAULT;
	pc->tr = selector;
	pc->tss_base = descriptor_base(descriptor);
	emulate_reload_gdt(pc);
	emulate_reload_stack(pc);
	return EMULATED_NEXT;
}

/* A local descriptor table is not offered: Linux uses one only for
 * modify_ldt(), which its configuration leaves out. */
static enum emulated emulate_lldt(struct pc *pc, struct frame *frame,
				  const struct decoded *decoded)
{
	u16 selector;

	if (!operand_16(pc, frame, decoded, &selector))
		return EMULATED_FAULTED;
	if ((selector & SYSTEM_SELECTOR_MASK) != 0)
		return EMULATED_FAULT;
	pc->ldtr = selector;
	emulate_reload_gdt(pc);
	emulate_reload_stack(pc);
	return EMULATED_NEXT;
}

/* Control and debug registers */

static void cr0_set(struct pc *pc, u32 value)
{
	u32 changed = pc->cr0 ^ value;

	pc->cr0 = value | CR0_ET;
	pc->vcpu->cr0_guest = (pc->vcpu->cr0_guest & ~(CR0_TS | CR0_EM | CR0_AM)) |
			      (value & (CR0_TS | CR0_EM | CR0_AM));
	if (changed & CR0_PG)
		shadow_set_paging(pc);
}

static enum emulated emulate_mov_to_cr(struct pc *pc, struct frame *frame,
				       const struct decoded *decoded)
{
	u32 value = *register_pointer(frame, decoded->rm);
	u32 old;

	switch (decoded->reg) {
	case 0:
		cr0_set(pc, value);
		return EMULATED_NEXT;
	case 2:
		pc->vcpu->shared->cr2 = value;
		return EMULATED_NEXT;
	case 3:
		old = pc->cr3;
		pc->cr3 = value;
		shadow_load(pc, old == value);
		return EMULATED_NEXT;
	case 4:
		old = pc->cr4;
		pc->cr4 = value;
		if ((old ^ value) & (CR4_PGE | CR4_PSE))
			shadow_flush_all(pc);
		return EMULATED_NEXT;
	default:
		return EMULATED_FAULT;
	}
}

static enum emulated emulate_mov_from_cr(struct pc *pc, struct frame *frame,
					 const struct decoded *decoded)
{
	const u32 values[] = {pc->cr0, 0, pc->vcpu->shared->cr2, pc->cr3, pc->cr4};

	if (decoded->reg >= ARRAY_SIZE(values) || decoded->reg == 1)
		return EMULATED_FAULT;
	*register_pointer(frame, decoded->rm) = values[decoded->reg];
	return EMULATED_NEXT;
}

static enum emulated emulate_mov_to_dr(struct pc *pc, struct frame *frame,
				       const struct decoded *decoded)
{
	debug_write(pc->vcpu, decoded->reg, *register_pointer(frame, decoded->rm));
	return EMULATED_NEXT;
}

static enum emulated emulate_mov_from_dr(struct pc *pc, struct frame *frame,
					 const struct decoded *decoded)
{
	*register_pointer(frame, decoded->rm) = debug_read(pc->vcpu, decoded->reg);
	return EMULATED_NEXT;
}

static enum emulated emulate_lmsw(struct pc *pc, struct frame *frame,
				  const struct decoded *decoded)
{
	u16 value;

	if (!operand_16(pc, frame, decoded, &value))
		return EMULATED_FAULTED;
	cr0_set(pc, (pc->cr0 & ~0xeu) | (value & 0xfu));
	return EMULATED_NEXT;
}

static enum emulated emulate_clts(struct pc *pc, struct frame *frame,
				  const struct decoded *decoded)
{
	(void)frame;
	(void)decoded;
	cr0_set(pc, pc->cr0 & ~CR0_TS);
	return EMULATED_NEXT;
}

static enum emulated emulate_invlpg(struct pc *pc, struct frame *frame,
				    const struct decoded *decoded)
{
	shadow_invalidate(pc, operand_address(pc, frame, decoded));
	return EMULATED_NEXT;
}

static enum emulated emulate_nothing(struct pc *pc, struct frame *frame,
				     const struct decoded *decoded)
{
	(void)pc;
	(void)frame;
	(void)decoded;
	return EMULATED_NEXT;
}

/* MSRs: those that Linux 6.1 reads without a safety net on the CPUs that
 * Gandalf is for read as 0 and ignore writes; any other is a #GP, which Linux
 * expects of an MSR that does not exist. */

#define MSR_TSC 0x10

static const u32 msrs_of_zeroes[] = {
	0x17,  /* PLATFORM_ID */
	0x1b,  /* APIC_BASE: disabled */
	0x2a,  /* EBL_CR_POWERON */
	0x3a,  /* FEATURE_CONTROL */
	0x79,  /* BIOS_UPDT_TRIG */
	0x8b,  /* BIOS_SIGN_ID */
	0x174, /* SYSENTER_CS */
	0x175, 0x176,
	0x186, /* PERFEVTSEL0, 1 and the counters */
	0x187, 0xc1, 0xc2,
	0x1a0, /* MISC_ENABLE */
	0x1d9, /* DEBUGCTL */
};

static bool msr_is_zero(u32 index)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(msrs_of_zeroes); i++)
		if (msrs_of_zeroes[i] == index)
			return true;
	return false;
}

static enum emulated emulate_rdmsr(struct pc *pc, struct frame *frame,
				   const struct decoded *decoded)
{
	u64 value = 0;

	(void)pc;
	(void)decoded;
	if (frame->ecx == MSR_TSC)
		value = rdtsc();
	else if (!msr_is_zero(frame->ecx))
		return EMULATED_FAULT;
	frame->eax = (u32)value;
	frame->edx = (u32)(value >> 32);
	return EMULATED_NEXT;
}

static enum emulated emulate_wrmsr(struct pc *pc, struct frame *frame,
				   const struct decoded *decoded)
{
	(void)pc;
	(void)decoded;
	return msr_is_zero(frame->ecx) ? EMULATED_NEXT : EMULATED_FAULT;
}

/* The interrupt flag */

static enum emulated emulate_cli(struct pc *pc, struct frame *frame, const struct decoded *decoded)
{
	(void)frame;
	(void)decoded;
	linux_set_interrupts(pc, false);
	return EMULATED_NEXT;
}

static void halt(struct pc *pc)
{
	trace(TRACE_halt, pc->vcpu->frame->eip, pc->vcpu->shared->interrupt_flag);
	vcpu_count(pc->vcpu, COUNTER_halts);
	if (!linux_interrupts_enabled(pc))
		vm_power_off(pc->vm);
	else if (!pc->interrupt_waits)
		pc->vcpu->state = VCPU_HALTED;
}

/* STI; HLT is one: an interrupt between the two would be slept over. */
static enum emulated emulate_sti(struct pc *pc, struct frame *frame, const struct decoded *decoded)
{
	u8 next = 0;

	linux_set_interrupts(pc, true);
	if (!guest_read(frame->eip + decoded->length, &next, 1) || next != OPCODE_HLT)
		return EMULATED_NEXT;
	frame->eip += decoded->length + 1u;
	halt(pc);
	return EMULATED_JUMP;
}

static enum emulated emulate_hlt(struct pc *pc, struct frame *frame, const struct decoded *decoded)
{
	frame->eip += decoded->length;
	halt(pc);
	return EMULATED_JUMP;
}

/* Returns */

static void return_to(struct pc *pc, struct frame *frame, const u32 *words)
{
	u32 eflags = (words[2] & EFLAGS_GUEST) | EFLAGS_FIXED;

	frame->eip = words[0];
	if (pc->dedicated)
		eflags |= EFLAGS_IOPL_1 | (words[2] & EFLAGS_IF);
	else
		eflags |= EFLAGS_IF;
	frame->eflags = eflags;
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

static enum emulated emulate_iret(struct pc *pc, struct frame *frame,
				  const struct decoded *decoded)
{
	u32 words[5]; /* EIP, CS, EFLAGS, and to ring 3 ESP, SS */

	if (decoded->operand_size != 4 || !guest_read(frame->esp, words, 3 * sizeof(u32)))
		return EMULATED_FAULT;
	if ((words[2] & EFLAGS_VM) || (words[1] & 0xfffcu) == 0 ||
	    (words[1] & 0xfffcu) >= SEGMENT_GUEST_ENTRIES * 8)
		return EMULATED_FAULT;
	if ((words[1] & 3) == 3 && !guest_read(frame->esp, words, sizeof(words)))
		return EMULATED_FAULT;
	vcpu_count(pc->vcpu, COUNTER_returns);
	return_to(pc, frame, words);
	return EMULATED_JUMP;
}

/* A stack segment with RPL 0, as ring 0 loads it. */
static enum emulated emulate_mov_to_sreg(struct pc *pc, struct frame *frame,
					 const struct decoded *decoded)
{
	u16 selector;
	u64 descriptor;

	if (decoded->reg != SEGMENT_SS)
		return EMULATED_FAULT;
	if (!operand_16(pc, frame, decoded, &selector))
		return EMULATED_FAULTED;
	if ((selector & 3) != 0 || selector < 8 || selector / 8u >= SEGMENT_GUEST_ENTRIES)
		return EMULATED_FAULT;
	descriptor = pc->vcpu->tables->gdt[selector / 8];
	if ((descriptor & DESCRIPTOR_PRESENT) == 0 || (descriptor & DESCRIPTOR_CODE) != 0 ||
	    (descriptor & DESCRIPTOR_WRITABLE) == 0 || descriptor_dpl(descriptor) != 1)
		return EMULATED_FAULT;
	frame->ss = selector | 1u;
	return EMULATED_NEXT;
}

/* Ports */

static u16 port_operand(const struct frame *frame, const struct decoded *decoded)
{
	return (u16)(decoded->has_immediate ? decoded->immediate : frame->edx);
}

static enum emulated emulate_in(struct pc *pc, struct frame *frame, const struct decoded *decoded)
{
	u32 value = pc_port_read(pc, port_operand(frame, decoded), decoded->size);
	u32 mask = decoded->size == 4 ? 0xffffffff : (1u << 8 * decoded->size) - 1;

	frame->eax = (frame->eax & ~mask) | (value & mask);
	return EMULATED_NEXT;
}

static enum emulated emulate_out(struct pc *pc, struct frame *frame, const struct decoded *decoded)
{
	pc_port_write(pc, port_operand(frame, decoded), decoded->size, frame->eax);
	return EMULATED_NEXT;
}

static const emulate_function functions[DECODED_OPERATIONS] = {
	[DECODED_LGDT] = emulate_lgdt,
	[DECODED_LIDT] = emulate_lidt,
	[DECODED_LLDT] = emulate_lldt,
	[DECODED_LTR] = emulate_ltr,
	[DECODED_LMSW] = emulate_lmsw,
	[DECODED_MOV_FROM_CR] = emulate_mov_from_cr,
	[DECODED_MOV_TO_CR] = emulate_mov_to_cr,
	[DECODED_MOV_FROM_DR] = emulate_mov_from_dr,
	[DECODED_MOV_TO_DR] = emulate_mov_to_dr,
	[DECODED_INVLPG] = emulate_invlpg,
	[DECODED_CLTS] = emulate_clts,
	[DECODED_INVD] = emulate_nothing,
	[DECODED_WBINVD] = emulate_nothing,
	[DECODED_HLT] = emulate_hlt,
	[DECODED_CLI] = emulate_cli,
	[DECODED_STI] = emulate_sti,
	[DECODED_IRET] = emulate_iret,
	[DECODED_IN] = emulate_in,
	[DECODED_OUT] = emulate_out,
	[DECODED_RDMSR] = emulate_rdmsr,
	[DECODED_WRMSR] = emulate_wrmsr,
	[DECODED_MOV_TO_SREG] = emulate_mov_to_sreg,
};

/* Instructions that fault for a selector in ring 0 as well, or that do not
 * exist on the CPUs that Gandalf is for: the guest's own business. */
static bool is_guests_business(unsigned operation)
{
	switch (operation) {
	case DECODED_POP_SREG:
	case DECODED_LOAD_FAR:
	case DECODED_JMP_FAR:
	case DECODED_CALL_FAR:
	case DECODED_RETF:
	case DECODED_INT:
	case DECODED_MOV_STORE:
	case DECODED_MOV_LOAD:
	case DECODED_RDPMC:
	case DECODED_XSETBV:
		return true;
	default:
		return false;
	}
}

static bool fetch_and_decode(struct pc *pc, struct decoded *decoded)
{
	u8 bytes[DECODE_LENGTH_MAXIMUM];
	u32 count = guest_fetch(pc->vcpu->frame->eip, bytes, sizeof(bytes));

	return decode(decoded, bytes, count) == DECODE_OK;
}

static void emulate(struct pc *pc, const struct decoded *decoded)
{
	struct frame *frame = pc->vcpu->frame;

	vcpu_count(pc->vcpu, COUNTER_emulations);
	trace(TRACE_emulate, decoded->operation, frame->eip);
	switch (functions[decoded->operation](pc, frame, decoded)) {
	case EMULATED_NEXT:
		frame->eip += decoded->length;
		break;
	case EMULATED_FAULT:
		inject_general_protection(pc, 0);
		break;
	case EMULATED_JUMP:
	case EMULATED_FAULTED:
		break;
	}
}

void emulate_general_protection(struct pc *pc, u32 error)
{
	struct decoded decoded;

	if (!fetch_and_decode(pc, &decoded)) {
		/* Not an instruction that is privileged: a bad address. */
		inject_general_protection(pc, error);
	} else if (functions[decoded.operation] != NULL && !decoded.lock &&
		   (error == 0 || decoded.operation == DECODED_IRET ||
		    decoded.operation == DECODED_MOV_TO_SREG)) {
		emulate(pc, &decoded);
	} else if (is_guests_business(decoded.operation) || error != 0) {
		inject_general_protection(pc, error);
	} else {
		vm_stop(pc->vm, "%s is not an instruction for a guest",
			decode_name(decoded.operation));
	}
}

bool emulate_blocked_return(struct pc *pc)
{
	struct decoded decoded;

	if (!pc->armed || !fetch_and_decode(pc, &decoded) || decoded.operation != DECODED_IRET)
		return false;
	vcpu_count(pc->vcpu, COUNTER_return_faults);
	emulate(pc, &decoded);
	return true;
}

/* Stores */

static bool store_decode(struct pc *pc, struct decoded *decoded, u32 *value)
{
	struct frame *frame = pc->vcpu->frame;

	if (!fetch_and_decode(pc, decoded) || decoded->operation != DECODED_MOV_STORE)
		return false;
	*value = decoded->has_immediate ? decoded->immediate
					: *register_pointer(frame, decoded->reg);
	return decoded->size == 4;
}

bool emulate_alias_store(struct pc *pc)
{
	struct decoded decoded;
	u32 value;

	if (!store_decode(pc, &decoded, &value) ||
	    operand_address(pc, pc->vcpu->frame, &decoded) != GANDALF_SHARED_ALIAS)
		return false;
	vcpu_count(pc->vcpu, COUNTER_alias_faults);
	pc->vcpu->frame->eip += decoded.length;
	linux_set_interrupts(pc, (value & GANDALF_INTERRUPT_FLAG) != 0);
	return true;
}

void emulate_gdt_store(struct pc *pc, u32 linear)
{
	struct decoded decoded;
	u32 value;

	vcpu_count(pc->vcpu, COUNTER_gdt_writes);
	if (!store_decode(pc, &decoded, &value)) {
		vm_stop(pc->vm, "it writes its GDT at %x in an unknown way", linear);
		return;
	}
	guest_write(linear, &value, sizeof(value));
	pc->vcpu->frame->eip += decoded.length;
	emulate_reload_gdt(pc);
}
