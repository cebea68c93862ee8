/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of consoles between cores, as a model for SPIN: a core that puts them into its ring and
 * one that takes them, each with the store buffer of an x86, as in message.pml, whose messages this
 * one takes for granted. It follows vmm/core/relay.c, where the ring of output and those of input
 * are alike; test_model.py checks it, and checks that each mistake named by an #ifdef is found.
 *
 *   ring     the bytes, which are numbers in their order. The sender writes it.
 *   put      bytes ever put into it. The sender writes it.
 *   taken    bytes ever taken. The reader writes it.
 *   again    the deadline of each that moves bytes is set.
 *   output   MESSAGE_OUTPUT is on its way.
 *   room     bytes that the console on the reader's side has room for. Somebody may empty it.
 *
 * Every byte must come out, once and in order. At the end none is left.
 */

#ifndef BYTES
#define BYTES 5
#endif
#define RING 2
#define STEP 2

mtype = { BYTE, PUT };

byte ring[RING], put, taken, shown = 0;
byte room = 1;
bool output = false;

chan sender_stores = [4] of { mtype, byte, byte };
chan reader_stores = [3] of { byte };

active proctype sender_memory()
{
	mtype kind;
	byte place, what;

end:
	do
	:: atomic {
		sender_stores?kind,place,what ->
		if
		:: kind == BYTE -> ring[place] = what
		:: kind == PUT -> put = what
		fi;
		place = 0;
		what = 0
	}
	od
}

active proctype reader_memory()
{
	byte what;

end:
	do
	:: atomic { reader_stores?what -> taken = what; what = 0 }
	od
}

#ifdef RING_IS_OVERFILLED
#define FULL (RING + 1)
#else
#define FULL RING
#endif

/* relay_expire() by way of output_send_of() and console_send(). The console has all BYTES from the
 * beginning; where fewer come later the deadline is set by remote_console(), as it is here. */
active proctype sender()
{
	byte own = 0, moved = 0;

	do
#ifdef SENDER_DOES_NOT_TRY_AGAIN
	:: own < BYTES && own - taken == FULL -> break
#endif
	/* Where the ring is full it is tried again each millisecond, until there is room. */
	:: own < BYTES && own - taken != FULL ->
		do
		:: moved < STEP && own < BYTES && own - taken != FULL ->
			/* output_put() */
#ifdef SENDER_COUNTS_FIRST
			sender_stores!PUT,0,own + 1;
			sender_stores!BYTE,own % RING,own + 1;
#else
			sender_stores!BYTE,own % RING,own + 1;
			sender_stores!PUT,0,own + 1;
#endif
			own++;
			moved++
		:: else -> break
		od;
		/* message_send() */
#ifndef SENDER_FORGETS_ORDER
		empty(sender_stores);
#endif
#ifndef SENDER_SENDS_NOTHING
		output = true;
#endif
		moved = 0
	:: own == BYTES -> break
	od
}

/* relay_expire() by way of output_take() and output_show(). */
active proctype reader()
{
	byte own = 0, moved = 0, byte_ = 0;
	bool again = false;

end:
	do
	/* console_serve(), relay_kick() */
	:: atomic { output -> output = false; again = true }
	/* Somebody reads what the console has: log_pump(), the UART. */
	:: again && room == 0 -> room = 2
	:: again ->
		if
		:: put == own ->
			again = false /* NOTHING */
		:: else ->
			do
			:: moved < STEP && put != own && room != 0 ->
				atomic { byte_ = ring[own % RING]; room-- };
#ifdef READER_TAKES_FIRST
				own++;
				reader_stores!own;
				byte_ = ring[(own - 1) % RING];
#endif
				/* output_show() */
				atomic {
					assert(byte_ == shown + 1);
					shown = byte_;
					byte_ = 0
				};
#ifndef READER_TAKES_FIRST
				own++;
				reader_stores!own;
#endif
				moved++
			:: else -> break
			od;
#ifdef READER_GIVES_UP_WHEN_BLOCKED
			again = moved != 0;
#endif
			moved = 0
		fi
	od
}

active proctype judge()
{
	/* Until nothing can happen any more. */
	timeout;
	assert(shown == BYTES)
}
