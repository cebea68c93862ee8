/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A multiboot program that behaves on the serial port as the VMM does: two
 * consoles, Ctrl-A n, inserted lines. It lets the host tool's tests run a real
 * emulator without a guest. "q" switches the machine off, "r" resets it.
 */
#include <stdint.h>

#define COM1 0x3f8

__attribute__((section(".multiboot"), used)) static const uint32_t header[] = {
	0x1BADB002, 0x3, -(0x1BADB002 + 0x3),
};

static const char *const names[] = { "alpha", "beta" };

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

static void power_off(void)
{
	static const char shutdown[] = "Shutdown";

	print("\r\n[vmm] all guests are off\r\n");
	while (!(inb(COM1 + 5) & 0x40))
		;
	outb(0xf4, 0x10);
	for (int i = 0; shutdown[i]; i++)
		outb(0x8900, (uint8_t)shutdown[i]);
}

static void command(char byte, int focus)
{
	print(names[focus]);
	print(" got ");
	put(byte);
	print("\r\n");
	print("[");
	print(names[!focus]);
	print("] saw it\r\n");
	print("$ ");
}

void start(void);

void start(void)
{
	int focus = 0;

	outb(COM1 + 3, 3);
	print("[vmm] dummy ready\r\n$ ");
	for (;;) {
		char byte = get();

		if (byte == 1 && get() == 'n') {
			focus = !focus;
			print("\r\033[K[console ");
			print(names[focus]);
			print(" has the keyboard]\r\n$ ");
		} else if (byte == 'q') {
			power_off();
		} else if (byte == 'r') {
			outb(0x64, 0xfe);
		} else if (byte > ' ') {
			command(byte, focus);
		}
	}
}
