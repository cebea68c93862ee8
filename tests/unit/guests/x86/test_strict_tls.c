/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict TLS: which half of which segment is shown, and when a fault is the
 * guest's own.
 */
#include "unit.h"

#include "guests/x86/x86.h"
#include "fake/linear.h"
#include "fake/vmm.h"

#define CODE 0x10100u
#define BASE 0x08100000u
/* Selectors of the three TLS segments, and of one that is none. */
#define TLS(n) (8u * (6 + (n)) | 3)
#define USER_DATA 0x7bu

static struct x86 x86;
static struct segment_tables real_tables;

void processor_sleep(void)
{
	fail();
}

static int start(void **state)
{
	(void)state;
	vmm_reset();
	memset(&x86, 0, sizeof(x86));
	memset(&real_tables, 0, sizeof(real_tables));
	memset(linear_bytes, 0, sizeof(linear_bytes));
	memset(linear_absent, 0, sizeof(linear_absent));
	guest.flags = GANDALF_GUEST_STRICT_TLS;
	x86.vm = &vm;
	x86.vcpu = &vcpu;
	vcpu.tables = &real_tables;
	frame.eip = CODE;
	frame.ds = frame.es = USER_DATA;
	for (u32 i = 0; i < 3; i++)
		x86_set_descriptor(&x86, 6 + i,
				  segment_descriptor(BASE + i * 0x1000, 0xffffffff, 0xf2, true));
	return 0;
}

static void instruction(const char *bytes, u32 size)
{
	memset(linear_at(CODE), 0x90, 16);
	linear_put(CODE, bytes, size);
}

static bool shows_lower_half(u32 number)
{
	return (real_tables.gdt[6 + number] & DESCRIPTOR_EXPAND_DOWN) != 0;
}

static void upper_halves_are_shown_first(void **state)
{
	(void)state;
	for (u32 i = 0; i < 3; i++) {
		assert_false(shows_lower_half(i));
		assert_int_equal(descriptor_base(real_tables.gdt[6 + i]), BASE + i * 0x1000);
		assert_true(BASE + i * 0x1000 + (u64)descriptor_limit(real_tables.gdt[6 + i]) <
			    GANDALF_SHARED_ALIAS + 0x1000ull);
	}
	/* Only these three are halved. */
	x86_set_descriptor(&x86, 9, segment_descriptor(0, 0xfff, 0xf2, true));
	assert_int_equal(descriptor_limit(real_tables.gdt[9]), 0xfff);
}

static void prefixes_name_the_segment(void **state)
{
	static const struct {
		const char *bytes;
		u32 size, segment; /* 0: DS, 1: FS, 2: GS */
	} cases[] = {
		{ "\x65\xa1\x00\x00\x00\x00", 6, 2 },
		{ "\x64\xa1\x00\x00\x00\x00", 6, 1 },
		{ "\xa1\x00\x00\x00\x00", 5, 0 },
		{ "\xf0\x65\x0f\xb1\x11", 5, 2 },
		{ "\x66\x65\xa1\x00\x00\x00\x00", 7, 2 },
		{ "\xf3\x64\xa4", 3, 1 },
		{ "\xf2\x66\xf0\x65", 4, 2 },
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		start(NULL);
		frame.ds = TLS(0);
		frame.fs = TLS(1);
		frame.gs = TLS(2);
		instruction(cases[i].bytes, cases[i].size);
		assert_true(x86_flip_tls(&x86));
		for (u32 j = 0; j < 3; j++)
			assert_int_equal(shows_lower_half(j), j == cases[i].segment);
	}
}

static void es_is_flipped_as_well(void **state)
{
	(void)state;
	frame.es = TLS(1);
	frame.gs = TLS(2);
	instruction("\x65\xa4", 2);
	assert_true(x86_flip_tls(&x86));
	assert_false(shows_lower_half(0));
	assert_true(shows_lower_half(1) && shows_lower_half(2));
	/* One selector in both is flipped once. */
	start(NULL);
	frame.ds = frame.es = TLS(0);
	instruction("\xa4", 1);
	assert_true(x86_flip_tls(&x86));
	assert_true(shows_lower_half(0));
}

static void the_same_fault_again_is_the_guests(void **state)
{
	(void)state;
	frame.gs = TLS(0);
	instruction("\x65\xa1\x00\x00\x00\x00", 6);
	assert_true(x86_flip_tls(&x86));
	assert_false(x86_flip_tls(&x86));
	assert_true(shows_lower_half(0));
	/* It has gone on: a fault elsewhere flips back. */
	frame.eip++;
	instruction("\x65\x65\xa1\x00\x00\x00\x00", 7);
	assert_true(x86_flip_tls(&x86));
	assert_false(shows_lower_half(0));
	assert_int_equal(vcpu.counters[COUNTER_tls_flips], 2);
}

static void a_new_descriptor_keeps_the_half(void **state)
{
	u32 base = 0x0a000000;

	(void)state;
	frame.gs = TLS(0);
	instruction("\x65\xa1\x00\x00\x00\x00", 6);
	assert_true(x86_flip_tls(&x86));
	x86_set_descriptor(&x86, 6, segment_descriptor(base, 0xffffffff, 0xf2, true));
	assert_true(shows_lower_half(0));
	assert_int_equal(descriptor_base(real_tables.gdt[6]), base);
}

/* A code segment in the place of a TLS segment has no lower half: all above its
 * base would be readable. */
static void a_code_segment_has_no_lower_half(void **state)
{
	(void)state;
	frame.gs = TLS(0);
	instruction("\x65\xa1\x00\x00\x00\x00", 6);
	assert_true(x86_flip_tls(&x86));
	x86_set_descriptor(&x86, 6, segment_descriptor(0x1000, 0xffffffff, 0xfa, true));
	assert_true(0x1000 + (u64)descriptor_limit(real_tables.gdt[6]) <
		    GANDALF_SHARED_ALIAS + 0x1000ull);
	/* Nor has one that begins beyond the VMM's base. */
	x86_set_descriptor(&x86, 6, segment_descriptor(0xff000000, 0xffffffff, 0xf2, true));
	assert_true(real_tables.gdt[6] == 0);
}

/* A half that is not there is not shown: the segment may be in SS. */
static void a_segment_that_expands_down_is_not_taken_away(void **state)
{
	(void)state;
	frame.ds = frame.ss = TLS(0);
	instruction("\xa1\x00\x00\x00\x00", 5);
	assert_true(x86_flip_tls(&x86));
	assert_true(shows_lower_half(0));
	x86_set_descriptor(&x86, 6, segment_descriptor(BASE, 0xffff, 0xf6, true));
	assert_true((real_tables.gdt[6] & DESCRIPTOR_PRESENT) != 0);
	frame.eip++;
	assert_false(x86_flip_tls(&x86));
	assert_true((real_tables.gdt[6] & DESCRIPTOR_PRESENT) != 0);
}

static void other_faults_are_left_alone(void **state)
{
	(void)state;
	instruction("\xa1\x00\x00\x00\x00", 5);
	assert_false(x86_flip_tls(&x86));
	/* A prefix that only looks like one, behind the opcode. */
	frame.gs = TLS(0);
	instruction("\xa1\x65\x65\x65\x65", 5);
	assert_false(x86_flip_tls(&x86));
	/* Without instruction bytes DS decides. */
	linear_absent[0] = true;
	assert_false(x86_flip_tls(&x86));
	frame.ds = TLS(0);
	assert_true(x86_flip_tls(&x86));
	start(NULL);
	guest.flags = 0;
	frame.ds = frame.gs = TLS(0);
	assert_false(x86_flip_tls(&x86));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(upper_halves_are_shown_first, start),
		cmocka_unit_test_setup(prefixes_name_the_segment, start),
		cmocka_unit_test_setup(es_is_flipped_as_well, start),
		cmocka_unit_test_setup(the_same_fault_again_is_the_guests, start),
		cmocka_unit_test_setup(a_new_descriptor_keeps_the_half, start),
		cmocka_unit_test_setup(a_code_segment_has_no_lower_half, start),
		cmocka_unit_test_setup(a_segment_that_expands_down_is_not_taken_away, start),
		cmocka_unit_test_setup(other_faults_are_left_alone, start),
	};

	return RUN_TESTS(tests);
}
