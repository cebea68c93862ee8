/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports of vCPUs that have no mainboard, as a model for SPIN: a sibling that asks the first
 * vCPU, each with the store buffer of an x86, as in message.pml, whose messages this one takes for
 * granted. It follows vmm/guests/x86/smp/remote_port.c; test_model.py checks it, and checks that
 * each mistake named by an #ifdef is found.
 *
 *   request, value   what the sibling asks for, in two places, which must not be taken from two
 *                    requests: in each both are the request's number. The sibling writes them.
 *   number           of its last request. The sibling writes it.
 *   answer,          the value of the answer, which is the request, and its number. The first
 *   answered         vCPU writes them.
 *   port, done       MESSAGE_PORT and MESSAGE_PORT_DONE are on their way.
 *
 * The sibling may be started anew while it waits, and then asks for something else. The first vCPU
 * also looks when it is not told to, since another sibling has asked.
 *
 * No access is done that was not asked for, and none twice. Who is not started anew gets the answer
 * to his own request, and at the end nobody waits.
 */

/* How often the sibling asks, and how often the first looks without a message. */
#ifndef REQUESTS
#define REQUESTS 4
#endif
#define LOOKS 1

mtype = { REQUEST, VALUE, NUMBER, ANSWER, ANSWERED };

byte request[2], value[2], number, answer, answered;
bool port = false, done = false, all_asked = false;
bool performed[REQUESTS + 1];

chan sibling_stores = [4] of { mtype, byte, byte };
chan first_stores = [4] of { mtype, byte };

active proctype sibling_memory()
{
	mtype kind;
	byte place, what;

end:
	do
	:: atomic {
		sibling_stores?kind,place,what ->
		if
		:: kind == REQUEST -> request[place] = what
		:: kind == VALUE -> value[place] = what
		:: kind == NUMBER -> number = what
		fi;
		place = 0;
		what = 0
	}
	od
}

active proctype first_memory()
{
	mtype kind;
	byte what;

end:
	do
	:: atomic {
		first_stores?kind,what ->
		if
		:: kind == ANSWER -> answer = what
		:: kind == ANSWERED -> answered = what
		fi;
		what = 0
	}
	od
}

#ifdef ONE_PLACE
#define PLACE(n) 0
#else
#define PLACE(n) ((n) % 2)
#endif

active proctype sibling()
{
	byte asked = 0, got;

	do
	:: asked < REQUESTS ->
		/* remote_port_ask() */
		asked++;
#ifdef SIBLING_COUNTS_FIRST
		sibling_stores!NUMBER,0,asked;
#endif
		sibling_stores!REQUEST,PLACE(asked),asked;
		sibling_stores!VALUE,PLACE(asked),asked;
#ifndef SIBLING_COUNTS_FIRST
		sibling_stores!NUMBER,0,asked;
#endif
		/* message_send() */
#ifndef SIBLING_SENDS_BEFORE_IT_IS_SEEN
		empty(sibling_stores);
#endif
#ifndef SIBLING_SENDS_NOTHING
		port = true;
#endif
		/* vcpu_halt(), until port_done_serve() wakes it up; start_serve(), and it
		 * begins anew. */
		do
		:: atomic { done -> done = false };
			/* remote_port_end() */
			if
			:: answered == asked ->
				got = answer;
				assert(got == asked);
				got = 0;
				break
			:: else
			fi
		:: asked < REQUESTS -> break
		od
	:: asked == REQUESTS -> break
	od;
	all_asked = true
}

/* Reads what was asked for and does it. */
inline port_answer()
{
#ifdef FIRST_COUNTS_BEHIND
	what = request[PLACE(number)];
	with = value[PLACE(number)];
	count = number;
#else
	count = number;
	what = request[PLACE(count)];
	with = value[PLACE(count)];
#endif
	if
#ifndef FIRST_SERVES_AGAIN
	:: count == last -> skip
#else
	:: count == 0 -> skip
#endif
#ifndef FIRST_LOOKS_ONCE
	:: count != last && number != count -> skip
	:: else ->
#else
	:: else ->
#endif
		/* port_read(), port_write() */
		assert(what == count && with == count);
		assert(!performed[count]);
		performed[count] = true;
		last = count;
#ifdef FIRST_COUNTS_BEFORE_THE_VALUE
		first_stores!ANSWERED,count;
		first_stores!ANSWER,with;
#else
		first_stores!ANSWER,with;
		first_stores!ANSWERED,count;
#endif
		/* message_send() */
#ifndef FIRST_SENDS_BEFORE_IT_IS_SEEN
		empty(first_stores);
#endif
#ifndef FIRST_SENDS_NOTHING
		done = true
#endif
	fi;
	what = 0;
	with = 0;
	count = 0
}

active proctype first()
{
	byte last = 0, looks = 0, what, with, count;

end:
	do
	/* port_serve(), and remote_ports_serve() when it is about to go on */
	:: atomic { port -> port = false };
		port_answer()
	:: looks < LOOKS ->
		looks++;
		port_answer()
	od
}

active proctype judge()
{
	/* Until nothing can happen any more. */
	timeout;
	assert(all_asked)
}
