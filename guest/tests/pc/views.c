/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test guest pc-views.elf: its address spaces, and how its processes fault in them. Run
 * natively, the same image proves that the tests are right.
 */
#include "views.h"

#include "suite.h"

#define LARGE_PAGES 4

extern char user_start[], user_end[];

uint32_t view_directory[2][1024] __attribute__((aligned(4096)));
uint32_t view_scratch[2][1024] __attribute__((aligned(4096)));
uint32_t view_kernel[1024] __attribute__((aligned(4096)));
uint32_t view_below[1024] __attribute__((aligned(4096)));
static uint32_t user_table[1024] __attribute__((aligned(4096)));

static uint32_t faults;
static void (*fault_serve)(void);

static void space_build(uint32_t space)
{
	uint32_t *directory = view_directory[space];

	for (uint32_t i = 0; i < LARGE_PAGES; i++)
		directory[KERNEL_HALF / LARGE_PAGE_SIZE + i] =
			i * LARGE_PAGE_SIZE | PAGE_P | PAGE_W | PAGE_A | PAGE_D | PAGE_PS;
	directory[VIEW_KERNEL / LARGE_PAGE_SIZE] = physical(view_kernel) | PAGE_P | PAGE_W;
	directory[KERNEL_HALF / LARGE_PAGE_SIZE - 1] =
		physical(view_below) | PAGE_P | PAGE_W | PAGE_U;
	directory[0] = physical(user_table) | PAGE_P | PAGE_W | PAGE_U;
	directory[SCRATCH / LARGE_PAGE_SIZE] =
		physical(view_scratch[space]) | PAGE_P | PAGE_W | PAGE_U;
}

void view_load(uint32_t space)
{
	cr3_write(physical(view_directory[space]));
}

void view_begin(void)
{
	for (uint32_t page = (uint32_t)user_start; page < (uint32_t)user_end; page += PAGE_SIZE)
		user_table[page / PAGE_SIZE] = page | PAGE_P | PAGE_W | PAGE_U;
	space_build(0);
	space_build(1);
	view_load(0);
}

void view_map(uint32_t space, uint32_t page, const void *frame, uint32_t flags)
{
	*(volatile uint32_t *)&view_scratch[space][page] = flags == 0 ? 0 : physical(frame) | flags;
	view_flush(space, page, 1);
}

void view_flush(uint32_t space, uint32_t page, uint32_t count)
{
	view_flush_at(space, SCRATCH + page * PAGE_SIZE, count);
}

void view_flush_at(uint32_t space, uint32_t first, uint32_t count)
{
	uint32_t end = first + count * PAGE_SIZE;

	if (environment != NATIVE)
		hypercall(GANDALF_HYPERCALL_FLUSH, physical(view_directory[space]), first, end);
	for (uint32_t linear = first; linear != end; linear += PAGE_SIZE)
		invlpg(linear);
}

static bool user_fault(struct trap_frame *frame)
{
	if (frame->vector != VECTOR_PF || faults++ != 0 || fault_serve == NULL)
		return false;
	fault_serve();
	return true;
}

void view_try(const char *code, uint32_t address)
{
	user_address = address;
	user_trap(code);
}

uint32_t view_run(const char *code, uint32_t page, void (*serve)(void))
{
	faults = 0;
	fault_serve = serve;
	user_hook = user_fault;
	user_address = SCRATCH + page * PAGE_SIZE;
	user_trap(code);
	user_hook = NULL;
	return faults;
}

void view_read(uint32_t value)
{
	expect_equal(trap.vector, VECTOR_SYSTEM_CALL);
	expect_equal(trap.eax, 1);
	expect_equal(trap.ebx, value);
	expect_equal(trap.cs, USER_CODE);
}

void view_fault(uint32_t error)
{
	expect_equal(trap.vector, VECTOR_PF);
	expect_equal(trap.error, error);
	expect_equal(trap.cr2, user_address);
	expect_equal(trap.cs, USER_CODE);
}

void suite_run(void)
{
	const struct tap_group groups[] = {
		group_ahead, group_calls, group_returns, group_borders, group_processes,
	};

	tables_load();
	__asm__ volatile("lldt %w0" : : "r"(0) : "memory");
	view_begin();
	machine_off(tap_run("pc-views", groups, sizeof(groups) / sizeof(groups[0])));
}
