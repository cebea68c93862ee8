/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epochs of a channel between guests of two cores, as a model for SPIN. Each core has the store
 * buffer of an x86, as in message.pml. It follows vmm/core/epoch.c; test_model.py checks it, and
 * checks that each mistake named by an #ifdef is found.
 *
 *   head, tail   an index of either ring, of which the model needs the epoch only. Both cores
 *                write them; the guests do so by a comparison that fails in another epoch.
 *   known        the epoch in which the guest of each core has sent something.
 *
 * When all is done both indices must have the same epoch, or the guests would not agree, or one of
 * them would take a byte of an old life for one of the new. Nobody may write an epoch once more
 * that a guest knows: what that had sent would be gone, and it would not be told.
 */

/* How often each core begins an epoch, and writes one at most. More are needed only if the other
 * core comes in between each time, which is not followed. */
#ifndef TIMES
#define TIMES 2
#endif
#define WRITES (TIMES + 1)
#define UNKNOWN 255

mtype = { HEAD, TAIL };

byte head, tail;
byte known[2] = UNKNOWN;
bool given_up = false;

/* What is stored by a core and not seen by the other. */
chan first_stores = [2] of { mtype, byte };
chan second_stores = [2] of { mtype, byte };

proctype memory(chan stores)
{
	mtype kind;
	byte value;

end:
	do
	:: atomic {
		stores?kind,value ->
		if
		:: kind == HEAD -> assert(value != known[0] && value != known[1]); head = value
		:: kind == TAIL -> tail = value
		fi;
		value = 0
	}
	od
}

/* The guest of a core sends something, if it finds the channel whole. */
proctype guest(byte me)
{
	byte times = 0;

	do
	:: atomic {
		times < TIMES && head == tail && head != 0 && head != known[me] ->
			known[me] = head;
			times++
	}
	:: break
	od
}

/* Whether a core reads its epoch: what it has stored it sees itself before others do. */
#define READS(kind, index) (index == EPOCH || stores??[kind,eval(EPOCH)])

#ifdef BOTH_WRITE_THE_SAME
#define EPOCH (written)
#else
#define EPOCH (written * 2 + me)
#endif

proctype core(byte me; chan stores)
{
	byte begun = 0, written = 0;

	do
	:: begun < TIMES ->
		begun++;
#ifdef COUNTS_ONCE
		written++;
#endif
		do
		:: written == WRITES -> given_up = true; break
		:: written < WRITES ->
#ifndef COUNTS_ONCE
			written++;
#endif
			stores!HEAD,EPOCH;
			stores!TAIL,EPOCH;
#ifndef FORGETS_ORDER_BEHIND_THE_INDICES
			empty(stores);
#endif
#ifdef WRITES_ONCE
			break
#else
			if
			:: READS(HEAD, head) ->
				if
				:: READS(TAIL, tail) -> break
				:: else
				fi
			:: else
			fi
#endif
		od
	:: begun == TIMES -> break
	od;
	/* Until nothing can happen any more. */
	timeout;
	assert(given_up || head == tail)
}

init {
	atomic {
		run memory(first_stores);
		run memory(second_stores);
		run guest(0);
		run guest(1);
		run core(0, first_stores);
		run core(1, second_stores)
	}
}
