/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epochs of a channel between guests of two cores, as a model for SPIN. Each core has the store
 * buffer of an x86, as in message.pml. It follows vmm/core/epoch.c; test_model.py checks it, and
 * checks that each mistake named by an #ifdef is found.
 *
 *   count        how often each core has begun an epoch. That core writes it.
 *   head, tail   an index of either ring, of which the model needs the epoch only. Both cores
 *                write them; the guests do so by a comparison that fails in another epoch.
 *   meaning      of each epoch that was written: the counts that it stands for, once it is known.
 *
 * When all is done both indices must have the epoch that counts all that were begun, or the guests
 * would not agree, or one of them would take a byte of an old life for one of the new. No epoch may
 * stand for two pairs of counts, for the same reason.
 */

/* How often each core begins an epoch. */
#ifndef TIMES
#define TIMES 3
#endif
#define UNKNOWN 255

mtype = { COUNT, HEAD, TAIL };

byte count[2], head, tail;
byte meaning[2 * TIMES + 1] = UNKNOWN;

/* What is stored by a core and not seen by the other. */
chan first_stores = [3] of { mtype, byte };
chan second_stores = [3] of { mtype, byte };

proctype memory(byte owner; chan stores)
{
	mtype kind;
	byte value;

end:
	do
	:: atomic {
		stores?kind,value ->
		if
		:: kind == COUNT -> count[owner] = value
		:: kind == HEAD -> head = value
		:: kind == TAIL -> tail = value
		fi;
		value = 0
	}
	od
}

/* begun_by_all(), and what the epoch means from now on. */
inline look()
{
	atomic {
#ifdef OWN_COUNT_ONLY
		written = own;
#else
		written = own + count[1 - me];
#endif
		pair = (me == 0 -> own * 16 + count[1] : count[0] * 16 + own);
		assert(meaning[written] == UNKNOWN || meaning[written] == pair);
		meaning[written] = pair;
		pair = 0
	}
}

proctype core(byte me; chan stores)
{
	byte own = 0, written = 0, pair = 0;

	do
	:: own < TIMES ->
		atomic { own++; stores!COUNT,own };
#ifndef FORGETS_ORDER_BEHIND_THE_COUNT
		empty(stores);
#endif
		do
		:: true ->
			look();
			stores!HEAD,written;
			stores!TAIL,written;
#ifndef FORGETS_ORDER_BEHIND_THE_INDICES
			empty(stores);
#endif
#ifndef WRITES_ONCE
			if
			:: own + count[1 - me] == written -> break
			:: else
			fi
#else
			break
#endif
		od
	:: own == TIMES -> break
	od;
	/* Until nothing can happen any more. */
	timeout;
	assert(head == 2 * TIMES && tail == 2 * TIMES)
}

init {
	atomic {
		run memory(0, first_stores);
		run memory(1, second_stores);
		run core(0, first_stores);
		run core(1, second_stores)
	}
}
