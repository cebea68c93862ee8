/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epochs of a seat, by which an address space's shadow that a vCPU has left behind on a core is
 * kept or emptied when the vCPU is there again, as a model for SPIN. It follows flush_log_skip(),
 * flush_log_renew() and flush_log_add() of vmm/guests/x86/smp/flush_log.c. How a log is followed
 * flush by flush, and what becomes of one that is read while it is written, is in flush_log.pml;
 * here each flush that is not skipped is followed at once. test_model.py checks the model, and
 * checks that each mistake named by an #ifdef is found.
 *
 *   table     how often Linux has changed the entry of the space. The first writes it.
 *   noted     the flush after which the space's class was last flushed. The first's core writes it.
 *   count     of flushes ever, of this space and of others. The first's core writes it.
 *   shadow    what the second's seat has of the entry, or NONE.
 *   epoch     of the seat; made, that of the space; ended, the count at which each epoch ended.
 *   asked     Linux's interrupt to the second is on its way; answered when it has flushed.
 *
 * When the first has done with a flush of the space, the second must not use an older entry.
 */

/* How many flushes there are, and how often the second is elsewhere. */
#ifndef FLUSHES
#define FLUSHES 2
#endif
#ifndef MOVES
#define MOVES 3
#endif
/* How many epochs are known. */
#define EPOCHS 2
#define NONE 99

mtype = { TABLE, NOTED, COUNT };

byte table, noted, count;
byte shadow = NONE, done = 0;
byte epoch = 0, made = 0, followed = 0, ended[EPOCHS];
bool loaded = false, uses = false, here = true, asked = false, answered = false;

chan stores = [4] of { mtype, byte };

active proctype memory()
{
	mtype kind;
	byte what;

end:
	do
	:: atomic {
		stores?kind,what ->
		if
		:: kind == TABLE -> table = what
		:: kind == NOTED -> noted = what
		:: kind == COUNT -> count = what
		fi;
		what = 0
	}
	od
}

active proctype first()
{
	byte own = 0, changes = 0;
	bool ours;

	do
	:: own < FLUSHES ->
		if
		:: ours = true
		:: ours = false
		fi;
		if
		:: ours ->
			changes++;
			stores!TABLE,changes
		:: else
		fi;
		own++;
		/* flush_log_add() */
#ifdef COUNTS_BEFORE_IT_NOTES
		stores!COUNT,own;
#endif
#ifdef NOTES_THE_FLUSH_BEFORE
		if
		:: ours -> stores!NOTED,own - 1
		:: else
		fi;
#else
		if
		:: ours -> stores!NOTED,own
		:: else
		fi;
#endif
#ifndef COUNTS_BEFORE_IT_NOTES
		stores!COUNT,own;
#endif
		/* The IRET orders; then Linux looks whether the space is loaded. */
		empty(stores);
		if
		:: ours && loaded ->
			asked = true;
			answered;
			answered = false
		:: else
		fi;
		atomic {
			done = changes;
			assert(!uses || shadow == NONE || shadow >= done)
		}
	:: own == FLUSHES -> break
	od
}

/* Nothing is skipped. What a flush is about is found by the note. */
inline flush_log_follow()
{
	last = count;
	if
	:: last != followed ->
		if
		:: noted > followed -> shadow = NONE
		:: else
		fi;
		followed = last
	:: else
	fi;
	last = 0
}

/* When the vCPU is in the seat again. */
inline flush_log_skip()
{
	ended[epoch % EPOCHS] = followed;
#ifndef SKIP_ENDS_NO_EPOCH
	epoch++;
#endif
	followed = count
}

/* When the space is loaded. */
inline flush_log_renew()
{
	if
	:: made != epoch ->
		if
#ifdef KNOWS_ONE_EPOCH_MORE
		:: epoch - made > EPOCHS + 1 -> shadow = NONE
#else
		:: epoch - made > EPOCHS -> shadow = NONE
#endif
#ifndef NOTE_IS_NOT_LOOKED_AT
		:: epoch - made <= EPOCHS && noted > ended[made % EPOCHS] -> shadow = NONE
#endif
		:: else
		fi;
		made = epoch
	:: else
	fi
}

active proctype second()
{
	byte moves = 0, loads = 0, last, value;

end:
	do
	/* Linux's interrupt, here: its handler loads CR3. */
	:: here && asked ->
		asked = false;
		flush_log_follow();
		flush_log_renew();
		answered = true
	/* And elsewhere, where another seat's shadow is flushed. */
	:: !here && asked -> asked = false; answered = true
	/* switch_mm(), to the space and to another one, which is all that it does elsewhere. */
	:: !loaded && !asked && loads <= MOVES ->
		loads++;
		loaded = true;
		if
		:: here ->
			flush_log_follow();
#ifndef LOADS_WITHOUT_A_LOOK
			flush_log_renew();
#endif
			uses = true;
			assert(shadow == NONE || shadow >= done)
		:: else
		fi
	:: loaded && !asked -> atomic { uses = false; loaded = false }
	/* It departs; nothing of the seat is touched. */
	:: here && moves < MOVES -> atomic { moves++; uses = false; here = false }
	/* It arrives. What it uses there is loaded when it first goes on. */
	:: !here ->
		flush_log_skip();
		here = true;
		if
		:: loaded ->
			flush_log_renew();
			uses = true;
			assert(shadow == NONE || shadow >= done)
		:: else
		fi
	/* It works: the entry is read, and noted a while later. */
	:: uses && shadow == NONE -> value = table; shadow = value; value = 0
	od
}
