/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often messages interrupt a core, as a model for SPIN: two cores that send as they like, and
 * one whose CPU an RTOS and a vCPU of a Linux have in turn. It follows vmm/core/message.c and
 * vmm/guests/x86/smp/interrupt.c; test_model.py checks it, and checks that each mistake named by an
 * #ifdef is found. Stores are seen at once: message.pml has store buffers.
 *
 *   raised, seen     the message of each sender: on its way while the two differ.
 *   vectors, known   the same for the vectors that the message brings, which are bits, too.
 *   sent, got        how often each vector has been sent, and how often by the last look at it.
 *   pending          the reader's interrupt: its local APIC holds one.
 *   left             ticks to the window's end; taken: messages in it; closed: a deadline is set.
 *   rests            the vCPU has had its share of vectors; rest: ticks to the end of that.
 *   rtos             an RTOS has the CPU.
 *
 * Between two messages a timer's interrupt may have another one get the CPU. The window's end then
 * brings the rest, unless the first one has the CPU again before, and goes on with it.
 *
 * In no time as long as a window an RTOS is interrupted by more messages than AT_ONCE_RTOS,
 * whatever the senders do and whoever has had the CPU before. Interrupts that find it closed cost
 * it less: each sender causes one of them at most for each of its messages, since that is on its
 * way then. In the end nothing is on its way, and each vector has been got behind its last sending.
 */

#define SENDERS 2
#define VECTORS 2
#define AT_ONCE 3
#define AT_ONCE_RTOS 2
#define VECTORS_AT_ONCE 2
#define WINDOW 2 /* ticks; the events of so many of them are remembered */

/* How often the first sender sends, the other two times less; how often the CPU goes from one to
 * the other. */
#ifdef FIRST_OF_AN_OLD_WINDOW_LEAVES_IT
#define EVENTS 4
#define SWITCHES 3 /* a window must begin in vain, and then an RTOS get three messages */
#endif
#ifndef EVENTS
#define EVENTS 3
#endif
#ifndef SWITCHES
#ifndef SWITCH_BEGINS_A_WINDOW
#define SWITCHES 2
#else
#define SWITCHES 5 /* the RTOS must have the CPU three times in a window */
#endif
#endif

/* The vCPU is amid messages, and has lost the CPU. */
bool amid = false;
bit raised[SENDERS], seen[SENDERS];
bit vectors[SENDERS * VECTORS], known[SENDERS * VECTORS];
byte sent[SENDERS * VECTORS], got[SENDERS * VECTORS];
bool pending = false, closed = false, rests = false, rtos = false;
byte left = 0, taken = 0, rest = 0, vectors_taken = 0, turn = 0, switches = 0;
/* Messages and interrupts that an RTOS has had, in this tick and in the one before. */
byte messages_now = 0, messages_before = 0, vain_now = 0, vain_before = 0;

/* sibling_interrupt_far() and message_send() */
proctype sender(byte own)
{
	byte events = 0, vector = 0;

	do
	:: atomic {
		events < EVENTS - 2 * own -> events++;
		select(vector : 0 .. VECTORS - 1);
		vector = own * VECTORS + vector;
		sent[vector]++
	}
		if
		:: vectors[vector] != known[vector] -> skip /* it is on its way */
		:: else ->
#ifndef SENDER_TELLS_BEFORE_IT_RAISES
			vectors[vector] = 1 - vectors[vector];
#endif
			atomic {
				if
				:: raised[own] != seen[own] -> skip
				:: else -> raised[own] = 1 - raised[own]; pending = true
				fi
			}
#ifdef SENDER_TELLS_BEFORE_IT_RAISES
			vectors[vector] = 1 - vectors[vector]
#endif
		fi
	:: events == EVENTS - 2 * own -> break
	od
}

/* ipis_see(): the bits are equal before what is behind them is read. */
inline vectors_see(from)
{
	atomic {
		i = 0;
		do
		:: i < VECTORS ->
			if
			:: vectors[from * VECTORS + i] != known[from * VECTORS + i] ->
				known[from * VECTORS + i] = vectors[from * VECTORS + i];
				got[from * VECTORS + i] = sent[from * VECTORS + i];
				vectors_taken++
			:: else
			fi;
			i++
		:: i == VECTORS -> break
		od;
		i = 0;
		if
		:: vectors_taken >= VECTORS_AT_ONCE -> rests = true; rest = WINDOW
		:: else
		fi
	}
}

/* ipi_serve() */
inline message_serve(from)
{
	if
	:: rests -> skip
	:: else -> vectors_see(from)
	fi
}

/* window_has_room() */
inline window_look()
{
	atomic {
		if
#ifndef WINDOW_BEGINS_WITH_EACH_MESSAGE
		:: left == 0 -> left = WINDOW; taken = 0
		:: else
#else
		:: left = WINDOW; taken = 0
#endif
		fi;
		room =
#ifndef RTOS_HAS_THE_LIMIT_OF_LINUX
			(rtos -> taken < AT_ONCE_RTOS : taken < AT_ONCE);
#else
			taken < AT_ONCE;
#endif
#ifndef CLOSED_WINDOW_HAS_NO_END
		closed = closed || !room
#endif
	}
}

active proctype reader()
{
	byte i = 0, from = 0;
	bool room = false, any = false;

end:
	do
	/* message_interrupt(): interrupts are masked, and what it does for an RTOS is counted. */
	:: atomic { pending -> pending = false; any = false };
		do
		:: window_look();
			if
			:: !room -> break
			:: else
			fi;
			atomic {
				from = turn;
				if
				:: raised[from] == seen[from] -> from = 1 - from
				:: else
				fi;
				turn = 1 - from
			};
			if
			:: raised[from] == seen[from] -> break
			:: else
			fi;
#ifndef READER_SERVES_BEFORE_IT_IS_SEEN
			seen[from] = raised[from];
			message_serve(from);
#else
			message_serve(from);
			seen[from] = raised[from];
#endif
			atomic {
				taken++;
#ifdef FULL_WINDOW_ENDS_WHERE_IT_WOULD
				skip;
#elif defined(FIRST_OF_AN_OLD_WINDOW_LEAVES_IT)
				left = (rtos && taken == AT_ONCE_RTOS -> WINDOW : left);
#else
				left = (rtos && taken <= AT_ONCE_RTOS -> WINDOW : left);
#endif
				any = true;
				messages_now = messages_now + rtos;
				assert(messages_now + messages_before <= AT_ONCE_RTOS)
			};
			if
			:: atomic {
				switches < SWITCHES &&
				(raised[0] != seen[0] || raised[1] != seen[1]) ->
				switches++;
				amid = !rtos;
				rtos = !rtos;
#ifndef SWITCH_LEAVES_THE_REST
				closed = true
#endif
			};
				break
			:: true
			fi
		od;
		atomic {
			vain_now = vain_now + (rtos && !any);
			assert(vain_now + vain_before <= 2 * SENDERS + 1);
			any = false;
			from = 0;
			room = false
		}
	/* window_end() */
	:: atomic {
		closed && left == 0 -> closed = false; taken = 0;
#ifndef WINDOW_END_FORGETS_THE_REST
		pending = true
#endif
	}
	/* rest_end(): what has come meanwhile is got at once. */
	:: atomic {
		rests && rest == 0 && !rtos -> rests = false; vectors_taken = 0;
#ifndef REST_END_FORGETS_WHAT_CAME
		vectors_see(0);
		vectors_see(1)
#endif
	}
	/* The scheduler. */
	:: atomic {
		switches < SWITCHES -> switches++; rtos = !rtos;
		pending = pending || (amid && !rtos);
		amid = amid && rtos;
#ifdef SWITCH_BEGINS_A_WINDOW
		taken = 0
#endif
	}
	/* Time goes on. */
	:: atomic {
		left + rest > 0 ->
		left = (left > 0 -> left - 1 : 0);
		rest = (rest > 0 -> rest - 1 : 0);
		messages_before = messages_now;
		messages_now = 0;
		vain_before = vain_now;
		vain_now = 0
	}
	od
}

init
{
	byte vector = 0;

	atomic { run sender(0); run sender(1) };
	/* Until nothing can happen any more. */
	timeout;
	if
	:: rtos -> skip /* the vCPU goes on behind it */
	:: else ->
		do
		:: vector < SENDERS * VECTORS ->
			assert(vectors[vector] == known[vector] && got[vector] == sent[vector]);
			vector++
		:: vector == SENDERS * VECTORS -> break
		od
	fi
}
