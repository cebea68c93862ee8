/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An unprivileged process with as many page tables as it can have: it touches a word of each 4 MiB
 * of its address space.
 *	spread ROUNDS [stay]	"spread: NUMBER tables", touched so often (one digit); then it waits
 *				for a signal, if it is to stay
 * It ends with status 1 if it could not begin, and with 2 if it has less than two thirds of them.
 */
#include "process.h"

#define SYSCALL_PAUSE 29
#define SYSCALL_MMAP 90
#define LARGE 0x400000ul
#define PIECE (16 * LARGE)
#define PIECES 48u
#define ENOUGH 512u
#define READ_AND_WRITE 3
#define MAP_FLAGS 0x4022 /* private, of nothing, without a reserve */

static char line[] = "spread: 000 tables\n";
static unsigned long pieces[PIECES];

/* Returns how many pieces there are room for. */
static unsigned map_all(void)
{
	unsigned count = 0;

	while (count < PIECES) {
		unsigned long asked[6] = { 0, PIECE, READ_AND_WRITE, MAP_FLAGS, ~0ul, 0 };
		unsigned long at;

		at = (unsigned long)system_call(SYSCALL_MMAP, (unsigned long)asked, 0, 0, 0, 0);
		if (at > -4096ul)
			break;
		pieces[count++] = at;
	}
	return count;
}

static void touch(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned long at = pieces[i]; at < pieces[i] + PIECE; at += LARGE)
			++*(volatile unsigned long *)at;
}

void run(int count, char **arguments)
{
	unsigned mapped, tables;

	if (count < 2 || !become_nobody())
		end(1);
	mapped = map_all();
	for (int round = 0; round < arguments[1][0] - '0'; round++)
		touch(mapped);
	tables = mapped * (unsigned)(PIECE / LARGE);
	for (unsigned digit = 10; digit >= 8; digit--, tables /= 10)
		line[digit] = (char)('0' + tables % 10);
	system_call(SYSCALL_WRITE, 1, (unsigned long)line, sizeof(line) - 1, 0, 0);
	if (count > 2)
		system_call(SYSCALL_PAUSE, 0, 0, 0, 0, 0);
	end(mapped * (PIECE / LARGE) < ENOUGH ? 2 : 0);
}
