/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that the machine's variables do not change once a guest runs (lib/owner.h). A debug build
 * copies them at the first return to a guest, and compares a part of them at each return. Of a
 * core's own stores machine_watch.c knows more.
 */
#include "debug/machine_check.h"

#include "core/log.h"
#include "lib/owner.h"
#include "lib/string.h"

#define MACHINE_WORDS 8192u
/* The words that one return compares. All have been compared within at most 256 returns. */
#define RETURN_WORDS 32u

/* The machine's variables fill whole pages between these (gandalf.lds). */
extern const u32 machine_first[], machine_end[];

OF_CORE static u32 copy[MACHINE_WORDS];
OF_CORE static bool copied;
OF_CORE static u32 next; /* the index of the next word to compare */

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
