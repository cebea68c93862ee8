/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks everything in the compiled system description that the VMM itself relies on. Conflicts
 * between guests over names, ports and interrupts are left to the host tool. Each function looks at
 * one aspect, and panics with a sentence if it finds a fault. Sizes are compared with differences
 * and not with sums, since sums could wrap around.
 */
#include "core/table.h"

#include "core/log.h"
#include "guest_cpus.h"
#include "lib/crc32.h"
#include "lib/format.h"
#include "lib/owner.h"
#include "lib/string.h"
#include "privilege.h"

enum { INTERRUPTS = 16, UART_PORTS = 8, BAUD_MAXIMUM = 115200 };

/* The values that a field of a record may have. */
struct bounds {
	const char *field;
	u32 offset; /* bytes from the start of the record */
	u32 first, last;
};

#define BOUNDS(record, field, first, last) \
	{ #field, offsetof(struct gandalf_##record, field), first, last }

static const struct bounds table_bounds[] = {
	BOUNDS(table, table_size, sizeof(struct gandalf_table), sizeof(struct gandalf_table)),
	BOUNDS(table, guest_count, 1, GANDALF_GUESTS_MAXIMUM),
	BOUNDS(table, cpus, 1, GANDALF_CPUS_MAXIMUM),
	BOUNDS(table, image_count, 1, GANDALF_IMAGES_MAXIMUM),
	BOUNDS(table, pool_size, GANDALF_POOL_MINIMUM, GANDALF_POOL_MAXIMUM),
	BOUNDS(table, flags, 0,
	       GANDALF_TABLE_INTERRUPTIBLE | GANDALF_TABLE_CPUS_OPTIONAL | GANDALF_TABLE_SCREEN |
		       PRIVILEGE_TABLE_FLAGS),
	BOUNDS(table, channel_count, 0, GANDALF_CHANNELS_MAXIMUM),
};

static const struct bounds console_bounds[] = {
	BOUNDS(table, console_port, 1, GANDALF_PORT_LIMIT - UART_PORTS),
	BOUNDS(table, console_interrupt, 1, INTERRUPTS - 1),
	BOUNDS(table, console_baud, 1, BAUD_MAXIMUM),
};

static const struct bounds guest_bounds[] = {
	BOUNDS(guest, kind, GANDALF_KIND_RTOS, GANDALF_KIND_LINUX_SMP),
	BOUNDS(guest, priority, 0, GANDALF_PRIORITY_MAXIMUM),
	BOUNDS(guest, flags, 0,
	       GANDALF_GUEST_STRICT_TLS | GANDALF_GUEST_CONTROL | GANDALF_GUEST_MIGRATES |
		       GANDALF_GUEST_REMEDIES | GANDALF_GUEST_SPINS | GANDALF_GUEST_TRAP),
	BOUNDS(guest, watchdog_ms, 0, GANDALF_WATCHDOG_MAXIMUM),
	BOUNDS(guest, interrupts, 0, (1u << INTERRUPTS) - 1),
	BOUNDS(guest, port_range_count, 0, GANDALF_PORT_RANGES_MAXIMUM),
};

/* What is looked at now. Together they begin the sentence about a fault. */
OF_MACHINE static const char *subject, *name;
OF_MACHINE static u32 vmm_first, vmm_end;

static _Noreturn __attribute__((format(printf, 1, 2))) void fail(const char *pattern, ...)
{
	char sentence[100];
	va_list arguments;

	va_start(arguments, pattern);
	format_list(sentence, sizeof(sentence), pattern, arguments);
	va_end(arguments);
	panic("%s%s: %s", subject, name, sentence);
}

static void look_at(const char *what, const char *of_name)
{
	subject = what;
	name = of_name;
}

static APART void look_at_guest(const struct gandalf_guest *guest)
{
	look_at("Guest ", guest->name);
}

static void check_bounds(const void *record, const struct bounds *bounds, u32 count)
{
	u32 value;

	for (; count-- > 0; bounds++) {
		memcpy(&value, (const u8 *)record + bounds->offset, sizeof(value));
		if (value < bounds->first || value > bounds->last)
			fail("%s is 0x%x, not 0x%x to 0x%x.", bounds->field, value, bounds->first,
			     bounds->last);
	}
}

/* Returns whether size bytes at offset lie within limit bytes. */
static bool fits(u32 offset, u32 size, u32 limit)
{
	return offset <= limit && size <= limit - offset;
}

static bool is_linux(const struct gandalf_guest *guest)
{
	return guest->kind != GANDALF_KIND_RTOS;
}

static void check_name(const char *of, const char *what, u32 index)
{
	look_at("The system", "");
	if (strnlen(of, GANDALF_NAME_SIZE) == GANDALF_NAME_SIZE)
		fail("%s %u has no proper name.", what, index);
}

static u32 table_checksum(const struct gandalf_table *table)
{
	static const u32 zero;
	const u32 before = offsetof(struct gandalf_table, checksum);
	const u32 behind = before + sizeof(table->checksum);
	u32 crc = crc32_update(0, table, before);

	crc = crc32_update(crc, &zero, sizeof(zero));
	return crc32_update(crc, (const u8 *)table + behind, (u32)sizeof(*table) - behind);
}

static void check_header(const struct gandalf_table *table, u32 available)
{
	if (available < sizeof(*table))
		fail("it is truncated to %u bytes.", available);
	if (table->magic != GANDALF_TABLE_MAGIC)
		fail("the boot module is not a compiled system description.");
	if (table->version != GANDALF_TABLE_VERSION || table->levels != PRIVILEGE_LEVELS)
		fail("it needs VMM version %u, %u levels.", table->version, table->levels);
	if (table->module_size < sizeof(*table) || table->module_size > available)
		fail("it is truncated from %u bytes.", table->module_size);
	if (table_checksum(table) != table->checksum)
		fail("its description is damaged: wrong checksum.");
	check_bounds(table, table_bounds, ARRAY_SIZE(table_bounds));
	if (table->focus >= table->guest_count)
		fail("the keyboard belongs to guest %u, which is missing.", table->focus);
	if (table->console_port != 0)
		check_bounds(table, console_bounds, ARRAY_SIZE(console_bounds));
}

/* Checks the place of a guest's memory, a channel or the pool. */
static void check_place(u32 base, u32 size, u32 alignment)
{
	if ((base | size) % alignment != 0 || size == 0)
		fail("its memory is not aligned to 0x%x.", alignment);
	if (size > UINT32_MAX - base)
		fail("its memory goes beyond 4 GiB.");
	if (overlaps(base, size, vmm_first, vmm_end - vmm_first))
		fail("its memory overlaps the VMM.");
}

/* Checks the place of a guest's memory or a channel, which must not overlap the pool. */
static void check_memory(const struct gandalf_table *table, u32 base, u32 size, u32 alignment)
{
	check_place(base, size, alignment);
	if (overlaps(base, size, table->pool_base, table_pool_size(table)))
		fail("its memory overlaps the pool.");
}

static void check_guest_memory(const struct gandalf_table *table, const struct gandalf_guest *guest)
{
	check_memory(table, guest->memory_base, guest->memory_size,
		     is_linux(guest) ? GANDALF_MEMORY_ALIGNMENT : GANDALF_PAGE_SIZE);
	for (const struct gandalf_guest *other = table->guests; other < guest; other++)
		if (overlaps(guest->memory_base, guest->memory_size, other->memory_base,
			     other->memory_size))
			fail("its memory overlaps that of guest %u.", (u32)(other - table->guests));
}

/* How much of CPU 0, which devices interrupt, a guest takes. A dedicated Linux takes all of it, and
 * would take too much if it were elsewhere. */
#define CPU_0_WHOLE 16u
static u32 cpu_0_taken(const struct gandalf_guest *guest)
{
	u32 there = guest_cpus(guest) & 1;

	if (guest->kind != GANDALF_KIND_LINUX_DEDICATED)
		return there;
	return CPU_0_WHOLE + 1 - there;
}

static void check_guests(const struct gandalf_table *table)
{
	u32 linuxes = 0; /* bit n: CPU n has one */
	u32 taken = 0;

	for (u32 i = 0; i < table->guest_count; i++) {
		const struct gandalf_guest *guest = &table->guests[i];

		check_name(guest->name, "guest", i);
		look_at_guest(guest);
		check_bounds(guest, guest_bounds, ARRAY_SIZE(guest_bounds));
		if (!guest_has_cpus(table, guest))
			fail("it cannot have CPU %u.", guest->cpu);
		if (is_linux(guest) && (linuxes & guest_cpus(guest)) != 0)
			fail("it is the second Linux.");
		linuxes |= (u32)is_linux(guest) * guest_cpus(guest);
		taken += cpu_0_taken(guest);
		if (taken > CPU_0_WHOLE)
			fail("dedicated means alone on CPU 0.");
		if (is_linux(guest) != (guest->priority == 0))
			fail("it cannot have priority %u.", guest->priority);
		check_guest_memory(table, guest);
	}
}

static void check_image(const struct gandalf_table *table, const struct gandalf_image *image)
{
	const struct gandalf_guest *guest;
	u32 shared;

	if (image->guest >= table->guest_count)
		fail("image %s: it belongs to guest %u, which is missing.", image->name,
		     image->guest);
	guest = &table->guests[image->guest];
	look_at_guest(guest);
	if (image->file_size > image->room ||
	    (image->room > 0 && (image->offset < table->table_size ||
				 !fits(image->offset, image->room, table->module_size))))
		fail("image %s: it is not inside the boot module.", image->name);
	/* The last page of an RTOS is the shared page. */
	shared = is_linux(guest) ? 0 : GANDALF_PAGE_SIZE;
	if (image->memory_size == 0 || image->file_size > image->memory_size ||
	    !fits(image->load_address, image->memory_size, guest->memory_size - shared))
		fail("image %s: it does not fit the guest's memory.", image->name);
}

static void check_guest_start(const struct gandalf_table *table, u32 index)
{
	const struct gandalf_guest *guest = &table->guests[index];
	const struct gandalf_image *image = table->images;
	const struct gandalf_image *end = image + table->image_count;

	look_at_guest(guest);
	while (image < end && (image->guest != index ||
			       guest->entry - image->load_address >= image->file_size))
		image++;
	if (image == end)
		fail("no image holds its entry 0x%x.", guest->entry);
	if (is_linux(guest) &&
	    (!fits(guest->boot_parameters, GANDALF_PAGE_SIZE, guest->memory_size) ||
	     guest->command_line_size < GANDALF_COMMAND_LINE_ROOM ||
	     !fits(guest->command_line, guest->command_line_size, guest->memory_size)))
		fail("boot parameters or command line are outside it.");
}

/* Lets a channel's memory overlap that of guests, since a Linux has its channels within its own. */
static void check_channel(const struct gandalf_table *table, u32 index)
{
	const struct gandalf_table_channel *channel = &table->channels[index];

	check_name(channel->name, "channel", index);
	if (channel->guests[0] >= table->guest_count || channel->guests[1] >= table->guest_count)
		fail("channel %u lacks a guest.", index);
	check_memory(table, channel->base, channel->size, GANDALF_PAGE_SIZE);
}

void table_check(const struct gandalf_table *table, u32 available, u32 vmm_base, u32 vmm_behind)
{
	vmm_first = vmm_base;
	vmm_end = vmm_behind;
	look_at("The system", "");
	check_header(table, available);
	look_at("The pool", "");
	check_place(table->pool_base, table_pool_size(table), GANDALF_MEMORY_ALIGNMENT);
	check_guests(table);
	for (u32 i = 0; i < table->image_count; i++) {
		check_name(table->images[i].name, "image", i);
		check_image(table, &table->images[i]);
	}
	for (u32 i = 0; i < table->guest_count; i++)
		check_guest_start(table, i);
	for (u32 i = 0; i < table->channel_count; i++)
		check_channel(table, i);
}

void table_check_image(const struct gandalf_table *table, const struct gandalf_image *image,
		       u32 checksum)
{
	look_at_guest(&table->guests[image->guest]);
	if (checksum != image->checksum)
		fail("image %s: it is damaged: wrong checksum.", image->name);
}
