/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A multiboot program that behaves on the serial port as the VMM does: three
 * consoles, Ctrl-A n, inserted lines. It lets the host tool's tests run a real
 * emulator without a guest. "q" switches the machine off, "e" as after an error
 * of the VMM, "r" resets it; "m" prints many numbers.
 */
#include <stdint.h>

#define COM1 0x3f8

__attribute__((section(".multiboot"), used)) static const uint32_t header[] = {
	0x1BADB002, 0x3, -(0x1BADB002 + 0x3),
};

static const char *const names[] = { "alpha", "beta", "vmm" };

static void outb(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static uint8_t inb(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static void put(char byte)
{
	while (!(inb(COM1 + 5) & 0x20))
		;
	outb(COM1, (uint8_t)byte);
}

static void print(const char *text)
{
	for (; *text; text++)
		put(*text);
}

static char get(void)
{
	while (!(inb(COM1 + 5) & 1))
		;
	return (char)inb(COM1);
}

static void power_off(const char *text, uint8_t status)
{
	static const char shutdown[] = "Shutdown";

	print(text);
	while (!(inb(COM1 + 5) & 0x40))
		;
	outb(0xf4, status);
	for (int i = 0; shutdown[i]; i++)
		outb(0x8900, (uint8_t)shutdown[i]);
}

static void print_number(unsigned number)
{
	if (number >= 10)
		print_number(number / 10);
	put((char)('0' + number % 10));
}

static void print_many(void)
{
	print("numbers:\r\n");
	for (unsigned number = 0; number < 6000; number++) {
		print_number(number);
		print("\r\n");
	}
	print("end\r\n$ ");
}

static void command(char byte, int focus)
{
	print(names[focus]);
	print(" got ");
	put(byte);
	print("\r\n");
	print("[");
	print(names[(focus + 1) % 3]);
	print("] saw it\r\n");
	print("$ ");
}

void start(void);

void start(void)
{
	int focus = 0;

	outb(COM1 + 3, 3);
	outb(COM1 + 2, 7); /* without its FIFO, Bochs' UART loses what comes while we print */
	print("dummy ready\r\n[console alpha has the keyboard]\r\n$ ");
	for (;;) {
		char byte = get();

		if (byte == 1 && get() == 'n') {
			focus = (focus + 1) % 3;
			print("\r\n[console ");
			print(names[focus]);
			print(" has the keyboard]\r\n$ ");
		} else if (byte == 'q') {
			power_off("\r\x1b[K[vmm] all guests are off\r\n$ ", 0x10);
		} else if (byte == 'e') {
			power_off("\r\x1b[K[vmm] the VMM stops: a test\r\n$ ", 0x11);
		} else if (byte == 'm') {
			print_many();
		} else if (byte == 'r') {
			outb(0x64, 0xfe);
		} else if (byte > ' ') {
			command(byte, focus);
		}
	}
}
