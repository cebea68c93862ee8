/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of flushes, by which the shadow of another core is right without stopping that core, as a
 * model for SPIN: two vCPUs of a Linux, one that changes page tables and one that has a shadow of
 * them, each on a core with the store buffer of an x86, as in message.pml. It follows
 * vmm/guests/x86/smp/flush_log.c, hypercall_flush() and flush_tlb_mm_range() of Linux with the line
 * in it (guest/linux/gandalf-smp.patch); test_model.py checks it, and checks that each mistake
 * named by an #ifdef is found.
 *
 *   table     an entry of each of two pages: how often it has been changed. The first writes it.
 *   page,     the log: which page was flushed, in two words that must not be taken from two
 *   again     flushes. The first's core writes them.
 *   count     of flushes ever. The first's core writes it.
 *   loaded    the second uses the address space, by the mask of the mm. The second writes it.
 *   asked     Linux's interrupt to the second is on its way; answered when it has flushed.
 *   shadow    what the second's shadow has of each page, or NONE.
 *   uses      the second's kernel has loaded the space, and goes by the shadow.
 *
 * When the first has done with a flush, it takes the page for its own: the second must not be able
 * to use an older entry from then on. Whether the second has the space loaded or not then, it may
 * load it at any time.
 */

/* How often an entry is changed, and how often the second loads the space. */
#ifndef FLUSHES
#define FLUSHES 4
#endif
#ifndef LOADS
#define LOADS 2
#endif
#define LOG 2
#define NONE 99

mtype = { TABLE, PAGE, AGAIN, COUNT };

byte table[2], page[LOG], again[LOG], count;
byte shadow[2] = NONE;
/* What a page must at least be for whoever uses it: the flushes of it that are done. */
byte done[2];
bool loaded = false, uses = false, asked = false, answered = false;

chan stores = [6] of { mtype, byte, byte };

active proctype memory()
{
	mtype kind;
	byte place, what;

end:
	do
	:: atomic {
		stores?kind,place,what ->
		if
		:: kind == TABLE -> table[place] = what
		:: kind == PAGE -> page[place] = what
		:: kind == AGAIN -> again[place] = what
		:: kind == COUNT -> count = what
		fi;
		place = 0;
		what = 0
	}
	od
}

/* GANDALF_HYPERCALL_FLUSH: flush_log_add(), on its core. The IRET behind it orders stores, and so
 * does Linux's inc_mm_tlb_gen(), in front of the look at the mask. */
inline flush_log_add()
{
	stores!PAGE,own % LOG,which;
	stores!AGAIN,own % LOG,which;
	own++;
	stores!COUNT,0,own;
#ifndef RETURN_DOES_NOT_ORDER
	empty(stores)
#endif
}

/* Whether Linux has to interrupt the second: it has the space loaded, by the mask. */
inline look()
{
	if
	:: loaded -> ask = true
	:: else
	fi
}

active proctype first()
{
	byte own = 0, changes[2], which;
	bool ask = false;

	do
	:: own < FLUSHES ->
		select(which : 0 .. 1);
		/* Linux changes the entry. */
#ifndef TABLE_IS_CHANGED_BEHIND
		atomic { changes[which]++; stores!TABLE,which,changes[which] };
#endif
#ifdef LOGS_BEHIND_THE_MASK
		look();
		flush_log_add();
#else
		flush_log_add();
		look();
#endif
#ifdef TABLE_IS_CHANGED_BEHIND
		atomic { changes[which]++; stores!TABLE,which,changes[which] };
#endif
		if
		/* arch_tlbbatch_add_mm(): there is more, and nobody is waited for yet. */
		:: own < FLUSHES
		:: true ->
			/* flush_tlb_mm_range(), arch_tlbbatch_flush() */
			if
			:: ask ->
				empty(stores); /* in message_send() */
				asked = true;
				answered;
				answered = false;
				ask = false
			:: else
			fi;
			/* The pages are another's now. */
			atomic {
				done[0] = changes[0];
				done[1] = changes[1];
				assert(!uses || shadow[0] == NONE || shadow[0] >= done[0]);
				assert(!uses || shadow[1] == NONE || shadow[1] >= done[1])
			}
		fi
	:: own == FLUSHES -> break
	od
}

/* flush_log_follow(), log_follow(), flush_follow() */
inline flush_log_follow()
{
	/* What is added from here on is left for the next time. */
	last = count;
	do
	:: followed != last ->
#ifdef TAKES_THE_COUNT_FIRST
		behind = count - followed;
#endif
		first_word = page[followed % LOG];
		second_word = again[followed % LOG];
#ifndef TAKES_THE_COUNT_FIRST
		behind = count - followed;
#endif
		if
#ifndef LOG_IS_NEVER_FULL
#ifdef LOG_HOLDS_ONE_MORE
		:: behind > LOG ->
#else
		:: behind >= LOG ->
#endif
			followed = count;
			/* shadow_forget() */
			shadow[0] = NONE;
			shadow[1] = NONE;
			last = followed
		:: else ->
#else
		:: true ->
#endif
			/* shadow_flush(). A page that is in one word only is none. */
			if
			:: first_word == second_word -> shadow[first_word] = NONE
			:: else
			fi;
			followed++
		fi;
		first_word = 0;
		second_word = 0;
		behind = 0
	:: else -> break
	od;
	last = 0
}

/* shadow_fill(): the entry is read, and noted a while later. */
inline fill()
{
	if
	:: shadow[0] == NONE -> value = table[0]; shadow[0] = value
	:: shadow[1] == NONE -> value = table[1]; shadow[1] = value
	:: else
	fi;
	value = 0
}

active proctype second()
{
	byte followed = 0, loads = 0, first_word, second_word, behind, last, value;
	bool loading = false;

end:
	do
	:: atomic {
		if
		/* Linux's interrupt, whose handler executes INVLPG or loads CR3. */
		:: asked -> asked = false
		/* switch_mm(): the mask first, by a locked operation. Then CR3. */
		:: !loaded && !asked && loads < LOADS ->
			loads++;
			loaded = true;
			loading = true
		fi
	};
		/* emulate.c, before it emulates either. */
#ifdef INTERRUPT_FOLLOWS_NOTHING
		if
		:: loading -> flush_log_follow()
		:: else
		fi;
#else
#ifdef LOAD_FOLLOWS_NOTHING
		if
		:: !loading -> flush_log_follow()
		:: else
		fi;
#else
		flush_log_follow();
#endif
#endif
		atomic {
			if
			:: loading ->
				loading = false;
				uses = true;
				assert(shadow[0] == NONE || shadow[0] >= done[0]);
				assert(shadow[1] == NONE || shadow[1] >= done[1])
			:: else -> answered = true
			fi
		}
	/* It works. */
	:: uses && (shadow[0] == NONE || shadow[1] == NONE) -> fill()
	/* It has another space. The shadow is kept. */
	:: uses && loads < LOADS && !asked -> uses = false; loaded = false
	od
}
