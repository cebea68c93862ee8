/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the calls of calls.h have given, and the tests that are the same for all of them: IDs
 * that no object has, contexts from which a call must not be made, results that are missing.
 */
#include "suite.h"

#include "print.h"

#define STATE(state) (1U << (state))
#define IN_TASK STATE(STATE_TASK)
#define IN_DISABLED STATE(STATE_DISABLED)
#define IN_LOCKED STATE(STATE_LOCKED)
#define IN_HANDLER STATE(STATE_HANDLER)
#define IN_HANDLER_LOCKED STATE(STATE_HANDLER_LOCKED)
#define IN_ALL (IN_TASK | IN_DISABLED | IN_LOCKED | IN_HANDLER | IN_HANDLER_LOCKED)

/* In which states a call gives something other than E_CTX, and in which it gives that. */
static const struct {
	UINT accepted, refused;
} places[] = {
	[PLACE_TASK] = { IN_TASK | IN_DISABLED, IN_LOCKED | IN_HANDLER | IN_HANDLER_LOCKED },
	[PLACE_WAIT] = { IN_TASK, IN_ALL & ~IN_TASK },
	[PLACE_MIXED] = { IN_TASK | IN_DISABLED, IN_ALL & ~IN_TASK },
	[PLACE_HANDLER] = { IN_HANDLER, IN_ALL & ~IN_HANDLER },
	[PLACE_ANY] = { IN_ALL, 0 },
	[PLACE_LOCK] = { IN_TASK | IN_DISABLED | IN_LOCKED, IN_HANDLER | IN_HANDLER_LOCKED },
	[PLACE_ILOCK] = { IN_HANDLER | IN_HANDLER_LOCKED, IN_TASK | IN_DISABLED | IN_LOCKED },
	[PLACE_END] = { IN_TASK | IN_DISABLED | IN_LOCKED, 0 },
};

static const char *const state_names[STATES] = {
	"task", "disabled", "locked", "handler", "handler-locked",
};

static const struct {
	ER code;
	UINT bit;
	const char *name;
} results[] = {
	{ E_OK, OK, "E_OK" },	      { E_PAR, PAR, "E_PAR" },	    { E_ID, BAD_ID, "E_ID" },
	{ E_CTX, CTX, "E_CTX" },      { E_ILUSE, ILUSE, "E_ILUSE" }, { E_OBJ, OBJ, "E_OBJ" },
	{ E_NOEXS, NOEXS, "E_NOEXS" }, { E_QOVR, QOVR, "E_QOVR" },   { E_RLWAI, RLWAI, "E_RLWAI" },
	{ E_TMOUT, TMOUT, "E_TMOUT" }, { 1, OTHER, "OTHER" },	    { 1, NO, "FALSE" },
	{ 1, YES, "TRUE" },
};
#define RESULTS (sizeof(results) / sizeof(results[0]))

/* Where the calls below put what they give. */
static PRI priority;
static FLGPTN pattern;
static VP_INT data;
static T_MSG *message;
static SYSTIM time;
static ID task;

#define CALL_MAKE(name, place, objects, arguments, results) \
	static ER_UINT make_##name(ID id) \
	{ \
		(void)id; \
		return name arguments; \
	}
OBJECT_CALLS(CALL_MAKE)
PLAIN_CALLS(CALL_MAKE)
#define make_ext_tsk NULL

static const struct {
	const char *name;
	enum place place;
	enum objects objects;
	ER_UINT (*make)(ID id);
	UINT results;
} calls[CALLS] = {
#define CALL_ELEMENT(name, place, objects, arguments, results) \
	{ #name, PLACE_##place, objects, make_##name, results },
	ALL_CALLS(CALL_ELEMENT)
};

static const ID highest[] = {
	[TASKS] = TNUM_TSKID,	   [TASKS_OR_SELF] = TNUM_TSKID, [SEMAPHORES] = TNUM_SEMID,
	[FLAGS] = TNUM_FLGID,	   [QUEUES] = TNUM_DTQID,	 [MAILBOXES] = TNUM_MBXID,
	[POOLS] = TNUM_MPFID,	   [CYCLICS] = TNUM_CYCID,
};

#define SUCCESS (OK | NO | YES)

static UH seen[CALLS][STATES];

enum state state_now(void)
{
	if ((sns_ctx)())
		return (sns_loc)() ? STATE_HANDLER_LOCKED : STATE_HANDLER;
	if ((sns_loc)())
		return STATE_LOCKED;
	return (sns_dsp)() ? STATE_DISABLED : STATE_TASK;
}

/* One instruction: a task that preempts this one notes something, too. */
static void note(enum call call, enum state state, UINT bit)
{
	__atomic_fetch_or(&seen[call][state], (UH)bit, __ATOMIC_RELAXED);
}

ER_UINT call_noted(enum call call, enum state state, ER_UINT result)
{
	UINT bit = result > 0 ? OK : OTHER;

	for (size_t i = 0; i < RESULTS; i++)
		if (results[i].code == result && result <= 0)
			bit = results[i].bit;
	note(call, state, bit);
	return result;
}

BOOL sense_noted(enum call call, enum state state, BOOL result)
{
	note(call, state, result == TRUE ? YES : result == FALSE ? NO : OTHER);
	return result;
}

static enum call tested;

/* IDs that are too low, too high, and in a gap. */
static void identifiers_check(void)
{
	enum objects objects = calls[tested].objects;
	ID last = highest[objects];

	expect_equal(calls[tested].make(-1), E_ID);
	expect_equal(calls[tested].make(INT32_MIN), E_ID);
	expect_equal(calls[tested].make(last + 1), E_ID);
	expect_equal(calls[tested].make(INT32_MAX), E_ID);
	expect_equal(calls[tested].make(last - 1), E_NOEXS);
	if (objects != TASKS_OR_SELF)
		expect_equal(calls[tested].make(0), E_ID);
}

static void identify(enum call call)
{
	tested = call;
	if (calls[call].place == PLACE_HANDLER) {
		in_handler(identifiers_check);
		in_interrupt(identifiers_check);
		return;
	}
	identifiers_check();
	if (calls[call].place == PLACE_TASK) {
		dis_dsp();
		identifiers_check();
		ena_dsp();
	}
}

/* The objects with ID 1 are there, and its own ID for main. */
static void refusal_check(void)
{
	expect_equal(calls[tested].make(TSK_MAIN), E_CTX);
}

static void refusal_locked_check(void)
{
	iloc_cpu();
	refusal_check();
	iunl_cpu();
}

static void handlers_each(void (*work)(void))
{
	in_handler(work);
	in_interrupt(work);
	in_exception(work);
}

static void refuse(enum call call)
{
	UINT refused = places[calls[call].place].refused;

	tested = call;
	if (refused & IN_TASK)
		refusal_check();
	if (refused & IN_DISABLED) {
		dis_dsp();
		refusal_check();
		ena_dsp();
	}
	if (refused & IN_LOCKED) {
		loc_cpu();
		refusal_check();
		unl_cpu();
	}
	if (refused & IN_HANDLER)
		handlers_each(refusal_check);
	if (refused & IN_HANDLER_LOCKED)
		handlers_each(refusal_locked_check);
	expect(!sns_dpn() && traced(""));
}

static void bits_print(UINT bits)
{
	for (size_t i = 0; i < RESULTS; i++)
		if (bits & results[i].bit)
			print(" %s", results[i].name);
}

/* What the call has given in every state, as a line that can be compared. */
static void results_print(enum call call)
{
	print("# %s", calls[call].name);
	for (UINT state = 0; state < STATES; state++) {
		if (!seen[call][state])
			continue;
		print(" %s:", state_names[state]);
		bits_print(seen[call][state]);
	}
	print("\n");
}

static void complete(enum call call)
{
	UINT accepted = places[calls[call].place].accepted;
	UINT refused = places[calls[call].place].refused, all = 0;

	results_print(call);
	for (UINT state = 0; state < STATES; state++) {
		expect_equal(!(seen[call][state] & CTX), !(refused & STATE(state)));
		expect_equal(!(seen[call][state] & ~CTX), !(accepted & STATE(state)));
		expect_equal(!(seen[call][state] & SUCCESS), !(accepted & STATE(state)));
		all |= seen[call][state] & ~CTX;
	}
	if (!expect_equal(all, calls[call].results)) {
		print("# missing:");
		bits_print(calls[call].results & ~all);
		print(", not in the table:");
		bits_print(all & ~calls[call].results);
		print("\n");
	}
}

#define TEST_FUNCTIONS(name, ...) \
	static void refuse_##name(void) \
	{ \
		refuse(CALL_##name); \
	} \
	static void complete_##name(void) \
	{ \
		complete(CALL_##name); \
	}
OBJECT_CALLS(TEST_FUNCTIONS)
PLAIN_CALLS(TEST_FUNCTIONS)

static void complete_ext_tsk(void)
{
	complete(CALL_ext_tsk);
}

#define IDENTIFY_FUNCTION(name, ...) \
	static void identify_##name(void) \
	{ \
		identify(CALL_##name); \
	}
OBJECT_CALLS(IDENTIFY_FUNCTION)

#define IDENTIFY_TEST(name, ...) { #name " finds IDs without an object", identify_##name },
#define REFUSE_TEST(name, ...) { #name " gives E_CTX exactly where it must", refuse_##name },
#define COMPLETE_TEST(name, ...) { #name " has given all of its results", complete_##name },

static const struct tap_test identify_each[] = { OBJECT_CALLS(IDENTIFY_TEST) };
static const struct tap_test refuse_each[] = { OBJECT_CALLS(REFUSE_TEST) PLAIN_CALLS(REFUSE_TEST) };
static const struct tap_test complete_each[] = { ALL_CALLS(COMPLETE_TEST) };

const struct tap_group identifier_tests = TAP_GROUP(identify_each);
const struct tap_group context_tests = TAP_GROUP(refuse_each);
const struct tap_group result_tests = TAP_GROUP(complete_each);
