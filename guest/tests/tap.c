/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of the self-checking guests; see tap.h.
 */
#include "tap.h"

#include "print.h"

/* Failed expectations of one test that are printed; a loop may have thousands. */
#define FAILURES_SHOWN 5

static unsigned int failures;
static const char *skipped;

static bool failure_shown(void)
{
	return failures++ < FAILURES_SHOWN;
}

bool tap_expect(bool held, const char *text, const char *file, unsigned int line)
{
	if (!held && failure_shown())
		print("# %s:%u: %s does not hold\n", file, line, text);
	return held;
}

bool tap_expect_equal(uint32_t actual, uint32_t wanted, const char *text, const char *file,
		      unsigned int line)
{
	if (actual != wanted && failure_shown())
		print("# %s:%u: %s is 0x%x, not 0x%x\n", file, line, text, actual, wanted);
	return actual == wanted;
}

void tap_skip(const char *reason)
{
	skipped = reason;
}

static bool test_run(const struct tap_test *test, unsigned int number)
{
	failures = 0;
	skipped = NULL;
	test->run();
	print("%s %u %s%s%s\n", failures ? "not ok" : "ok", number, test->name,
	      skipped ? " # skip " : "", skipped ? skipped : "");
	return !failures;
}

bool tap_run(const char *guest, const struct tap_group *groups, unsigned int count)
{
	unsigned int total = 0, number = 0, failed = 0;

	for (unsigned int i = 0; i < count; i++)
		total += groups[i].count;
	print("1..%u\n", total);
	for (unsigned int i = 0; i < count; i++)
		for (unsigned int j = 0; j < groups[i].count; j++)
			failed += !test_run(&groups[i].tests[j], ++number);
	if (failed)
		print("FAIL %s: %u of %u\n", guest, failed, total);
	else
		print("PASS %s\n", guest);
	return !failed;
}
