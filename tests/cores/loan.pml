/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has a core that an RTOS shares with a vCPU of a Linux that is to leave it, as a model for
 * SPIN. It follows vmm/core/loan.c, tenure.c, preemption.c and the switches of vmm/several/whole.h;
 * test_model.py checks it, and checks that each mistake named by an #ifdef is found. Each step is a
 * masked section of the VMM, so it is atomic.
 *
 *   holder    who has the core; rtos: the RTOS's state; comes: something has come for it that it
 *             has not taken.
 *   working   the VMM works for the vCPU; amid: it has lost the core so, or is interrupted.
 *   away      the vCPU has left the core.
 *   of_rtos   the RTOS has the core, or has lent it: what other cores and the policy go by.
 *   loan      a loan runs; late: its time is over.
 *
 * of_rtos is true if and only if the RTOS has the core or has lent it. A vCPU never leaves while it
 * has the core, nor amid the VMM's work for it. What comes for the RTOS has it run at once.
 */

#define LOANS 2

mtype = { IDLE, LINUX, RTOS, HALTED, RUNS, PAUSED };

mtype holder = IDLE, rtos = HALTED;
bool comes = false, working = false, amid = false, away = false;
bool of_rtos = false, loan = false, late = false;
byte loans = 0;
mtype first, to;
bool looks; /* this step ends with a look at who is to have the core */

/* linux_holder(), behind the search for who comes first */
inline holder_find()
{
	to = first;
	if
	:: loan && first == RTOS ->
		if
#ifdef A_LOAN_DOES_NOT_END_IN_TIME
		:: amid && !comes -> to = LINUX
#else
#ifdef WHAT_COMES_WAITS_FOR_A_LOAN
		:: amid && !late -> to = LINUX
#else
		:: amid && !late && !comes -> to = LINUX
#endif
#endif
		:: else -> loan = false
		fi
#ifndef A_LOAN_OUTLIVES_ITS_RTOS
	:: loan && first != RTOS -> loan = false; of_rtos = false; loans = 0
#endif
	:: else
	fi
}

/* schedule_gives_way(), with whole_switches() */
inline pick()
{
	if
	:: rtos == RUNS -> first = RTOS
	:: rtos != RUNS && !away -> first = LINUX
	:: else -> first = IDLE
	fi;
	holder_find();
	if
	:: holder != RTOS && to == RTOS -> of_rtos = true
#ifdef A_LOAN_ENDS_THE_TENURE
	:: holder == RTOS && to != RTOS -> of_rtos = false; loans = 0
#else
	:: holder == RTOS && to != RTOS && !loan -> of_rtos = false; loans = 0
#endif
	:: else
	fi;
	holder = to;
	if
	:: to == RTOS -> comes = false
	:: to == LINUX -> amid = false
	:: else
	fi
}

/* rtos_stays() and linux_stays() */
inline tenure_lasts()
{
	if
#ifdef A_VCPU_LEAVES_AMID_WORK
	:: of_rtos && !away -> assert(!amid); away = true
#else
	:: of_rtos && !away && !amid -> assert(holder != LINUX); away = true
	:: of_rtos && amid && loans < LOANS && !loan ->
		loan = true;
		late = false;
		loans++
#endif
	:: !of_rtos && away && holder == IDLE -> away = false
	:: else
	fi
}

active proctype core()
{
	do
	:: atomic {
		looks = true;
		amid = amid || (holder == LINUX && working); /* most of these interrupt it */
		if
		:: rtos != PAUSED -> comes = true; rtos = RUNS
		:: holder == RTOS -> rtos = HALTED
		/* By an order of another core, in an interrupt; */
		:: rtos == RUNS -> comes = false; rtos = PAUSED
		/* by Linux's own hypercall, in work that is lent the core. */
		:: rtos == RUNS && holder == LINUX && working ->
			rtos = PAUSED;
			amid = false;
			looks = false
		:: rtos == PAUSED -> rtos = RUNS
		:: true -> tenure_lasts()
		:: loan && holder == LINUX ->
			late = true;
#ifdef A_LOAN_FORGETS_ITS_RTOS
			loan = false
#endif
		:: holder == LINUX && !working -> working = true; looks = false
		:: holder == LINUX && working -> working = false; amid = false
		fi;
		if
		:: looks -> pick()
		:: else
		fi;
		assert(of_rtos == (holder == RTOS || loan));
		assert(!loan || holder == LINUX);
		assert(!away || holder != LINUX);
		assert(!comes || holder == RTOS);
		assert(!late || !loan)
	}
	od
}
