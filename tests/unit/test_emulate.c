/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each instruction that the VMM emulates, as bytes in a guest's memory, through
 * the decoder and the table: registers, memory, flags and exceptions afterwards.
 */
#include "unit.h"

#include "core/work.h"
#include "ia32/debug.h"
#include "ia32/emulate.h"
#include "fake/linux.h"

/* What was asked of the shadow and of the mainboard. */
static struct {
	unsigned loads, same_loads, pagings, flushes, invalidations, protections;
	unsigned interruptible; /* calls with interrupts enabled */
	u32 linear, protected_frame;
} shadow_calls;
static u32 upcall_eip; /* of an IRET to the VMM's code segment */
static u32 port_value, port_written, port_size;
static u16 port_number;
static unsigned port_reads, port_writes;

void processor_sleep(void)
{
	fail();
}

/* Where the FPU's owner may change it at any time otherwise. */
void fpu_show(struct vcpu *which)
{
	assert_ptr_equal(which, &vcpu);
	assert_false(processor.interrupts);
	which->cr0 = which->cr0_guest;
}

void shadow_set_paging(struct pc *which)
{
	assert_ptr_equal(which, &pc);
	shadow_calls.pagings++;
	shadow_calls.interruptible += processor.interrupts;
}

void shadow_load(struct pc *which, bool same)
{
	assert_ptr_equal(which, &pc);
	shadow_calls.loads++;
	shadow_calls.interruptible += processor.interrupts;
	shadow_calls.same_loads += same;
}

void shadow_flush_all(struct pc *which)
{
	assert_ptr_equal(which, &pc);
	shadow_calls.flushes++;
	shadow_calls.interruptible += processor.interrupts;
}

void shadow_invalidate(struct pc *which, u32 linear)
{
	assert_ptr_equal(which, &pc);
	shadow_calls.invalidations++;
	shadow_calls.interruptible += processor.interrupts;
	shadow_calls.linear = linear;
}

/* The GDT's page is where the guest sees it. */
void *shadow_protected_page(const struct shadow *shadow)
{
	(void)shadow;
	return linear_at(GDT);
}

void shadow_protect(struct pc *which, u32 guest_frame)
{
	assert_ptr_equal(which, &pc);
	shadow_calls.protections++;
	shadow_calls.interruptible += processor.interrupts;
	shadow_calls.protected_frame = guest_frame;
}

bool shadow_translate(struct pc *which, u32 linear, u32 *guest_frame)
{
	assert_ptr_equal(which, &pc);
	*guest_frame = linear & PTE_FRAME;
	return true;
}

/* What a chip that was due does to the interrupt controller. */
static unsigned settles;
static bool settled_interrupt;

void pc_settle(struct pc *which)
{
	assert_ptr_equal(which, &pc);
	assert_false(processor.interrupts);
	settles++;
	pc.interrupt_waits |= settled_interrupt;
}

u32 pc_port_read(struct pc *which, u16 port, u32 size)
{
	assert_ptr_equal(which, &pc);
	assert_false(processor.interrupts);
	port_number = port;
	port_size = size;
	port_reads++;
	return port_value;
}

void pc_port_write(struct pc *which, u16 port, u32 size, u32 value)
{
	assert_ptr_equal(which, &pc);
	assert_false(processor.interrupts);
	port_number = port;
	port_size = size;
	port_written = value;
	port_writes++;
}

/* It ends none: what it does then is in test_upcall.c. */
static u32 apic_offset, apic_value;

void upcall_apic_write(struct pc *which, u32 offset, u32 value)
{
	assert_ptr_equal(which, &pc);
	apic_offset = offset;
	apic_value = value;
}

void upcall_return(struct pc *which, const u32 *words)
{
	assert_ptr_equal(which, &pc);
	assert_int_equal(words[1], SELECTOR_VMM_CODE);
	upcall_eip = words[0];
}

static int start(void **state)
{
	(void)state;
	linux_reset();
	memset(&shadow_calls, 0, sizeof(shadow_calls));
	port_reads = port_writes = settles = 0;
	settled_interrupt = false;
	emulate_reload_gdt(&pc);
	return 0;
}

/* A #GP with this error code at these bytes. */
static void fault_at(const char *bytes, u32 size, u32 error)
{
	memset(linear_at(CODE), 0x90, 64);
	linear_put(CODE, bytes, size);
	frame.eip = CODE;
	frame.error = error;
	emulate_general_protection(&pc, error);
}

/* It was emulated, and the guest goes on behind it. */
#define EXECUTE(bytes)                                                      \
	do {                                                                \
		fault_at(bytes, sizeof(bytes) - 1, 0);                      \
		assert_int_equal(frame.eip, CODE + sizeof(bytes) - 1);      \
		assert_int_equal(stops, 0);                                 \
	} while (0)

/* The guest got an exception instead. */
#define FAULTS(bytes, vector)                                               \
	do {                                                                \
		fault_at(bytes, sizeof(bytes) - 1, 0);                      \
		assert_int_equal(frame.eip, HANDLER(vector));               \
		assert_int_equal(word(frame.esp + 4), CODE);                \
		assert_int_equal(stops, 0);                                 \
		frame.esp = STACK;                                          \
	} while (0)

/* Limit and base, 6 bytes, at DATA. */
static void put_operand(u32 limit, u32 base)
{
	put_word(DATA, limit | base << 16);
	put_word(DATA + 4, base >> 16);
}

/* lgdt DATA and its like, with the address in the instruction. */
#define AT_DATA "\x00\x60\x01\x00"

static void lgdt_takes_the_table(void **state)
{
	(void)state;
	put_descriptor(GDT, 20, segment_descriptor(0x1000, 0xffff, 0x92, true));
	put_operand(255, GDT);
	EXECUTE("\x0f\x01\x15" AT_DATA);
	assert_int_equal(pc.gdt_limit, 255);
	assert_int_equal(pc.gdt_base, GDT);
	assert_int_equal(descriptor_base(real_tables.gdt[20]), 0x1000);
	assert_int_equal(descriptor_dpl(real_tables.gdt[20]), 1);
	assert_int_equal(shadow_calls.protected_frame, GDT);
	/* After the hypercall for TLS no store needs to be seen. */
	pc.tls_hook = true;
	EXECUTE("\x0f\x01\x15" AT_DATA);
	assert_int_equal(shadow_calls.protections, 1);
	/* A loaded segment stays usable, others go with the limit. */
	put_operand(7, GDT);
	EXECUTE("\x0f\x01\x15" AT_DATA);
	assert_true(real_tables.gdt[20] == 0);
	assert_true(real_tables.gdt[KERNEL_CODE / 8] != 0);
	assert_true(real_tables.gdt[KERNEL_STACK / 8] != 0);
}

static void operands_that_are_absent_fault(void **state)
{
	(void)state;
	linear_absent[(DATA - LINEAR_FIRST) / PAGE_SIZE] = true;
	FAULTS("\x0f\x01\x15" AT_DATA, EXCEPTION_PF);
	assert_int_equal(shared.cr2, DATA);
	FAULTS("\x0f\x01\x1d" AT_DATA, EXCEPTION_PF);
	FAULTS("\x0f\x00\x1d" AT_DATA, EXCEPTION_PF);
	FAULTS("\x0f\x00\x15" AT_DATA, EXCEPTION_PF);
	FAULTS("\x0f\x01\x35" AT_DATA, EXCEPTION_PF);
	/* The VMM's memory is absent for guests, whatever lies there. */
	FAULTS("\x0f\x01\x15\x00\x00\x40\xfc", EXCEPTION_PF);
	assert_int_equal(shared.cr2, 0xfc400000);
	assert_int_equal(pc.gdt_base, GDT);
}

static void a_gdt_that_is_absent_stops_the_guest(void **state)
{
	(void)state;
	put_operand(255, 0xfc400000);
	fault_at("\x0f\x01\x15" AT_DATA, 7, 0);
	assert_int_equal(stops, 1);
	assert_string_equal(stop_reason, "its GDT at fc400000 cannot be read");
}

static u32 gate_offset(u32 vector)
{
	u64 gate = real_tables.idt[vector];

	return (u32)(gate & 0xffff) | ((u32)(gate >> 32) & 0xffff0000);
}

static void lidt_opens_the_system_call_only(void **state)
{
	(void)state;
	put_operand(2047, IDT);
	EXECUTE("\x0f\x01\x1d" AT_DATA);
	assert_int_equal(pc.idt_limit, 2047);
	assert_int_equal(gate_offset(0x80), HANDLER(0x80));
	assert_int_equal(real_tables.idt[0x80] >> 40 & 0xff, 0xef);
	assert_int_equal(real_tables.idt[0x80] >> 16 & 0xffff, KERNEL_CODE | 1);
	for (u32 vector = 0; vector < 256; vector++)
		if (vector != 0x80)
			assert_true(gate_offset(vector) != HANDLER(vector));
	/* An interrupt gate becomes a trap gate, since the real IF stays set. */
	put_gate(0x80, 0xee);
	EXECUTE("\x0f\x01\x1d" AT_DATA);
	assert_int_equal(real_tables.idt[0x80] >> 40 & 0xff, 0xef);
	/* No gate, or no room for it: back to the VMM. */
	put_gate(0x80, 0x6f);
	EXECUTE("\x0f\x01\x1d" AT_DATA);
	assert_true(gate_offset(0x80) != HANDLER(0x80));
	put_gate(0x80, 0xef);
	put_operand(0x80 * 8 + 6, IDT);
	EXECUTE("\x0f\x01\x1d" AT_DATA);
	assert_true(gate_offset(0x80) != HANDLER(0x80));
}

static void lidt_opens_all_interrupts_of_a_dedicated_guest(void **state)
{
	(void)state;
	pc.dedicated = true;
	put_operand(2047, IDT);
	EXECUTE("\x0f\x01\x1d" AT_DATA);
	for (u32 vector = 0; vector < 256; vector++)
		assert_int_equal(gate_offset(vector) == HANDLER(vector), vector >= 32);
	assert_int_equal(real_tables.idt[0x20] >> 40 & 0xff, 0x8e);
}

static void ltr_takes_the_stack(void **state)
{
	(void)state;
	frame.eax = 0xabcd0000 | TASK;
	EXECUTE("\x0f\x00\xd8");
	assert_int_equal(pc.tr, TASK);
	assert_int_equal(pc.tss_base, TSS);
	assert_int_equal(real_tables.tss.ss1, KERNEL_STACK | 1);
	assert_int_equal(real_tables.tss.esp1, ENTRY_STACK);
	frame.eax = 0;
	FAULTS("\x0f\x00\xd8", EXCEPTION_GP);
	frame.eax = 256;
	FAULTS("\x0f\x00\xd8", EXCEPTION_GP);
	assert_int_equal(pc.tr, TASK);
}

static void lldt_takes_no_table_but_none(void **state)
{
	(void)state;
	pc.tss_base = TSS;
	put_word(TSS + 4, 0x12345678);
	frame.eax = 0;
	EXECUTE("\x0f\x00\xd0");
	/* Linux has set its stack by then. */
	assert_int_equal(real_tables.tss.esp1, 0x12345678);
	frame.eax = TASK;
	FAULTS("\x0f\x00\xd0", EXCEPTION_GP);
}

static void control_registers_are_the_guests_own(void **state)
{
	(void)state;
	pc.cr0 = CR0_PE | CR0_ET;
	vcpu.cr0_guest = CR0_PG | CR0_WP | CR0_NE | CR0_PE;
	frame.ebx = CR0_PE | CR0_PG | CR0_TS | CR0_AM;
	EXECUTE("\x0f\x22\xc3");
	assert_int_equal(pc.cr0, CR0_PE | CR0_PG | CR0_TS | CR0_AM | CR0_ET);
	assert_int_equal(shadow_calls.pagings, 1);
	/* The real one keeps paging and write protection. */
	assert_int_equal(vcpu.cr0_guest,
			 CR0_PG | CR0_WP | CR0_NE | CR0_PE | CR0_TS | CR0_AM);
	frame.ebx = 0;
	EXECUTE("\x0f\x22\xc3");
	assert_int_equal(vcpu.cr0_guest, CR0_PG | CR0_WP | CR0_NE | CR0_PE);
	frame.ecx = 0x12345000;
	EXECUTE("\x0f\x22\xd9");
	assert_int_equal(pc.cr3, 0x12345000);
	EXECUTE("\x0f\x22\xd9");
	assert_int_equal(shadow_calls.loads, 2);
	assert_int_equal(shadow_calls.same_loads, 1);
	frame.edi = 0xcafe;
	EXECUTE("\x0f\x22\xd7");
	assert_int_equal(shared.cr2, 0xcafe);
	frame.esi = CR4_PGE | CR4_PSE;
	EXECUTE("\x0f\x22\xe6");
	assert_int_equal(shadow_calls.flushes, 1);
	frame.esi |= CR4_OSFXSR;
	EXECUTE("\x0f\x22\xe6");
	assert_int_equal(shadow_calls.flushes, 1);
	EXECUTE("\x0f\x20\xe0");
	assert_int_equal(frame.eax, CR4_PGE | CR4_PSE | CR4_OSFXSR);
	EXECUTE("\x0f\x20\xda");
	assert_int_equal(frame.edx, 0x12345000);
	EXECUTE("\x0f\x20\xd0");
	assert_int_equal(frame.eax, 0xcafe);
	EXECUTE("\x0f\x20\xc5");
	assert_int_equal(frame.ebp, CR0_ET);
}

static void pae_is_refused(void **state)
{
	(void)state;
	frame.eax = 0x20;
	fault_at("\x0f\x22\xe0", 3, 0);
	assert_int_equal(stops, 1);
	assert_int_equal(pc.cr4, 0);
}

static void the_task_switched_flag(void **state)
{
	(void)state;
	pc.cr0 = CR0_PE | CR0_ET;
	frame.eax = 0xfff0 | CR0_TS;
	EXECUTE("\x0f\x01\xf0");
	assert_int_equal(pc.cr0, CR0_PE | CR0_ET | CR0_TS);
	assert_int_equal(vcpu.cr0_guest, CR0_TS);
	assert_int_equal(vcpu.cr0, CR0_TS);
	EXECUTE("\x0f\x06");
	assert_int_equal(pc.cr0, CR0_PE | CR0_ET);
	assert_int_equal(vcpu.cr0_guest, 0);
	assert_int_equal(vcpu.cr0, 0);
	put_word(DATA, CR0_TS | CR0_EM);
	EXECUTE("\x0f\x01\x35" AT_DATA);
	assert_int_equal(pc.cr0, CR0_PE | CR0_ET | CR0_TS | CR0_EM);
}

static void debug_registers_stay_off_the_vmm(void **state)
{
	(void)state;
	frame.eax = 0x08048000;
	EXECUTE("\x0f\x23\xc0");
	frame.eax = GANDALF_BASE;
	EXECUTE("\x0f\x23\xc8");
	frame.eax = GANDALF_BASE - 1;
	EXECUTE("\x0f\x23\xd0");
	frame.eax = 0xffff27ff;
	EXECUTE("\x0f\x23\xf8");
	assert_int_equal(processor.dr0, 0x08048000);
	/* Breakpoints 1 and 2 are not enabled, nor is the trap of accesses. */
	assert_int_equal(processor.dr7 & 0xff, 0xc3);
	assert_int_equal(processor.dr7 & 0x2000, 0);
	/* The guest reads what it wrote. */
	EXECUTE("\x0f\x21\xcb");
	assert_int_equal(frame.ebx, GANDALF_BASE);
	EXECUTE("\x0f\x21\xfb");
	assert_int_equal(frame.ebx & 0xff, 0xff);
	EXECUTE("\x0f\x21\xeb");
	assert_int_equal(frame.ebx & 0xff, 0xff);
	EXECUTE("\x0f\x21\xf3");
	assert_int_equal(frame.ebx, 0xffff0ff0);
}

static void pages_are_invalidated(void **state)
{
	(void)state;
	frame.eax = 0xc0123000;
	EXECUTE("\x0f\x01\x38");
	assert_int_equal(shadow_calls.linear, 0xc0123000);
	/* Through a segment with a base. */
	real_tables.gdt[10] = segment_descriptor(0x100000, 0xffff, 0xf2, true);
	frame.fs = 10 * 8 | 3;
	EXECUTE("\x64\x0f\x01\x38");
	assert_int_equal(shadow_calls.linear, 0xc0223000);
	EXECUTE("\x0f\x08");
	EXECUTE("\x0f\x09");
}

static void model_specific_registers(void **state)
{
	static const u32 known[] = { 0x17, 0x1b, 0x2a, 0x3a, 0x79, 0x8b, 0x174, 0x175, 0x176,
				     0x186, 0x187, 0xc1, 0xc2, 0x1a0, 0x1d9 };
	static const u32 unknown[] = { 0, 0x11, 0x277, 0x10017, 0xc0000080, 0xffffffff };

	(void)state;
	processor.tsc = 0x123456789abcdef0;
	frame.ecx = 0x10;
	EXECUTE("\x0f\x32");
	assert_int_equal(frame.eax, 0x9abcdef0);
	assert_int_equal(frame.edx, 0x12345678);
	for (unsigned i = 0; i < ARRAY_SIZE(known); i++) {
		frame.ecx = known[i];
		frame.eax = frame.edx = 0xffffffff;
		EXECUTE("\x0f\x30");
		EXECUTE("\x0f\x32");
		assert_int_equal(frame.eax | frame.edx, 0);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(unknown); i++) {
		frame.ecx = unknown[i];
		FAULTS("\x0f\x32", EXCEPTION_GP);
		FAULTS("\x0f\x30", EXCEPTION_GP);
	}
}

static void the_interrupt_flag(void **state)
{
	(void)state;
	EXECUTE("\xfb");
	assert_int_equal(shared.interrupt_flag, GANDALF_INTERRUPT_FLAG);
	EXECUTE("\xfa");
	assert_int_equal(shared.interrupt_flag, 0);
	assert_int_equal(frame.eflags & EFLAGS_IF, EFLAGS_IF);
	assert_int_equal(vcpu.counters[COUNTER_emulations], 2);
}

static void halting(void **state)
{
	(void)state;
	/* STI; HLT as one. */
	fault_at("\xfb\xf4", 2, 0);
	assert_int_equal(frame.eip, CODE + 2);
	assert_int_equal(vcpu.state, VCPU_HALTED);
	assert_int_equal(shared.interrupt_flag, GANDALF_INTERRUPT_FLAG);
	/* Something waits: no sleep. */
	vcpu.state = VCPU_RUNNING;
	pc.interrupt_waits = true;
	fault_at("\xfb\xf4", 2, 0);
	assert_int_equal(vcpu.state, VCPU_RUNNING);
	assert_int_equal(frame.eip, CODE + 2);
	/* Nor if it comes of a chip that nobody has looked at. */
	pc.interrupt_waits = false;
	settled_interrupt = true;
	fault_at("\xf4", 1, 0);
	assert_int_equal(vcpu.state, VCPU_RUNNING);
	pc.interrupt_waits = settled_interrupt = false;
	fault_at("\xf4", 1, 0);
	assert_int_equal(vcpu.state, VCPU_HALTED);
	assert_int_equal(settles, 4);
	/* For ever. */
	vcpu.state = VCPU_RUNNING;
	shared.interrupt_flag = 0;
	fault_at("\xf4", 1, 0);
	assert_int_equal(power_offs, 1);
}

static void put_return(u32 eip, u32 cs, u32 eflags, u32 esp, u32 ss)
{
	const u32 words[] = { eip, cs, eflags, esp, ss };

	linear_put(STACK, words, sizeof(words));
	frame.esp = STACK;
	frame.cs = KERNEL_CODE | 1;
	frame.ss = KERNEL_STACK | 1;
	frame.eflags = EFLAGS_FIXED | EFLAGS_IF;
}

static void returns_to_the_kernel(void **state)
{
	(void)state;
	put_return(0xc0100000, KERNEL_CODE, 0x246, 0, 0);
	fault_at("\xcf", 1, 0);
	assert_int_equal(frame.eip, 0xc0100000);
	assert_int_equal(frame.cs, KERNEL_CODE | 1);
	assert_int_equal(frame.esp, STACK + 12);
	assert_int_equal(frame.eflags, 0x246);
	assert_int_equal(shared.interrupt_flag, GANDALF_INTERRUPT_FLAG);
	put_return(0xc0100000, KERNEL_CODE, 0x46, 0, 0);
	fault_at("\xcf", 1, KERNEL_CODE);
	assert_int_equal(shared.interrupt_flag, 0);
	assert_int_equal(frame.eflags, 0x246);
}

/* It may be the end of an upcall; if it is not, it is the guest's mistake. */
static void returns_to_the_vmm_end_upcalls(void **state)
{
	(void)state;
	upcall_eip = 0;
	put_return(0xfc500000, SELECTOR_VMM_CODE, 0x246, 0, 0);
	fault_at("\xcf", 1, SELECTOR_VMM_CODE);
	assert_int_equal(upcall_eip, 0xfc500000);
	assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
	assert_int_equal(word(frame.esp), SELECTOR_VMM_CODE);
	assert_int_equal(stops, 0);
}

static void returns_to_a_process(void **state)
{
	(void)state;
	put_return(0x08048000, USER_CODE, 0x3246, 0xbffff000, USER_DATA);
	fault_at("\xcf", 1, 0);
	assert_int_equal(frame.eip, 0x08048000);
	assert_int_equal(frame.cs, USER_CODE);
	assert_int_equal(frame.esp, 0xbffff000);
	assert_int_equal(frame.ss, USER_DATA);
	/* IOPL is not the guest's to give. */
	assert_int_equal(frame.eflags, 0x246);
	start(NULL);
	pc.dedicated = true;
	vcpu.eflags = EFLAGS_FIXED | EFLAGS_IOPL_1;
	put_return(0x08048000, USER_CODE, 0x3246, 0xbffff000, USER_DATA);
	fault_at("\xcf", 1, 0);
	assert_int_equal(frame.eflags, 0x1246);
}

/* Whatever a frame says, the VMM's own IRET can load it. */
static void forged_returns_fault(void **state)
{
	static const struct {
		u32 eip, cs, eflags, ss;
	} bad[] = {
		{ 0, 0, 2, 0 },                       /* null */
		{ 0, KERNEL_STACK, 2, 0 },            /* data */
		{ 0, 0x100, 2, 0 },                   /* the VMM's code */
		{ 0, 0x103, 2, USER_DATA },
		{ 0, KERNEL_CODE | 4, 2, 0 },         /* a local descriptor table */
		{ 0, 0x98, 2, 0 },                    /* empty */
		{ 0, USER_CODE & ~3u, 2, 0 },         /* ring 3's at ring 1 */
		{ 0, KERNEL_CODE | 3, 2, USER_DATA }, /* and the reverse */
		{ 0, USER_CODE, 2, 0 },               /* stacks */
		{ 0, USER_CODE, 2, KERNEL_STACK | 1 },
		{ 0, USER_CODE, 2, KERNEL_STACK | 3 },
		{ 0, USER_CODE, 2, USER_CODE },
		{ 0, USER_CODE, 2, 0x10b },
		{ 0, KERNEL_CODE, 0x20002, 0 },       /* virtual 8086 mode */
		{ GANDALF_BASE + 0x2000, KERNEL_CODE, 2, 0 },
		{ 0xffffffff, USER_CODE, 2, USER_DATA },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		start(NULL);
		put_return(bad[i].eip, bad[i].cs, bad[i].eflags, 0x1000, bad[i].ss);
		fault_at("\xcf", 1, 0);
		assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
		assert_int_equal(frame.cs, KERNEL_CODE | 1);
		assert_int_equal(vcpu.counters[COUNTER_returns], 0);
	}
}

/* Random frames: no bit of EFLAGS and no selector that is not the guest's. */
static void no_return_gains_privilege(void **state)
{
	u32 random = 1;
	unsigned returned = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		u32 cs = random_next(&random) % 2 ? USER_CODE : KERNEL_CODE;
		u32 ss = random_next(&random) % 2 ? USER_DATA : random_next(&random) & 0x1ff;

		start(NULL);
		if (random_next(&random) % 3 == 0)
			cs = random_next(&random) & 0x1ff;
		put_return(random_next(&random), cs, random_next(&random) & ~EFLAGS_VM,
			   random_next(&random), ss);
		fault_at("\xcf", 1, 0);
		assert_int_equal(frame.eflags & (EFLAGS_IOPL | EFLAGS_VM), 0);
		assert_int_equal(frame.eflags & EFLAGS_IF, EFLAGS_IF);
		assert_int_not_equal(frame.cs & 3, 0);
		assert_int_not_equal(frame.ss & 3, 0);
		assert_true(frame.cs < SEGMENT_GUEST_ENTRIES * 8);
		assert_true(frame.ss < SEGMENT_GUEST_ENTRIES * 8);
		returned += vcpu.counters[COUNTER_returns];
	}
	assert_true(returned > 3000);
}

static void stacks_of_ring_0_become_those_of_ring_1(void **state)
{
	static const u32 bad[] = { 0, 0x98, KERNEL_CODE, USER_DATA & ~3u, 0x108, KERNEL_STACK | 4,
				   USER_DATA, 0xfff8 };

	(void)state;
	frame.ss = USER_DATA;
	frame.eax = 0x12340000 | KERNEL_STACK;
	fault_at("\x8e\xd0", 2, KERNEL_STACK);
	assert_int_equal(frame.eip, CODE + 2);
	assert_int_equal(frame.ss, KERNEL_STACK | 1);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		frame.eax = bad[i];
		fault_at("\x8e\xd0", 2, bad[i] & 0xfffc);
		assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
		assert_int_equal(word(frame.esp), bad[i] & 0xfffc);
		assert_int_equal(frame.ss, KERNEL_STACK | 1);
		frame.esp = STACK;
	}
	/* Other segment registers load themselves; their faults are the guest's. */
	fault_at("\x8e\xd8", 2, 0x100);
	assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
}

static void ports(void **state)
{
	(void)state;
	port_value = 0xdeadbeef;
	frame.eax = 0x11223344;
	frame.edx = 0xffff03f8;
	EXECUTE("\xec");
	assert_int_equal(frame.eax, 0x112233ef);
	assert_int_equal(port_number, 0x3f8);
	EXECUTE("\x66\xed");
	assert_int_equal(frame.eax, 0x1122beef);
	EXECUTE("\xed");
	assert_int_equal(frame.eax, 0xdeadbeef);
	EXECUTE("\xe4\x71");
	assert_int_equal(port_number, 0x71);
	assert_int_equal(port_size, 1);
	assert_int_equal(port_reads, 4);
	EXECUTE("\xe6\x70");
	assert_int_equal(port_number, 0x70);
	assert_int_equal(port_size, 1);
	EXECUTE("\xef");
	assert_int_equal(port_number, 0x3f8);
	assert_int_equal(port_size, 4);
	assert_int_equal(port_written, 0xdeadbeef);
	EXECUTE("\x66\xe7\x80");
	assert_int_equal(port_size, 2);
	assert_int_equal(port_writes, 3);
}

/* Instructions that no guest needs, and that a guest must not do. */
static void others_stop_the_guest_or_fault(void **state)
{
	(void)state;
	fault_at("\x6c", 1, 0); /* INSB */
	assert_int_equal(stops, 1);
	start(NULL);
	fault_at("\x0f\x35", 2, 0); /* SYSEXIT */
	assert_int_equal(stops, 1);
	assert_non_null(strstr(stop_reason, "is not an instruction for a guest"));
	start(NULL);
	/* A plain store beyond a segment's limit. */
	FAULTS("\x89\x05\x00\x20\x00\xfc", EXCEPTION_GP);
	/* No instruction of ours. */
	FAULTS("\x01\xc0", EXCEPTION_GP);
	/* With an error code: a selector, the guest's own. */
	fault_at("\x6c", 1, 0x100);
	assert_int_equal(stops, 0);
	assert_int_equal(word(frame.esp), 0x100);
	/* Code that is absent. */
	start(NULL);
	frame.eip = 0x08000000;
	frame.error = 0;
	emulate_general_protection(&pc, 0);
	assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
}

static void a_return_that_was_blocked_is_emulated(void **state)
{
	(void)state;
	put_return(0x08048000, USER_CODE, 0x246, 0xbffff000, USER_DATA);
	memset(linear_at(CODE), 0xcf, 1);
	assert_false(emulate_blocked_return(&pc));
	/* An interrupt waits, and ring 3's code segment is absent. */
	pc.armed = true;
	segment_set_user_code(&vcpu, false);
	assert_true(emulate_blocked_return(&pc));
	assert_int_equal(frame.cs, USER_CODE);
	assert_int_equal(vcpu.counters[COUNTER_return_faults], 1);
	frame.cs = KERNEL_CODE | 1;
	frame.eip = CODE;
	memset(linear_at(CODE), 0x90, 1);
	assert_false(emulate_blocked_return(&pc));
}

static void the_store_to_the_alias_sets_the_flag(void **state)
{
	(void)state;
	/* movl $0x200, alias */
	linear_put(CODE, "\xc7\x05\x00\x10\x00\xfc\x00\x02\x00\x00", 10);
	assert_true(emulate_alias_store(&pc));
	assert_int_equal(shared.interrupt_flag, GANDALF_INTERRUPT_FLAG);
	assert_int_equal(frame.eip, CODE + 10);
	/* movl %eax, alias */
	frame.eip = CODE;
	frame.eax = 0;
	linear_put(CODE, "\xa3\x00\x10\x00\xfc", 5);
	assert_true(emulate_alias_store(&pc));
	assert_int_equal(shared.interrupt_flag, 0);
	/* Another address, another size, another instruction. */
	frame.eip = CODE;
	linear_put(CODE, "\xa3\x04\x10\x00\xfc", 5);
	assert_false(emulate_alias_store(&pc));
	linear_put(CODE, "\x66\xa3\x00\x10\x00\xfc", 6);
	assert_false(emulate_alias_store(&pc));
	linear_put(CODE, "\x01\x05\x00\x10\x00\xfc", 6);
	assert_false(emulate_alias_store(&pc));
	assert_int_equal(frame.eip, CODE);
}

static void stores_to_the_gdt_are_seen(void **state)
{
	(void)state;
	/* movl %eax, 20 * 8 (GDT); the other half was there already */
	put_word(GDT + 20 * 8 + 4, 0x00cf9200);
	frame.eax = 0x0000ffff;
	linear_put(CODE, "\xa3\xa0\x00\x01\x00", 5);
	emulate_store(&pc, GDT + 20 * 8, false);
	assert_int_equal(pc.shadow.protected_page, GDT);
	assert_int_equal(word(GDT + 20 * 8), 0xffff);
	assert_int_equal(frame.eip, CODE + 5);
	assert_int_equal(descriptor_dpl(real_tables.gdt[20]), 1);
	assert_int_equal(stops, 0);
	/* Across two entries: both are read again, and no other. */
	put_word(GDT + 21 * 8 + 4, 0x00cf9200);
	put_word(GDT + 22 * 8, 0x1234);
	put_word(GDT + 22 * 8 + 4, 0x00409200);
	put_word(GDT + 23 * 8 + 4, 0x00cf9200);
	frame.eip = CODE;
	frame.eax = 0x5678f300;
	linear_put(CODE, "\xa3\xae\x00\x01\x00", 5);
	emulate_store(&pc, GDT + 21 * 8 + 6, false);
	assert_int_equal(real_tables.gdt[21] >> 56, 0xf3);
	assert_int_equal(real_tables.gdt[22] & 0xffff, 0x5678);
	assert_int_equal(real_tables.gdt[23], 0);
	/* Behind the entries that a guest has, and behind the table's end. */
	frame.eip = CODE;
	linear_put(CODE, "\xa3\xfc\x0f\x01\x00", 5);
	emulate_store(&pc, GDT + 0xffc, false);
	assert_int_equal(stops, 0);
	linear_put(CODE, "\xf3\xa4", 2);
	frame.eip = CODE;
	emulate_store(&pc, GDT, false);
	assert_int_equal(stops, 1);
	/* Out of its page, and into it from the one before. */
	linear_put(CODE, "\xa3\xfe\x0f\x01\x00", 5);
	emulate_store(&pc, GDT + 0xffe, false);
	assert_int_equal(stops, 2);
	linear_put(CODE, "\xa3\xfe\xff\x00\x00", 5);
	emulate_store(&pc, GDT, false);
	assert_int_equal(stops, 3);
	linear_put(CODE, "\xa3\x00\x00\x01\x00", 5);
	emulate_store(&pc, GDT, false);
	assert_int_equal(stops, 3);
}

/* MOV of each register to an address in the instruction, as Linux's native_load_tls() has it. */
static void frequent_stores_to_the_gdt_take_the_short_way(void **state)
{
	u32 *const registers[] = {&frame.eax, &frame.ecx, &frame.edx, &frame.ebx,
				  &frame.esp, &frame.ebp, &frame.esi, &frame.edi};
	u32 taken = vcpu.counters[COUNTER_gdt_quick_writes];

	(void)state;
	put_word(GDT + 20 * 8 + 4, 0x00cf9200);
	for (u32 i = 0; i < ARRAY_SIZE(registers); i++) {
		const char code[] = {(char)0x89, (char)(i << 3 | 5), (char)0xa0, 0, 1, 0};

		*registers[i] = 0x1000 + i;
		frame.eip = CODE;
		linear_put(CODE, code, sizeof(code));
		assert_true(emulate_gdt_store(&pc, GDT + 20 * 8));
		assert_int_equal(frame.eip, CODE + 6);
		assert_int_equal(word(GDT + 20 * 8), 0x1000 + i);
		assert_int_equal(real_tables.gdt[20] & 0xffff, 0x1000 + i);
	}
	frame.eax = 0x1234;
	frame.eip = CODE;
	linear_put(CODE, "\xa3\xa0\x00\x01\x00", 5);
	assert_true(emulate_gdt_store(&pc, GDT + 20 * 8));
	assert_int_equal(frame.eip, CODE + 5);
	assert_int_equal(real_tables.gdt[20] & 0xffff, 0x1234);
	assert_int_equal(vcpu.counters[COUNTER_gdt_quick_writes] - taken, 9);
}

/* It would change nothing; but a segment that stayed as it was while loaded is still there. */
static void a_store_of_what_is_there_reads_no_descriptor_that_is_absent(void **state)
{
	(void)state;
	put_word(GDT + 20 * 8, 0);
	put_word(GDT + 20 * 8 + 4, 0);
	frame.eax = 0;
	frame.eip = CODE;
	linear_put(CODE, "\xa3\xa0\x00\x01\x00", 5);
	real_tables.gdt[20] = 0x77;
	assert_true(emulate_gdt_store(&pc, GDT + 20 * 8));
	assert_int_equal(real_tables.gdt[20], 0x77);
	real_tables.gdt[20] = DESCRIPTOR_PRESENT | 0x77;
	frame.eip = CODE;
	assert_true(emulate_gdt_store(&pc, GDT + 20 * 8));
	assert_int_equal(real_tables.gdt[20], 0);
}

static void other_stores_to_the_gdt_do_not(void **state)
{
	static const struct {
		u32 offset;
		const char *code;
		u32 size;
	} others[] = {
		{20 * 8, "\x89\x03", 2}, {20 * 8, "\x89\x43\x00", 3},
		{20 * 8, "\x66\xa3\xa0\x00\x01\x00", 6}, {20 * 8, "\xa2\xa0\x00\x01\x00", 5},
		{20 * 8, "\xc7\x05\xa0\x00\x01\x00\x01\x02\x03\x04", 10},
		{20 * 8, "\x01\x05\xa0\x00\x01\x00", 6}, {20 * 8 + 2, "\xa3\xa2\x00\x01\x00", 5},
		{0, "\xa3\x00\x00\x01\x00", 5}, {0, "\xa3\xfe\xff\x00\x00", 5},
	};

	(void)state;
	frame.eip = CODE;
	for (u32 i = 0; i < ARRAY_SIZE(others); i++) {
		linear_put(CODE, others[i].code, others[i].size);
		assert_false(emulate_gdt_store(&pc, GDT + others[i].offset));
		assert_int_equal(frame.eip, CODE);
	}
}

static void stores_to_the_apic_are_handed_on(void **state)
{
	(void)state;
	/* movl %eax, 0xb0(%ebx) */
	frame.eax = 0x12345678;
	linear_put(CODE, "\x89\x83\xb0\x00\x00\x00", 6);
	emulate_store(&pc, 0xd00000b0, true);
	assert_int_equal(pc.shadow.protected_page, 0);
	assert_int_equal(apic_offset, 0xb0);
	assert_int_equal(apic_value, 0x12345678);
	assert_int_equal(frame.eip, CODE + 6);
	assert_int_equal(stops, 0);
	/* A byte of it. */
	apic_offset = 0;
	frame.eip = CODE;
	linear_put(CODE, "\x88\x83\xb0\x00\x00\x00", 6);
	emulate_store(&pc, 0xd00000b0, true);
	assert_int_equal(apic_offset, 0);
	assert_int_equal(stops, 1);
	assert_string_equal(stop_reason, "it writes its APIC at d00000b0 in an unknown way");
}

static void the_apic_s_base_is_read_and_stays(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2; i++) {
		u32 base = i * 0xfee00900;

		start(NULL);
		pc.shadow.apic = base;
		frame.ecx = 0x1b;
		frame.eax = frame.edx = 0x77;
		linear_put(CODE, "\x0f\x32\x0f\x30", 4);
		emulate_general_protection(&pc, 0);
		assert_int_equal(frame.eax, base);
		assert_int_equal(frame.edx, 0);
		emulate_general_protection(&pc, 0);
		assert_int_equal(frame.eip, CODE + 4);
		assert_int_equal(pc.shadow.apic, base);
	}
}

/* Random bytes end in one of four ways, and never with more privilege. */
static void random_instructions_end_somewhere(void **state)
{
	u32 random = 5;

	(void)state;
	for (unsigned i = 0; i < 50000; i++) {
		u8 bytes[16];

		start(NULL);
		for (unsigned j = 0; j < sizeof(bytes); j++)
			bytes[j] = (u8)(random_next(&random) >> 8);
		if (i % 2)
			bytes[0] = 0x0f;
		for (u32 *at = &frame.edi; at <= &frame.eax; at++)
			*at = random_next(&random);
		if (random_next(&random) % 4 == 0)
			frame.eax = DATA;
		frame.eip = CODE;
		linear_put(CODE, bytes, sizeof(bytes));
		emulate_general_protection(&pc, 0);
		assert_true(stops <= 1);
		assert_int_not_equal(frame.cs & 3, 0);
		assert_int_not_equal(frame.ss & 3, 0);
		assert_int_equal(frame.eflags & (EFLAGS_IOPL | EFLAGS_VM), 0);
		for (u32 j = SEGMENT_GUEST_ENTRIES; j < SEGMENT_ENTRIES; j++)
			assert_true(real_tables.gdt[j] == 0);
	}
}

/* What it does to the VMM's state is in the fakes and in cpu.h. */
#define WORK(bytes, enabled)                                                \
	do {                                                                \
		work_begin(&vcpu);                                          \
		assert_true(processor.interrupts);                          \
		fault_at(bytes, sizeof(bytes) - 1, 0);                      \
		assert_int_equal(stops, 0);                                 \
		assert_int_equal(processor.interrupts, enabled);            \
		work_end(return_to_guest);                                  \
	} while (0)

/* Interrupt handlers share the mainboard, the state of the vCPU, debug registers, the FPU. */
static void what_handlers_share_is_left_to_them_with_interrupts_disabled(void **state)
{
	(void)state;
	vcpu.interruptible = true;
	WORK("\xec", false);                 /* in al, dx */
	WORK("\xe6\x70", false);             /* out 0x70, al */
	WORK("\x66\xe7\x80", false);         /* out 0x80, ax */
	WORK("\x0f\x23\xc0", false);         /* mov dr0, eax */
	WORK("\x0f\x23\xf8", false);         /* mov dr7, eax */
	WORK("\x0f\x06", false);             /* clts */
	frame.eax = CR0_PE | CR0_PG;
	WORK("\x0f\x22\xc0", false);         /* mov cr0, eax */
	assert_int_equal(shadow_calls.pagings, 1);
	assert_int_equal(shadow_calls.interruptible, 1);
	shared.interrupt_flag = GANDALF_INTERRUPT_FLAG;
	WORK("\xf4", false);                 /* hlt */
	assert_int_equal(vcpu.state, VCPU_HALTED);
	vcpu.state = VCPU_RUNNING;
	WORK("\xfb\xf4", false);             /* sti; hlt */
	assert_int_equal(vcpu.state, VCPU_HALTED);
	vcpu.state = VCPU_RUNNING;
	shared.interrupt_flag = 0;
	WORK("\xf4", false);                 /* for ever */
	assert_int_equal(power_offs, 1);
	vcpu.state = VCPU_RUNNING;
	assert_int_equal(processor.unguarded, 0);
	assert_int_equal(port_reads + port_writes, 3);
}

static void everything_else_is_emulated_with_interrupts_enabled(void **state)
{
	(void)state;
	vcpu.interruptible = true;
	put_operand(2047, IDT);
	WORK("\x0f\x01\x1d" AT_DATA, true);  /* lidt */
	put_operand(255, GDT);
	WORK("\x0f\x01\x15" AT_DATA, true);  /* lgdt */
	frame.eax = TASK;
	WORK("\x0f\x00\xd8", true);          /* ltr */
	frame.eax = 0;
	WORK("\x0f\x00\xd0", true);          /* lldt */
	WORK("\x0f\x22\xd8", true);          /* mov cr3, eax */
	WORK("\x0f\x20\xd8", true);          /* mov eax, cr3 */
	frame.eax = CR4_PGE;
	WORK("\x0f\x22\xe0", true);          /* mov cr4, eax */
	WORK("\x0f\x01\x3d" AT_DATA, true);  /* invlpg */
	WORK("\x0f\x21\xc0", true);          /* mov eax, dr0 */
	frame.ecx = 0x10;
	WORK("\x0f\x32", true);              /* rdmsr */
	WORK("\xfa", true);                  /* cli */
	WORK("\xfb", true);                  /* sti */
	put_return(CODE, KERNEL_CODE, EFLAGS_FIXED, 0, 0);
	WORK("\xcf", true);                  /* iret */
	assert_int_equal(shadow_calls.loads, 1);
	assert_int_equal(shadow_calls.invalidations, 1);
	assert_int_equal(shadow_calls.interruptible,
			 shadow_calls.loads + shadow_calls.flushes +
				 shadow_calls.invalidations + shadow_calls.protections);
}

static void nothing_enables_interrupts_by_itself(void **state)
{
	(void)state;
	work_begin(&vcpu);
	fault_at("\x0f\x22\xd8", 3, 0);
	fault_at("\xec", 1, 0);
	assert_int_equal(shadow_calls.loads, 1);
	assert_int_equal(shadow_calls.interruptible, 0);
	assert_false(processor.interrupts);
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lgdt_takes_the_table),
		TEST(operands_that_are_absent_fault),
		TEST(a_gdt_that_is_absent_stops_the_guest),
		TEST(lidt_opens_the_system_call_only),
		TEST(lidt_opens_all_interrupts_of_a_dedicated_guest),
		TEST(ltr_takes_the_stack),
		TEST(lldt_takes_no_table_but_none),
		TEST(control_registers_are_the_guests_own),
		TEST(pae_is_refused),
		TEST(the_task_switched_flag),
		TEST(debug_registers_stay_off_the_vmm),
		TEST(pages_are_invalidated),
		TEST(model_specific_registers),
		TEST(the_interrupt_flag),
		TEST(halting),
		TEST(returns_to_the_kernel),
		TEST(returns_to_the_vmm_end_upcalls),
		TEST(returns_to_a_process),
		TEST(forged_returns_fault),
		TEST(no_return_gains_privilege),
		TEST(stacks_of_ring_0_become_those_of_ring_1),
		TEST(ports),
		TEST(others_stop_the_guest_or_fault),
		TEST(a_return_that_was_blocked_is_emulated),
		TEST(the_store_to_the_alias_sets_the_flag),
		TEST(stores_to_the_gdt_are_seen),
		TEST(frequent_stores_to_the_gdt_take_the_short_way),
		TEST(a_store_of_what_is_there_reads_no_descriptor_that_is_absent),
		TEST(other_stores_to_the_gdt_do_not),
		TEST(stores_to_the_apic_are_handed_on),
		TEST(the_apic_s_base_is_read_and_stays),
		TEST(random_instructions_end_somewhere),
		TEST(what_handlers_share_is_left_to_them_with_interrupts_disabled),
		TEST(everything_else_is_emulated_with_interrupts_enabled),
		TEST(nothing_enables_interrupts_by_itself),
	};

	return RUN_TESTS(tests);
}
