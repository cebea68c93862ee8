/* SPDX-License-Identifier: Apache-2.0 */
/* See interrupts.h. */
#include "interrupts.h"

#include "operation.h"
#include "system.h"
#include "text.h"

/* What is in the lines of those that come when they should. */
static const char *const expected[] = { "timer", "gandalf-", "Rescheduling", "call interrupts",
					"TLB shootdowns" };

const char *proc_read(const char *path)
{
	static char text[65536];
	long file = system_call(CALL_OPEN, (long)path, O_RDONLY, 0);
	size_t size = 0;
	long got;

	while ((got = system_read((int)file, text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	system_call(CALL_CLOSE, file, 0, 0);
	if (got < 0 || size == 0)
		operation_fail("a file of /proc cannot be read");
	text[size] = '\0';
	return text;
}

const char *text_next_line(const char *text)
{
	while (*text && *text++ != '\n')
		;
	return text;
}

/* The sum of the numbers behind a line's colon, one for each CPU. The first line has no colon. */
static uint64_t line_sum(const char *text, const char *end)
{
	uint64_t sum = 0;

	while (text < end && *text != ':')
		text++;
	while (text < end) {
		const char *behind;

		text++;
		while (*text == ' ')
			text++;
		sum += text_number(text, &behind);
		if (behind == text)
			break;
		text = behind;
	}
	return sum;
}

static bool is_expected(const char *text, const char *end)
{
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (text_has(text, end, expected[i]))
			return true;
	return false;
}

struct interrupts interrupts_read(void)
{
	struct interrupts sum = { 0, 0 };
	const char *text = proc_read("/proc/interrupts"), *end;

	for (; *text; text = end) {
		end = text_next_line(text);
		if (is_expected(text, end))
			sum.timer += line_sum(text, end);
		else
			sum.others += line_sum(text, end);
	}
	return sum;
}

void interrupts_print(const struct interrupts *before)
{
	struct interrupts after = interrupts_read();

	line_field("timer", after.timer - before->timer);
	line_field("others", after.others - before->others);
}

uint64_t interrupts_of(const char *name)
{
	const char *text = proc_read("/proc/interrupts"), *end;

	for (; *text; text = end) {
		end = text_next_line(text);
		if (text_has(text, end, name))
			return line_sum(text, end);
	}
	operation_fail("Linux does not count these interrupts");
}
