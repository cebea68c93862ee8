/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the whole machine has in common does not change once a guest runs (lib/owner.h). A debug
 * build keeps a copy of it, of the first return to a guest, and compares a part at each return.
 */
#include "debug/machine_check.h"

#include "core/log.h"
#include "lib/owner.h"
#include "lib/string.h"

#define MACHINE_WORDS 8192u
/* So many at a return: all of them have been looked at within some 250 returns. */
#define RETURN_WORDS 32u

/* gandalf.lds: whole pages. */
extern const u32 machine_first[], machine_end[];

OF_CORE static u32 copy[MACHINE_WORDS];
OF_CORE static bool copied;
OF_CORE static u32 next; /* the word that is looked at next */

static void copy_take(u32 words)
{
	if (words > MACHINE_WORDS)
		panic("the copy of what the machine has in common lacks room for %u words", words);
	memcpy(copy, machine_first, words * sizeof(u32));
	copied = true;
}

void machine_check(void)
{
	u32 words = (u32)(machine_end - machine_first);

	if (!copied)
		copy_take(words);
	for (u32 i = 0; i < RETURN_WORDS; i++) {
		if (machine_first[next] != copy[next])
			panic("what the machine has in common has changed at %x: %x, was %x",
			      (u32)&machine_first[next], machine_first[next], copy[next]);
		next = next + 1 < words ? next + 1 : 0;
	}
}
