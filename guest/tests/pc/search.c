/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test kernel pc-search.elf: executes programs of operations, any that ring 1 or ring 3 can
 * think of, to find what keeps a more urgent RTOS from the CPU. They come in its RAM disk; after
 * each the machine is reset, which is a part of it, and the guest begins with the next. Who
 * measures from outside does so from search_begin to search_end. A program that goes astray, or
 * takes long, ends by a fault or by the guest's watchdog: the guest must be one that is restarted
 * then.
 */
#include "search.h"

#include <string.h>

#include "machine.h"
#include "print.h"
#include "search_operations.h"
#include "suite.h"

#define RAM_DISK 0x218 /* in the boot parameters: where it is */
#define SETTLE 2000000 /* time stamps before a program begins */
#define RESET_PORT 0xcf9
#define RESET_CPU 6
#define FLOOD (SEARCH_FLOOD << 8) /* GANDALF_PLACE_SHIFT */
#define ACTION_STOP 1
#define ACTION_START 0

struct progress {
	uint32_t magic, next, running;
};
static volatile struct progress *const progress = (volatile struct progress *)SEARCH_PROGRESS;

/* search_calls.S */
void search_call(operation_function *function, const uint32_t *arguments);
void search_begin(void);
void search_end(void);

static const uint32_t *program_find(uint32_t number)
{
	const uint32_t *at = (const uint32_t *)*(const uint32_t *)(boot_parameters + RAM_DISK);

	if (at[0] != SEARCH_MAGIC || number >= at[1])
		return NULL;
	for (at += 2; number > 0; number--)
		at += 1 + *at * SEARCH_WORDS;
	return at;
}

static void operation_run(const uint32_t *words)
{
	uint32_t arguments[SEARCH_ARGUMENTS];

	memcpy(arguments, &words[3], sizeof(arguments));
	for (uint32_t i = 0; i < words[1]; i++) {
		search_call(search_operation(words[0]), arguments);
		arguments[0] += words[2];
	}
}

static void __attribute__((noreturn)) reset(void)
{
	port_out(RESET_PORT, RESET_CPU);
	for (;;)
		;
}

static void program_run(const uint32_t *words)
{
	uint32_t count = *words++;

	while (hypercall(GANDALF_HYPERCALL_DOORBELL, SEARCH_DISPATCH, 0, 0) != 0)
		;
	hypercall(GANDALF_HYPERCALL_ALIVE, 0, 0, 0);
	search_begin();
	for (; count > 0; count--, words += SEARCH_WORDS)
		operation_run(words);
	reset();
}

static void program_end(void)
{
	progress->running = false;
	hypercall(GANDALF_HYPERCALL_DOORBELL, SEARCH_DISPATCH, 0, 0);
	search_end();
}

static void machine_prepare(void)
{
	irq_disable();
	tables_load();
	pic_init();
	paging_enable();
	kernel_half_map();
	search_tables_make();
	cr4_write(CR4_PSE | CR4_PGE);
	gdt_register_load();
	pages_flush(page_directory, 0, 0xffffffff);
	hypercall(GANDALF_HYPERCALL_ACT, ACTION_STOP | FLOOD, 0, 0);
	hypercall(GANDALF_HYPERCALL_ACT, ACTION_START | FLOOD, 0, 0);
	search_rest(SETTLE);
}

void suite_run(void)
{
	const uint32_t *words;

	if (progress->magic != SEARCH_MAGIC)
		*progress = (struct progress){ .magic = SEARCH_MAGIC };
	if (progress->running)
		program_end();
	words = program_find(progress->next);
	if (!words) {
		print("search: %u programs\n", progress->next);
		machine_off(true);
	}
	machine_prepare();
	progress->next++;
	progress->running = true;
	program_run(words);
	machine_off(true);
}
