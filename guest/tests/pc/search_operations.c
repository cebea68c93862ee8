/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pc-search.elf can be told to do: ports, hypercalls, page tables, registers and tables of the
 * CPU, ring 3, interrupts and devices.
 */
#include "search_operations.h"

#include <string.h>

#include "machine.h"
#include "search.h"

#define PIT_CONTROL 0x43
#define PIT_CHANNEL_0 0x40
#define CMOS_INDEX 0x70
#define UART 0x3f8
/* The first directory entry of a space that leads to a table of ours, and behind the last. */
#define TABLES_FIRST 16
#define TABLES_END (KERNEL_HALF / LARGE_PAGE_SIZE)
#define PIECES(array) (sizeof(array) / sizeof((array)[0]))

/* search_calls.S */
void search_on_stack(uint32_t stack, void (*piece)(void));
extern void piece_fnop(void), piece_undefined(void), piece_divide(void), piece_breakpoint(void),
	piece_read(void), piece_push(void), piece_enable(void), piece_iret(void),
	piece_protection(void), piece_system_call(void);
/* user.S */
extern const char user_system_call[], user_divide[], user_undefined[], user_breakpoint[],
	user_step[], user_halt[], user_port[], user_hypercall[], user_return[], user_read[],
	user_write[], user_jump[], user_access[], user_float[];
extern volatile uint32_t user_address;

static bool space_made[SEARCH_SPACES];
static uint32_t mode_bits[] = { 0x30, 0x34, 0x36, 0x38 };

/* Address spaces: the tests' own, and tables that all of them share. */

static uint32_t *space_directory(uint32_t space)
{
	uint32_t *directory =
		(uint32_t *)(SEARCH_DIRECTORIES + space % SEARCH_SPACES * PAGE_SIZE);

	if (space_made[space % SEARCH_SPACES])
		return directory;
	space_made[space % SEARCH_SPACES] = true;
	memcpy(directory, page_directory, PAGE_SIZE);
	for (uint32_t i = TABLES_FIRST; i < TABLES_END; i++)
		if (i != SCRATCH / LARGE_PAGE_SIZE)
			directory[i] = (SEARCH_TABLES + i % SEARCH_TABLE_COUNT * PAGE_SIZE) |
				       PAGE_P | PAGE_W | PAGE_U;
	return directory;
}

void search_tables_make(void)
{
	uint32_t *entry = (uint32_t *)SEARCH_TABLES;

	for (uint32_t i = 0; i < SEARCH_TABLE_COUNT * 1024; i++)
		entry[i] = (SEARCH_FRAMES + i % SEARCH_FRAME_COUNT * PAGE_SIZE) | PAGE_P | PAGE_W |
			   PAGE_U;
}

/* Operations; their arguments are in ../search.h. */

static void operation_out8(const uint32_t *a)
{
	port_out((uint16_t)a[0], (uint8_t)a[1]);
}

static void operation_out16(const uint32_t *a)
{
	__asm__ volatile("outw %w0, %w1" : : "a"(a[1]), "d"(a[0]));
}

static void operation_out32(const uint32_t *a)
{
	__asm__ volatile("outl %0, %w1" : : "a"(a[1]), "d"(a[0]));
}

static void operation_in8(const uint32_t *a)
{
	port_in((uint16_t)a[0]);
}

static void operation_in16(const uint32_t *a)
{
	__asm__ volatile("inw %w0, %%ax" : : "d"(a[0]) : "eax");
}

static void operation_in32(const uint32_t *a)
{
	__asm__ volatile("inl %w0, %%eax" : : "d"(a[0]) : "eax");
}

static void operation_hypercall(const uint32_t *a)
{
	uint32_t result;

	__asm__ volatile("int %1"
			 : "=a"(result)
			 : "i"(GANDALF_HYPERCALL_VECTOR), "a"(a[0]), "b"(a[1]), "c"(a[2]),
			   "d"(a[3]), "S"(a[4])
			 : "memory");
}

static void page_use(uint32_t address, bool write)
{
	volatile uint32_t *word = (volatile uint32_t *)address;

	if (write)
		*word = address;
	else
		(void)*word;
}

static void operation_space(const uint32_t *a)
{
	cr3_write((uint32_t)space_directory(a[0]));
}

/* Uses so many pages of so many tables of some spaces. */
static void operation_fill(const uint32_t *a)
{
	for (uint32_t space = a[0]; space < a[0] + a[1] % (SEARCH_SPACES + 1); space++) {
		operation_space(&space);
		for (uint32_t i = 0; i < a[2] && i < TABLES_END - TABLES_FIRST; i++)
			for (uint32_t j = 0; j < a[3] && j < 1024; j++)
				page_use((TABLES_FIRST + i) * LARGE_PAGE_SIZE + j * PAGE_SIZE,
					 a[4] & 1);
	}
}

static void operation_pde(const uint32_t *a)
{
	space_directory(a[1])[a[0] / LARGE_PAGE_SIZE] = a[2];
}

static void operation_pte(const uint32_t *a)
{
	uint32_t table = SEARCH_TABLES + a[1] % SEARCH_TABLE_COUNT * PAGE_SIZE;

	((volatile uint32_t *)table)[a[0] / PAGE_SIZE % 1024] = a[2];
}

static void operation_read(const uint32_t *a)
{
	page_use(a[0], false);
}

static void operation_write(const uint32_t *a)
{
	*(volatile uint32_t *)a[0] = a[1];
}

static void operation_flush(const uint32_t *a)
{
	pages_flush(space_directory(a[1]), a[0], a[2]);
}

static void operation_invlpg(const uint32_t *a)
{
	invlpg(a[0]);
}

static void operation_cr0(const uint32_t *a)
{
	cr0_write((cr0_read() | a[0]) & ~a[1]);
}

static void operation_cr4(const uint32_t *a)
{
	cr4_write(a[0]);
}

static void operation_dr(const uint32_t *a)
{
	switch (a[1] % 8) {
	case 0:
		dr0_write(a[0]);
		break;
	case 1:
		dr1_write(a[0]);
		break;
	case 2:
		dr2_write(a[0]);
		break;
	case 3:
		dr3_write(a[0]);
		break;
	case 6:
		dr6_write(a[0]);
		break;
	default:
		dr7_write(a[0]);
	}
}

struct table_register {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

static void operation_lgdt(const uint32_t *a)
{
	const struct table_register table = { (uint16_t)a[1], a[0] };

	__asm__ volatile("lgdt %0" : : "m"(table) : "memory");
}

static void operation_lidt(const uint32_t *a)
{
	const struct table_register table = { (uint16_t)a[1], a[0] };

	__asm__ volatile("lidt %0" : : "m"(table) : "memory");
}

static void operation_ltr(const uint32_t *a)
{
	__asm__ volatile("ltr %w0" : : "r"(a[0]) : "memory");
}

static void operation_lldt(const uint32_t *a)
{
	__asm__ volatile("lldt %w0" : : "r"(a[0]) : "memory");
}

static void operation_execute(const uint32_t *a)
{
	static void (*const pieces[])(void) = {
		piece_fnop, piece_undefined, piece_divide, piece_breakpoint, piece_read,
		piece_push, piece_enable,    piece_iret,   piece_protection, piece_system_call,
	};

	search_on_stack(a[0], pieces[a[1] % PIECES(pieces)]);
}

static void operation_user(const uint32_t *a)
{
	static const char *const pieces[] = {
		user_system_call, user_divide,	  user_undefined, user_breakpoint, user_step,
		user_halt,	  user_port,	  user_hypercall, user_return,	   user_read,
		user_write,	  user_jump,	  user_access,	  user_float,
	};

	user_address = a[0];
	user_trap(pieces[a[1] % PIECES(pieces)]);
}

static void operation_flag(const uint32_t *a)
{
	if (a[0] & 1)
		irq_enable();
	else
		irq_disable();
}

static void operation_halt(const uint32_t *a)
{
	(void)a;
	irq_wait();
}

void search_rest(uint32_t time)
{
	uint64_t start = time_stamp();

	while (time_stamp() - start < time)
		;
}

static void operation_wait(const uint32_t *a)
{
	search_rest(a[0] % 1000000);
}

static void operation_timer(const uint32_t *a)
{
	port_out(PIT_CONTROL, (uint8_t)mode_bits[a[1] % PIECES(mode_bits)]);
	port_out(PIT_CHANNEL_0, (uint8_t)a[0]);
	port_out(PIT_CHANNEL_0, (uint8_t)(a[0] >> 8));
}

static void operation_clock(const uint32_t *a)
{
	port_out(CMOS_INDEX, (uint8_t)a[0]);
	port_out(CMOS_INDEX + 1, (uint8_t)a[1]);
}

static void operation_uart(const uint32_t *a)
{
	for (uint32_t i = 0; i < a[0] % 1024; i++)
		port_out(UART, (uint8_t)(a[1] ? i * a[1] : '\n'));
}

static void operation_mask(const uint32_t *a)
{
	pic_unmask((uint16_t)a[0]);
}

static void operation_segment(const uint32_t *a)
{
	__asm__ volatile("movl %0, %%fs" : : "r"(a[0]));
}

static operation_function *const operations[] = {
#define OPERATION(name, arguments) operation_##name,
	SEARCH_OPERATIONS(OPERATION)
};

operation_function *search_operation(uint32_t number)
{
	return operations[number % PIECES(operations)];
}
