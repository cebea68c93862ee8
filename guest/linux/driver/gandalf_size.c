// SPDX-License-Identifier: GPL-2.0-only
/*
 * The size of the window at the other end of a serial line, which such a line has no way to tell.
 * `gandalf run` and `gandalf console` send it among the keys, when they are asked and whenever it
 * changes (docs/consoles.md), as
 *
 *	0xff ROWS ; COLUMNS t
 *
 * with both in decimal. 0xff is in no character of UTF-8, and no key sends it. This file takes that
 * out of what serial lines receive and sets the size; the kernel then sends SIGWINCH to programs in
 * the foreground. For this it stands in the place of the line discipline N_TTY, whose functions it
 * uses. Other terminals lose one indirect call for each piece that they receive.
 */
#include <linux/ctype.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/tty.h>
#include <linux/tty_driver.h>
#include <linux/tty_ldisc.h>

#define SIZE_BEGIN 0xff
/* Rows and columns have at most four digits. */
#define SIZE_LARGEST 9999
#define SIZE_LINES 4

/* How far a report of a line has come. The number of a line is that of its port. */
struct size_report {
	bool open;
	unsigned int number; /* 0: of rows, 1: of columns */
	unsigned int values[2];
};

static struct size_report reports[SIZE_LINES];
static struct tty_ldisc_ops plain, sized;

static void size_set(struct tty_struct *tty, const struct size_report *report)
{
	struct winsize size = { .ws_row = report->values[0], .ws_col = report->values[1] };

	tty_do_resize(tty, &size);
}

/* Takes a byte if it is one of a report. Whatever does not fit ends the report and is a key. */
static bool size_take(struct tty_struct *tty, struct size_report *report, unsigned char byte)
{
	unsigned int *value = &report->values[report->number];

	if (byte == SIZE_BEGIN) {
		*report = (struct size_report){ .open = true };
		return true;
	}
	if (!report->open)
		return false;
	if (isdigit(byte) && *value * 10 + byte - '0' <= SIZE_LARGEST) {
		*value = *value * 10 + byte - '0';
		return true;
	}
	if (byte == ';' && report->number == 0) {
		report->number = 1;
		return true;
	}
	report->open = false;
	if (byte != 't' || report->number == 0)
		return false;
	size_set(tty, report);
	return true;
}

/* Returns how many bytes have been taken. The line keeps the others and brings them again. */
static int size_receive(struct tty_struct *tty, const unsigned char *bytes, const char *flags,
			int count)
{
	struct size_report *report = &reports[tty->index % SIZE_LINES];
	int done = 0, run, taken;

	if (tty->driver->type != TTY_DRIVER_TYPE_SERIAL || tty->index >= SIZE_LINES)
		return plain.receive_buf2(tty, bytes, flags, count);
	while (done < count) {
		if (size_take(tty, report, bytes[done])) {
			done++;
			continue;
		}
		for (run = 1; done + run < count && bytes[done + run] != SIZE_BEGIN; run++)
			;
		taken = plain.receive_buf2(tty, bytes + done, flags ? flags + done : NULL, run);
		done += taken;
		if (taken < run)
			break;
	}
	return done;
}

static int __init size_init(void)
{
	n_tty_inherit_ops(&plain);
	sized = plain;
	sized.receive_buf2 = size_receive;
	return tty_register_ldisc(&sized);
}
device_initcall(size_init);
