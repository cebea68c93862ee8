/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of the compiled system description: whatever the VMM itself relies
 * on. What guests may not have beside each other (names, ports, interrupts) is the
 * host tool's to say. Each function looks at one aspect and writes a sentence if it
 * finds fault; sums are taken in 64 bits or as differences, so that no pair of
 * values can wrap around.
 */
#include "core/table.h"

#include "lib/crc32.h"
#include "lib/format.h"
#include "lib/string.h"

#define INTERRUPTS 16
#define UART_PORTS 8
#define BAUD_MAXIMUM 115200

/* What the checks share: the table, the VMM's memory and the message. */
struct check {
	const struct gandalf_table *table;
	u32 vmm_base;
	u32 vmm_end;
	char *message;
	u32 size;
	const char *subject; /* with name: what is looked at */
	const char *name;
	const char *image;   /* NULL, or of which image */
};

/* The values that a field may have. */
struct bounds {
	const char *field;
	u32 offset; /* in its record */
	u32 first;
	u32 last;
};

#define TABLE_BOUNDS(field, first, last) \
	{ #field, offsetof(struct gandalf_table, field), first, last }
#define GUEST_BOUNDS(field, first, last) \
	{ #field, offsetof(struct gandalf_guest, field), first, last }

static const struct bounds table_bounds[] = {
	TABLE_BOUNDS(table_size, sizeof(struct gandalf_table), sizeof(struct gandalf_table)),
	TABLE_BOUNDS(guest_count, 1, GANDALF_GUESTS_MAXIMUM),
	TABLE_BOUNDS(image_count, 1, GANDALF_IMAGES_MAXIMUM),
	TABLE_BOUNDS(pool_size, GANDALF_POOL_MINIMUM, GANDALF_POOL_MAXIMUM),
	TABLE_BOUNDS(flags, 0, GANDALF_TABLE_INTERRUPTIBLE),
	TABLE_BOUNDS(channel_count, 0, GANDALF_CHANNELS_MAXIMUM),
};

static const struct bounds console_bounds[] = {
	TABLE_BOUNDS(console_port, 1, GANDALF_PORT_LIMIT - UART_PORTS),
	TABLE_BOUNDS(console_interrupt, 1, INTERRUPTS - 1),
	TABLE_BOUNDS(console_baud, 1, BAUD_MAXIMUM),
};

static const struct bounds guest_bounds[] = {
	GUEST_BOUNDS(kind, GANDALF_KIND_RTOS, GANDALF_KIND_LINUX_DEDICATED),
	GUEST_BOUNDS(priority, 0, GANDALF_PRIORITY_MAXIMUM),
	GUEST_BOUNDS(flags, 0, GANDALF_GUEST_STRICT_TLS | GANDALF_GUEST_CONTROL),
	GUEST_BOUNDS(watchdog_ms, 0, GANDALF_WATCHDOG_MAXIMUM),
	GUEST_BOUNDS(interrupts, 0, (1u << INTERRUPTS) - 1),
	GUEST_BOUNDS(port_range_count, 0, GANDALF_PORT_RANGES_MAXIMUM),
};

/* Writes the sentence; text may hold one conversion, for value. Returns false. */
static bool fail(const struct check *check, const char *text, u32 value)
{
	u32 length = format(check->message, check->size, "%s %s: ", check->subject, check->name);

	if (check->image != NULL)
		length += format(check->message + length, check->size - length, "image %s: ",
				 check->image);
	format(check->message + length, check->size - length, text, value);
	return false;
}

static bool check_bounds(const struct check *check, const void *record,
			 const struct bounds *bounds, u32 count)
{
	char text[80];
	u32 value;

	for (; count-- > 0; bounds++) {
		memcpy(&value, (const u8 *)record + bounds->offset, sizeof(value));
		if (value >= bounds->first && value <= bounds->last)
			continue;
		format(text, sizeof(text), "%s is 0x%x, not 0x%x to 0x%x.", bounds->field, value,
		       bounds->first, bounds->last);
		return fail(check, text, 0);
	}
	return true;
}

/* Whether size bytes at offset lie within limit bytes. */
static bool fits(u32 offset, u32 size, u32 limit)
{
	return offset <= limit && size <= limit - offset;
}

static bool is_linux(const struct gandalf_guest *guest)
{
	return guest->kind != GANDALF_KIND_RTOS;
}

static bool name_ends(const char *name)
{
	return strnlen(name, GANDALF_NAME_SIZE) < GANDALF_NAME_SIZE;
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

static bool check_header(const struct check *check, u32 available)
{
	const struct gandalf_table *table = check->table;

	if (available < sizeof(*table))
		return fail(check, "the boot module is truncated to %u bytes.", available);
	if (table->magic != GANDALF_TABLE_MAGIC)
		return fail(check, "the boot module is not a compiled system description.", 0);
	if (table->version != GANDALF_TABLE_VERSION)
		return fail(check, "it is compiled for another VMM: version %u.",
			    table->version);
	if (table->module_size < sizeof(*table) || table->module_size > available)
		return fail(check, "the boot module is truncated: it had %u bytes.",
			    table->module_size);
	if (table_checksum(table) != table->checksum)
		return fail(check, "its description is damaged: wrong checksum.", 0);
	if (!check_bounds(check, table, table_bounds, ARRAY_SIZE(table_bounds)))
		return false;
	if (table->focus >= table->guest_count)
		return fail(check, "the keyboard belongs to guest %u, which is missing.",
			    table->focus);
	return true;
}

static bool check_console(const struct check *check)
{
	const struct gandalf_table *table = check->table;

	return table->console_port == 0 ||
	       check_bounds(check, table, console_bounds, ARRAY_SIZE(console_bounds));
}

static const char pool_name[] = "pool";

/* What guests, channels and pool have in common. */
static bool check_memory(const struct check *check, u32 base, u32 size, u32 alignment)
{
	if ((base | size) % alignment != 0 || size == 0)
		return fail(check, "its memory is not aligned to 0x%x.", alignment);
	if (size > UINT32_MAX - base)
		return fail(check, "its memory goes beyond 4 GiB.", 0);
	if (overlaps(base, size, check->vmm_base, check->vmm_end - check->vmm_base))
		return fail(check, "its memory overlaps the VMM.", 0);
	if (check->name != pool_name &&
	    overlaps(base, size, check->table->pool_base, check->table->pool_size))
		return fail(check, "its memory overlaps the pool.", 0);
	return true;
}

static bool check_pool(struct check *check)
{
	bool good;

	check->name = pool_name;
	good = check_memory(check, check->table->pool_base, check->table->pool_size,
			    GANDALF_MEMORY_ALIGNMENT);
	check->name = "system";
	return good;
}

static bool check_guest_memory(const struct check *check, u32 index)
{
	const struct gandalf_guest *guests = check->table->guests;
	const struct gandalf_guest *guest = &guests[index];

	if (!check_memory(check, guest->memory_base, guest->memory_size,
			  is_linux(guest) ? GANDALF_MEMORY_ALIGNMENT : GANDALF_PAGE_SIZE))
		return false;
	for (u32 i = 0; i < index; i++)
		if (overlaps(guest->memory_base, guest->memory_size, guests[i].memory_base,
			     guests[i].memory_size))
			return fail(check, "its memory overlaps that of guest %u.", i);
	return true;
}

static bool check_guest_identity(const struct check *check, u32 index)
{
	const struct gandalf_guest *guests = check->table->guests;
	const struct gandalf_guest *guest = &guests[index];

	for (u32 i = 0; i < index; i++)
		if (is_linux(guest) && is_linux(&guests[i]))
			return fail(check, "it is the second Linux.", 0);
	if (guest->kind == GANDALF_KIND_LINUX_DEDICATED && check->table->guest_count != 1)
		return fail(check, "it needs the machine for itself but is not alone.", 0);
	if (is_linux(guest) != (guest->priority == 0))
		return fail(check, "it cannot have priority %u.", guest->priority);
	return true;
}

/* Memory that images may fill: the last page of an RTOS is the shared page. */
static u32 guest_usable(const struct gandalf_guest *guest)
{
	return guest->memory_size - (is_linux(guest) ? 0 : GANDALF_PAGE_SIZE);
}

static bool check_guest_start(const struct check *check, u32 index)
{
	const struct gandalf_guest *guest = &check->table->guests[index];
	const struct gandalf_image *image = check->table->images;
	u32 left = check->table->image_count;

	while (left > 0 && (image->guest != index ||
			    guest->entry - image->load_address >= image->file_size)) {
		image++;
		left--;
	}
	if (left == 0)
		return fail(check, "no image holds its entry 0x%x.", guest->entry);
	if (!is_linux(guest))
		return true;
	if (!fits(guest->boot_parameters, GANDALF_PAGE_SIZE, guest->memory_size) ||
	    guest->command_line_size < GANDALF_COMMAND_LINE_ROOM ||
	    !fits(guest->command_line, guest->command_line_size, guest->memory_size))
		return fail(check, "boot parameters or command line are outside its memory.", 0);
	return true;
}

static bool check_image(const struct check *check, u32 index)
{
	const struct gandalf_table *table = check->table;
	const struct gandalf_image *image = &table->images[index];

	if (image->file_size > image->room ||
	    (image->room > 0 && (image->offset < table->table_size ||
				 !fits(image->offset, image->room, table->module_size))))
		return fail(check, "it is not inside the boot module.", 0);
	if (image->memory_size == 0 || image->file_size > image->memory_size ||
	    !fits(image->load_address, image->memory_size,
		  guest_usable(&table->guests[image->guest])))
		return fail(check, "it does not fit the guest's memory.", 0);
	return true;
}

/* A channel's memory may be a Linux's too. */
static bool check_channels(const struct check *check)
{
	const struct gandalf_table *table = check->table;

	for (u32 i = 0; i < table->channel_count; i++) {
		const struct gandalf_table_channel *channel = &table->channels[i];

		if (!name_ends(channel->name) || channel->guests[0] >= table->guest_count ||
		    channel->guests[1] >= table->guest_count)
			return fail(check, "channel %u has no name or guests.", i);
		if (!check_memory(check, channel->base, channel->size, GANDALF_PAGE_SIZE))
			return false;
	}
	return true;
}

static void check_system(struct check *check)
{
	check->subject = "The";
	check->name = "system";
	check->image = NULL;
}

static bool check_guests(struct check *check)
{
	const struct gandalf_table *table = check->table;

	for (u32 i = 0; i < table->guest_count; i++) {
		const struct gandalf_guest *guest = &table->guests[i];

		if (!name_ends(guest->name))
			return fail(check, "guest %u has no proper name.", i);
		check->subject = "Guest";
		check->name = guest->name;
		if (!check_bounds(check, guest, guest_bounds, ARRAY_SIZE(guest_bounds)) ||
		    !check_guest_identity(check, i) || !check_guest_memory(check, i))
			return false;
		check_system(check);
	}
	return true;
}

static bool check_images(struct check *check)
{
	const struct gandalf_table *table = check->table;

	for (u32 i = 0; i < table->image_count; i++) {
		const struct gandalf_image *image = &table->images[i];

		if (!name_ends(image->name))
			return fail(check, "image %u has no proper name.", i);
		check->image = image->name;
		if (image->guest >= table->guest_count)
			return fail(check, "it belongs to guest %u, which is missing.",
				    image->guest);
		check->subject = "Guest";
		check->name = table->guests[image->guest].name;
		if (!check_image(check, i))
			return false;
		check_system(check);
	}
	for (u32 i = 0; i < table->guest_count; i++) {
		check->subject = "Guest";
		check->name = table->guests[i].name;
		if (!check_guest_start(check, i))
			return false;
	}
	check_system(check);
	return true;
}

const char *table_check(const struct gandalf_table *table, u32 available, u32 vmm_base,
			u32 vmm_end, char *message, u32 message_size)
{
	struct check check = { .table = table,
			       .vmm_base = vmm_base,
			       .vmm_end = vmm_end,
			       .message = message,
			       .size = message_size };

	check_system(&check);
	if (check_header(&check, available) && check_console(&check) && check_pool(&check) &&
	    check_guests(&check) && check_images(&check) && check_channels(&check))
		return NULL;
	return message;
}

const char *table_image_check(const struct gandalf_table *table, u32 index, char *message,
			      u32 message_size)
{
	const struct gandalf_image *image = &table->images[index];
	struct check check = { .message = message,
			       .size = message_size,
			       .subject = "Guest",
			       .name = table->guests[image->guest].name,
			       .image = image->name };

	if (crc32_update(0, (const u8 *)table + image->offset, image->file_size) ==
	    image->checksum)
		return NULL;
	fail(&check, "it is damaged: wrong checksum.", 0);
	return message;
}
