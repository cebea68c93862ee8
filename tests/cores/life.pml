/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lives of a guest with several vCPUs, as a model for SPIN: the whole on one core and a part on
 * another one, each with the store buffer of an x86, as in message.pml, whose messages this one
 * takes for granted. It follows vmm/core/part.c, and what that calls of vm.c and loader.c;
 * test_model.py checks it, and checks that each mistake named by an #ifdef is found.
 *
 *   life, paused     struct part_page: how many lives have ended (counted from 1 here), and
 *                    whether the guest is paused. The whole's core writes them.
 *   entry, of_life   the start that was asked for last. The whole's core writes it, as each
 *                    sender has one of its own. An entry is the life in which it was asked for.
 *   ended, failed    up to which life nothing of the part is left, and the life plus 1 in which it
 *                    was stopped with a report. The part's core writes them.
 *   told, begin      MESSAGE_PART and MESSAGE_START for the part's core are on their way.
 *   answered         MESSAGE_PART for the whole's core is.
 *   whole, part      GANDALF_STATE_... of either VM.
 *   runs             the part's vCPU does, also if it is paused or the VMM works for it.
 *
 * While the guest is loaded nothing of the part may be left, and the part runs in the life that was
 * loaded, from that life's entry. At the end nobody waits: a whole that is to start has started,
 * and the part is what the whole is.
 */

#ifndef LIVES
#define LIVES 2
#endif
#ifndef STARTS
#define STARTS 2
#endif
#ifndef PAUSES
#define PAUSES 1
#endif
#define FAULTS 1
#define WORKS 2

mtype = { LIFE, PAUSED_WORD, ENTRY, OF_LIFE, ENDED, FAILED };
mtype = { OFF, STARTING, RUNNING, PAUSED };

byte life = 1, entry, of_life, ended = 1, failed;
bool paused = false;
bool told = false, begin = false, answered = false;
mtype whole = OFF, part = OFF;

/* What only the checks look at. */
bool loading = false, unreleased = false, start_wanted = false, runs = false;
byte loaded, own_life, asked_for;

chan whole_stores = [5] of { mtype, byte };
chan part_stores = [3] of { mtype, byte };

active proctype whole_memory()
{
	mtype kind;
	byte what;

end:
	do
	:: atomic {
		whole_stores?kind,what ->
		if
		:: kind == LIFE -> life = what
		:: kind == PAUSED_WORD -> paused = what
		:: kind == ENTRY -> entry = what
		:: kind == OF_LIFE -> of_life = what
		fi;
		what = 0
	}
	od
}

active proctype part_memory()
{
	mtype kind;
	byte what;

end:
	do
	:: atomic {
		part_stores?kind,what ->
		if
		:: kind == ENDED -> ended = what
		:: kind == FAILED -> failed = what
		fi;
		what = 0
	}
	od
}

/* whole_ends(), in vm_take_down() */
inline whole_ends()
{
	whole = OFF;
	own++;
	whole_stores!LIFE,own;
#ifndef PAUSE_OUTLIVES_THE_LIFE
	whole_stores!PAUSED_WORD,false;
#endif
	empty(whole_stores);
	told = true
}

/* whole_pauses(), in vm_pause() and vm_resume() */
inline whole_pauses(wanted)
{
	whole_stores!PAUSED_WORD,wanted;
	empty(whole_stores);
	told = true
}

active proctype whole_core()
{
	byte own = 1, lives = 0, starts = 0, pauses = 0;
	bool housekeeping = false, stays;

end:
	do
	/* vm_request_start() */
	:: atomic {
		whole == OFF && lives < LIVES ->
		whole = STARTING;
		housekeeping = true;
		lives++
	}
	/* vm_start_requested() on the idle vCPU */
	:: whole == STARTING && housekeeping ->
		housekeeping = false;
		if
#ifndef WHOLE_DOES_NOT_WAIT
		:: ended != own -> skip /* whole_may_start() */
		:: else ->
#else
		:: true ->
#endif
			atomic {
				loading = true;
				assert(part == OFF && !unreleased)
			};
			/* vm_load() and vm_start() */
			atomic {
				assert(part == OFF && !unreleased);
				loading = false;
				loaded = own;
				whole = RUNNING;
				if
				:: stays = true
				:: stays = false
				fi
			}
		fi
	/* part_start() */
	:: whole == RUNNING && starts < STARTS ->
		starts++;
#ifndef SENDER_WRITES_THE_LIFE_FIRST
		whole_stores!ENTRY,own;
		whole_stores!OF_LIFE,own;
#else
		whole_stores!OF_LIFE,own;
		whole_stores!ENTRY,own;
#endif
		empty(whole_stores);
		atomic { begin = true; asked_for = own }
	:: whole == RUNNING && pauses < PAUSES ->
		pauses++;
		whole = PAUSED;
		whole_pauses(true)
	:: whole == PAUSED && !stays ->
		whole = RUNNING;
		whole_pauses(false);
		if
		:: stays = true
		:: skip
		fi
	:: (whole == RUNNING || whole == PAUSED) && !stays ->
		whole_ends()
	/* part_serve(), whole_learns() */
	:: atomic { answered -> answered = false };
		if
#ifndef WHOLE_FORGETS_TO_LOOK_AGAIN
		:: whole == STARTING -> housekeeping = true
#endif
		:: (whole == RUNNING || whole == PAUSED) && failed == own + 1 ->
			whole_ends()
		:: else
		fi
	od
}

/* part_begin() */
inline part_begin()
{
	start_wanted = false;
	if
#ifndef START_IS_OF_ANY_LIFE
	:: wanted_life != life -> skip
	:: else ->
#else
	:: true ->
#endif
		own_life = wanted_life;
		own_ended = own_life - 1;
		part_stores!ENDED,own_ended;
		part = STARTING
	fi
}

/* part_ends(), which reads the life twice */
inline part_ends()
{
	if
	:: own_ended == life -> skip
	:: else ->
		own_ended = life;
		part_stores!ENDED,own_ended;
#ifndef PART_TELLS_BEFORE_IT_IS_SEEN
		empty(part_stores);
#endif
		answered = true
	fi
}

inline part_is_released()
{
	if
	:: part == OFF && start_wanted && !paused ->
		part_begin()
#ifdef REFUSED_START_IS_NO_END
		;
		refused = true
#endif
	:: else
	fi;
	if
#ifdef REFUSED_START_IS_NO_END
	:: part == OFF && !start_wanted && !unreleased && !refused -> part_ends()
#else
#ifdef PART_ENDS_BEFORE_IT_IS_RELEASED
	:: part == OFF && !start_wanted -> part_ends()
#else
	:: part == OFF && !start_wanted && !unreleased -> part_ends()
#endif
#endif
	:: else
	fi
#ifdef REFUSED_START_IS_NO_END
	;
	refused = false
#endif
}

/* vm_halt() */
inline part_halt()
{
	halt_wanted = working;
	if
	:: halt_wanted
	:: !halt_wanted && part == STARTING -> part = OFF
	:: else -> atomic { unreleased = true; runs = false; part = OFF }
	fi
}

/* vm_pause_with(). The vCPU of one that is about to start does not run yet, and nor does it when
 * the pause is over. */
inline part_pause_with()
{
	halt_wanted = working;
	if
	:: halt_wanted
	:: !halt_wanted && part != PAUSED -> part = PAUSED
	:: !halt_wanted && part == PAUSED -> part = RUNNING
	fi
}

inline part_follows()
{
	if
	:: part != OFF && (own_life != life || start_wanted) -> part_halt()
#ifndef PAUSE_DOES_NOT_LOOK_FOR_A_START
	:: part == STARTING && own_life == life && !start_wanted && paused ->
		part = OFF; /* vm_halt(): the VMM does not work for it yet */
		start_wanted = true
	:: part != OFF && part != STARTING && own_life == life && !start_wanted &&
	   paused != (part == PAUSED) -> part_pause_with()
#else
	:: part != OFF && own_life == life && !start_wanted &&
	   paused != (part == PAUSED) -> part_pause_with()
#endif
	:: else
	fi;
	part_is_released()
}

active proctype part_core()
{
	byte own_ended = 1, wanted_life, wanted_entry, faults = 0, works = 0;
	bool working = false, halt_wanted = false, is_starting = false, takes = false;
#ifdef REFUSED_START_IS_NO_END
	bool refused = false;
#endif

end:
	do
	:: atomic {
		if
		/* part_serve(); and part_settles() behind the VMM's work, in vm_halt_wanted() */
		:: told -> told = false
#ifndef NOBODY_SETTLES_BEHIND_THE_WORK
		:: !working && halt_wanted -> halt_wanted = false
#endif
		/* start_serve() */
		:: begin -> begin = false; start_wanted = true; takes = true
		fi
	};
		if
		:: takes ->
#ifndef READER_TAKES_THE_ENTRY_FIRST
			wanted_life = of_life;
			wanted_entry = entry;
#else
			wanted_entry = entry;
			wanted_life = of_life;
#endif
			takes = false
		:: else
		fi;
		part_follows()
	/* The VMM works for it, and is interrupted. */
	:: atomic { part == RUNNING && !working && works < WORKS -> working = true; works++ }
	:: atomic { working -> working = false }
	/* vm_release() on the idle vCPU */
	:: atomic { unreleased && !is_starting -> unreleased = false };
		part_is_released()
	/* vm_start() there, with interrupts let in between its steps */
	:: atomic { part == STARTING && !is_starting -> is_starting = true; unreleased = false }
	:: is_starting ->
		atomic {
			is_starting = false;
			if
			:: part == STARTING ->
				assert(!loading && loaded == own_life);
				assert(wanted_entry == own_life);
				part = RUNNING;
				runs = true
			:: else
			fi
		}
	/* part_fails() */
	:: part == RUNNING && !working && faults < FAULTS ->
		faults++;
		atomic { part = OFF; runs = false; unreleased = true };
		part_stores!FAILED,own_life + 1;
		empty(part_stores);
		answered = true
	od
}

active proctype judge()
{
	/* Until nothing can happen any more. */
	timeout;
	assert(whole != STARTING);
	assert(!unreleased && part != STARTING);
	if
	:: whole == OFF -> assert(part == OFF && ended == life && !start_wanted)
	:: whole == PAUSED -> assert(part != RUNNING)
	:: whole == RUNNING && asked_for == life ->
		assert(part == RUNNING && runs && own_life == life)
	:: else -> assert(part == OFF && !start_wanted)
	fi
}
