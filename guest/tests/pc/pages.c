/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page tables of the PC test guest: two levels, 4 KiB pages for the first
 * 4 MiB, large pages for the next 12, and tables for the tests to play with.
 */
#include "machine.h"

#define LARGE_PAGES 3

extern char user_start[], user_end[];

uint32_t page_directory[1024] __attribute__((aligned(4096)));
uint32_t scratch_table[1024] __attribute__((aligned(4096)));
uint8_t scratch_frame[4][4096] __attribute__((aligned(4096)));
static uint32_t low_table[1024] __attribute__((aligned(4096)));

static bool is_user(uint32_t address)
{
	return address >= (uint32_t)user_start && address < (uint32_t)user_end;
}

static void directory_build(void)
{
	for (uint32_t i = 0; i < 1024; i++)
		low_table[i] = i * PAGE_SIZE | PAGE_P | PAGE_W |
			       (is_user(i * PAGE_SIZE) ? PAGE_U : 0);
	page_directory[0] = (uint32_t)low_table | PAGE_P | PAGE_W | PAGE_U;
	for (uint32_t i = 1; i <= LARGE_PAGES; i++)
		page_directory[i] = i * LARGE_PAGE_SIZE | PAGE_P | PAGE_W | PAGE_PS;
	page_directory[SCRATCH / LARGE_PAGE_SIZE] =
		(uint32_t)scratch_table | PAGE_P | PAGE_W | PAGE_U;
}

void paging_enable(void)
{
	directory_build();
	paging_begin();
}

void paging_begin(void)
{
	cr4_write(cr4_read() | CR4_PSE);
	cr3_write((uint32_t)page_directory);
	cr0_write(cr0_read() | CR0_PG | CR0_WP);
}

void scratch_map(uint32_t page, const void *frame, uint32_t flags)
{
	*(volatile uint32_t *)&scratch_table[page] = (uint32_t)frame | flags;
}

void pages_flush(const uint32_t *directory, uint32_t start, uint32_t end)
{
	if (environment != NATIVE)
		hypercall(GANDALF_HYPERCALL_FLUSH, (uint32_t)directory, start, end);
}

void kernel_half_map(void)
{
	page_directory[KERNEL_HALF / LARGE_PAGE_SIZE] = PAGE_P | PAGE_W | PAGE_A | PAGE_D | PAGE_PS;
}

void stack_move(uint32_t distance, void (*run)(void))
{
	__asm__ volatile("addl %0, %%esp\n\tcall *%1\n\tsubl %0, %%esp"
			 :
			 : "b"(distance), "S"(run)
			 : "eax", "ecx", "edx", "cc", "memory");
}
