/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands of instructions that are emulated, at their bounds: every register, addresses in every
 * form, the last byte of a table, the bits of a selector; and what is counted and traced.
 */
#include "unit.h"

#include "fake/emulate.h"

/* lgdt DATA and its like, with the address in the instruction. */
#define AT_DATA "\x00\x60\x01\x00"
#define ABSENT(address) linear_absent[((address) - LINEAR_FIRST) / PAGE_SIZE]

/* Whether the guest goes on behind these bytes. */
static bool goes_on(const char *bytes, u32 size, u32 error)
{
	linear_put(CODE, bytes, size);
	linear_put(CODE + size, "\x90", 1);
	frame.eip = CODE;
	enter(error);
	return frame.eip == CODE + size && asked.stops == 0;
}

/* Whether it has a #GP with this error code instead. */
static bool is_refused(const char *bytes, u32 size, u32 error)
{
	bool refused;

	if (goes_on(bytes, size, error))
		return false;
	refused = frame.eip == HANDLER(EXCEPTION_GP) && word(frame.esp) == error &&
		  asked.stops == 0;
	frame.esp = STACK;
	frame.cs = KERNEL_CODE | 1;
	frame.ss = KERNEL_STACK | 1;
	return refused;
}

#define GOES_ON(bytes) assert_true(goes_on(bytes, sizeof(bytes) - 1, 0))
#define IS_REFUSED(bytes) assert_true(is_refused(bytes, sizeof(bytes) - 1, 0))

static void put_operand(u32 limit, u32 base)
{
	put_word(DATA, limit | base << 16);
	put_word(DATA + 4, base >> 16);
}

static void load_gdt(u32 limit, u32 base)
{
	put_operand(limit, base);
	GOES_ON("\x0f\x01\x15" AT_DATA);
}

static void load_idt(u32 limit, u32 base)
{
	put_operand(limit, base);
	GOES_ON("\x0f\x01\x1d" AT_DATA);
}

static u32 *register_of(u32 number)
{
	u32 *const registers[] = {&frame.eax, &frame.ecx, &frame.edx, &frame.ebx,
				  &frame.esp, &frame.ebp, &frame.esi, &frame.edi};

	return registers[number];
}

static void every_register_is_an_operand(void **state)
{
	(void)state;
	for (u32 number = 0; number < 8; number++) {
		const char load[] = {0x0f, 0x22, (char)(0xd8 | number)};
		const char store[] = {0x0f, 0x20, (char)(0xd8 | number)};
		const char cr2[] = {0x0f, 0x20, (char)(0xd0 | number)};

		*register_of(number) = 0x4000 + (number << 12);
		assert_true(goes_on(load, sizeof(load), 0));
		assert_int_equal(x86.cr3, 0x4000 + (number << 12));
		*register_of(number) = 0;
		assert_true(goes_on(store, sizeof(store), 0));
		assert_int_equal(*register_of(number), x86.cr3);
		shared.cr2 = 0x1234 + number;
		assert_true(goes_on(cr2, sizeof(cr2), 0));
		assert_int_equal(*register_of(number), shared.cr2);
	}
}

/* The guest's handler is to map it in, not to take it for a page that it has. */
static void an_operand_that_is_absent_was_read_by_the_kernel(void **state)
{
	(void)state;
	ABSENT(DATA) = true;
	assert_false(goes_on("\x0f\x01\x15" AT_DATA, 7, 0));
	assert_int_equal(frame.eip, HANDLER(EXCEPTION_PF));
	assert_int_equal(word(frame.esp), 0);
}

/* Nothing is emulated of an instruction of which the rest is on a page that is absent. */
static void instructions_end_where_their_memory_does(void **state)
{
	(void)state;
	GOES_ON("\x0f\x20\xd0"); /* mov eax, cr2: what was at the same place before */
	shared.cr2 = 0x1234;
	frame.eax = 0;
	ABSENT(CODE + PAGE_SIZE) = true;
	linear_put(CODE + PAGE_SIZE - 1, "\x0f", 1);
	frame.eip = CODE + PAGE_SIZE - 1;
	enter(0);
	assert_int_equal(frame.eip, HANDLER(EXCEPTION_GP));
	assert_int_equal(frame.eax, 0);
	/* One that ends with the page is whole. */
	linear_put(CODE + PAGE_SIZE - 1, "\xfb", 1);
	frame.eip = CODE + PAGE_SIZE - 1;
	frame.cs = KERNEL_CODE | 1;
	enter(0);
	assert_int_equal(frame.eip, CODE + PAGE_SIZE);
	assert_int_equal(shared.interrupt_flag, GANDALF_INTERRUPT_FLAG);
}

/* Linux executes these thousands of times a second: eight bytes are read, and no more. */
static void frequent_instructions_are_read_once(void **state)
{
	static const struct {
		const char *code;
		u32 size;
	} frequent[] = {{"\xec", 1}, {"\xee", 1}, {"\x0f\x22\xd8", 3}, {"\x0f\x20\xd0", 3}};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(frequent); i++) {
		linear_tried = 0;
		assert_true(goes_on(frequent[i].code, frequent[i].size, 0));
		assert_int_equal(linear_tried, 8);
	}
	/* Others are decoded as a whole. */
	linear_tried = 0;
	GOES_ON("\x0f\x09"); /* wbinvd */
	assert_true(linear_tried > 8);
}

static void ports_fill_all_of_the_register(void **state)
{
	static const u32 values[] = {0, UINT32_MAX};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(values); i++) {
		port_value = values[i];
		frame.eax = ~values[i];
		GOES_ON("\xed"); /* in eax, dx */
		assert_int_equal(frame.eax, values[i]);
	}
}

static void addresses_have_a_base_and_a_scaled_index(void **state)
{
	(void)state;
	frame.ebx = 0x1000000;
	frame.ecx = 0x20000;
	GOES_ON("\x0f\x01\x3c\x8b"); /* invlpg (%ebx, %ecx, 4) */
	assert_int_equal(shadow_calls.linear, 0x1080000);
	GOES_ON("\x0f\x01\xbc\x4b\x00\x30\x00\x00"); /* invlpg 0x3000(%ebx, %ecx, 2) */
	assert_int_equal(shadow_calls.linear, 0x1043000);
	GOES_ON("\x0f\x01\x3c\xcd\x00\x50\x00\x00"); /* invlpg 0x5000(, %ecx, 8) */
	assert_int_equal(shadow_calls.linear, 0x105000);
	/* Bases are of the guest's segments only. */
	real_tables.gdt[31] = segment_descriptor(0x100000, 0xffff, 0xf2, true);
	real_tables.gdt[32] = segment_descriptor(0x200000, 0xffff, 0xf2, true);
	frame.fs = 31 * 8 | 3;
	GOES_ON("\x64\x0f\x01\x3b"); /* invlpg %fs:(%ebx) */
	assert_int_equal(shadow_calls.linear, 0x1100000);
	frame.fs = 32 * 8 | 3;
	GOES_ON("\x64\x0f\x01\x3b");
	assert_int_equal(shadow_calls.linear, 0x1000000);
}

/* A selector's upper half in the frame means nothing. */
static void every_segment_register_keeps_what_it_has_loaded(void **state)
{
	u32 *const registers[] = {&frame.es, &frame.cs, &frame.ss, &frame.ds, &frame.fs, &frame.gs};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(registers); i++) {
		start(NULL);
		for (u32 j = 20; j < 22; j++)
			put_descriptor(GDT, j, segment_descriptor(0x1000, 0xffff, 0x92, true));
		load_gdt(255, GDT);
		*registers[i] = 0xabcd0000 | 20 * 8 | 1;
		put_descriptor(GDT, 20, 0);
		put_descriptor(GDT, 21, 0);
		/* By way of a segment that is absent, too: the flat ones have no base. */
		emulate_reload_gdt(&x86);
		assert_true(real_tables.gdt[20] != 0);
		assert_true(real_tables.gdt[21] == 0);
	}
}

static void a_gdt_has_the_entries_of_its_limit(void **state)
{
	(void)state;
	for (u32 i = 0; i < 40; i++)
		if (i < 2 || i > 17)
			put_descriptor(GDT, i, segment_descriptor(0x1000, 0xffff, 0x92, true));
	load_gdt(511, GDT);
	assert_true(real_tables.gdt[0] == 0);
	assert_true(real_tables.gdt[1] != 0 && real_tables.gdt[31] != 0);
	for (u32 i = SEGMENT_GUEST_ENTRIES; i < SEGMENT_ENTRIES; i++)
		assert_true(real_tables.gdt[i] == 0);
	load_gdt(20 * 8 + 7, GDT);
	assert_true(real_tables.gdt[20] != 0);
	assert_true(real_tables.gdt[21] == 0);
	load_gdt(20 * 8 + 6, GDT);
	assert_true(real_tables.gdt[19] != 0);
	assert_true(real_tables.gdt[20] == 0);
	/* Up to the last byte of a page, and none behind. */
	put_descriptor(GDT, 511, segment_descriptor(TSS, 0x67, 0x89, false));
	ABSENT(IDT) = true;
	load_gdt(511, IDT - 256);
	frame.eax = 31 * 8;
	GOES_ON("\x0f\x00\xd8");
	assert_int_equal(x86.tss_base, TSS);
	/* The first entry means nothing, and is not read. */
	ABSENT(IDT) = false;
	ABSENT(GDT) = true;
	memset(linear_at(IDT), 0, 256);
	load_gdt(255, IDT - 8);
}

/* While an interrupt waits for the next return, ring 3 has no code segment. */
static void a_new_gdt_opens_no_return_that_is_blocked(void **state)
{
	(void)state;
	load_gdt(255, GDT);
	assert_true((real_tables.gdt[USER_CODE / 8] & DESCRIPTOR_PRESENT) != 0);
	x86.armed = true;
	load_gdt(255, GDT);
	assert_true((real_tables.gdt[USER_CODE / 8] & DESCRIPTOR_PRESENT) == 0);
	assert_true((real_tables.gdt[USER_DATA / 8] & DESCRIPTOR_PRESENT) != 0);
}

static u32 gate_offset(u32 vector)
{
	u64 gate = real_tables.idt[vector];

	return (u32)(gate & 0xffff) | ((u32)(gate >> 32) & 0xffff0000);
}

static void gates_are_those_of_the_idt_that_is_loaded(void **state)
{
	const u32 other = DATA + 0x100;

	(void)state;
	/* The bits that a gate does not use are no part of the address. */
	put_descriptor(other, 0x80, 0xc123efff00005678ull | (u64)KERNEL_CODE << 16);
	load_idt(0x80 * 8 + 7, other);
	assert_int_equal(x86.idt_base, other);
	assert_int_equal(x86.idt_limit, 0x80 * 8 + 7);
	assert_int_equal(gate_offset(0x80), 0xc1235678);
	assert_int_equal(real_tables.idt[0x80] >> 45 & 3, 3);
	/* Each gate keeps the rings that may call it. */
	put_descriptor(other, 0x80, 0xc1238fff00005679ull | (u64)KERNEL_CODE << 16);
	load_idt(0x80 * 8 + 7, other);
	assert_true((real_tables.idt[0x80] >> 45 & 3) != 3);
	assert_int_equal(gate_offset(0x80), 0xc1235679);
	/* A system segment that is no gate, one that is absent, a page that is. */
	put_descriptor(other, 0x80, 0xc123ffff00005679ull | (u64)KERNEL_CODE << 16);
	load_idt(0x80 * 8 + 7, other);
	assert_int_not_equal(gate_offset(0x80), 0xc1235679);
	load_idt(2047, IDT);
	assert_int_equal(gate_offset(0x80), HANDLER(0x80));
	ABSENT(IDT) = true;
	load_idt(2047, IDT);
	assert_int_not_equal(gate_offset(0x80), HANDLER(0x80));
}

/* A dedicated guest's gates stay what they are; those of all its vectors but the last, whatever the
 * limit says. */
static void gates_of_a_dedicated_guest_end_with_the_table(void **state)
{
	static struct {
		struct segment_tables tables;
		u8 behind[64];
	} guarded;

	(void)state;
	memset(&guarded.behind, 0x5a, sizeof(guarded.behind));
	vcpu.tables = &guarded.tables;
	policy_set(&x86, &fake_dedicated);
	put_gate(VECTOR_APIC_IPI - 1, 0x8f);
	put_gate(31, 0x8e);
	load_idt(0xffff, IDT);
	assert_int_equal(guarded.tables.idt[VECTOR_APIC_IPI - 1] >> 40 & 0x1f, 0xf);
	assert_int_equal(guarded.tables.idt[VECTOR_APIC_IPI - 2] >> 40 & 0x1f, 0xe);
	for (u32 vector = VECTOR_APIC_IPI; vector < 256; vector++)
		assert_true(guarded.tables.idt[vector] == 0);
	assert_true((guarded.tables.idt[32] & DESCRIPTOR_PRESENT) != 0);
	assert_true(guarded.tables.idt[31] == 0);
	for (u32 i = 0; i < sizeof(guarded.behind); i++)
		assert_int_equal(guarded.behind[i], 0x5a);
}

/* From then on Linux does not compare CS any more. */
static void ltr_shows_ring_1_to_a_dedicated_guest(void **state)
{
	(void)state;
	for (u32 i = 0; i < 2; i++) {
		policy_set(&x86, i == 0 ? &fake_shared : &fake_dedicated);
		assert_int_equal(x86.code_mask, ~3u);
		frame.eax = TASK;
		GOES_ON("\x0f\x00\xd8");
		assert_int_equal(x86.code_mask, i == 0 ? ~3u : ~0u);
	}
}

static void selectors_of_system_segments_lie_within_the_gdt(void **state)
{
	(void)state;
	put_descriptor(GDT, 1, segment_descriptor(0x12345000, 0x67, 0x89, false));
	frame.eax = 8;
	GOES_ON("\x0f\x00\xd8");
	assert_int_equal(x86.tss_base, 0x12345000);
	frame.eax = TASK | 3;
	GOES_ON("\x0f\x00\xd8");
	assert_int_equal(x86.tr, TASK | 3);
	assert_int_equal(x86.tss_base, TSS);
	for (u32 low = 0; low < 8; low++) {
		frame.eax = low;
		IS_REFUSED("\x0f\x00\xd8");
		frame.eax = low;
		GOES_ON("\x0f\x00\xd0"); /* lldt: none */
	}
	frame.eax = 8;
	IS_REFUSED("\x0f\x00\xd0");
	frame.eax = 0xfff8;
	IS_REFUSED("\x0f\x00\xd0");
	frame.eax = TASK;
	x86.gdt_limit = TASK + 7;
	GOES_ON("\x0f\x00\xd8");
	x86.gdt_limit = TASK + 6;
	IS_REFUSED("\x0f\x00\xd8");
	/* A table whose page is absent. */
	x86.gdt_limit = 255;
	ABSENT(GDT) = true;
	x86.tr = 0;
	linear_put(CODE, "\x0f\x00\xd8", 3);
	frame.eip = CODE;
	enter(0);
	assert_int_equal(x86.tr, 0);
}

/* The VMM reads the guest's stack pointer there: never from its own memory. */
static void a_task_s_segment_lies_below_the_vmm(void **state)
{
	static const u32 bases[] = {GANDALF_BASE - PAGE_SIZE - 1, GANDALF_BASE - PAGE_SIZE,
				    GANDALF_BASE, 0xfffff000};

	(void)state;
	frame.eax = TASK;
	for (u32 i = 0; i < ARRAY_SIZE(bases); i++) {
		put_descriptor(GDT, TASK / 8, segment_descriptor(bases[i], 0x67, 0x89, false));
		GOES_ON("\x0f\x00\xd8");
		assert_int_equal(x86.tss_base, i == 0 ? bases[i] : 0);
	}
}

static void control_registers_change_what_they_say(void **state)
{
	(void)state;
	frame.eax = CR0_PE | CR0_PG;
	GOES_ON("\x0f\x22\xc0");
	assert_int_equal(shadow_calls.pagings, 1);
	frame.eax |= CR0_TS;
	GOES_ON("\x0f\x22\xc0");
	assert_int_equal(shadow_calls.pagings, 1);
	frame.eax = CR0_PE;
	GOES_ON("\x0f\x22\xc0");
	assert_int_equal(shadow_calls.pagings, 2);
	for (u32 i = 0; i < 3; i++) {
		static const u32 values[] = {0x4000, 0x5000, 0x5000};

		frame.eax = values[i];
		GOES_ON("\x0f\x22\xd8");
		assert_int_equal(shadow_calls.same_loads, i == 2);
	}
	/* Whether pages can be large or global concerns all of the shadow, the rest does not. */
	for (u32 i = 0; i < 4; i++) {
		static const u32 values[] = {CR4_PSE, CR4_PSE | CR4_PGE, CR4_PGE,
					     CR4_PGE | CR4_OSFXSR};

		frame.eax = values[i];
		GOES_ON("\x0f\x22\xe0");
		assert_int_equal(x86.cr4, values[i]);
		assert_int_equal(shadow_calls.flushes, i < 3 ? i + 1 : 3);
	}
	IS_REFUSED("\x0f\x22\xc8"); /* CR1 and CR5 */
	IS_REFUSED("\x0f\x22\xe8");
	IS_REFUSED("\x0f\x20\xc8");
	IS_REFUSED("\x0f\x20\xe8");
	assert_int_equal(x86.cr3, 0x5000);
}

static void lmsw_changes_four_bits_of_which_protection_stays(void **state)
{
	(void)state;
	x86.cr0 = CR0_PE | CR0_ET | CR0_AM | CR0_TS | CR0_EM | CR0_MP;
	frame.eax = 0xffe0;
	GOES_ON("\x0f\x01\xf0");
	assert_int_equal(x86.cr0, CR0_PE | CR0_ET | CR0_AM);
	x86.cr0 = CR0_ET;
	frame.eax = 0xf;
	GOES_ON("\x0f\x01\xf0");
	assert_int_equal(x86.cr0, CR0_PE | CR0_MP | CR0_EM | CR0_TS | CR0_ET);
}

static void words_on_stack(u32 at, u32 eip, u32 cs, u32 eflags)
{
	put_word(at, eip);
	put_word(at + 4, cs);
	put_word(at + 8, eflags);
	frame.esp = at;
}

/* Up to the last byte of the stack's page, and of the code segment. */
static void returns_read_no_more_than_they_need(void **state)
{
	(void)state;
	put_descriptor(GDT, KERNEL_CODE / 8, segment_descriptor(0, 0x20000, 0x9a, true));
	emulate_reload_gdt(&x86);
	ABSENT(CODE + PAGE_SIZE) = true;
	words_on_stack(CODE + PAGE_SIZE - 12, 0x20fff, 0xabcd0000 | KERNEL_CODE, EFLAGS_IF);
	assert_false(goes_on("\xcf", 1, 0));
	assert_int_equal(frame.eip, descriptor_limit(real_tables.gdt[KERNEL_CODE / 8]) < 0x20fff ?
			 HANDLER(EXCEPTION_GP) : 0x20fff);
	start(NULL);
	words_on_stack(STACK, descriptor_limit(real_tables.gdt[KERNEL_CODE / 8]),
		       0xabcd0000 | KERNEL_CODE, EFLAGS_IF);
	assert_false(goes_on("\xcf", 1, 0));
	assert_int_equal(frame.cs, KERNEL_CODE | 1);
	assert_int_equal(frame.esp, STACK + 12);
	assert_int_equal(vcpu.counters[COUNTER_returns], 1);
	start(NULL);
	ABSENT(CODE + PAGE_SIZE) = true;
	words_on_stack(CODE + PAGE_SIZE - 12, 0x1000, KERNEL_CODE, EFLAGS_IF);
	assert_false(goes_on("\xcf", 1, 0));
	assert_int_equal(frame.eip, 0x1000);
}

/* What an instruction of a few bytes changes that the quick decoder knows, and how many bytes of
 * code are read for it. A prefix that says what is so anyway, DS, has the whole decoder take it. */
struct effect {
	struct frame frame;
	u32 linear, number, size, value;
	unsigned reads, writes, invalidations;
};

static u32 effect_of(struct effect *effect, const u8 *bytes, u32 size, bool prefixed)
{
	struct frame before = frame;

	memset(&shadow_calls, 0, sizeof(shadow_calls));
	port_number = port_reads = port_writes = port_size = port_written = linear_tried = 0;
	linear_put(CODE, "\x3e", 1);
	linear_put(CODE + 1, bytes, size);
	frame.eip = CODE + !prefixed;
	enter(0);
	assert_int_equal(asked.stops, 0);
	*effect = (struct effect){frame, shadow_calls.linear, port_number, port_size, port_written,
				  port_reads, port_writes, shadow_calls.invalidations};
	frame = before;
	return linear_tried;
}

static void assert_quick_is_whole(const u8 *bytes, u32 size)
{
	struct effect quick, whole;
	u32 read = effect_of(&quick, bytes, size, false);

	assert_true(effect_of(&whole, bytes, size, true) > read);
	assert_memory_equal(&quick, &whole, sizeof(quick));
}

static void what_is_decoded_quickly_does_the_same(void **state)
{
	static const u8 opcodes[] = {0xe4, 0xe6, 0xec, 0xee};

	(void)state;
	port_value = 0x99;
	for (u32 number = 0; number < 8; number++)
		if (number != REGISTER_ESP)
			*register_of(number) = 0x1000 * (number + 1);
	for (u32 i = 0; i < ARRAY_SIZE(opcodes) * 256; i++)
		assert_quick_is_whole((u8[]){opcodes[i / 256], (u8)i}, 2);
	for (u8 number = 0; number < 8; number++)
		if (number != REGISTER_ESP && number != REGISTER_EBP)
			assert_quick_is_whole((u8[]){0x0f, 0x01, 0x38 | number}, 3);
	words_on_stack(STACK, 0x1000, KERNEL_CODE, EFLAGS_IF);
	assert_quick_is_whole((u8[]){0xcf}, 1);
}

static void returns_to_processes_read_two_words_more(void **state)
{
	(void)state;
	ABSENT(CODE + PAGE_SIZE) = true;
	words_on_stack(CODE + PAGE_SIZE - 20, 0x1000, USER_CODE, 0);
	put_word(CODE + PAGE_SIZE - 8, 0x5000);
	put_word(CODE + PAGE_SIZE - 4, USER_DATA);
	assert_false(goes_on("\xcf", 1, 0));
	assert_int_equal(frame.esp, 0x5000);
	ABSENT(CODE + PAGE_SIZE) = true;
	words_on_stack(CODE + PAGE_SIZE - 16, 0x1000, USER_CODE, 0);
	put_word(CODE + PAGE_SIZE - 4, 0x5000);
	assert_false(goes_on("\xcf", 1, 0));
	assert_int_equal(vcpu.counters[COUNTER_returns], 1);
}

static void returns_that_end_an_upcall_read_three_words(void **state)
{
	(void)state;
	upcall_eip = 0;
	ABSENT(CODE + PAGE_SIZE) = true;
	words_on_stack(CODE + PAGE_SIZE - 12, 0xfc500000, SELECTOR_VMM_CODE, 0x40000 | EFLAGS_IF);
	assert_true(is_refused("\xcf", 1, SELECTOR_VMM_CODE));
	assert_int_equal(upcall_eip, 0xfc500000);
	assert_int_equal(upcall_eflags, 0x40000 | EFLAGS_IF);
}

/* Linux uses none. */
static void returns_of_16_bits_are_refused(void **state)
{
	(void)state;
	words_on_stack(STACK, 0x1000, KERNEL_CODE, 0);
	IS_REFUSED("\x66\xcf");
}

/* A kernel may have more than one, and goes on in the one that it names. */
static void returns_go_to_the_code_segment_that_they_name(void **state)
{
	(void)state;
	put_descriptor(GDT, 20, segment_descriptor(0, 0xffffffff, 0x9a, true));
	emulate_reload_gdt(&x86);
	/* In the VMM's ring for it, whichever it asks for. */
	for (u32 rpl = 0; rpl < 3; rpl++) {
		words_on_stack(STACK, 0x1000, 20 * 8 | rpl, EFLAGS_IF);
		assert_false(goes_on("\xcf", 1, 0));
		assert_int_equal(frame.eip, 0x1000);
		assert_int_equal(frame.cs, 20 * 8 | 1);
	}
}

/* Behind the guest's entries are the VMM's own, whatever ring could load them. */
static void no_selector_is_of_an_entry_behind_the_guest_s(void **state)
{
	(void)state;
	for (u32 i = SEGMENT_GUEST_ENTRIES; i < SEGMENT_ENTRIES; i++) {
		real_tables.gdt[i] = segment_descriptor(0, 0xffffffff, 0xba, true);
		words_on_stack(STACK, 0x1000, i * 8, EFLAGS_IF);
		IS_REFUSED("\xcf");
		real_tables.gdt[i] = segment_descriptor(0, 0xffffffff, 0xb2, true);
		frame.eax = i * 8;
		assert_true(is_refused("\x8e\xd0", 2, i * 8)); /* mov ss, eax */
	}
}

static void returns_of_a_dedicated_guest_have_the_real_flag(void **state)
{
	static const u32 flags[] = {0, EFLAGS_IF};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(flags); i++) {
		start(NULL);
		policy_set(&x86, &fake_dedicated);
		vcpu.eflags = EFLAGS_FIXED;
		words_on_stack(STACK, 0x1000, USER_CODE, flags[i]);
		put_word(STACK + 12, 0x5000);
		put_word(STACK + 16, 0xabcd0000 | USER_DATA);
		assert_false(goes_on("\xcf", 1, 0));
		assert_int_equal(frame.eip, 0x1000);
		assert_int_equal(frame.eflags & EFLAGS_IF, flags[i]);
		assert_int_equal(frame.ss, USER_DATA);
	}
}

static void stacks_are_of_ring_0(void **state)
{
	(void)state;
	for (u32 rpl = 1; rpl < 4; rpl++) {
		frame.eax = KERNEL_STACK | rpl;
		assert_true(is_refused("\x8e\xd0", 2, KERNEL_STACK));
	}
	put_word(DATA, KERNEL_STACK);
	frame.ss = USER_DATA;
	assert_true(goes_on("\x8e\x15" AT_DATA, 6, KERNEL_STACK));
	assert_int_equal(frame.ss, KERNEL_STACK | 1);
	/* A segment that vanished while an interrupt waits is one of code, never of data. */
	x86.armed = true;
	real_tables.gdt[KERNEL_STACK / 8] &= ~DESCRIPTOR_PRESENT;
	frame.eax = KERNEL_STACK;
	linear_put(CODE, "\x8e\xd0", 2);
	frame.eip = CODE;
	enter(KERNEL_STACK);
	assert_int_not_equal(frame.eip, CODE + 2);
}

/* An error code names a selector: then the instruction is not the reason. */
static void instructions_with_an_error_code_are_the_guest_s_mistake(void **state)
{
	(void)state;
	assert_true(is_refused("\xec", 1, 0x100));         /* in al, dx */
	assert_true(is_refused("\xee", 1, 0x100));         /* out dx, al */
	assert_true(is_refused("\x0f\x22\xd8", 3, 0x100)); /* mov cr3, eax */
	assert_true(is_refused("\x0f\x20\xd0", 3, 0x100)); /* mov eax, cr2 */
	assert_true(is_refused("\x0f\x01\x38", 3, 0x100)); /* invlpg (eax) */
	assert_true(is_refused("\xfa", 1, 0x100));         /* cli */
	/* Amid an interrupt the selector may be none. */
	assert_true(is_refused("\x0f\x20\xd0", 3, 1));
	assert_true(is_refused("\xec", 1, 1));
	assert_int_equal(port_reads + port_writes + shadow_calls.loads, 0);
	assert_int_equal(vcpu.counters[COUNTER_emulations], 0);
}

static void no_instruction_is_locked(void **state)
{
	(void)state;
	assert_false(goes_on("\xf0\x0f\x01\x38", 4, 0));
	assert_int_equal(shadow_calls.invalidations, 0);
	assert_int_equal(asked.stops, 1);
}

/* Of what crosses from one entry into the next both are read again, if by a byte only. */
static void stores_to_the_gdt_are_stores(void **state)
{
	(void)state;
	put_word(GDT + 21 * 8 + 4, 0x00cf9200);
	put_word(GDT + 22 * 8 + 4, 0x00cf9200);
	frame.eax = 0x34000000;
	linear_put(CODE, "\xa3\xad\x00\x01\x00", 5);
	emulate_store(&x86, GDT + 21 * 8 + 5, false);
	assert_int_equal(real_tables.gdt[22] & 0xff, 0x34);
	assert_int_equal(asked.stops, 0);
	/* Another instruction of four bytes that the VMM knows. */
	put_word(GDT + 20 * 8, 0x5555);
	frame.eip = CODE;
	linear_put(CODE, "\xed", 1); /* in eax, dx */
	emulate_store(&x86, GDT + 20 * 8, false);
	assert_int_equal(asked.stops, 1);
	assert_int_equal(word(GDT + 20 * 8), 0x5555);
}

static void emulations_are_counted_and_traced(void **state)
{
	(void)state;
	GOES_ON("\xec");
	assert_int_equal(vcpu.counters[COUNTER_emulations], 1);
	assert_int_equal(last_event()->type, TRACE_emulate);
	assert_int_equal(last_event()->first, DECODED_IN);
	assert_int_equal(last_event()->second, CODE);
	GOES_ON("\x0f\x20\xd0");
	assert_int_equal(vcpu.counters[COUNTER_emulations], 2);
	assert_int_equal(last_event()->first, DECODED_MOV_FROM_CR);
	assert_int_equal(last_event()->second, CODE);
	shared.interrupt_flag = GANDALF_INTERRUPT_FLAG;
	assert_true(goes_on("\xf4", 1, 0));
	assert_int_equal(vcpu.counters[COUNTER_halts], 1);
	linear_put(CODE, "\xa3\x00\x10\x00\xfc", 5);
	frame.eip = CODE;
	assert_true(emulate_alias_store(&x86));
	assert_int_equal(vcpu.counters[COUNTER_alias_faults], 1);
	linear_put(CODE, "\xa3\xa0\x00\x01\x00", 5);
	frame.eip = CODE;
	emulate_store(&x86, GDT + 20 * 8, false);
	assert_int_equal(vcpu.counters[COUNTER_gdt_writes], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_register_is_an_operand),
		TEST(an_operand_that_is_absent_was_read_by_the_kernel),
		TEST(instructions_end_where_their_memory_does),
		TEST(frequent_instructions_are_read_once),
		TEST(what_is_decoded_quickly_does_the_same),
		TEST(ports_fill_all_of_the_register),
		TEST(addresses_have_a_base_and_a_scaled_index),
		TEST(every_segment_register_keeps_what_it_has_loaded),
		TEST(a_gdt_has_the_entries_of_its_limit),
		TEST(a_new_gdt_opens_no_return_that_is_blocked),
		TEST(gates_are_those_of_the_idt_that_is_loaded),
		TEST(gates_of_a_dedicated_guest_end_with_the_table),
		TEST(ltr_shows_ring_1_to_a_dedicated_guest),
		TEST(selectors_of_system_segments_lie_within_the_gdt),
		TEST(a_task_s_segment_lies_below_the_vmm),
		TEST(control_registers_change_what_they_say),
		TEST(lmsw_changes_four_bits_of_which_protection_stays),
		TEST(returns_read_no_more_than_they_need),
		TEST(returns_to_processes_read_two_words_more),
		TEST(returns_that_end_an_upcall_read_three_words),
		TEST(returns_of_16_bits_are_refused),
		TEST(returns_go_to_the_code_segment_that_they_name),
		TEST(no_selector_is_of_an_entry_behind_the_guest_s),
		TEST(returns_of_a_dedicated_guest_have_the_real_flag),
		TEST(stacks_are_of_ring_0),
		TEST(instructions_with_an_error_code_are_the_guest_s_mistake),
		TEST(no_instruction_is_locked),
		TEST(stores_to_the_gdt_are_stores),
		TEST(emulations_are_counted_and_traced),
	};

	return RUN_TESTS(tests);
}
