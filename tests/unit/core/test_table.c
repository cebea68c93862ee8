/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of the compiled system description: one good module, and every way to
 * spoil it, each with the words that the sentence must hold.
 */
#include "unit.h"

#include <string.h>

#include "core/table_module.h"

static const char *check(void)
{
	return module_fault(sizeof(module));
}

static void expect_fault(const char *words)
{
	const char *answer = check();

	if (answer == NULL)
		fail_msg("accepted instead of \"%s\"", words);
	assert_ptr_equal(answer, last_words);
	assert_int_equal(strnlen(last_words, sizeof(last_words)) < sizeof(last_words), 1);
	assert_int_equal(last_words[strlen(last_words) - 1], '.');
	if (strstr(last_words, words) == NULL)
		fail_msg("\"%s\" instead of \"%s\"", last_words, words);
}

static void a_good_module_passes(void **state)
{
	(void)state;
	module_make();
	assert_null(check());
	for (u32 i = 0; i < module.table.image_count; i++)
		assert_null(image_fault(i));
}

static void a_dedicated_linux_has_the_machine(void **state)
{
	struct gandalf_guest *guest = &module.table.guests[0];

	(void)state;
	module_make();
	module.table.guest_count = 1;
	module.table.image_count = 2;
	module.table.console_port = 0;
	guest->kind = GANDALF_KIND_LINUX_DEDICATED;
	guest->interrupts = 0xffff;
	guest->port_ranges[0] = (struct gandalf_port_range){ 0, 0xfff };
	seal();
	assert_null(check());
}

/* The value that a field is given, and what the sentence then says. */
struct fault {
	size_t offset;
	u32 value;
	const char *words;
};

#define TABLE(field) offsetof(struct gandalf_table, field)
#define GUEST(number, field) \
	(TABLE(guests[0]) + number * sizeof(struct gandalf_guest) + \
	 offsetof(struct gandalf_guest, field))
#define IMAGE(number, field) \
	(TABLE(images[0]) + number * sizeof(struct gandalf_image) + \
	 offsetof(struct gandalf_image, field))
#define CHANNEL(field) (TABLE(channels[0]) + offsetof(struct gandalf_table_channel, field))
/* The version and the levels of privilege, as one word. */
#define VERSION(version, levels) ((version) | GANDALF_LEVELS_##levels << 16)
#define SIZE ((u32)sizeof(struct gandalf_table))

#define TRUNCATED "The system: it is truncated"
#define OUTSIDE "boot parameters or command line are outside"

static const struct fault faults[] = {
	{ TABLE(magic), 0, "not a compiled system" },
	{ TABLE(version), 0, "it needs VMM version 0, 0 levels." },
	{ TABLE(version), VERSION(GANDALF_TABLE_VERSION + 1, RINGS), "version 11, 4 levels." },
	{ TABLE(version), VERSION(GANDALF_TABLE_VERSION, TWO), "version 10, 2 levels." },
	{ TABLE(table_size), SIZE - 4, "The system: table_size is 0x" },
	{ TABLE(table_size), UINT32_MAX, "The system: table_size is 0x" },
	{ TABLE(module_size), SIZE - 1, TRUNCATED },
	{ TABLE(module_size), sizeof(struct module) + 1, TRUNCATED },
	{ TABLE(module_size), UINT32_MAX, TRUNCATED },
	{ TABLE(guest_count), 0, "guest_count is 0x0, not 0x1 to 0x9." },
	{ TABLE(guest_count), GANDALF_GUESTS_MAXIMUM + 1, "guest_count is 0xa," },
	{ TABLE(guest_count), UINT32_MAX, "guest_count is 0xffffffff," },
	{ TABLE(guest_count), 4, "Guest : kind is 0x0" },
	{ TABLE(guest_count), 2, "image all: it belongs to guest 2, which is missing" },
	{ TABLE(image_count), GANDALF_IMAGES_MAXIMUM + 1, "image_count is 0x31, not 0x1 to 0x30" },
	{ TABLE(image_count), 0x80000001, "image_count" },
	{ TABLE(image_count), 0, "image_count is 0x0" },
	{ TABLE(image_count), 3, "Guest fifteen-letters: no image holds its entry 0x0" },
	{ TABLE(image_count), 5, "image : it does not fit the guest's memory" },
	{ TABLE(focus), 3, "The system: the keyboard belongs to guest 3" },
	{ TABLE(flags), 8, "flags is 0x8, not 0x0 to 0x7" },
	{ TABLE(console_port), 0x1000, "console_port is 0x1000, not" },
	{ TABLE(console_port), 0xff9, "console_port is 0xff9, not 0x1 to 0xff8" },
	{ TABLE(console_port), UINT32_MAX, "console_port is 0xffffffff" },
	{ TABLE(console_interrupt), 0, "console_interrupt is 0x0" },
	{ TABLE(console_interrupt), 16, "console_interrupt is 0x10, not 0x1 to 0xf" },
	{ TABLE(console_interrupt), 36, "console_interrupt is 0x24" },
	{ TABLE(console_baud), 0, "console_baud is 0x0" },
	{ TABLE(console_baud), 115201, "console_baud is 0x1c201" },
	{ TABLE(pool_base), 8 * MEBI + 0x1000, "The pool: its memory is not aligned" },
	{ TABLE(pool_size), 7 * MEBI, "The pool: its memory is not aligned" },
	{ TABLE(pool_size), 0, "pool_size is 0x0" },
	{ TABLE(cpus), 0, "cpus is 0x0, not 0x1 to 0x8" },
	{ TABLE(cpus), GANDALF_CPUS_MAXIMUM + 1, "cpus is 0x9" },
	{ TABLE(pool_size), 16 * MEBI, "pool_size is 0x1000000" },
	{ TABLE(pool_base), 0xfffu << 20 & ~0x3fffffu, "The pool: its memory goes beyond 4 GiB" },
	{ TABLE(pool_base), 0, "The pool: its memory overlaps the VMM" },
	{ TABLE(pool_base), 64 * MEBI, "Guest linux: its memory overlaps the pool" },
	{ GUEST(2, name) + 12, 0x78787878, "guest 2 has no proper name" },
	{ GUEST(0, kind), 0, "Guest linux: kind is 0x0, not 0x1 to 0x4." },
	{ GUEST(0, kind), 5, "kind is 0x5" },
	{ GUEST(0, kind), UINT32_MAX, "kind is 0xffffffff" },
	{ GUEST(0, kind), GANDALF_KIND_LINUX_DEDICATED, "Guest control: dedicated means" },
	{ GUEST(0, kind), GANDALF_KIND_RTOS, "Guest linux: it cannot have priority 0" },
	{ GUEST(0, priority), 1, "Guest linux: it cannot have priority 1" },
	{ GUEST(1, priority), 0, "Guest control: it cannot have priority 0" },
	{ GUEST(0, cpu), 1, "Guest linux: it cannot have CPU 1." },
	{ GUEST(0, cpu), UINT32_MAX, "Guest linux: it cannot have CPU 4294967295." },
	{ GUEST(0, memory_base), 64 * MEBI + 0x1000, "is not aligned to 0x400000" },
	{ GUEST(0, memory_size), 126 * MEBI, "is not aligned to 0x400000" },
	{ GUEST(0, memory_size), 0, "is not aligned" },
	{ GUEST(1, memory_base), 32 * MEBI + 1, "is not aligned to 0x1000" },
	{ GUEST(1, memory_size), 0x5001, "is not aligned to 0x1000" },
	{ GUEST(0, memory_base), 0xf8000000, "its memory goes beyond 4 GiB" },
	{ GUEST(0, memory_size), 0xfc000000, "its memory goes beyond 4 GiB" },
	{ GUEST(1, memory_size), 0xfffff000, "its memory goes beyond 4 GiB" },
	{ GUEST(1, memory_base), VMM_END - 0x1000, "memory overlaps the VMM" },
	{ GUEST(1, memory_base), VMM_BASE - 0x1000, "memory overlaps the VMM" },
	{ GUEST(0, memory_base), 0, "memory overlaps the VMM" },
	{ GUEST(1, memory_base), 16 * MEBI - 0x1000, "memory overlaps the pool" },
	{ GUEST(1, memory_base), 64 * MEBI - 0x1000, "overlaps that of guest 0" },
	{ GUEST(2, memory_base), 32 * MEBI + 0x4000, "overlaps that of guest 1" },
	{ GUEST(2, memory_size), 32 * MEBI, "Guest fifteen-letters: its memory overlaps" },
	{ GUEST(0, entry), MEBI - 1, "no image holds its entry 0xfffff" },
	{ GUEST(0, entry), MEBI + IMAGE_SIZE, "no image holds its entry 0x101000" },
	{ GUEST(0, entry), UINT32_MAX, "no image holds its entry" },
	{ GUEST(1, entry), IMAGE_SIZE, "no image holds its entry" },
	{ GUEST(0, boot_parameters), 128 * MEBI - 0xfff, OUTSIDE },
	{ GUEST(0, boot_parameters), UINT32_MAX, OUTSIDE },
	{ GUEST(0, command_line), 128 * MEBI - 0x7ff, OUTSIDE },
	{ GUEST(0, command_line), UINT32_MAX - 0x800, OUTSIDE },
	{ GUEST(0, command_line_size), UINT32_MAX, OUTSIDE },
	{ GUEST(0, command_line_size), GANDALF_COMMAND_LINE_ROOM - 1, OUTSIDE },
	{ GUEST(0, flags), 64, "flags is 0x40, not 0x0 to 0x3f" },
	{ GUEST(2, watchdog_ms), 3600001, "watchdog_ms is 0x36ee81, not 0x0 to 0x36ee80" },
	{ GUEST(0, interrupts), 0x10000, "interrupts is 0x10000, not" },
	{ GUEST(0, interrupts), 0x80000000, "interrupts is 0x80000000" },
	{ GUEST(0, port_range_count), 9, "port_range_count is 0x9, not 0x0 to 0x8" },
	{ GUEST(0, port_range_count), UINT32_MAX, "port_range_count is 0xffffffff" },
	{ IMAGE(1, guest), 3, "image parameters: it belongs to guest 3" },
	{ IMAGE(1, guest), UINT32_MAX, "image parameters: it belongs to guest" },
	{ IMAGE(0, offset), SIZE - 1, "Guest linux: image kernel: it is not inside" },
	{ IMAGE(0, offset), 0, "is not inside the boot module" },
	{ IMAGE(3, offset), sizeof(struct module) - IMAGE_SIZE + 1, "is not inside" },
	{ IMAGE(3, offset), UINT32_MAX - 0x100, "is not inside" },
	{ IMAGE(3, file_size), UINT32_MAX, "is not inside" },
	{ IMAGE(3, room), IMAGE_SIZE - 1, "is not inside" },
	{ IMAGE(3, room), IMAGE_SIZE + 1, "is not inside" },
	{ IMAGE(2, memory_size), IMAGE_SIZE - 1, "image text: it does not fit" },
	{ IMAGE(2, memory_size), 0, "image text: it does not fit" },
	{ IMAGE(2, memory_size), 0x4001, "does not fit the guest's memory" },
	{ IMAGE(2, memory_size), UINT32_MAX, "does not fit the guest's memory" },
	{ IMAGE(2, load_address), 0x3000, "does not fit the guest's memory" },
	{ IMAGE(2, load_address), 0xfffff000, "does not fit the guest's memory" },
	{ IMAGE(0, memory_size), 128 * MEBI, "Guest linux: image kernel: it does not fit" },
};

static const struct fault channel_faults[] = {
	{ TABLE(channel_count), GANDALF_CHANNELS_MAXIMUM + 1, "channel_count is 0x9, not 0x0" },
	{ CHANNEL(name) + 12, 0x78787878, "channel 0 has no proper name" },
	{ CHANNEL(guests[0]), 3, "channel 0 lacks a guest" },
	{ CHANNEL(guests[1]), UINT32_MAX, "channel 0 lacks a guest" },
	{ CHANNEL(guests[1]), 3, "channel 0 lacks a guest" },
	{ CHANNEL(base), 48 * MEBI + 1, "its memory is not aligned to 0x1000" },
	{ CHANNEL(size), 0, "its memory is not aligned" },
	{ CHANNEL(size), 0xfffff000, "its memory goes beyond 4 GiB" },
	{ CHANNEL(base), VMM_END - 0x1000, "its memory overlaps the VMM" },
	{ CHANNEL(base), 16 * MEBI - 0x1000, "its memory overlaps the pool" },
};

static void channels_make(u32 count)
{
	module_make();
	module.table.channel_count = count;
	for (u32 i = 0; i < count; i++)
		module.table.channels[i] = (struct gandalf_table_channel){
			.name = "fifteen-letters",
			.guests = { 0, 1 },
			.base = 48 * MEBI,
			.size = 0x2000,
		};
}

static void every_channel_is_looked_at(void **state)
{
	(void)state;
	for (u32 count = 1; count <= GANDALF_CHANNELS_MAXIMUM; count++) {
		char words[32];

		channels_make(count);
		seal();
		assert_null(check());
		module.table.channels[count - 1].guests[0] = 3;
		seal();
		snprintf(words, sizeof(words), "channel %u lacks a guest", count - 1);
		expect_fault(words);
	}
}

static void every_fault_of_a_channel_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i <= ARRAY_SIZE(channel_faults); i++) {
		channels_make(1);
		if (i < ARRAY_SIZE(channel_faults))
			memcpy((u8 *)&module + channel_faults[i].offset, &channel_faults[i].value,
			       sizeof(u32));
		seal();
		if (i < ARRAY_SIZE(channel_faults))
			expect_fault(channel_faults[i].words);
		else
			assert_null(check());
	}
}

static void every_fault_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		module_make();
		memcpy((u8 *)&module + faults[i].offset, &faults[i].value, sizeof(u32));
		seal();
		expect_fault(faults[i].words);
	}
}

static void neighbours_are_no_overlap(void **state)
{
	static const struct fault changes[] = {
		{ GUEST(0, memory_base), 36 * MEBI, "" },
		{ GUEST(1, memory_base), VMM_END, "" },
		{ GUEST(1, memory_base), VMM_BASE - 0x5000, "" },
		{ GUEST(1, memory_base), 8 * MEBI - 0x5000, "" },
		{ GUEST(1, memory_base), 0xffffa000, "" },
		{ TABLE(console_port), 0x320, "" },
		{ TABLE(console_port), 0x2f8, "" },
		{ TABLE(console_port), 0, "" },
		{ IMAGE(1, load_address), MEBI - IMAGE_SIZE, "" },
		{ IMAGE(1, load_address), 5 * MEBI, "" },
		{ IMAGE(1, load_address), 128 * MEBI - IMAGE_SIZE, "" },
		{ GUEST(0, command_line_size), GANDALF_COMMAND_LINE_ROOM, "" },
		{ TABLE(console_baud), 1, "" },
		{ GUEST(0, boot_parameters), 128 * MEBI - 0x1000, "" },
		{ GUEST(0, command_line), 128 * MEBI - 0x800, "" },
		{ GUEST(0, entry), MEBI + IMAGE_SIZE - 1, "" },
		{ GUEST(2, interrupts), 0xbf0a & ~0x0100u, "" },
		{ IMAGE(1, file_size), 0, "" },
		{ IMAGE(1, name), 0x622061, "" },
		{ GUEST(0, port_ranges), 0x02ff02ff, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		module_make();
		memcpy((u8 *)&module + changes[i].offset, &changes[i].value, sizeof(u32));
		seal();
		if (check() != NULL)
			fail_msg("change %u: %s", (unsigned)i, last_words);
	}
}

static void a_truncated_module_is_told(void **state)
{
	(void)state;
	module_make();
	assert_non_null(module_fault(3));
	assert_non_null(strstr(last_words, "The system: it is truncated to 3 bytes."));
	assert_non_null(module_fault(sizeof(module.table) - 1));
	assert_non_null(module_fault(sizeof(module) - 1));
	assert_non_null(strstr(last_words, "The system: it is truncated from "));
}

/* Nothing behind the table: it is whole, and what it tells of is not there. */
static void a_table_may_be_all_of_the_module(void **state)
{
	(void)state;
	module_make();
	module.table.module_size = SIZE;
	seal();
	assert_non_null(module_fault(SIZE));
	assert_string_equal(last_words,
			    "Guest linux: image kernel: it is not inside the boot module.");
}

/* No byte of an image is another's than the module's, be there only one. */
static void the_smallest_image_is_inside_as_well(void **state)
{
	struct gandalf_image *image = &module.table.images[1];

	(void)state;
	module_make();
	image->file_size = image->room = 1;
	seal();
	assert_null(check());
	image->offset = sizeof(module);
	seal();
	expect_fault("image parameters: it is not inside");
	/* One without bytes in the module is nowhere in it. */
	image->file_size = image->room = 0;
	seal();
	assert_null(check());
}

static void each_damaged_byte_of_the_table_is_found(void **state)
{
	(void)state;
	module_make();
	for (size_t i = 0; i < sizeof(module.table); i++) {
		((u8 *)&module)[i] ^= 0x10;
		assert_non_null(check());
		((u8 *)&module)[i] ^= 0x10;
	}
	assert_null(check());
}

static void a_damaged_image_is_told(void **state)
{
	(void)state;
	module_make();
	module.bytes[2 * IMAGE_SIZE + 5] ^= 1;
	assert_null(check());
	for (u32 i = 0; i < 4; i++) {
		const char *answer = image_fault(i);

		if (i != 2)
			assert_null(answer);
		else
			assert_string_equal(answer, "Guest control: image text: it is damaged: "
						    "wrong checksum.");
	}
}

static void a_second_linux_is_told(void **state)
{
	(void)state;
	module_make();
	module.table.guests[2].kind = GANDALF_KIND_LINUX_SHARED;
	module.table.guests[2].priority = 0;
	seal();
	expect_fault("Guest fifteen-letters: it is the second Linux.");
	module.table.cpus = 2;
	module.table.guests[2].cpu = 1;
	module.table.guests[2].memory_base = 256 * MEBI;
	module.table.guests[2].memory_size = 8 * MEBI;
	seal();
	expect_fault("Guest fifteen-letters: boot parameters or command line are outside it.");
}

/* Guests of other CPUs are no concern of its. */
static void a_dedicated_linux_has_the_first_cpu(void **state)
{
	(void)state;
	module_make();
	module.table.cpus = 2;
	module.table.pool_size = 4 * MEBI;
	module.table.guests[0].kind = GANDALF_KIND_LINUX_DEDICATED;
	module.table.guests[1].cpu = 1;
	seal();
	expect_fault("Guest fifteen-letters: dedicated means alone on CPU 0.");
	module.table.guests[2].cpu = 1;
	seal();
	assert_null(check());
	module.table.guests[0].cpu = 1;
	seal();
	expect_fault("Guest linux: dedicated means alone on CPU 0.");
}

/* The pools of all CPUs lie one behind the other. */
static void the_pool_of_another_cpu_is_nobodys(void **state)
{
	(void)state;
	module_make();
	module.table.cpus = 8;
	seal();
	expect_fault("Guest linux: its memory overlaps the pool.");
}

static void the_longest_sentence_is_whole(void **state)
{
	struct gandalf_image *image = &module.table.images[1];

	(void)state;
	module_make();
	memset(image->name, 'n', sizeof(image->name) - 1);
	image->guest = UINT32_MAX;
	seal();
	expect_fault("The system: image nnnnnnnnnnnnnnn: it belongs to guest 4294967295, "
		     "which is missing.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_module_passes),
		cmocka_unit_test(a_dedicated_linux_has_the_machine),
		cmocka_unit_test(every_fault_is_told),
		cmocka_unit_test(every_fault_of_a_channel_is_told),
		cmocka_unit_test(every_channel_is_looked_at),
		cmocka_unit_test(neighbours_are_no_overlap),
		cmocka_unit_test(a_truncated_module_is_told),
		cmocka_unit_test(a_table_may_be_all_of_the_module),
		cmocka_unit_test(the_smallest_image_is_inside_as_well),
		cmocka_unit_test(each_damaged_byte_of_the_table_is_found),
		cmocka_unit_test(a_damaged_image_is_told),
		cmocka_unit_test(a_second_linux_is_told),
		cmocka_unit_test(a_dedicated_linux_has_the_first_cpu),
		cmocka_unit_test(the_pool_of_another_cpu_is_nobodys),
		cmocka_unit_test(the_longest_sentence_is_whole),
	};

	return RUN_TESTS(tests);
}
