/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a self-checking guest prints, close to the Test Anything Protocol:
 *
 *	1..N
 *	ok 1 name
 *	not ok 2 name			after a line `# FILE:LINE: ...`
 *	ok 3 name # skip reason
 *	PASS guest  or  FAIL guest: K of N
 *
 * The last line is the verdict and ends the output.
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stdint.h>

struct tap_test {
	const char *name;
	void (*run)(void);
};

struct tap_group {
	const struct tap_test *tests;
	unsigned int count;
};
#define TAP_GROUP(tests) { (tests), sizeof(tests) / sizeof((tests)[0]) }

/* Runs the tests of the groups in order. Returns whether all passed. */
bool tap_run(const char *guest, const struct tap_group *groups, unsigned int count);

/* The test cannot be made here; what it has expected so far does count. */
void tap_skip(const char *reason);

/* Inside a test: note a failure and go on. */
#define expect(condition) \
	tap_expect((condition), #condition, __FILE_NAME__, __LINE__)
#define expect_equal(actual, wanted) \
	tap_expect_equal((uint32_t)(actual), (uint32_t)(wanted), #actual, __FILE_NAME__, __LINE__)

/* Both return whether it held. */
bool tap_expect(bool held, const char *text, const char *file, unsigned int line);
bool tap_expect_equal(uint32_t actual, uint32_t wanted, const char *text, const char *file,
		      unsigned int line);

#endif
