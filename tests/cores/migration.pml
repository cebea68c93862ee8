/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vCPU that moves between two cores, as a model for SPIN: the core that has its siblings sends it
 * interrupts, has it start anew and ends its guest's life meanwhile. Each core has the store buffer
 * of an x86, as in message.pml, whose messages this one takes for granted. It follows
 * vmm/core/migration.c, vmm/core/part.c and vmm/guests/x86/smp/interrupt.c; test_model.py checks
 * it, and checks that each mistake named by an #ifdef is found.
 *
 *   held, left       struct part_page: which stay of the vCPU was its last one on a core, and 1 +
 *                    the one that it has ended there. That core writes them. There are two, so it
 *                    has left for the other one.
 *   state, irr       what the vCPU has in the seat that it has left: how much it has done, and
 *                    whether an interrupt waits for it. That core writes them.
 *   seen             struct smp_page, ipi_seen: the sender's bit as the vCPU's core has seen it.
 *   raised, data,    the sender's bit; what it has stored in front of its last interrupt; how many
 *   life             lives of the guest have ended. The sender's core writes them.
 *   ipi, start, told MESSAGE_IPI, MESSAGE_START and MESSAGE_PART are on their way to a core;
 *   onward, gone     MESSAGE_START from the other core, and MESSAGE_LEFT.
 *
 * The vCPU is in one place at most and has there what it had where it was. At the end it has taken
 * an interrupt that shows it all that was stored before the last one was sent, has started anew if
 * it was to, and is off if its guest's life has ended.
 */

/* How often it moves and is interrupted, and how often an idle vCPU looks without a message. */
#ifndef MOVES
#define MOVES 2
#endif
#ifndef SENDS
#define SENDS 2
#endif
#define LOOKS 1

mtype = { HELD, LEFT, STATE, IRR, SEEN, RAISED, DATA, LIFE };

byte held[2], left[2], state[2];
bool irr[2], seen[2];
bool raised = false;
byte data, life;
bool ipi[2], start[2], told[2], onward[2], gone[2];

/* What only the checks look at. */
byte places = 1, did, got, looks;
bool off = false, begun = false, asked = false;

chan core_stores[2] = [5] of { mtype, byte };
chan sender_stores = [3] of { mtype, byte };

proctype core_memory(byte own)
{
	mtype kind;
	byte what;

end:
	do
	:: atomic {
		core_stores[own]?kind,what ->
		if
		:: kind == HELD -> held[own] = what
		:: kind == LEFT -> left[own] = what
		:: kind == STATE -> state[own] = what
		:: kind == IRR -> irr[own] = what
		:: kind == SEEN -> seen[own] = what
		fi;
		what = 0
	}
	od
}

proctype sender_memory()
{
	mtype kind;
	byte what;

end:
	do
	:: atomic {
		sender_stores?kind,what ->
		if
		:: kind == RAISED -> raised = what
		:: kind == DATA -> data = what
		:: kind == LIFE -> life = what
		fi;
		what = 0
	}
	od
}

/* What a core has stored itself it reads as it has stored it. The sender's has stored nothing. */
#define SENDER 2
#define HELD_ON(at) (at == own -> own_held : held[at])
#define LEFT_ON(at) (at == own -> own_left : left[at])

/* part_core(): from where it was at the last look, at first its home, which is core 0. It reads one
 * variable after the other. */
inline find()
{
	do
	:: stay = HELD_ON(at);
		if
		:: LEFT_ON(at) != stay + 1 -> break
		:: else
		fi;
		if
#ifdef GOES_WHERE_IT_HAS_NOT_ARRIVED
		:: true -> at = 1 - at; break
#else
		:: HELD_ON(1 - at) <= stay -> break /* it is on its way */
		:: else -> at = 1 - at
#endif
		fi
	od;
	stay = 0
}

/* smp_take_ipis(), for the vCPU of this core */
inline take_ipis()
{
	if
	:: raised != own_seen ->
		own_seen = !own_seen;
		core_stores[own]!SEEN,own_seen;
		empty(core_stores[own]);
		waits = true
	:: else
	fi
}

/* part_follows(): what has become of the whole, and then whether a start waits. */
inline look_at_life()
{
	if
	:: life != 0 -> off = true
	:: else
	fi
}

inline follow()
{
	look_at_life();
	if
	:: start_wanted && !off -> begun = true
	:: else
	fi;
	start_wanted = false
}

inline store_left()
{
	atomic { own_left = own_held + 1; core_stores[own]!LEFT,own_left }
}

/* seat_leave(), on the idle vCPU */
inline leave()
{
	atomic { here = false; places--; works++; did++ };
#ifdef LEAVES_BEFORE_ITS_STATE
	store_left();
#endif
	core_stores[own]!STATE,works;
	core_stores[own]!IRR,waits;
#ifndef LEAVES_BEFORE_ITS_STATE
	store_left();
#endif
	/* message_send() */
#ifndef LEAVES_UNSEEN
	empty(core_stores[own]);
#endif
	gone[other] = true
}

/* seat_copy() and seat_take(), on the idle vCPU */
inline arrive()
{
	works = state[other];
	assert(works == did);
	waits = irr[other];
#ifndef WHAT_WAS_SEEN_STAYS
	own_seen = seen[other];
	core_stores[own]!SEEN,own_seen;
#endif
	atomic { here = true; places++; assert(places == 1) };
#ifdef LOOKS_BEFORE_IT_IS_HERE
	take_ipis();
#endif
	own_held = held[other] + 1;
	core_stores[own]!HELD,own_held;
#ifndef ARRIVES_WITHOUT_ORDER
	empty(core_stores[own]);
#endif
#ifndef LOOKS_BEFORE_IT_IS_HERE
	take_ipis();
#endif
#ifndef ARRIVES_WITHOUT_A_LOOK_AT_ITS_LIFE
	follow()
#else
	start_wanted = false
#endif
}

/* seat_is_expected() */
inline look_for_it()
{
	find();
	expected = at == other && left[other] == held[other] + 1
}

/* seats_settle() */
inline settle()
{
	look_for_it();
	if
	:: !here && expected -> arrive()
	:: else
	fi;
	expected = false
}

/* start_serve() */
inline start_serve()
{
	look_for_it();
	if
	:: here -> start_wanted = true; follow()
#ifndef START_AHEAD_OF_IT_IS_LOST
	:: !here && expected -> start_wanted = true
#else
	:: !here && expected
#endif
	:: else ->
#ifndef START_IS_NOT_HANDED_ON
		empty(core_stores[own]);
		onward[other] = true
#else
		skip
#endif
	fi;
	expected = false
}

proctype core(byte own)
{
	byte other = 1 - own, own_held = 0, own_left = 0, works = 0, at = 0, stay = 0;
	bool expected = false;
	bool here = (own == 0), own_seen = false, waits = false, start_wanted = false;
	bool housekeeping = false;

end:
	do
	/* The guest runs. */
	:: here && !off && waits -> waits = false; got = data
	:: here && !off && !start_wanted && own_held < MOVES -> leave()
	/* The idle vCPU, which also looks when other work has led there. */
	:: atomic { gone[own] -> gone[own] = false; housekeeping = true }
	:: atomic { housekeeping -> housekeeping = false };
		settle()
	:: atomic { looks < LOOKS -> looks++ };
		settle()
	/* Messages */
	:: atomic { ipi[own] -> ipi[own] = false };
		if
#ifdef TAKES_WHAT_IS_ANOTHERS
		:: true -> take_ipis()
#else
		:: here -> take_ipis()
		:: !here
#endif
		fi
	:: atomic { told[own] -> told[own] = false };
		if
		:: here -> look_at_life()
		:: !here
		fi
	:: atomic { start[own] -> start[own] = false };
		start_serve()
	:: atomic { onward[own] -> onward[own] = false };
		start_serve()
	od
}

/* sibling_interrupt_far() */
inline interrupt()
{
	sends++;
	sender_stores!DATA,sends;
	empty(sender_stores);
	find();
	if
	:: own_raised != seen[at] -> skip /* It is on its way. */
	:: else ->
		own_raised = !own_raised;
		sender_stores!RAISED,own_raised;
#ifdef SENDER_LOOKS_BEFORE_IT_IS_SEEN
		find();
		empty(sender_stores);
#else
		empty(sender_stores);
		find();
#endif
		ipi[at] = true
	fi
}

proctype sender()
{
	byte own = SENDER, own_held = 0, own_left = 0, sends = 0, at = 0, stay = 0;
	bool own_raised = false;

	do
	:: sends < SENDS -> interrupt()
	:: !asked ->
		/* part_start() */
		empty(sender_stores);
		find();
		atomic { start[at] = true; asked = true }
	:: sends == SENDS && asked -> break
	od;
	if
	:: true ->
		/* whole_ends(): all are told, wherever it is. */
		sender_stores!LIFE,1;
#ifndef TELLS_BEFORE_IT_IS_SEEN
		empty(sender_stores);
#endif
		atomic { told[0] = true; told[1] = true }
	:: true
	fi
}

init {
	atomic {
		run core_memory(0);
		run core_memory(1);
		run sender_memory();
		run core(0);
		run core(1);
		run sender()
	};
	/* Until nothing can happen any more. */
	timeout;
	assert(places == 1);
	if
	:: life != 0 -> assert(off)
	:: else -> assert(begun && got == SENDS)
	fi
}
