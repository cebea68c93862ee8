/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that has numbers in the floating-point registers and looks whether they stay there,
 * until a file is there. It makes no system call meanwhile.
 *	float FILE	"float: right", or "float: wrong" as soon as a register has become another
 */
#include "process.h"

#define SYSCALL_ACCESS 33
/* Turns of an empty loop in a round. */
#define ROUND 500000u

/* As FNSAVE stores it (SDM vol. 1, section 8.1.10): three words that say what the registers are,
 * where the last instruction was, and the registers. */
struct image {
	unsigned words[3], last[4];
	unsigned char registers[80];
};

static int is_same(const struct image *image, const struct image *other)
{
	for (unsigned i = 0; i < 3; i++)
		if (image->words[i] != other->words[i])
			return 0;
	for (unsigned i = 0; i < sizeof(image->registers); i++)
		if (image->registers[i] != other->registers[i])
			return 0;
	return 1;
}

/* Each round has other numbers: those of an earlier one are wrong, too. */
static int stay(unsigned round)
{
	static struct image before, behind;

	__asm__ volatile("fninit");
	for (unsigned i = 0; i < 7; i++) {
		unsigned number = round * 7 + i;

		__asm__ volatile("fildl %0" : : "m"(number));
	}
	__asm__ volatile("fnsave %0; frstor %0" : "=m"(before));
	for (unsigned i = 0; i < ROUND; i++)
		__asm__ volatile("" : : : "memory");
	__asm__ volatile("fnsave %0" : "=m"(behind));
	return is_same(&before, &behind);
}

void run(int count, char **arguments)
{
	static const char right[] = "float: right\n", wrong[] = "float: wrong\n";
	unsigned round = 0;

	if (count != 2)
		end(1);
	while (system_call(SYSCALL_ACCESS, (unsigned long)arguments[1], 0, 0, 0, 0) != 0)
		if (!stay(round++)) {
			system_call(SYSCALL_WRITE, 1, (unsigned long)wrong, sizeof(wrong) - 1, 0,
				    0);
			end(1);
		}
	system_call(SYSCALL_WRITE, 1, (unsigned long)right, sizeof(right) - 1, 0, 0);
	end(0);
}
