/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each instruction that the VMM emulates, as bytes in a guest's memory, through
 * the decoder and the table: registers, memory, flags and exceptions afterwards.
 * Stores are in test_emulate_store.c, what is in emulate_return.c in test_emulate_return.c.
 */
#include "unit.h"

#include "emulate_at.h"

/* Limit and base, 6 bytes, at DATA. */
static void put_operand(u32 limit, u32 base)
{
	put_word(DATA, limit | base << 16);
	put_word(DATA + 4, base >> 16);
}

/* lgdt DATA and its like, with the address in the instruction. */
#define AT_DATA "\x00\x60\x01\x00"
/* An operand that begins two bytes before. */
#define BEFORE_DATA "\xfe\x5f\x01\x00"

static void lgdt_takes_the_table(void **state)
{
	(void)state;
	put_descriptor(GDT, 20, segment_descriptor(0x1000, 0xffff, 0x92, true));
	put_operand(255, GDT);
	EXECUTE("\x0f\x01\x15" AT_DATA);
	assert_int_equal(x86.gdt_limit, 255);
	assert_int_equal(x86.gdt_base, GDT);
	assert_int_equal(descriptor_base(real_tables.gdt[20]), 0x1000);
	assert_int_equal(descriptor_dpl(real_tables.gdt[20]), 1);
	assert_int_equal(shadow_calls.protected_frame, GDT);
	/* After the hypercall for TLS no store needs to be seen. */
	x86.tls_hook = true;
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
	assert_int_equal(x86.gdt_base, GDT);
	/* One that begins in the page before faults where it goes on: that page is to be filled. */
	FAULTS("\x0f\x01\x15" BEFORE_DATA, EXCEPTION_PF);
	assert_int_equal(shared.cr2, DATA);
}

static void a_gdt_that_is_absent_stops_the_guest(void **state)
{
	(void)state;
	put_operand(255, 0xfc400000);
	fault_at("\x0f\x01\x15" AT_DATA, 7, 0);
	assert_int_equal(asked.stops, 1);
	assert_string_equal(asked.stop_reason, "its GDT at fc400000 cannot be read");
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
	assert_int_equal(x86.idt_limit, 2047);
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
	policy_set(&x86, &fake_dedicated);
	put_operand(2047, IDT);
	EXECUTE("\x0f\x01\x1d" AT_DATA);
	for (u32 vector = 0; vector < 256; vector++)
		assert_int_equal(gate_offset(vector) == HANDLER(vector), vector - 32 < 0xf0 - 32);
	assert_int_equal(real_tables.idt[0x20] >> 40 & 0xff, 0x8e);
}

static void ltr_takes_the_stack(void **state)
{
	(void)state;
	frame.eax = 0xabcd0000 | TASK;
	EXECUTE("\x0f\x00\xd8");
	assert_int_equal(x86.tr, TASK);
	assert_int_equal(x86.tss_base, TSS);
	assert_int_equal(real_tables.tss.ss1, KERNEL_STACK | 1);
	assert_int_equal(real_tables.tss.esp1, ENTRY_STACK);
	frame.eax = 0;
	FAULTS("\x0f\x00\xd8", EXCEPTION_GP);
	frame.eax = 256;
	FAULTS("\x0f\x00\xd8", EXCEPTION_GP);
	assert_int_equal(x86.tr, TASK);
}

static void lldt_takes_no_table_but_none(void **state)
{
	(void)state;
	x86.tss_base = TSS;
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
	x86.cr0 = CR0_PE | CR0_ET;
	vcpu.cr0_guest = CR0_PG | CR0_WP | CR0_NE | CR0_PE;
	frame.ebx = CR0_PE | CR0_PG | CR0_TS | CR0_AM;
	EXECUTE("\x0f\x22\xc3");
	assert_int_equal(x86.cr0, CR0_PE | CR0_PG | CR0_TS | CR0_AM | CR0_ET);
	assert_int_equal(shadow_calls.pagings, 1);
	/* The real one keeps paging and write protection. */
	assert_int_equal(vcpu.cr0_guest,
			 CR0_PG | CR0_WP | CR0_NE | CR0_PE | CR0_TS | CR0_AM);
	frame.ebx = 0;
	EXECUTE("\x0f\x22\xc3");
	assert_int_equal(vcpu.cr0_guest, CR0_PG | CR0_WP | CR0_NE | CR0_PE);
	frame.ecx = 0x12345000;
	EXECUTE("\x0f\x22\xd9");
	assert_int_equal(x86.cr3, 0x12345000);
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
	assert_int_equal(asked.stops, 1);
	assert_int_equal(x86.cr4, 0);
}

static void the_time_is_hidden_from_processes(void **state)
{
	(void)state;
	vcpu.interruptible = true;
	frame.eax = CR4_TSD | CR4_PGE;
	EXECUTE("\x0f\x22\xe0");
	assert_int_equal(vcpu.tsd, CR4_TSD);
	assert_int_equal(asked.hidings, 1);
	EXECUTE("\x0f\x22\xe0");
	assert_int_equal(asked.hidings, 1);
	processor.tsc = 0x123456789abcdefull;
	EXECUTE("\x0f\x31");
	assert_int_equal(frame.eax, 0x89abcdef);
	assert_int_equal(frame.edx, 0x1234567);
	frame.eax = CR4_PGE;
	EXECUTE("\x0f\x22\xe0");
	assert_int_equal(vcpu.tsd, 0);
	assert_int_equal(asked.hidings, 2);
}

static void the_task_switched_flag(void **state)
{
	(void)state;
	x86.cr0 = CR0_PE | CR0_ET;
	frame.eax = 0xfff0 | CR0_TS;
	EXECUTE("\x0f\x01\xf0");
	assert_int_equal(x86.cr0, CR0_PE | CR0_ET | CR0_TS);
	assert_int_equal(vcpu.cr0_guest, CR0_TS);
	assert_int_equal(vcpu.cr0, CR0_TS);
	EXECUTE("\x0f\x06");
	assert_int_equal(x86.cr0, CR0_PE | CR0_ET);
	assert_int_equal(vcpu.cr0_guest, 0);
	assert_int_equal(vcpu.cr0, 0);
	put_word(DATA, CR0_TS | CR0_EM);
	EXECUTE("\x0f\x01\x35" AT_DATA);
	assert_int_equal(x86.cr0, CR0_PE | CR0_ET | CR0_TS | CR0_EM);
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
	assert_int_equal(asked.stops, 1);
	start(NULL);
	fault_at("\x0f\x35", 2, 0); /* SYSEXIT */
	assert_int_equal(asked.stops, 1);
	assert_non_null(strstr(asked.stop_reason, "is not an instruction for a guest"));
	start(NULL);
	/* A plain store beyond a segment's limit. */
	FAULTS("\x89\x05\x00\x20\x00\xfc", EXCEPTION_GP);
	/* No instruction of ours. */
	FAULTS("\x01\xc0", EXCEPTION_GP);
	/* With an error code: a selector, the guest's own. */
	fault_at("\x6c", 1, 0x100);
	assert_int_equal(asked.stops, 0);
	assert_int_equal(word(frame.esp), 0x100);
	/* Code that is absent. */
	start(NULL);
	frame.eip = 0x08000000;
	enter(0);
	assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
}

/* Nothing is emulated for a process, whatever stands at its EIP. */
static void processes_get_their_general_protection(void **state)
{
	static const char *const instructions[] = {"\x0f\x20\xd0", "\xfa\x90\x90", "\xcf\x90\x90"};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(instructions); i++) {
		start(NULL);
		x86.tss_base = TSS;
		frame.cs = USER_CODE;
		frame.ss = USER_DATA;
		frame.eax = 0x1234;
		fault_at(instructions[i], 3, 0x58);
		assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
		assert_int_equal(frame.eax, 0x1234);
		assert_int_equal(word(frame.esp), 0x58);
		assert_int_equal(word(frame.esp + 4), CODE);
		assert_int_equal(word(frame.esp + 8), USER_CODE);
		assert_int_equal(vcpu.counters[COUNTER_emulations], 0);
	}
}

/* The instruction is repeated with the other half of its segment, whoever has executed it. With an
 * error code, a selector is the reason; and without strict TLS there are no halves. */
static void strict_tls_comes_before_anything_else(void **state)
{
	static const u32 codes[] = {USER_CODE, KERNEL_CODE | 1};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(codes); i++)
		for (u32 how = 0; how < 3; how++) {
			bool flips = how == 0;

			start(NULL);
			guest.flags = how == 1 ? 0 : GANDALF_GUEST_STRICT_TLS;
			x86_set_descriptor(&x86, SEGMENT_TLS_FIRST,
					   segment_descriptor(CODE, 0xffffffff, 0xf2, true));
			x86.tss_base = TSS;
			frame.cs = codes[i];
			frame.ds = 8 * SEGMENT_TLS_FIRST | 3;
			fault_at("\xa1\x00\x00\x00\xff", 5, how == 2 ? 0x30 : 0);
			assert_int_equal(frame.eip == CODE, flips);
			assert_int_equal(vcpu.counters[COUNTER_tls_flips], flips);
		}
}

static void the_apic_s_base_is_read_and_stays(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2; i++) {
		u32 base = i * 0xfee00900;

		start(NULL);
		x86.shadow.apic = base;
		frame.ecx = 0x1b;
		frame.eax = frame.edx = 0x77;
		linear_put(CODE, "\x0f\x32\x0f\x30", 4);
		enter(0);
		assert_int_equal(frame.eax, base);
		assert_int_equal(frame.edx, 0);
		enter(0);
		assert_int_equal(frame.eip, CODE + 4);
		assert_int_equal(x86.shadow.apic, base);
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
		enter(0);
		assert_true(asked.stops <= 1);
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
		work_unmask(&vcpu);                                          \
		assert_true(processor.interrupts);                          \
		fault_at(bytes, sizeof(bytes) - 1, 0);                      \
		assert_int_equal(asked.stops, 0);                                 \
		assert_int_equal(processor.interrupts, enabled);            \
		work_mask(return_to_guest);                                  \
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
	assert_int_equal(asked.power_offs, 1);
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
	work_unmask(&vcpu);
	fault_at("\x0f\x22\xd8", 3, 0);
	fault_at("\xec", 1, 0);
	assert_int_equal(shadow_calls.loads, 1);
	assert_int_equal(shadow_calls.interruptible, 0);
	assert_false(processor.interrupts);
}

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
		TEST(the_time_is_hidden_from_processes),
		TEST(the_task_switched_flag),
		TEST(debug_registers_stay_off_the_vmm),
		TEST(pages_are_invalidated),
		TEST(model_specific_registers),
		TEST(ports),
		TEST(others_stop_the_guest_or_fault),
		TEST(processes_get_their_general_protection),
		TEST(strict_tls_comes_before_anything_else),
		TEST(the_apic_s_base_is_read_and_stays),
		TEST(random_instructions_end_somewhere),
		TEST(what_handlers_share_is_left_to_them_with_interrupts_disabled),
		TEST(everything_else_is_emulated_with_interrupts_enabled),
		TEST(nothing_enables_interrupts_by_itself),
	};

	return RUN_TESTS(tests);
}
