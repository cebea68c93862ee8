/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of the compiled system description. Each function looks at one
 * aspect and writes a sentence if it finds fault; sums are taken in 64 bits or as
 * differences, so that no pair of values can wrap around.
 */
#include "core/table.h"

#include "abi/gandalf.h"
#include "lib/crc32.h"
#include "lib/format.h"
#include "lib/string.h"

#define INTERRUPTS 16
/* Timer, cascade and clock: the VMM's on every machine. */
#define INTERRUPTS_OF_VMM 0x0105u
#define UART_PORTS 8
#define BAUD_MAXIMUM 115200
#define VMM_CONSOLE_NAME "vmm"

/* What the checks share: the table, the VMM's memory and the message. */
struct check {
	const struct gandalf_table *table;
	u32 vmm_base;
	u32 vmm_end;
	char *message;
	u32 size;
};

/* Ports with which a guest could take the machine from the VMM. */
static const struct gandalf_port_range ports_of_vmm[] = {
	{ 0x000, 0x00f }, /* DMA: writes to any memory */
	{ 0x020, 0x021 }, /* interrupt controllers */
	{ 0x040, 0x043 }, /* timer */
	{ 0x061, 0x061 },
	{ 0x064, 0x064 }, /* resets the machine */
	{ 0x070, 0x071 }, /* clock, NMI mask */
	{ 0x080, 0x08f }, /* DMA pages */
	{ 0x092, 0x092 }, /* resets the machine */
	{ 0x0a0, 0x0a1 },
	{ 0x0c0, 0x0df }, /* DMA */
	{ 0x0f4, 0x0f7 }, /* ends the emulator */
	{ 0x4d0, 0x4d1 },
	{ 0xcf8, 0xcff }, /* PCI configuration, reset */
};

__attribute__((format(printf, 2, 3))) static bool fail(const struct check *check,
							const char *pattern, ...)
{
	va_list arguments;

	va_start(arguments, pattern);
	format_list(check->message, check->size, pattern, arguments);
	va_end(arguments);
	return false;
}

/* Whether base1, size1 and base2, size2 have a byte in common. */
static bool overlaps(u32 base1, u32 size1, u32 base2, u32 size2)
{
	return base1 < (u64)base2 + size2 && base2 < (u64)base1 + size1;
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

/* A name must end, and must not move the cursor of the console it appears on. */
static bool name_is_good(const char *name)
{
	size_t length = strnlen(name, GANDALF_NAME_SIZE);

	if (length == 0 || length == GANDALF_NAME_SIZE)
		return false;
	for (size_t i = 0; i < length; i++)
		if (name[i] < ' ' || name[i] > '~')
			return false;
	return true;
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
		return fail(check, "The system description is truncated: it has %u bytes of %u.",
			    available, (u32)sizeof(*table));
	if (table->magic != GANDALF_TABLE_MAGIC)
		return fail(check, "The boot module is not a compiled system description.");
	if (table->version != GANDALF_TABLE_VERSION)
		return fail(check, "The system description has version %u, this VMM needs %u.",
			    table->version, GANDALF_TABLE_VERSION);
	if (table->table_size != sizeof(*table))
		return fail(check, "The system description gives its size as %u, not %u.",
			    table->table_size, (u32)sizeof(*table));
	if (table->module_size < sizeof(*table) || table->module_size > available)
		return fail(check, "The boot module is truncated: it has %u bytes of %u.",
			    available, table->module_size);
	if (table_checksum(table) != table->checksum)
		return fail(check, "The system description is damaged: wrong checksum.");
	return true;
}

static bool check_counts(const struct check *check)
{
	const struct gandalf_table *table = check->table;

	if (table->guest_count == 0 || table->guest_count > GANDALF_GUESTS_MAXIMUM)
		return fail(check, "The system has %u guests, not 1 to %u.", table->guest_count,
			    GANDALF_GUESTS_MAXIMUM);
	if (table->image_count > GANDALF_IMAGES_MAXIMUM)
		return fail(check, "The system has %u images, more than %u.",
			    table->image_count, GANDALF_IMAGES_MAXIMUM);
	if (table->focus >= table->guest_count)
		return fail(check, "The keyboard belongs to guest %u of %u.", table->focus,
			    table->guest_count);
	if (table->flags != 0)
		return fail(check, "The system has unknown flags 0x%x.", table->flags);
	return true;
}

static bool check_console(const struct check *check)
{
	const struct gandalf_table *table = check->table;

	if (table->console_port == 0)
		return true;
	if (!fits(table->console_port, UART_PORTS, GANDALF_PORT_LIMIT))
		return fail(check, "The console's port 0x%x is out of range.",
			    table->console_port);
	if (table->console_interrupt >= INTERRUPTS ||
	    INTERRUPTS_OF_VMM & (1u << table->console_interrupt))
		return fail(check, "The console cannot have interrupt %u.",
			    table->console_interrupt);
	if (table->console_baud == 0 || table->console_baud > BAUD_MAXIMUM)
		return fail(check, "The console cannot have %u baud.", table->console_baud);
	return true;
}

static bool check_pool(const struct check *check)
{
	const struct gandalf_table *table = check->table;

	if (table->pool_base % GANDALF_MEMORY_ALIGNMENT != 0 ||
	    table->pool_size % GANDALF_MEMORY_ALIGNMENT != 0)
		return fail(check, "The pool at 0x%x, 0x%x bytes, is not aligned to 0x%x.",
			    table->pool_base, table->pool_size, GANDALF_MEMORY_ALIGNMENT);
	if (table->pool_size < GANDALF_POOL_MINIMUM || table->pool_size > GANDALF_POOL_MAXIMUM)
		return fail(check, "The pool has 0x%x bytes, not 0x%x to 0x%x.",
			    table->pool_size, GANDALF_POOL_MINIMUM, GANDALF_POOL_MAXIMUM);
	if (table->pool_size > UINT32_MAX - table->pool_base)
		return fail(check, "The pool goes beyond 4 GiB.");
	if (overlaps(table->pool_base, table->pool_size, check->vmm_base,
		     check->vmm_end - check->vmm_base))
		return fail(check, "The pool overlaps the VMM.");
	return true;
}

static bool check_guest_identity(const struct check *check, u32 index)
{
	const struct gandalf_guest *guests = check->table->guests;
	const struct gandalf_guest *guest = &guests[index];

	if (!name_is_good(guest->name))
		return fail(check, "The name of guest %u is empty, unfinished or not printable.",
			    index);
	if (memcmp(guest->name, VMM_CONSOLE_NAME, sizeof(VMM_CONSOLE_NAME)) == 0)
		return fail(check, "Guest %u has the VMM's name %s.", index, guest->name);
	for (u32 i = 0; i < index; i++)
		if (strnlen(guests[i].name, GANDALF_NAME_SIZE) == strlen(guest->name) &&
		    memcmp(guests[i].name, guest->name, strlen(guest->name)) == 0)
			return fail(check, "Two guests have the name %s.", guest->name);
	if (guest->kind < GANDALF_KIND_RTOS || guest->kind > GANDALF_KIND_LINUX_DEDICATED)
		return fail(check, "Guest %s is of the unknown kind %u.", guest->name,
			    guest->kind);
	if (guest->kind == GANDALF_KIND_LINUX_DEDICATED && check->table->guest_count != 1)
		return fail(check, "Guest %s needs the machine for itself but is not alone.",
			    guest->name);
	if (is_linux(guest) != (guest->priority == 0))
		return fail(check, "Guest %s cannot have priority %u.", guest->name,
			    guest->priority);
	return true;
}

static bool check_guest_policy(const struct check *check, u32 index)
{
	const struct gandalf_guest *guest = &check->table->guests[index];

	if (guest->on_reboot > GANDALF_POLICY_RESTART ||
	    guest->on_fault > GANDALF_POLICY_RESTART)
		return fail(check, "Guest %s has an unknown policy.", guest->name);
	if (guest->flags & ~(u32)GANDALF_GUEST_STRICT_TLS)
		return fail(check, "Guest %s has unknown flags 0x%x.", guest->name,
			    guest->flags);
	return true;
}

static bool check_guest_memory(const struct check *check, u32 index)
{
	const struct gandalf_table *table = check->table;
	const struct gandalf_guest *guest = &table->guests[index];
	u32 alignment = is_linux(guest) ? GANDALF_MEMORY_ALIGNMENT : GANDALF_PAGE_SIZE;
	u32 base = guest->memory_base;
	u32 size = guest->memory_size;

	if (base % alignment != 0 || size % alignment != 0 || size == 0)
		return fail(check, "Guest %s: memory at 0x%x, 0x%x bytes, is not aligned to 0x%x.",
			    guest->name, base, size, alignment);
	if (size > UINT32_MAX - base)
		return fail(check, "Guest %s: its memory goes beyond 4 GiB.", guest->name);
	if (overlaps(base, size, check->vmm_base, check->vmm_end - check->vmm_base))
		return fail(check, "Guest %s: its memory overlaps the VMM.", guest->name);
	if (overlaps(base, size, table->pool_base, table->pool_size))
		return fail(check, "Guest %s: its memory overlaps the pool.", guest->name);
	for (u32 i = 0; i < index; i++)
		if (overlaps(base, size, table->guests[i].memory_base,
			     table->guests[i].memory_size))
			return fail(check, "Guest %s: its memory overlaps that of guest %s.",
				    guest->name, table->guests[i].name);
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

	while (left > 0 && (image->guest != index || guest->entry < image->load_address ||
			    guest->entry - image->load_address >= image->file_size)) {
		image++;
		left--;
	}
	if (left == 0)
		return fail(check, "Guest %s: no image holds its entry 0x%x.", guest->name,
			    guest->entry);
	if (!is_linux(guest))
		return true;
	if (!fits(guest->boot_parameters, GANDALF_PAGE_SIZE, guest->memory_size))
		return fail(check, "Guest %s: boot parameters at 0x%x are outside its memory.",
			    guest->name, guest->boot_parameters);
	if (guest->command_line_size == 0 ||
	    !fits(guest->command_line, guest->command_line_size, guest->memory_size))
		return fail(check, "Guest %s: the command line at 0x%x is outside its memory.",
			    guest->name, guest->command_line);
	return true;
}

static bool check_interrupts(const struct check *check, u32 index)
{
	const struct gandalf_table *table = check->table;
	const struct gandalf_guest *guest = &table->guests[index];
	u32 taken = INTERRUPTS_OF_VMM;

	if (guest->kind == GANDALF_KIND_LINUX_DEDICATED)
		taken = 0;
	else if (table->console_port != 0)
		taken |= 1u << table->console_interrupt;
	if (guest->interrupts >> INTERRUPTS != 0)
		return fail(check, "Guest %s has interrupts above %u.", guest->name,
			    INTERRUPTS - 1);
	for (u32 i = 0; i < index; i++)
		taken |= table->guests[i].interrupts;
	for (u32 i = 0; i < INTERRUPTS; i++)
		if (guest->interrupts & taken & (1u << i))
			return fail(check, "Guest %s: interrupt %u belongs to another.",
				    guest->name, i);
	return true;
}

static bool ranges_overlap(const struct gandalf_port_range *a, u32 first, u32 last)
{
	return a->first <= last && first <= a->last;
}

/* Whether the VMM, or an earlier guest, has a port of the range. */
static bool range_is_taken(const struct check *check, u32 index,
			   const struct gandalf_port_range *range)
{
	const struct gandalf_table *table = check->table;

	for (u32 i = 0; i < ARRAY_SIZE(ports_of_vmm); i++)
		if (ranges_overlap(range, ports_of_vmm[i].first, ports_of_vmm[i].last))
			return true;
	if (table->console_port != 0 &&
	    ranges_overlap(range, table->console_port, table->console_port + UART_PORTS - 1))
		return true;
	for (u32 i = 0; i < index; i++)
		for (u32 j = 0; j < table->guests[i].port_range_count; j++)
			if (ranges_overlap(range, table->guests[i].port_ranges[j].first,
					   table->guests[i].port_ranges[j].last))
				return true;
	return false;
}

static bool check_ports(const struct check *check, u32 index)
{
	const struct gandalf_guest *guest = &check->table->guests[index];

	if (guest->port_range_count > GANDALF_PORT_RANGES_MAXIMUM)
		return fail(check, "Guest %s has %u port ranges, more than %u.", guest->name,
			    guest->port_range_count, GANDALF_PORT_RANGES_MAXIMUM);
	for (u32 i = 0; i < guest->port_range_count; i++) {
		const struct gandalf_port_range *range = &guest->port_ranges[i];

		if (range->first > range->last || range->last >= GANDALF_PORT_LIMIT)
			return fail(check, "Guest %s: ports 0x%x to 0x%x are not below 0x%x.",
				    guest->name, range->first, range->last, GANDALF_PORT_LIMIT);
		if (guest->kind != GANDALF_KIND_LINUX_DEDICATED &&
		    range_is_taken(check, index, range))
			return fail(check, "Guest %s: ports 0x%x to 0x%x belong to another.",
				    guest->name, range->first, range->last);
	}
	return true;
}

static bool check_image(const struct check *check, u32 index)
{
	const struct gandalf_table *table = check->table;
	const struct gandalf_image *image = &table->images[index];
	const struct gandalf_guest *guest;

	if (!name_is_good(image->name))
		return fail(check, "The name of image %u is empty, unfinished or not printable.",
			    index);
	if (image->guest >= table->guest_count)
		return fail(check, "Image %s belongs to guest %u of %u.", image->name,
			    image->guest, table->guest_count);
	guest = &table->guests[image->guest];
	if (image->file_size > 0 &&
	    (image->offset < table->table_size ||
	     !fits(image->offset, image->file_size, table->module_size)))
		return fail(check, "Guest %s, image %s: it is not inside the boot module.",
			    guest->name, image->name);
	if (image->memory_size == 0 || image->file_size > image->memory_size)
		return fail(check, "Guest %s, image %s: 0x%x bytes do not fit 0x%x.",
			    guest->name, image->name, image->file_size, image->memory_size);
	if (!fits(image->load_address, image->memory_size, guest_usable(guest)))
		return fail(check, "Guest %s, image %s: it does not fit the guest's memory.",
			    guest->name, image->name);
	for (u32 i = 0; i < index; i++)
		if (table->images[i].guest == image->guest &&
		    overlaps(image->load_address, image->memory_size,
			     table->images[i].load_address, table->images[i].memory_size))
			return fail(check, "Guest %s, image %s: it overlaps image %s.",
				    guest->name, image->name, table->images[i].name);
	return true;
}

/* The VMM's share of the address space must hold all that it maps for itself. */
static bool check_mapped_memory(const struct check *check)
{
	const struct gandalf_table *table = check->table;
	u64 total = (u64)(check->vmm_end - check->vmm_base) + table->module_size;

	for (u32 i = 0; i < table->guest_count; i++)
		if (!is_linux(&table->guests[i]))
			total += table->guests[i].memory_size;
	if (total > GANDALF_RTOS_MEMORY_MAXIMUM)
		return fail(check, "VMM, boot module and RTOS memory have more than 0x%x bytes.",
			    GANDALF_RTOS_MEMORY_MAXIMUM);
	return true;
}

static bool check_guest(const struct check *check, u32 index)
{
	return check_guest_identity(check, index) && check_guest_policy(check, index) &&
	       check_guest_memory(check, index) && check_interrupts(check, index) &&
	       check_ports(check, index);
}

static bool check_guests_and_images(const struct check *check)
{
	const struct gandalf_table *table = check->table;

	for (u32 i = 0; i < table->guest_count; i++)
		if (!check_guest(check, i))
			return false;
	for (u32 i = 0; i < table->image_count; i++)
		if (!check_image(check, i))
			return false;
	for (u32 i = 0; i < table->guest_count; i++)
		if (!check_guest_start(check, i))
			return false;
	return check_mapped_memory(check);
}

const char *table_check(const struct gandalf_table *table, u32 available, u32 vmm_base,
			u32 vmm_end, char *message, u32 message_size)
{
	struct check check = { table, vmm_base, vmm_end, message, message_size };

	if (check_header(&check, available) && check_counts(&check) && check_console(&check) &&
	    check_pool(&check) && check_guests_and_images(&check))
		return NULL;
	return message;
}

const char *table_image_check(const struct gandalf_table *table, u32 index, char *message,
			      u32 message_size)
{
	const struct gandalf_image *image = &table->images[index];
	struct check check = { .table = table, .message = message, .size = message_size };

	if (crc32_update(0, (const u8 *)table + image->offset, image->file_size) ==
	    image->checksum)
		return NULL;
	fail(&check, "Guest %s, image %s: it is damaged: wrong checksum.",
	     table->guests[image->guest].name, image->name);
	return message;
}
