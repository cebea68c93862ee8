/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what a null system call costs, and when it did so. Under an emulator
 * whose time stamp counter counts instructions the figures are instructions.
 * Static and without a library, so that it runs on any Linux for i386:
 *	cost NUMBER	"calls=NUMBER median=N now=N", NUMBER at most 4096
 */

#include "process.h"

#define CALLS_MAXIMUM 4096u

static unsigned samples[CALLS_MAXIMUM];
static char line[96];
static unsigned length;

static unsigned long long time_stamp(void)
{
	unsigned long long value;

	__asm__ volatile("rdtsc" : "=A"(value));
	return value;
}

static void put_text(const char *text)
{
	while (*text != '\0')
		line[length++] = *text++;
}

/* Without a 64-bit division: subtracts powers of ten. */
static void put_number(unsigned long long value)
{
	unsigned long long power = 1;
	int digits = 1;

	while (digits < 19 && power * 10 <= value) {
		power *= 10;
		digits++;
	}
	while (digits-- > 0) {
		unsigned long long next = 1;
		char digit = '0';
		int i;

		for (i = 0; i < digits; i++)
			next *= 10;
		while (value >= next) {
			value -= next;
			digit++;
		}
		line[length++] = digit;
	}
}

static void sort(unsigned count)
{
	unsigned i, j;

	for (i = 1; i < count; i++) {
		unsigned value = samples[i];

		for (j = i; j > 0 && samples[j - 1] > value; j--)
			samples[j] = samples[j - 1];
		samples[j] = value;
	}
}

static unsigned number(const char *text)
{
	unsigned value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (unsigned)(*text++ - '0');
	return value < 1 || value > CALLS_MAXIMUM ? CALLS_MAXIMUM : value;
}

void run(int count, char **arguments)
{
	unsigned calls = count > 1 ? number(arguments[1]) : CALLS_MAXIMUM;
	unsigned i;

	for (i = 0; i < calls; i++) {
		unsigned long long start = time_stamp();

		system_call3(SYSCALL_GETPPID, 0, 0, 0);
		samples[i] = (unsigned)(time_stamp() - start);
	}
	sort(calls);
	put_text("calls=");
	put_number(calls);
	put_text(" median=");
	put_number(samples[calls / 2]);
	put_text(" now=");
	put_number(time_stamp());
	put_text("\n");
	system_call3(SYSCALL_WRITE, 1, (unsigned long)line, length);
	end(0);
}
