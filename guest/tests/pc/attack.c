/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test guest pc-attack.elf: a hostile kernel that wants ring 0, or memory that is not its own.
 * Whenever it is started it sees that its machine works, reads a line from its console, makes the
 * attack that is named there, says so if it lives on, and dies.
 */
#include "attack.h"

#include <string.h>

#include "print.h"
#include "suite.h"

#define UART 0x3f8
#define UART_LINE_STATUS (UART + 5)
#define UART_RECEIVED 0x01
#define UART_ALL_SENT 0x40
/* At page 0: pointers, and behind them code. */
#define POINTERS 24
#define JUMP 0x60
#define NOP 0x90
#define JMP 0xe9

#define MASTER 0x20
#define SLAVE 0xa0
#define INITIALISE 0x11
#define CASCADE 2
#define HZ 2000
#define TICKS 20
/* Fewer, and a UART's 16 bytes overflow before the first is looked at. */
#define POLLS_PER_SECOND 1000

void payload_lay(uint32_t target)
{
	/* Whatever compilers think of address 0. */
	uint32_t base = 0;
	uint32_t distance;
	uint8_t *page;

	__asm__("" : "+r"(base));
	page = (uint8_t *)base;
	for (uint32_t i = 0; i < POINTERS; i++)
		((volatile uint32_t *)page)[i] = (uint32_t)payload;
	for (uint32_t i = JUMP; i < JUMP + 16; i++)
		((volatile uint8_t *)page)[i] = NOP;
	page[JUMP + 16] = JMP;
	distance = (uint32_t)payload - (base + JUMP + 21);
	memcpy(page + JUMP + 17, &distance, sizeof(distance));
	payload_target = target;
}

void pic_program(uint8_t master, uint8_t slave, uint8_t mode)
{
	port_out(MASTER, INITIALISE);
	port_out(MASTER + 1, master);
	port_out(MASTER + 1, 1 << CASCADE);
	port_out(MASTER + 1, mode);
	port_out(SLAVE, INITIALISE);
	port_out(SLAVE + 1, slave);
	port_out(SLAVE + 1, CASCADE);
	port_out(SLAVE + 1, mode);
	pic_unmask(0);
}

void vectors_show(void)
{
	irq_disable();
	pic_init();
	pic_unmask(1);
	pit_start(HZ);
	irq_wait();
	irq_disable();
}

void irq_await(uint16_t irqs)
{
	while ((pic_request() & irqs) == 0)
		;
}

static const struct attack *attack_find(const char *name, size_t length)
{
	static const struct attack *const tables[] = { attacks_upcall, attacks_vectors,
						       attacks_pages, attacks_vm86,
						       attacks_software, attacks_call };

	for (uint32_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct attack *attack = tables[i]; attack->name; attack++)
			if (strlen(attack->name) == length && !memcmp(attack->name, name, length))
				return attack;
	return NULL;
}

static uint32_t number_next(const char **text)
{
	uint32_t value = 0;

	while (**text == ' ')
		++*text;
	for (; **text != '\0' && **text != ' '; ++*text)
		value = value << 4 | (uint32_t)(**text <= '9' ? **text - '0' : **text - 'a' + 10);
	return value;
}

/* Until a line begins it halts in between, so that an emulator has little to do. */
static char console_read(bool begins)
{
	while (!(port_in(UART_LINE_STATUS) & UART_RECEIVED))
		if (begins)
			irq_wait();
	return (char)port_in(UART);
}

static const char *line_read(void)
{
	static char line[128];
	size_t length = 0;
	char c;

	pit_start(POLLS_PER_SECOND);
	while ((c = console_read(length == 0)) != '\n' && c != '\r')
		if (length < sizeof(line) - 1)
			line[length++] = c;
	irq_disable();
	pit_stop();
	pic_unmask(0);
	line[length] = '\0';
	return line;
}

static void attack_run(const char *line)
{
	const char *text = line;
	uint32_t arguments[ARGUMENTS];
	const struct attack *attack;

	while (*text != '\0' && *text != ' ')
		text++;
	attack = attack_find(line, (size_t)(text - line));
	if (attack == NULL) {
		print("unknown: %s\n", line);
		return;
	}
	for (uint32_t i = 0; i < ARGUMENTS; i++)
		arguments[i] = number_next(&text);
	attack->run(arguments);
}

static void __attribute__((noreturn)) die(void)
{
	static const struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) empty = { 0, 0 };

	/* A UART that is set up again loses what it still holds. */
	while (!(port_in(UART_LINE_STATUS) & UART_ALL_SENT))
		;
	__asm__ volatile("lidt %0\n\tint3" : : "m"(empty));
	__builtin_unreachable();
}

/* What a guest needs of its machine: a timer that interrupts, and page tables. */
static bool machine_check(void)
{
	vectors_show();
	irq_count[0] = 0;
	while (irq_count[0] < TICKS)
		irq_wait();
	irq_disable();
	pit_stop();
	*(uint32_t *)scratch_frame[1] = 0x600d;
	scratch_map(0, scratch_frame[1], PAGE_P | PAGE_W);
	return *(volatile uint32_t *)SCRATCH == 0x600d;
}

static void suite_run_high(void)
{
	/* Whoever follows a NULL pointer from now on finds something. */
	payload_lay(0);
	if (!machine_check())
		print("not ");
	print("ready\n");
	attack_run(line_read());
	irq_disable();
	print("goes on\n");
	die();
}

void suite_run(void)
{
	tables_load();
	paging_enable();
	kernel_half_map();
	stack_move(KERNEL_HALF, suite_run_high);
	machine_off(true);
}
