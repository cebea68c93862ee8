/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a guest's descriptors become: whatever it asks for, no address of the VMM
 * may be in reach of what it gets, but through a flat segment for TLS. Reach is
 * computed here from the manual's words alone (SDM vol. 3, 5.3).
 */
#include "unit.h"

#include "core/core.h"
#include "arch/ia32/layout.h"
#include "arch/ia32/masked_sections.h"
#include "core/pool.h"
#include "arch/ia32/segment.h"
#include "fake/vmm.h"

#define REACH_END (GANDALF_SHARED_ALIAS + 0x1000ull)
#define LIMIT_4G 0x100000000ull

/* The tables of a guest, and what lies behind them. */
static struct {
	struct segment_tables tables;
	u64 behind;
} guarded;
#define real_tables guarded.tables

void processor_sleep(void)
{
	fail();
}

/* A descriptor, field by field. */
struct fields {
	u32 base, limit;
	unsigned type, dpl;
	bool segment, present, big, granular;
};

static u64 descriptor_make(struct fields fields)
{
	return (fields.limit & 0xffff) | (u64)(fields.base & 0xffffff) << 16 |
	       (u64)fields.type << 40 | (u64)fields.segment << 44 | (u64)fields.dpl << 45 |
	       (u64)fields.present << 47 | (u64)(fields.limit >> 16 & 15) << 48 |
	       (u64)fields.big << 54 | (u64)fields.granular << 55 |
	       (u64)(fields.base >> 24) << 56;
}

static struct fields descriptor_fields(u64 raw)
{
	return (struct fields){
		.base = (u32)(raw >> 16 & 0xffffff) | (u32)(raw >> 56) << 24,
		.limit = (u32)(raw & 0xffff) | (u32)(raw >> 48 & 15) << 16,
		.type = (unsigned)(raw >> 40) & 15,
		.segment = raw >> 44 & 1,
		.dpl = (unsigned)(raw >> 45) & 3,
		.present = raw >> 47 & 1,
		.big = raw >> 54 & 1,
		.granular = raw >> 55 & 1,
	};
}

/* The offsets that may be used, both included; false: none. */
static bool offsets(struct fields fields, u64 *first, u64 *last)
{
	u64 limit = fields.granular ? (u64)fields.limit << 12 | 0xfff : fields.limit;
	bool down = (fields.type & 0xc) == 4;

	*first = down ? limit + 1 : 0;
	*last = down ? (fields.big ? 0xffffffff : 0xffff) : limit;
	return fields.present && fields.segment && *first <= *last;
}

/* Whether an address from start on, up to 4 GiB, is in reach. */
static bool reaches(u64 raw, u64 start)
{
	struct fields fields = descriptor_fields(raw);
	u64 first, last;

	if (!offsets(fields, &first, &last))
		return false;
	first += fields.base;
	last += fields.base;
	/* Addresses wrap at 4 GiB, ranges may do so too. */
	if (first >= LIMIT_4G) {
		first -= LIMIT_4G;
		last -= LIMIT_4G;
	}
	return last >= LIMIT_4G || last >= start;
}

static bool covers(u64 raw, u32 address)
{
	struct fields fields = descriptor_fields(raw);
	u64 first, last;

	return offsets(fields, &first, &last) && (u32)(address - fields.base) >= first &&
	       (u32)(address - fields.base) <= last;
}

static u32 interesting(u32 *random)
{
	static const u32 values[] = { 0, 1, 0xfff, 0x1000, 0xfffff, 0x100000, 0xc0000000,
				      GANDALF_BASE - 1, GANDALF_BASE, GANDALF_SHARED_ALIAS,
				      (u32)REACH_END - 1, (u32)REACH_END, (u32)REACH_END + 1,
				      0xff000000, 0xfffff000, 0xffffffff };
	u32 value = values[random_next(random) % ARRAY_SIZE(values)];

	switch (random_next(random) % 4) {
	case 0:
		return random_next(random);
	case 1:
		return value + random_next(random) % 0x2000 - 0x1000;
	default:
		return value;
	}
}

static u64 random_descriptor(u32 *random)
{
	u32 limit = interesting(random);
	bool granular = random_next(random) % 2 != 0;

	return descriptor_make((struct fields){
		.base = interesting(random),
		.limit = granular ? limit >> 12 : limit & 0xfffff,
		.type = random_next(random) & 15,
		.dpl = random_next(random) & 3,
		.segment = random_next(random) % 8 != 0,
		.present = random_next(random) % 8 != 0,
		.big = random_next(random) % 4 != 0,
		.granular = granular,
	}) | (u64)(random_next(random) & 3) << 52;
}

/* What must hold of everything that a guest can load. */
static void check_allowed(u64 raw)
{
	struct fields fields = descriptor_fields(raw);

	if (fields.present) {
		assert_true(fields.segment);
		assert_int_not_equal(fields.dpl, 0);
		assert_true(fields.type & 1);
	}
}

static void random_descriptors_end_below_the_vmm(void **state)
{
	u32 random = 1;
	unsigned kept = 0;

	(void)state;
	for (unsigned i = 0; i < 300000; i++) {
		u64 wanted = random_descriptor(&random);
		u64 given = segment_restrict(wanted, false);

		check_allowed(given);
		if (reaches(given, REACH_END))
			print_message("%016llx became %016llx\n", (unsigned long long)wanted,
				      (unsigned long long)given);
		assert_false(reaches(given, REACH_END));
		/* Nothing is in reach that was not asked for. */
		for (unsigned j = 0; j < 4; j++) {
			u32 address = interesting(&random);

			if (covers(given, address))
				assert_true(covers(wanted, address));
		}
		kept += given == (wanted | DESCRIPTOR_ACCESSED);
	}
	assert_true(kept > 10000);
}

static void what_is_allowed_stays_in_reach(void **state)
{
	u32 random = 2;
	unsigned covered = 0;

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		u64 wanted = random_descriptor(&random);
		u64 given = segment_restrict(wanted, false);
		struct fields fields = descriptor_fields(wanted);
		u32 address = interesting(&random);

		/* Below the VMM, in a segment that grows up: to the last whole page. */
		if (!covers(wanted, address) || (fields.type & 0xc) == 4 ||
		    fields.base >= REACH_END || address < fields.base ||
		    address >= REACH_END - 0x1000)
			continue;
		assert_true(covers(given, address));
		covered++;
	}
	assert_true(covered > 5000);
}

/* Neither half may reach the VMM, and both stay within what was asked for. */
static void random_halves_end_below_the_vmm(void **state)
{
	u32 random = 3;

	(void)state;
	for (unsigned i = 0; i < 300000; i++) {
		u64 wanted = random_descriptor(&random);
		u64 flat = segment_restrict(wanted, true);

		for (unsigned down = 0; down < 2; down++) {
			u64 given = segment_half(flat, down != 0);

			check_allowed(given);
			if (reaches(given, REACH_END))
				print_message("%016llx became %016llx, lower half %u\n",
					      (unsigned long long)wanted,
					      (unsigned long long)given, down);
			assert_false(reaches(given, REACH_END));
		}
	}
}

/* Linux's TLS: base B, 4 GiB. One half has B and up, the other all below B. */
static void the_halves_of_a_flat_segment_are_complete(void **state)
{
	const u32 bases[] = { 0x1000, 0x080fe840, 0xb7d00a00, 0xbffff000 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(bases); i++) {
		u64 flat = segment_restrict(descriptor_make((struct fields){
			.base = bases[i], .limit = 0xfffff, .type = 3, .dpl = 3,
			.segment = true, .present = true, .big = true, .granular = true }), true);
		u64 up = segment_half(flat, false);
		u64 down = segment_half(flat, true);

		assert_true(covers(up, bases[i]) && covers(up, GANDALF_BASE - 0x2000));
		assert_false(covers(up, bases[i] - 1));
		assert_true(covers(down, bases[i] - 1) && covers(down, 0xfff));
		assert_false(covers(down, bases[i] + 0x1000));
		assert_int_equal(descriptor_dpl(up), 3);
		assert_int_equal(descriptor_dpl(down), 3);
	}
}

/* A half is what the whole was, but for where it ends. */
static void a_half_grants_no_other_rights(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 4; type++) {
		u64 flat = segment_descriptor(0x08100000, 0xffffffff, 0xf0 | type, true);
		struct fields down = descriptor_fields(segment_half(flat, true));
		struct fields up = descriptor_fields(segment_half(flat, false));

		/* Accessed and, downwards, expand-down. */
		assert_int_equal(up.type, type | 1);
		assert_int_equal(down.type, type | 5);
		assert_int_equal(down.dpl, 3);
		assert_true(down.present && down.big && down.segment);
	}
}

static void only_tls_may_be_flat(void **state)
{
	const u64 data = segment_descriptor(0, 0xffffffff, 0xf3, true);
	const u64 code = segment_descriptor(0, 0xffffffff, 0xfb, true);
	const u64 kernel = segment_descriptor(0, 0xffffffff, 0xb3, true);

	(void)state;
	vmm_reset();
	memset(&real_tables, 0, sizeof(real_tables));
	vcpu.tables = &real_tables;
	for (unsigned i = 0; i < 64; i++) {
		segment_set_guest(&vcpu, i, data);
		assert_true(i >= SEGMENT_ENTRIES || reaches(real_tables.gdt[i], REACH_END) ==
								(i >= 6 && i <= 8));
	}
	for (unsigned i = 0; i < 64; i++)
		segment_set_guest(&vcpu, i, code);
	for (unsigned i = 0; i < SEGMENT_ENTRIES; i++)
		assert_false(reaches(real_tables.gdt[i], REACH_END));
	for (unsigned i = 0; i < 64; i++)
		segment_set_guest(&vcpu, i, kernel);
	for (unsigned i = 0; i < SEGMENT_ENTRIES; i++)
		assert_false(reaches(real_tables.gdt[i], REACH_END));
	/* Entry 0 and the VMM's own are out of reach. */
	assert_true(real_tables.gdt[0] == 0);
	for (unsigned i = SEGMENT_GUEST_ENTRIES; i < SEGMENT_ENTRIES; i++)
		assert_true(real_tables.gdt[i] == 0);
}

/* The limit is the last byte that a guest may have, or the last of a whole page. */
static void limits_are_cut_to_the_byte_or_the_page(void **state)
{
	const u32 rooms[] = { 0, 0xffe, 0xfff, 0x1000, 0xffffe, 0xfffff, 0x100000, 0x100001,
			      0x100ffe, 0x100fff, 0x101000, 0x12345678 };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rooms); i++) {
		for (u64 flags = 0; flags < 8; flags++) {
			u64 wanted = segment_descriptor((u32)REACH_END - 1 - rooms[i], 0xffffffff,
						       0xb3, false) | flags << 52;
			u64 given = segment_restrict(wanted, false);
			u32 limit = rooms[i];

			if (limit > 0xfffff && (limit & 0xfff) != 0xfff)
				limit = (limit & ~0xfffu) - 1;
			assert_int_equal(descriptor_limit(given), limit);
			assert_int_equal(descriptor_base(given), descriptor_base(wanted));
			/* Type and rights, and the flags that say nothing of the limit. */
			assert_int_equal(given >> 40 & 0xff, 0xb3);
			assert_int_equal(given >> 52 & 7, flags);
		}
	}
}

static void what_fits_stays_as_it_is(void **state)
{
	const u64 fits = segment_descriptor(0x1000, 0xfffff, 0xb3, false);

	(void)state;
	assert_true(segment_restrict(fits, false) == fits);
	assert_true(segment_restrict(fits | DESCRIPTOR_GRANULARITY | 1ull << 52, true) ==
		    (fits | DESCRIPTOR_GRANULARITY | 1ull << 52));
}

/* The code segment of ring 3 goes and comes back while interrupts wait. */
static void absent_code_comes_back_within_bounds(void **state)
{
	u32 random = 4;

	(void)state;
	vmm_reset();
	vcpu.tables = &real_tables;
	for (unsigned i = 0; i < 20000; i++) {
		memset(&real_tables, 0, sizeof(real_tables));
		for (unsigned j = 0; j < SEGMENT_GUEST_ENTRIES; j++)
			segment_set_guest(&vcpu, j, random_descriptor(&random));
		segment_set_user_code(&vcpu, false);
		for (unsigned j = 0; j < SEGMENT_GUEST_ENTRIES; j++) {
			struct fields fields = descriptor_fields(real_tables.gdt[j]);

			assert_false(fields.present && fields.segment && fields.type >= 8 &&
				     fields.dpl == 3);
		}
		segment_set_user_code(&vcpu, true);
		for (unsigned j = 0; j < SEGMENT_GUEST_ENTRIES; j++) {
			bool tls = j >= 6 && j <= 8;
			struct fields fields = descriptor_fields(real_tables.gdt[j]);

			check_allowed(real_tables.gdt[j]);
			if (!tls || fields.type >= 8 || fields.dpl != 3)
				assert_false(reaches(real_tables.gdt[j], REACH_END));
		}
	}
}

/* What is no code of ring 3 stays, whatever was in its place before. */
static void only_code_of_ring_3_is_absent(void **state)
{
	const u64 user_code = segment_descriptor(0, 0xfff, 0xfb, true);

	(void)state;
	vmm_reset();
	memset(&real_tables, 0, sizeof(real_tables));
	vcpu.tables = &real_tables;
	for (unsigned i = 1; i < SEGMENT_GUEST_ENTRIES; i++) {
		unsigned dpl = i % 3 + 1, type = i % 2 ? 0x1b : 0x13;

		segment_set_guest(&vcpu, i, user_code);
		segment_set_guest(&vcpu, i,
				  segment_descriptor(0, 0xfff, 0x80 | dpl << 5 | type, true));
	}
	for (unsigned present = 0; present < 2; present++) {
		segment_set_user_code(&vcpu, present != 0);
		for (unsigned i = 1; i < SEGMENT_GUEST_ENTRIES; i++) {
			bool user = i % 3 == 2 && i % 2 == 1;
			u64 descriptor = real_tables.gdt[i];

			assert_int_equal((descriptor & DESCRIPTOR_PRESENT) != 0,
					 present != 0 || !user);
			assert_int_equal(descriptor_limit(descriptor), 0xfff);
			assert_int_equal(descriptor_dpl(descriptor), i % 3 + 1);
		}
	}
	/* One that was absent at first is not made present. */
	segment_set_guest(&vcpu, 5, user_code & ~DESCRIPTOR_PRESENT);
	segment_set_user_code(&vcpu, true);
	assert_true((real_tables.gdt[5] & DESCRIPTOR_PRESENT) == 0);
}

static void system_descriptors_vanish(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 16; type++) {
		for (unsigned dpl = 0; dpl < 4; dpl++) {
			u64 raw = descriptor_make((struct fields){
				.base = 0x1000, .limit = 0x67, .type = type, .dpl = dpl,
				.present = true });

			assert_true(segment_restrict(raw, false) == 0);
			assert_true(segment_restrict(raw, true) == 0);
			assert_true(segment_half(segment_restrict(raw, true), true) == 0);
		}
	}
}

static void descriptors_are_made_of_their_fields(void **state)
{
	const u32 limits[] = { 0, 0x67, 0xfffff, 0x100fff, 0xfc001fff, 0xffffffff };
	const u32 bases[] = { 0, 0x12345678, 0xfd000000, 0xffffffff };

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(limits); i++) {
		for (unsigned j = 0; j < ARRAY_SIZE(bases); j++) {
			u64 raw = segment_descriptor(bases[j], limits[i], 0xb3, true);
			struct fields fields = descriptor_fields(raw);

			assert_int_equal(descriptor_base(raw), bases[j]);
			assert_int_equal(descriptor_limit(raw), limits[i]);
			assert_int_equal(fields.base, bases[j]);
			assert_int_equal(fields.type, 3);
			assert_int_equal(fields.dpl, 1);
			assert_true(fields.present && fields.big && fields.segment);
			assert_int_equal(fields.granular, limits[i] > 0xfffff);
		}
	}
	/* A limit that takes pages has whole ones. */
	assert_int_equal(descriptor_limit(segment_descriptor(0, 0x100000, 0xb3, true)), 0x100fff);
	assert_false(descriptor_fields(segment_descriptor(0, 0xff, 0xb3, false)).big);
}

/* Gates: SDM vol. 3, figure 6-2. */

static void check_stub(const struct vcpu *of, unsigned vector, unsigned dpl)
{
	u64 gate = of->tables->idt[vector];
	uintptr_t stub = (uintptr_t)&entry_stubs[vector];

	/* Behind the PUSH of a 0: the CPU pushes an error code. */
	if (vector == 8 || (vector >= 10 && vector <= 14) || vector == 17)
		stub += 2;
	/* Where a guest may have an interrupt come by that vector the way in looks who was it. */
	if (vector == GANDALF_HYPERCALL_VECTOR && of->any_vector)
		stub = (uintptr_t)&entry_stubs[ENTRY_STUB_ANY_HYPERCALL];
	assert_int_equal((gate & 0xffff) | (gate >> 32 & 0xffff0000), stub);
	assert_int_equal(gate >> 16 & 0xffff, SELECTOR_VMM_CODE);
	assert_int_equal(gate >> 40 & 0xff, 0x80 | dpl << 5 | 0xe);
}

static void check_stubs(const struct vcpu *of)
{
	for (unsigned vector = 0; vector < 256; vector++)
		check_stub(of, vector, vector == 3 || vector == 4 ? 3 : vector == 0x1e ? 1 : 0);
}

/* The VMM's own entries: SDM vol. 3, 3.4.5 and 7.2.2. Its data begin behind the first page. */
static void check_vmm_entries(const struct segment_tables *of)
{
	u64 data = of->gdt[SELECTOR_VMM_DATA / 8];

	assert_true(of->gdt[SELECTOR_VMM_CODE / 8] == (0xcf9bull << 40 | 0xffff));
	assert_false(covers(data, 0) || covers(data, 0xfff));
	assert_true(covers(data, 0x1000) && covers(data, UINT32_MAX));
	assert_int_equal(data >> 40 & 0xff, 0x97);
	assert_int_equal(descriptor_base(of->gdt[SELECTOR_TSS / 8]), (uintptr_t)&of->tss);
	assert_int_equal(descriptor_limit(of->gdt[SELECTOR_TSS / 8]), sizeof(struct tss) - 1);
	assert_int_equal(of->gdt[SELECTOR_TSS / 8] >> 40 & 0xff, 0x89);
	assert_int_equal(of->gdt[SELECTOR_TSS / 8] >> 52 & 15, 0);
	assert_true(of->gdt[SELECTOR_LDT / 8] == 0);
	assert_true(of->gdt[0] == 0);
}

static void tables_after_a_reset(void **state)
{
	struct tss expected = { .ss0 = SELECTOR_VMM_DATA,
				.bitmap_offset = offsetof(struct tss, bitmap) };

	(void)state;
	vmm_reset();
	memset(&guarded, 0x5a, sizeof(guarded));
	vcpu.tables = &real_tables;
	asked.admissions = 0;
	segment_reset(&vcpu);
	/* A gate takes some 50 instructions. */
	assert_in_range(asked.admissions, 32, 128);
	check_stubs(&vcpu);
	for (unsigned i = 0; i < SEGMENT_GUEST_ENTRIES; i++)
		assert_true(real_tables.gdt[i] == 0);
	check_vmm_entries(&real_tables);
	assert_int_equal(real_tables.user_code, 0);
	memset(expected.bitmap, 0xff, sizeof(expected.bitmap));
	assert_memory_equal(&real_tables.tss, &expected, sizeof(expected));
	assert_true(guarded.behind == 0x5a5a5a5a5a5a5a5a);
}

/* Where the VMM is interruptible, exceptions leave the flag as it is, but for those that tell
 * what could be lost: #DB, NMI, #DF and #MC (vectors 1, 2, 8, 18). */
static void exceptions_of_an_interruptible_vmm_are_trap_gates(void **state)
{
	(void)state;
	vmm_reset();
	vcpu.tables = &real_tables;
	vcpu.interruptible = true;
	segment_reset(&vcpu);
	for (unsigned vector = 0; vector < 256; vector++) {
		bool masked = vector >= 32 || vector == 1 || vector == 2 || vector == 8 ||
			      vector == 18;

		assert_int_equal(real_tables.idt[vector] >> 40 & 0x1f, masked ? 0xe : 0xf);
	}
}

static void a_new_vcpu_has_tables_from_the_pool(void **state)
{
	(void)state;
	vmm_reset();
	pool_rest = 1;
	assert_true(segment_create(&vcpu));
	assert_int_equal(vcpu.tables_frame, PAGE_SIZE);
	assert_ptr_equal(vcpu.tables, pool_pointer(PAGE_SIZE));
	assert_false(segment_create(&vcpu));
}

static void gates_go_to_ring_1_and_back_to_the_stubs(void **state)
{
	(void)state;
	tables_after_a_reset(state);
	segment_set_gate(&vcpu, 0x80, 0xc1234567, GATE_TRAP, 3);
	assert_true(real_tables.idt[0x80] == 0xc123ef0000614567);
	segment_clear_gate(&vcpu, 0x80);
	check_stub(&vcpu, 0x80, 0);
}

#define NAME(name, ...) #name,
static const char *const entries[] = {MASKED_ENTRIES(NAME)};
#undef NAME

/* What comes by a vector, as the names of masked entries have it. */
static const char *what_comes(unsigned vector)
{
	switch (vector) {
	case EXCEPTION_DB: case EXCEPTION_NMI: case EXCEPTION_DF: case EXCEPTION_MC:
		return "debug";
	case GANDALF_HYPERCALL_VECTOR:
		return "hypercall";
	case VECTOR_APIC_TIMER:
		return "clock";
	}
	return vector < EXCEPTIONS ? "exception" : "line";
}

/* Each gate of such a vCPU that masks interrupts has a line in the table, and each line a gate. */
static void check_masked(bool interruptible, const char *who, const char *no_clock)
{
	struct vcpu of = {.tables = &real_tables, .interruptible = interruptible};
	bool used[ARRAY_SIZE(entries)] = {false};

	segment_reset(&of);
	for (unsigned vector = 0; vector < 256; vector++) {
		const char *what = what_comes(vector);
		unsigned found = 0;
		char name[64];

		if ((real_tables.idt[vector] >> 40 & 0xf) != GATE_INTERRUPT)
			continue;
		snprintf(name, sizeof(name), "%s_of_%s",
			 no_clock != NULL && strcmp(what, "clock") == 0 ? no_clock : what, who);
		while (found < ARRAY_SIZE(entries) && strcmp(entries[found], name) != 0)
			found++;
		if (found == ARRAY_SIZE(entries))
			fail_msg("%s is not in masked_sections.h", name);
		used[found] = true;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(entries); i++)
		if (strcmp(strstr(entries[i], "_of_") + 4, who) == 0 && !used[i])
			fail_msg("%s has no gate", entries[i]);
}

static void gates_that_mask_have_a_line_in_the_table(void **state)
{
	(void)state;
	check_masked(true, "shared", NULL);
	check_masked(false, "rtos", NULL);
	check_masked(false, "dedicated", "line"); /* the VMM's clock has stopped */
}

static void ports_are_opened_one_by_one(void **state)
{
	tables_after_a_reset(state);
	segment_allow_ports(&vcpu, 0x3f8, 0x3ff);
	segment_allow_ports(&vcpu, 0x80, 0x80);
	segment_allow_ports(&vcpu, GANDALF_PORT_LIMIT - 1, 0xffff);
	for (u32 port = 0; port < GANDALF_PORT_LIMIT + 8; port++) {
		bool closed = real_tables.tss.bitmap[port / 8] >> port % 8 & 1;

		assert_int_equal(!closed, port == 0x80 || (port >= 0x3f8 && port <= 0x3ff) ||
						  port == GANDALF_PORT_LIMIT - 1);
	}
}

static void loading_clears_the_busy_bit(void **state)
{
	tables_after_a_reset(state);
	real_tables.gdt[SELECTOR_TSS / 8] |= 2ull << 40;
	segment_load(&vcpu);
	assert_int_equal(real_tables.gdt[SELECTOR_TSS / 8] >> 40 & 15, 9);
	assert_int_equal(processor.gdt.base, (uintptr_t)real_tables.gdt);
	assert_int_equal(processor.gdt.limit, sizeof(real_tables.gdt) - 1);
	assert_int_equal(processor.idt.base, (uintptr_t)real_tables.idt);
	assert_int_equal(processor.idt.limit, sizeof(real_tables.idt) - 1);
	assert_int_equal(processor.task, SELECTOR_TSS);
	segment_init();
	assert_int_equal(processor.code, SELECTOR_VMM_CODE);
	assert_int_equal(processor.data, SELECTOR_VMM_DATA);
	check_vmm_entries(idle_vcpu.tables);
	assert_false(processor.gdt.base == (uintptr_t)real_tables.gdt);
	check_stubs(&idle_vcpu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_descriptors_end_below_the_vmm),
		cmocka_unit_test(what_is_allowed_stays_in_reach),
		cmocka_unit_test(random_halves_end_below_the_vmm),
		cmocka_unit_test(the_halves_of_a_flat_segment_are_complete),
		cmocka_unit_test(a_half_grants_no_other_rights),
		cmocka_unit_test(only_tls_may_be_flat),
		cmocka_unit_test(limits_are_cut_to_the_byte_or_the_page),
		cmocka_unit_test(what_fits_stays_as_it_is),
		cmocka_unit_test(absent_code_comes_back_within_bounds),
		cmocka_unit_test(only_code_of_ring_3_is_absent),
		cmocka_unit_test(system_descriptors_vanish),
		cmocka_unit_test(descriptors_are_made_of_their_fields),
		cmocka_unit_test(tables_after_a_reset),
		cmocka_unit_test(exceptions_of_an_interruptible_vmm_are_trap_gates),
		cmocka_unit_test(a_new_vcpu_has_tables_from_the_pool),
		cmocka_unit_test(gates_go_to_ring_1_and_back_to_the_stubs),
		cmocka_unit_test(gates_that_mask_have_a_line_in_the_table),
		cmocka_unit_test(ports_are_opened_one_by_one),
		cmocka_unit_test(loading_clears_the_busy_bit),
	};

	return RUN_TESTS(tests);
}
