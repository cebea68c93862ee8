/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows on physical memory, copies, and the pool of frames.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "fake/asked.h"
#include "fake/last_words.h"

#include "core/core.h"
#include "core/log.h"
#include "core/schedule.h"
#include "arch/ia32/machine.h"
#include "lib/crc32.h"

#define FRAMES 1023u

/* The entry of the APIC's page when the CPU last heard of it. */
static u32 apic_entry;
struct vcpu idle_vcpu;

void processor_set_cr3(u32 value)
{
	processor.cr3 = value;
	processor.cr3_writes++;
}

void processor_set_cr4(u32 value)
{
	processor.cr4 = value;
}

static u32 fixed_entry(u32 linear)
{
	u32 pde = memory_directory[LAYOUT_FIXED >> LARGE_PAGE_SHIFT];
	const u32 *table = (const u32 *)(uintptr_t)(pde & PTE_FRAME);

	return table[(linear - LAYOUT_FIXED) >> PAGE_SHIFT];
}

void processor_invlpg(u32 address)
{
	processor.invlpgs++;
	if (address == LAYOUT_APIC)
		apic_entry = fixed_entry(address);
	if (is_window(address))
		window_follow(address);
}

void processor_sleep(void)
{
	fail();
}

static int start(void **state)
{
	(void)state;
	machine_start(FRAMES);
	return 0;
}

/* The boot's identity mapping ends, and the CPU is told so. */
static void the_directory_of_the_boot_becomes_the_vmms(void **state)
{
	unsigned before = processor.cr3_writes;

	(void)state;
	memory_directory[0] = memory_directory[1] = PTE_P | PTE_W | PTE_PS;
	processor.cr3 = 0x123000;
	memory_init();
	assert_int_equal(memory_directory[0], 0);
	assert_int_equal(memory_directory[1], PTE_P | PTE_W | PTE_PS);
	assert_int_equal(processor.cr3, 0x123000);
	assert_int_equal(processor.cr3_writes, before + 1);
}

static void windows_show_the_right_memory(void **state)
{
	u32 random = 1;

	(void)state;
	for (u32 address = 0; address < MACHINE_MEMORY; address += PAGE_SIZE)
		*physical_word(address + 8) = address;
	for (unsigned i = 0; i < 20000; i++) {
		u32 address = random_next(&random) % MACHINE_MEMORY & PTE_FRAME;

		assert_int_equal(((const u32 *)memory_window_frame(address))[2], address);
	}
}

static void a_window_that_is_open_costs_nothing(void **state)
{
	unsigned before;

	(void)state;
	memory_window_frame(0x5000);
	before = processor.invlpgs;
	for (u32 offset = 0; offset < PAGE_SIZE; offset += 4)
		((u32 *)memory_window_frame(0x5000))[offset / 4] = offset;
	assert_int_equal(processor.invlpgs, before);
	for (u32 offset = 0; offset < PAGE_SIZE; offset += 4)
		assert_int_equal(*physical_word(0x5000 + offset), offset);
	/* The same slot, another frame. */
	memory_window_frame(0x5000 + 1024 * PAGE_SIZE);
	assert_int_equal(processor.invlpgs, before + 1);
}

static u8 reference[MACHINE_MEMORY];

static void compare_with_reference(u32 from, u32 size)
{
	assert_memory_equal(physical + from, reference + from, size);
}

static void copies_are_those_of_the_library(void **state)
{
	const u32 area = 0x1000000, area_size = 0x20000;
	u32 random = 7;

	(void)state;
	for (u32 i = 0; i < area_size; i++)
		physical[area + i] = (u8)random_next(&random);
	memcpy(reference + area, physical + area, area_size);
	for (unsigned i = 0; i < 3000; i++) {
		u32 to = area + random_next(&random) % (area_size / 2);
		u32 from = area + random_next(&random) % (area_size / 2);
		u32 size = random_next(&random) % (area_size / 2);

		/* Ranges that overlap begin at the same offset in a page. */
		if ((to > from ? to - from : from - to) < size)
			to = (to & PTE_FRAME) | (from & (PAGE_SIZE - 1));
		memory_copy(to, from, size);
		memmove(reference + to, reference + from, size);
	}
	compare_with_reference(area, area_size);
}

static void copies_in_and_out_cross_pages(void **state)
{
	static u8 buffer[3 * PAGE_SIZE];
	const u32 area = 0x1800000, area_size = 0x8000;
	u32 random = 3;

	(void)state;
	memset(reference + area, 0, area_size);
	for (unsigned i = 0; i < 1000; i++) {
		u32 address = area + random_next(&random) % (area_size - sizeof(buffer));
		u32 size = random_next(&random) % sizeof(buffer);

		for (u32 j = 0; j < size; j++)
			buffer[j] = (u8)random_next(&random);
		memory_copy_out(address, buffer, size);
		memcpy(reference + address, buffer, size);
		memset(buffer, 0, sizeof(buffer));
		memory_copy_in(buffer, address, size);
		assert_memory_equal(buffer, reference + address, size);
		address = area + random_next(&random) % (area_size - sizeof(buffer));
		memory_zero(address, size / 4);
		memset(reference + address, 0, size / 4);
	}
	compare_with_reference(area, area_size);
}

/* The checksum of any piece is the one of a copy of it, wherever it begins and ends in a page. */
static void a_checksum_is_that_of_a_copy(void **state)
{
	static u8 buffer[3 * PAGE_SIZE];
	const u32 area = 0x1c00000, area_size = 0x8000;
	u32 random = 5;

	(void)state;
	for (u32 i = 0; i < area_size; i++)
		physical[area + i] = (u8)random_next(&random);
	for (unsigned i = 0; i < 300; i++) {
		u32 address = area + random_next(&random) % (area_size - sizeof(buffer));
		u32 size = random_next(&random) % sizeof(buffer);

		memory_copy_in(buffer, address, size);
		assert_int_equal(memory_crc(address, size), crc32_update(0, buffer, size));
	}
	assert_int_equal(memory_crc(area, 0), 0);
}

static void the_pool_gives_each_frame_once(void **state)
{
	static bool taken[FRAMES];
	u32 frame;
	u32 count = 0;

	(void)state;
	memset(taken, 0, sizeof(taken));
	assert_int_equal(pool_frames, FRAMES);
	assert_int_equal(pool_available, FRAMES);
	while ((frame = pool_allocate()) != 0) {
		u32 number = (frame - MACHINE_POOL) / PAGE_SIZE - 1;

		assert_int_equal(frame % PAGE_SIZE, 0);
		assert_true(number < FRAMES && !taken[number]);
		assert_ptr_equal(pool_pointer(frame),
				 (void *)(uintptr_t)(LAYOUT_POOL + (number + 1) * PAGE_SIZE));
		taken[number] = true;
		count++;
		memset(pool_pointer(frame), 0xa5, PAGE_SIZE);
	}
	assert_int_equal(count, FRAMES);
	assert_int_equal(pool_count(), 0);
	assert_int_equal(pool_available, 0);
	assert_int_equal(pool_allocate(), 0);
	assert_int_equal(pool_available, 0);
}

static void the_count_is_that_of_the_free_frames(void **state)
{
	u32 frames[3];

	(void)state;
	assert_int_equal(pool_count(), FRAMES);
	for (u32 i = 0; i < ARRAY_SIZE(frames); i++) {
		frames[i] = pool_allocate();
		assert_int_equal(pool_count(), FRAMES - 1 - i);
		assert_int_equal(pool_count(), pool_available);
	}
	for (u32 i = 0; i < ARRAY_SIZE(frames); i++)
		pool_free(frames[i]);
	assert_int_equal(pool_count(), FRAMES);
}

/* All of it is mapped, and nothing beside it. */
static void the_pool_is_mapped_with_large_pages(void **state)
{
	const u32 first = LAYOUT_POOL >> LARGE_PAGE_SHIFT;

	(void)state;
	for (u32 pages = 1; pages <= 3; pages++) {
		memset(memory_directory + first - 1, 0, 6 * sizeof(u32));
		/* The marks alone are used: they lie in the first. */
		machine_start(1023);
		while (pool_allocate() != 0)
			continue;
		machine_map(LAYOUT_POOL, MACHINE_POOL, pages * LARGE_PAGE_SIZE);
		pool_init(MACHINE_POOL, pages * LARGE_PAGE_SIZE);
		assert_int_equal(pool_frames, pages * 1024 - pages);
		assert_int_equal(pool_count(), pool_frames);
		for (u32 i = 0; i < 5; i++) {
			u32 entry = memory_directory[first - 1 + i];

			if (i == 0 || i > pages)
				assert_int_equal(entry, 0);
			else
				assert_int_equal(entry & ~(PTE_A | PTE_D | PTE_G),
						 (MACHINE_POOL + (i - 1) * LARGE_PAGE_SIZE) |
							 PTE_P | PTE_PS);
		}
	}
}

/* Whatever the machine's memory holds at the start. */
static void a_new_pool_has_no_past(void **state)
{
	static const u8 zeroes[PAGE_SIZE];
	u32 frame;

	(void)state;
	while (pool_allocate() != 0)
		continue;
	memset(physical + MACHINE_POOL, 0xee, MACHINE_POOL_SIZE);
	pool_init(MACHINE_POOL, MACHINE_POOL_SIZE);
	while ((frame = pool_allocate()) != 0)
		assert_memory_equal(pool_pointer(frame), zeroes, PAGE_SIZE);
}

static void the_pool_gives_zeroes(void **state)
{
	static const u8 zeroes[PAGE_SIZE];
	u32 random = 9;
	u32 frames[64];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = pool_allocate();
	for (unsigned i = 0; i < 5000; i++) {
		u32 *frame = &frames[random_next(&random) % ARRAY_SIZE(frames)];

		memset(pool_pointer(*frame), 0xff, PAGE_SIZE);
		pool_free(*frame);
		*frame = pool_allocate();
		assert_memory_equal(pool_pointer(*frame), zeroes, PAGE_SIZE);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(frames); i++)
		pool_free(frames[i]);
	assert_int_equal(pool_available, FRAMES);
}

/* What a shadow page table costs the next who takes its frame is what of it was filled. */
static void only_what_is_marked_is_zeroed(void **state)
{
	static const u8 zeroes[PAGE_SIZE];
	u32 frame = pool_allocate();
	u32 *words = pool_pointer(frame);

	(void)state;
	*pool_marks(frame) = 1u << 31;
	words[1023] = words[992] = 1;
	words[0] = words[31] = 2;
	pool_mark(&words[31]);
	words[500] = 3; /* nobody told of it */
	pool_free(frame);
	assert_int_equal(pool_allocate(), frame);
	assert_int_equal(words[500], 3);
	words[500] = 0;
	assert_memory_equal(words, zeroes, PAGE_SIZE);
	assert_int_equal(*pool_marks(frame), ~0u);
	pool_free(frame);
}

static void others_run_while_the_idle_vcpu_allocates(void **state)
{
	u32 frame = pool_allocate();

	(void)state;
	asked.admissions = 0;
	pool_free(frame);
	assert_int_equal(pool_allocate(), frame);
	core.current = &idle_vcpu;
	pool_free(frame);
	assert_int_equal(asked.admissions, 0);
	assert_int_equal(pool_allocate(), frame);
	core.current = NULL;
	assert_int_equal(asked.admissions, PAGE_SIZE / POOL_GROUP);
	pool_free(frame);
}

/* In four steps at most; one group is left for the allocation itself. */
static void a_frame_is_made_ready_in_steps(void **state)
{
	static const u8 zeroes[PAGE_SIZE];
	u32 frame = pool_allocate();
	u32 *words = pool_pointer(frame);

	(void)state;
	memset(words, 0xff, PAGE_SIZE);
	pool_free(frame);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(__builtin_popcount(*pool_marks(frame)), 32 - 8 * i);
		assert_false(pool_prepare());
	}
	assert_true(pool_prepare());
	assert_int_equal(*pool_marks(frame), 0);
	assert_int_equal(pool_allocate(), frame);
	assert_memory_equal(words, zeroes, PAGE_SIZE);
	/* A single group is no work. */
	for (unsigned group = 0; group < POOL_GROUPS; group++) {
		*pool_marks(frame) = 1u << group;
		words[group * 32 + 1] = 1;
		pool_free(frame);
		assert_true(pool_prepare());
		assert_int_equal(*pool_marks(frame), 1u << group);
		assert_int_equal(pool_allocate(), frame);
		assert_memory_equal(words, zeroes, PAGE_SIZE);
	}
	pool_free(frame);
}

static void an_empty_pool_is_ready(void **state)
{
	u32 frames[FRAMES];

	(void)state;
	for (unsigned i = 0; i < FRAMES; i++) {
		frames[i] = pool_allocate();
		memset(pool_pointer(frames[i]), 0xff, PAGE_SIZE);
	}
	assert_true(pool_prepare());
	for (unsigned i = 0; i < PAGE_SIZE / sizeof(u32); i++)
		assert_int_equal(((u32 *)pool_pointer(frames[FRAMES - 1]))[i], UINT32_MAX);
	for (unsigned i = FRAMES; i-- > 0;)
		pool_free(frames[i]);
}

/* What the VMM's tables say of a page of the RTOSes; 0: nothing. */
static u32 rtos_entry(u32 linear)
{
	u32 pde = memory_directory[linear >> LARGE_PAGE_SHIFT];
	const u32 *table = pool_pointer(pde & PTE_FRAME);

	if (pde == 0)
		return 0;
	assert_int_equal(pde & (PTE_P | PTE_U | PTE_PS), PTE_P);
	return table[(linear >> PAGE_SHIFT) % 1024];
}

static void check_mapped(u32 linear, u32 physical_base, u32 size)
{
	assert_true(linear >= LAYOUT_RTOS && linear + size <= LAYOUT_POOL);
	for (u32 offset = 0; offset < size; offset += PAGE_SIZE) {
		u32 entry = rtos_entry(linear + offset);

		assert_int_equal(entry & PTE_FRAME, physical_base + offset);
		assert_int_equal(entry & (PTE_P | PTE_W | PTE_U), PTE_P);
	}
}

/* Guests behind each other, the second across a directory entry, with a hole before each. */
static void rtos_memory_is_mapped_read_only(void **state)
{
	u32 first = memory_map_rtos(0x801000, 0x3000);
	u32 second = memory_map_rtos(0xc00000, LARGE_PAGE_SIZE);
	u32 more = memory_map_more(0x1800000, 0x2000);

	(void)state;
	check_mapped(first, 0x801000, 0x3000);
	check_mapped(second, 0xc00000, LARGE_PAGE_SIZE);
	check_mapped(more, 0x1800000, 0x2000);
	assert_int_equal(second, first + 0x3000 + PAGE_SIZE);
	assert_int_equal(more, second + LARGE_PAGE_SIZE);
	assert_true(first >= LAYOUT_RTOS + PAGE_SIZE);
	assert_int_equal(rtos_entry(first - PAGE_SIZE), 0);
	assert_int_equal(rtos_entry(second - PAGE_SIZE), 0);
	assert_int_equal(rtos_entry(more + 0x2000), 0);
}

/* The last that is mapped in this program: nothing is ever unmapped. */
static void rtos_memory_ends_where_the_pool_begins(void **state)
{
	u32 next = memory_map_more(0x800000, PAGE_SIZE) + PAGE_SIZE;
	char expected[16];
	jmp_buf here;

	(void)state;
	snprintf(expected, sizeof(expected), " %u MiB", (LAYOUT_POOL - LAYOUT_RTOS) / 0x100000);
	panicked = &here;
	if (setjmp(here) == 0) {
		memory_map_more(0x800000, LAYOUT_POOL - next + PAGE_SIZE);
		fail();
	}
	assert_non_null(strstr(last_words, expected));
	panicked = &here;
	if (setjmp(here) == 0) {
		memory_map_more(0, 0xfffff000);
		fail();
	}
	assert_int_equal(memory_map_more(0x800000, LAYOUT_POOL - next), next);
	check_mapped(next, 0x800000, LAYOUT_POOL - next);
	panicked = &here;
	if (setjmp(here) == 0) {
		memory_map_more(0x800000, PAGE_SIZE);
		fail();
	}
}

static void an_empty_pool_ends_the_boot(void **state)
{
	jmp_buf here;

	(void)state;
	while (pool_allocate() != 0)
		continue;
	panicked = &here;
	if (setjmp(here) == 0) {
		memory_map_rtos(0x800000, LARGE_PAGE_SIZE);
		fail();
	}
}

static void device_pages_are_uncached(void **state)
{
	const u32 entry = 0x1ee000 | PTE_P | PTE_A | PTE_D | PTE_PCD;

	(void)state;
	memory_map_device(LAYOUT_APIC, 0x1ee000);
	assert_int_equal(fixed_entry(LAYOUT_APIC), entry);
	/* The CPU has never used it otherwise. */
	assert_int_equal(apic_entry, entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_directory_of_the_boot_becomes_the_vmms, start),
		cmocka_unit_test_setup(windows_show_the_right_memory, start),
		cmocka_unit_test_setup(a_window_that_is_open_costs_nothing, start),
		cmocka_unit_test_setup(copies_are_those_of_the_library, start),
		cmocka_unit_test_setup(copies_in_and_out_cross_pages, start),
		cmocka_unit_test_setup(a_checksum_is_that_of_a_copy, start),
		cmocka_unit_test_setup(the_pool_gives_each_frame_once, start),
		cmocka_unit_test_setup(the_count_is_that_of_the_free_frames, start),
		cmocka_unit_test_setup(the_pool_is_mapped_with_large_pages, start),
		cmocka_unit_test_setup(a_new_pool_has_no_past, start),
		cmocka_unit_test_setup(the_pool_gives_zeroes, start),
		cmocka_unit_test_setup(a_frame_is_made_ready_in_steps, start),
		cmocka_unit_test_setup(an_empty_pool_is_ready, start),
		cmocka_unit_test_setup(only_what_is_marked_is_zeroed, start),
		cmocka_unit_test_setup(others_run_while_the_idle_vcpu_allocates, start),
		cmocka_unit_test_setup(rtos_memory_is_mapped_read_only, start),
		cmocka_unit_test_setup(an_empty_pool_ends_the_boot, start),
		cmocka_unit_test_setup(device_pages_are_uncached, start),
		cmocka_unit_test_setup(rtos_memory_ends_where_the_pool_begins, start),
	};

	return RUN_TESTS(tests);
}
