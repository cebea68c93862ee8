/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between cores, as a model for SPIN: one core that sends and one that reads, each with
 * the store buffer of an x86, through which others see its stores later, though in their order
 * (SDM vol. 3, 8.2). It follows vmm/core/message.h and message.c there; test_model.py checks it,
 * and checks that each mistake named by an #ifdef is found.
 *
 * Further senders would add nothing: each pair of cores has words of its own, what the reader
 * counts is one number for all messages, and senders take turns as messages do.
 *
 *   data         what a message is about: how often it has been sent. The sender writes it.
 *   raised       a bit for each message. The sender writes it.
 *   seen         the same. The reader writes it; a message is on its way while the two differ.
 *   pending      the reader's interrupt: its local APIC holds one.
 *   taken        messages that the reader has taken in this window, AT_ONCE at most.
 *   window       the deadline at the end of a window that is full is set.
 *   alive        the reader takes messages, since its guests exist.
 *   served       the data that the last service of a message has read.
 *   overtaken    how many others were taken while a message waited.
 *
 * What a core has stored itself it reads as it has stored it: raised_own and seen_own.
 *
 * When all is done (the sender has sent what it wanted to, and nothing is on its way to memory)
 * each message must have been served by somebody who has seen its last data: so a service has begun
 * behind each sending, and no wake-up is lost. Nor is any message served more often than it has
 * been sent. While a message waits each other one is taken once at most, however often it is sent.
 */

/* A_LOSS_IS_NONE: only services that nobody has asked for are mistakes. */

/* How often the sender sends, how many messages there are, and how many are taken in a window. With
 * two in a window, four may come in the order in which its end has one left behind. */
#ifndef EVENTS
#define EVENTS 4
#endif
#ifndef MESSAGES
#define MESSAGES 4
#endif
#define AT_ONCE 2

mtype = { DATA, RAISED, INTERRUPT };

byte data[MESSAGES], served[MESSAGES];
bit raised[MESSAGES], seen[MESSAGES];
bool pending = false, window = false, alive = false;
byte taken = 0, events = 0;
byte sent[MESSAGES], services[MESSAGES]; /* how often */
byte overtaken[MESSAGES];

/* What is stored by a core and not seen by the other. */
chan sender_stores = [4] of { mtype, byte, byte };
chan reader_stores = [2] of { byte, bit };

active proctype sender()
{
	bit raised_own[MESSAGES];
	byte message;

	do
	:: atomic { events < EVENTS -> events++; select(message : 0 .. MESSAGES - 1) };
		/* What it is about. */
		atomic { sent[message]++; sender_stores!DATA,message,sent[message] };
		/* message_send() */
#ifndef SENDER_FORGETS_ORDER
		empty(sender_stores);
#endif
		if
#ifndef SENDER_CHANGES_THE_BIT_ANYWAY
		:: raised_own[message] != seen[message] -> skip /* one is on its way */
		:: else ->
#else
		:: true ->
#endif
			atomic {
				raised_own[message] = 1 - raised_own[message];
				sender_stores!RAISED,message,raised_own[message]
			};
#ifndef SENDER_FORGETS_THE_INTERRUPT
			/* A store, too: it comes behind the others. */
			sender_stores!INTERRUPT,0,0
#endif
		fi
	:: events == EVENTS -> break
	od;
	/* Until nothing can happen any more. */
	timeout;
#ifndef A_LOSS_IS_NONE
	message = 0;
	do
	:: message < MESSAGES ->
		assert(served[message] == sent[message]);
		message++
	:: message == MESSAGES -> break
	od
#endif
}

active proctype sender_memory()
{
	mtype kind;
	byte message, value;

end:
	do
	:: atomic {
		sender_stores?kind,message,value ->
		if
		:: kind == DATA -> data[message] = value
		:: kind == RAISED -> raised[message] = value
		:: kind == INTERRUPT -> pending = true
		fi;
		message = 0;
		value = 0
	}
	od
}

active proctype reader_memory()
{
	byte message;
	bit value;

end:
	do
	:: atomic { reader_stores?message,value -> seen[message] = value; message = 0; value = 0 }
	od
}

/* window_end(), in the timer's interrupt */
inline end_window()
{
	d_step {
		window -> window = false;
#ifndef WINDOW_END_FORGETS_THE_REST
		pending = true;
#endif
		taken = 0
	}
}

/* window_count(). The window that there was may have passed: no deadline tells of the end of one
 * that has not been full. */
inline count_taken()
{
	atomic {
		if
		:: taken != 0 -> taken = 1
		:: taken++
		fi;
		if
#ifndef WINDOW_HAS_NO_END
		:: taken == AT_ONCE -> window = true
#endif
		:: else
		fi
	}
}

/* A message is taken. */
inline overtake()
{
	overtaken[message] = 0;
	other = 0;
	do
	:: other < MESSAGES && other != message && raised[other] != seen_own[other] ->
		overtaken[other]++;
		assert(overtaken[other] < MESSAGES);
		other++
	:: other < MESSAGES && (other == message || raised[other] == seen_own[other]) -> other++
	:: other == MESSAGES -> break
	od;
	other = 0
}

/* sender_waits() */
inline look_for_more()
{
	looked = 0;
	do
	:: looked < MESSAGES && raised[looked] == seen_own[looked] -> looked++
	:: looked < MESSAGES && raised[looked] != seen_own[looked] -> left = true; break
	:: looked == MESSAGES -> break
	od;
	looked = 0
}

/* message_take_next(): what comes behind the look for more has an interrupt of its own. */
inline take_next()
{
	left = false;
	do
	:: looked < MESSAGES && taken < AT_ONCE ->
		message = (next + looked) % MESSAGES;
		if
#ifndef READER_DOES_NOT_LOOK
		:: raised[message] == seen_own[message] -> looked++
		:: else ->
#else
		:: looked++
		:: true ->
#endif
			next = (message + 1) % MESSAGES;
#ifndef READER_SERVES_BEFORE_IT_IS_SEEN
			atomic {
				seen_own[message] = 1 - seen_own[message];
				reader_stores!message,seen_own[message];
				overtake()
			};
#ifndef READER_FORGETS_ORDER
			empty(reader_stores);
#endif
#endif
#ifndef READER_FORGETS_WHAT_IS_LEFT
			look_for_more();
#endif
			if
#ifdef READER_BEGINS_WITH_THE_FIRST
			:: true -> next = 0
#else
			:: !left -> next = 0
			:: left
#endif
			fi;
			count_taken();
			/* message_serve() */
			atomic {
				services[message]++;
				assert(services[message] <= sent[message]);
				served[message] = data[message]
			};
#ifdef READER_SERVES_BEFORE_IT_IS_SEEN
			atomic {
				seen_own[message] = 1 - seen_own[message];
				reader_stores!message,seen_own[message]
			};
			empty(reader_stores);
#endif
			break
		fi
	:: else -> break
	od;
	looked = 0
}

active proctype reader()
{
	bit seen_own[MESSAGES];
	bool left = false, more = false;
	byte message = 0, looked = 0, next = 0, other = 0;

end:
	do
	/* message_begin() */
	:: atomic {
		!alive -> alive = true;
#ifndef BEGIN_FORGETS_WHAT_WAITS
		pending = true
#endif
	}
	:: atomic { pending && !alive -> pending = false }
	:: end_window()
	:: atomic { pending && alive -> pending = false };
		/* messages_take() */
		do
		:: take_next();
			more = left;
			/* work_admit(), which is behind the last message only where many cores may
			 * send: the timer, or another interrupt like this one, which takes one
			 * message and has another interrupt for the rest. */
			if
			:: end_window()
			:: atomic { pending -> pending = false };
				take_next();
				if
				:: left -> pending = true
				:: !left
				fi
			:: skip
			fi;
			if
			:: more -> more = false
			:: !more -> break
			fi
		od
	od
}
