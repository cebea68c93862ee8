/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders from core to core, as a model for SPIN: two cores that manage a guest of a third one, the
 * home, whose own manager does so as well, each with the store buffer of an x86, as in message.pml,
 * whose messages this one takes for granted. It follows vmm/core/order.c, and what control.c does
 * for an image; test_model.py checks it, and checks that each mistake named by an #ifdef is found.
 *
 *   kind, tag, number   the order of a giver, which writes them: what is wanted; a size and a
 *                       checksum, in whose place stands which wish it is; how many there were.
 *   result, answered    the answer, which is the tag or 0, and its number. The home writes them.
 *   writer              which giver may write the image; HOME if its manager has. Written by the
 *                       home.
 *   writes              the giver writes the image just now, as it says itself.
 *   ended               the giver's VMM has, as it says itself.
 *   image               two pieces; in each stands who has written it, and for which wish.
 *   complete            the home may start the image.
 *   order               MESSAGE_ORDER is on its way.
 *
 * A giver wants something to be done, or loads an image: it asks for that, writes both pieces and
 * has them compared with their checksum. Its guest may be started anew while it waits, and wants
 * something else then. The core of the second may end while it writes.
 *
 * An order is carried out once, and who gave it gets its answer. What may be started has been
 * written by one of them alone, and nobody writes it any more. At the end nobody waits.
 */

/* How much the first giver wants (the second one thing), and how often the home's manager loads. */
#ifndef WISHES
#define WISHES 2
#endif
#ifndef LOADS
#define LOADS 1
#endif
/* How often the first giver asks for images; the second asks again if one is taken from it. */
#ifndef ASKS
#define ASKS 1
#endif
#define GIVERS 2
#define HOME 3
#define TAGS ((GIVERS + 1) * (WISHES + 1))
#define TAG_OF(giver, wish) ((giver) * (WISHES + 1) + (wish))
#define TAG_OF_HOME TAGS

#define ACT 1
#define IMAGE 2
#define LOAD 3
mtype = { KIND, TAG, NUMBER, WRITES, ENDED, PIECE, RESULT, ANSWERED, WRITER };

byte kind[GIVERS + 1], tag[GIVERS + 1], number[GIVERS + 1], result[GIVERS + 1];
byte answered[GIVERS + 1], image[2], writer;
bool writes[GIVERS + 1], ended[GIVERS + 1], order[GIVERS + 1], over[GIVERS + 1];
bool complete, performed[TAGS];

chan stores_1 = [6] of { mtype, byte, byte };
chan stores_2 = [6] of { mtype, byte, byte };
chan stores_home = [6] of { mtype, byte, byte };

proctype memory(byte who; chan stores)
{
	mtype what;
	byte place, value;

end:
	do
	:: atomic {
		stores?what,place,value ->
		if
		:: what == KIND -> kind[who] = value
		:: what == TAG -> tag[who] = value
		:: what == NUMBER -> number[who] = value
		:: what == WRITES -> writes[who] = value
		:: what == ENDED -> ended[who] = value
		:: what == PIECE ->
			assert(!complete);
			image[place] = value
		:: what == RESULT -> result[place] = value
		:: what == ANSWERED -> answered[place] = value
		:: what == WRITER -> writer = value
		fi;
		what = 0;
		place = 0;
		value = 0
	}
	od
}

#ifdef GIVER_GIVES_BEFORE_THE_LAST_IS_ANSWERED
#define IS_OPEN false
#else
#define IS_OPEN (answered[me] != count)
#endif

/* order_put(). That several stores are one step takes nothing away: they are seen one by one. */
inline order_put(what, which)
{
	atomic {
		count++;
#ifdef GIVER_COUNTS_FIRST
		stores!NUMBER,0,count;
#endif
		stores!KIND,0,what;
		stores!TAG,0,which;
#ifndef GIVER_COUNTS_FIRST
		stores!NUMBER,0,count;
#endif
		given_kind = what;
		given_tag = which
	}
#ifndef GIVER_SENDS_BEFORE_IT_IS_SEEN
	empty(stores);
#endif
#ifndef GIVER_SENDS_NOTHING
	order[me] = true
#endif
}

/* order_give() until it is no longer GANDALF_ERROR_BUSY; or the guest is started anew. */
inline order_give(what, which)
{
	do
	:: atomic { !IS_OPEN ->
		if
#ifdef GIVER_TAKES_ANY_ANSWER
		:: waits ->
#else
		:: waits && given_kind == what && given_tag == which ->
#endif
			waits = false;
			got = result[me];
			break
		:: else -> waits = true
		fi }
		order_put(what, which)
	:: wish < wishes -> goto anew
	od
}

/* image_write() until it has written. */
inline image_write(piece)
{
	do
	:: writer != me && asks < most ->
		asks++;
		order_give(IMAGE, 0)
	:: writer != me && asks == most -> goto leave
	:: writer == me ->
#ifndef WRITER_SAYS_LATE
#ifndef WRITER_SAYS_NOTHING
		stores!WRITES,0,true;
#endif
#endif
#ifndef WRITER_LOOKS_BEFORE_IT_IS_SEEN
		empty(stores);
#endif
		if
		:: writer == me ->
#ifdef WRITER_SAYS_LATE
			stores!WRITES,0,true;
#endif
			stores!PIECE,piece,TAG_OF(me, wish);
			if
			:: me == 2 ->
				stores!ENDED,0,true;
				goto leave
			:: true
			fi;
			stores!WRITES,0,false;
			break
		:: else ->
			stores!WRITES,0,false
		fi
	od
}

proctype giver(byte me; chan stores; byte wishes; byte most)
{
	byte wish = 0, asks = 0, count = 0, given_kind = 0, given_tag = 0, got;
	bool waits = false;

anew:
	do
	:: wish < wishes ->
		wish++;
		if
		:: order_give(ACT, TAG_OF(me, wish));
			assert(got == TAG_OF(me, wish));
			assert(performed[got])
		:: image_write(0);
			image_write(1);
			order_give(LOAD, TAG_OF(me, wish));
			assert(got == TAG_OF(me, wish) || got == 0)
		fi;
		got = 0
	:: wish == wishes -> break
	od;
leave:
	over[me] = true
}

/* order_answer() */
inline order_answer(from, what)
{
#ifndef HOME_COUNTS_BEFORE_THE_RESULT
	stores_home!RESULT,from,what;
#endif
	counted[from] = number[from];
	stores_home!ANSWERED,from,counted[from];
#ifdef HOME_COUNTS_BEFORE_THE_RESULT
	stores_home!RESULT,from,what
#endif
}

inline writer_is(who)
{
	may = who;
	stores_home!WRITER,0,who
}

#ifdef HOME_ACTS_AMID_A_CHECK
#define IS_BUSY false
#else
#define IS_BUSY unchecked
#endif

/* orders_look() and order_carry_out() */
inline orders_look(from)
{
	if
	:: number[from] == counted[from]
	:: else ->
		if
		:: IS_BUSY ->
#ifndef HOME_FORGETS_WHO_WAITS
			waiting[from] = true
#else
			skip
#endif
		:: !IS_BUSY && kind[from] == ACT ->
			assert(!performed[tag[from]]);
			performed[tag[from]] = true;
			order_answer(from, tag[from])
		:: !IS_BUSY && kind[from] == IMAGE ->
#ifndef HOME_LEAVES_IT_COMPLETE
			complete = false;
#endif
			writer_is(from);
			order_answer(from, 0)
		:: !IS_BUSY && kind[from] == LOAD ->
			if
#ifndef HOME_LETS_ANYBODY_END
			:: may != from -> order_answer(from, 0)
#endif
			:: else ->
				unchecked = true;
				waiting[from] = true
			fi
		fi
	fi
}

/* image_is_written() */
inline image_is_written()
{
	found = writes[1] && !ended[1];
	found = found || (writes[2] && !ended[2])
}

/* elsewhere_takes_back() */
inline take_back()
{
#ifdef MANAGER_LOOKS_BEFORE_IT_TAKES_BACK
	image_is_written();
#endif
	writer_is(HOME);
#ifndef MANAGER_LOOKS_BEFORE_IT_IS_SEEN
	empty(stores_home);
#endif
#ifndef MANAGER_LOOKS_BEFORE_IT_TAKES_BACK
	image_is_written()
#endif
}

/* image_write() in control.c */
inline home_write(piece)
{
	if
#ifndef MANAGER_WRITES_AMID_A_CHECK
	:: unchecked
#endif
#ifndef MANAGER_GOES_ON_WITH_ANOTHERS
	:: !unchecked && piece != 0 && may != HOME ->
		written = 0;
		loads++
#endif
	:: else ->
		take_back();
		if
		:: found
		:: else ->
			complete = false;
			stores_home!PIECE,piece,TAG_OF_HOME;
			written++
		fi;
		found = false
	fi
}

active proctype home()
{
	byte counted[GIVERS + 1], may = 0, from = 0, first, loads = 0, written = 0;
	bool waiting[GIVERS + 1], unchecked = false, found = false;
	byte step = 0;

end:
	do
	/* order_serve(); and again_expire(), which in vain changes nothing. What they read
	 * of an order stays as it is until it is answered. */
	:: atomic { order[1] || waiting[1] && !unchecked ->
		order[1] = false;
		waiting[1] = false;
		orders_look(1)
	}
	:: atomic { order[2] || waiting[2] && !unchecked ->
		order[2] = false;
		waiting[2] = false;
		orders_look(2)
	}
	/* orders_attend(), which lets the others in where this goes back to the loop */
	:: unchecked && step == 0 ->
		from = may;
		writer_is(0);
		empty(stores_home);
		step = 1
	:: step == 1 ->
#ifndef HOME_CHECKS_AT_ONCE
		image_is_written();
#endif
		if
		:: found
		:: else -> step = 2
		fi;
		found = false
	:: step == 2 ->
		first = image[0];
		step = 3
	:: step == 3 ->
		if
		:: first == tag[from] && image[1] == tag[from] ->
			complete = true;
			order_answer(from, tag[from])
		:: else -> order_answer(from, 0)
		fi;
		first = 0;
		from = 0;
		unchecked = false;
		step = 0
	/* The home's own manager */
	:: loads < LOADS && written < 2 ->
		home_write(written)
	:: loads < LOADS && written == 2 ->
		empty(stores_home);
		if
#ifndef MANAGER_ENDS_WHAT_ANOTHER_WROTE
		:: may != HOME
#endif
		:: else ->
			assert(image[0] == TAG_OF_HOME && image[1] == TAG_OF_HOME);
			complete = true
		fi;
		written = 0;
		loads++
	od
}

active proctype judge()
{
	/* Until nothing can happen any more. */
	timeout;
	assert(over[1] && over[2])
}

init
{
	atomic {
		run memory(1, stores_1);
		run memory(2, stores_2);
		run memory(HOME, stores_home);
		run giver(1, stores_1, WISHES, ASKS);
		run giver(2, stores_2, 1, 2)
	}
}
