/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the VMM's work for a Linux on a shared CPU is preempted, as a model for SPIN: one
 * CPU, one Linux, one RTOS, the idle vCPU, and interrupts between any two steps. It
 * follows vmm/core/work.h, schedule.c, vm.c and loader.c there, and vmm/arch/ia32/trap.c;
 * test_model.py checks it, and checks that each mistake named by an #ifdef is found.
 *
 * What belongs to whom while Linux's work is preempted:
 *
 *   half         Linux's work alone: frame, system registers, descriptor tables, shadow
 *                page tables, windows on memory, the pool. May be half changed then.
 *   shared_half  nobody: consoles, log, deadlines, virtual devices. Whoever changes them
 *                does so with interrupts disabled, so they are whole.
 *   fpu_half     nobody: the FPU and its owner, as above; the RTOS may take it.
 *   vm_is, linux_is  the life of the VM: changed with interrupts disabled, and by others
 *                than the work itself only while it is not working.
 *   halt_wanted  interrupt handlers set it, Linux's return to its guest clears it.
 *   working      Linux's work was interrupted: the handler's end puts it back, other
 *                handlers and the scheduler read it.
 *   attention    whoever changes what Linux's return to its guest depends on sets it;
 *                that return clears it and looks, interrupts disabled, and again if
 *                it was set meanwhile. attention_next: at the next return.
 *   task_switched  Linux sets it, interrupts disabled, and whoever takes the FPU from it.
 *   housekeeping handlers and Linux set it, interrupts disabled; the idle vCPU clears it.
 *   pending      handlers set it, the RTOS clears it.
 *   waits        handlers set it, Linux clears it, interrupts disabled.
 *   due          the same: a chip has to be looked at, and then something may wait. (A Linux
 *                that slept then goes on sleeping; here it may wake up for nothing.)
 */

/* CHIPS: what a device interrupts for is a chip of Linux, at which Linux looks itself. */

/* How many interrupts and mistakes of the RTOS come; 0: they never end. */
#ifndef EVENTS
#define EVENTS 0
#endif
/* Frames on Linux's VMM stack: of its entry, of a page fault in a copy, of an interrupt, and of one
 * that its handler lets in. */
#define FRAMES 4

mtype = { LINUX, RTOS, IDLE };         /* who has the core */
mtype = { OFF, RUNNING, HALTED };      /* a vCPU's state */
mtype = { STARTING, STOPPED };         /* and a VM's, with OFF and RUNNING */

mtype core = IDLE;
bool interrupts = false;               /* the real IF */
bool linux_interrupts = false;         /* what it will be when Linux goes on */
mtype linux_is = OFF, rtos_is = RUNNING, vm_is = STARTING;
bool guest = false;                    /* Linux's own code has the core, not the VMM */
bool attention = true, attention_next = false;  /* trap_attend() comes before the guest */
bool working = false, half = false, shared_half = false, fpu_half = false;
bool halt_wanted = false, unreleased = false;
bool rtos_starting = false;
bool release_wanted = false, start_wanted = true;    /* housekeeping */
bool busy = false;                     /* the same: the idle vCPU is at it */
bool pending = false, waits = false;
bool due = false;
bool preempted = false;                /* while it worked: somebody else has had the core */
bool laid = false;                     /* the traps for what waits */
bool task_switched = true;             /* CR0.TS, as Linux has it next */
bool foreign = false;                  /* what fpu_show() has seen */
bool woken = false;                    /* the idle vCPU, from its HLT */
mtype fpu = IDLE;
byte fault_frames = 0, interrupt_frames = 0;
bool paused = false;                   /* the handler of the first of these lets others in */

/* Lines of the interrupt controller: RTOS's timer, Linux's device, commands. */
bool timer_line = false, device_line = false, stop_line = false, start_line = false;
byte events = 0;

#define HOUSEKEEPING (release_wanted || start_wanted || busy)
#define RTOS_WAITS (pending && rtos_is != OFF)
#define ANY_LINE (timer_line || device_line || stop_line || start_line)
/* With IF set an interrupt that waits comes before the next instruction. */
#define MAY_STEP (!interrupts || !ANY_LINE)

#ifdef IDLE_IGNORES_WORK
#define IDLE_WAITS false
#else
#define IDLE_WAITS working
#endif

/* schedule_pick() and switch_vcpu(). The caller has saved its own flag. */
inline schedule()
{
	if
	:: rtos_is == HALTED && pending -> rtos_is = RUNNING
	:: else
	fi;
	if
	:: linux_is == HALTED && attention -> linux_is = RUNNING
	:: else
	fi;
	if
	:: rtos_is == RUNNING -> core = RTOS; interrupts = true
	:: rtos_is != RUNNING && HOUSEKEEPING && !IDLE_WAITS -> core = IDLE; interrupts = false
	:: else ->
		if
		:: linux_is == RUNNING -> core = LINUX; interrupts = linux_interrupts
		:: else -> core = IDLE; interrupts = false
		fi
	fi
}

/* vm_take_down(). */
inline take_down(state)
{
	assert(!interrupts && !half && !shared_half && !fpu_half);
	assert(vm_is == RUNNING);
	vm_is = state;
	linux_is = OFF;
	unreleased = true;
	release_wanted = true;
	attention = true;
	due = false;
	if
	:: fpu == LINUX -> fpu = IDLE
	:: else
	fi
}

/* fpu_show() */
inline show_fpu()
{
	foreign = (fpu != LINUX);
	task_switched = foreign
}

inline work_mask()
{
#ifndef END_FORGETS_CLI
	interrupts = false
#else
	skip
#endif
}

inline work_unmask()
{
	interrupts = true
}

/* interrupt(): serves all that waits. Interrupts are disabled. */
inline serve()
{
	assert(!shared_half && !fpu_half);
	if
	:: timer_line -> timer_line = false; pending = (rtos_is != OFF)
	:: else
	fi;
	if
	:: device_line ->
		device_line = false;
#ifdef CHIPS
		due = (linux_is != OFF); /* chip_is_due() */
#else
		waits = (linux_is != OFF);
#endif
#ifndef DEVICE_FORGETS_ATTENTION
		attention = true
#endif
	:: else
	fi;
	if
	:: stop_line ->
		stop_line = false;
		if
		:: vm_is == RUNNING ->
#ifndef HALT_IGNORES_WORK
			if
			:: working ->
				halt_wanted = true;
#ifndef HALT_FORGETS_ATTENTION
				attention = true
#endif
			:: else -> take_down(OFF)
			fi
#else
			take_down(OFF)
#endif
		:: else
		fi
	:: else
	fi;
	if
	:: start_line ->
		start_line = false;
		if
		:: vm_is == OFF || vm_is == STOPPED ->
			vm_is = STARTING;
			start_wanted = true;
			attention = true
		:: else
		fi
	:: else
	fi
}

/* board_settle(): Linux looks at its chips, and lets interrupts in behind each. */
inline settle()
{
#ifdef CHIPS
	do
	:: atomic { due -> due = false };
		shared_half = true;
		if
		:: waits = true
		:: skip
		fi;
		shared_half = false;
		/* work_admit() */
		interrupts = true;
		interrupts = false
	:: !due -> break
	od
#else
	skip
#endif
}

/* The world: an interrupt at any time. */
active proctype world()
{
	do
	:: EVENTS == 0 || events < EVENTS ->
		atomic {
			if
			:: !timer_line -> timer_line = true
			:: !device_line -> device_line = true
			:: !stop_line -> stop_line = true
			:: !start_line -> start_line = true
			fi;
			if
			:: EVENTS != 0 -> events++
			:: else
			fi
		}
	:: EVENTS != 0 && events == EVENTS -> break
	od
}

/* The CPU takes an interrupt: in a guest, in Linux's work, where the idle vCPU lets it in. */
active proctype handler()
{
end:
	do
	:: d_step {
		interrupts && ANY_LINE ->
		interrupts = false;
		if
		:: core == LINUX && guest ->
			/* trap(); Linux's process goes on where it left its guest. */
			guest = false;
#ifndef INTERRUPT_FORGETS_ATTENTION
			attention = true;
#endif
			serve()
		:: core == LINUX && !guest ->
			/* interrupt_vmm() */
			interrupt_frames++;
			assert(1 + fault_frames + interrupt_frames <= FRAMES);
#ifndef HANDLER_FORGETS_WORKING
			working = true;
#endif
			serve();
			linux_interrupts = false;
#ifndef HANDLER_FORGETS_TO_SCHEDULE
			schedule();
#endif
			preempted = (core != LINUX);
#ifdef HANDLER_ENABLES
			linux_interrupts = true;
			if
			:: core == LINUX -> interrupts = true
			:: else
			fi
#endif
		:: core == RTOS ->
			serve();
			interrupts = true
		:: core == IDLE ->
			/* interrupt_vmm(); its IRET, and what comes before the CLI behind it, is
			 * no step. */
			serve();
			woken = true;
			schedule();
			if
			:: core == IDLE -> interrupts = true
			:: else
			fi
		fi
	}
	:: d_step {
		/* interrupt_vmm(), whose handler comes to work_admit() between two of its steps. */
		interrupts && ANY_LINE && core == LINUX && !guest && interrupt_frames == 0 ->
		interrupt_frames++;
		working = true;
		serve();
		paused = true
	}
	od
}

/* What that handler does behind the pause. */
active proctype handler_rest()
	provided (core == LINUX && paused && interrupt_frames == 1 && MAY_STEP)
{
end:
	do
	:: d_step {
		paused ->
		paused = false;
		linux_interrupts = false;
		schedule();
		preempted = (core != LINUX)
	}
	od
}

/* IRET of interrupt_vmm(), when Linux's stack has the core again. */
active proctype handler_return()
	provided (core == LINUX && interrupt_frames > paused && MAY_STEP)
{
end:
	do
	:: d_step {
		interrupt_frames > 0 ->
		interrupt_frames--;
#ifndef HANDLER_FORGETS_ATTENTION
		if
		:: preempted -> attention = true
		:: else
		fi;
#endif
#ifndef PAUSE_FORGETS_WORKING
		working = paused;
#else
		working = false;
#endif
		interrupts = true
	}
	od
}

/* Linux: its own instructions, and the VMM's on its VMM stack. */
active proctype linux_vcpu() provided (core == LINUX && interrupt_frames == 0 && MAY_STEP)
{
	goto after_schedule; /* a vCPU begins as if it had called schedule() */

own_code:
	do
	:: atomic {
		guest ->
		/* One instruction of the guest's: nobody more urgent waits. */
		assert(linux_is == RUNNING && vm_is == RUNNING && !halt_wanted);
		assert(!working && !half && !shared_half && !fpu_half);
		assert(!RTOS_WAITS && rtos_is != RUNNING && !HOUSEKEEPING);
		/* What waits is delivered, or the traps are laid for it. */
		assert(!due);
		assert(!waits || laid);
		/* TS is as the FPU's owner has it. */
		assert(fpu != LINUX || !task_switched);
		assert(fpu == LINUX || task_switched);
		assert(interrupts && fault_frames == 0)
	}
	:: /* A trap gate: interrupts stay enabled. */
		d_step { guest -> guest = false }; break
	:: !guest ->
		/* An interrupt has been served; a pause of its handler's. */
		if
#ifndef PAUSE_BEHIND_THE_END
		:: linux_is == RUNNING -> interrupts = true; interrupts = false
#else
		:: interrupts = true; interrupts = false
#endif
		:: skip
		fi;
		goto vmm_return
	od;

	/* trap(): the work. */
	half = true;
	if
	:: skip
	:: /* A page fault where guest memory is copied. */
		fault_frames++;
		skip;
		fault_frames--
	fi;
	half = false;
	if
	:: /* It wanted no more than this; the RTOS has not had to wait for that. */
		assert(!RTOS_WAITS)
	:: /* A port: virtual devices, consoles, deadlines. */
#ifndef PORTS_WHILE_WORKING
		work_mask();
#endif
		shared_half = true;
#ifndef PAUSE_AMID_A_CHANGE
		shared_half = false;
#endif
		/* work_admit() */
		interrupts = true;
		interrupts = false;
		shared_half = true;
		shared_half = false
	:: /* The FPU changes hands. */
#ifndef FPU_WHILE_WORKING
		work_mask();
#endif
		fpu_half = true;
		fpu = LINUX;
		show_fpu();
		fpu_half = false
	:: /* CR0 is written. */
#ifndef CR0_WHILE_WORKING
		work_mask();
#endif
		show_fpu()
	:: /* HLT */
		work_mask();
#ifndef HLT_FORGETS_WHAT_IS_DUE
		settle();
#endif
		if
		:: !waits -> linux_is = HALTED;
#ifndef HLT_FORGETS_ATTENTION
			attention = true
#endif
		:: else
		fi
	:: /* vm_stop(), and perhaps a restart. */
#ifndef STOP_WHILE_WORKING
		work_mask();
#endif
		atomic {
			if
			:: vm_is == RUNNING -> take_down(STOPPED)
			:: else
			fi;
			if
			:: vm_is = STARTING; start_wanted = true; attention = true
			:: skip
			fi
		}
	fi;

vmm_return:
	/* entry_return in entry.S */
#ifdef RETURN_LOOKS_BEFORE_CLI
	if
	:: attention || attention_next -> interrupts = false; goto attend
	:: else
	fi;
	interrupts = false;
	goto leave;
#else
	interrupts = false;
	if
	:: attention || attention_next
	:: else -> goto leave
	fi;
#endif

attend:
	/* trap_attend() */
	atomic { attention = false; attention_next = false };
#ifndef RETURN_FORGETS_HALT
	atomic {
		if
		:: halt_wanted ->
			halt_wanted = false;
			if
			:: vm_is == RUNNING -> take_down(OFF)
			:: else
			fi
		:: else
		fi
	};
#endif
	d_step { linux_interrupts = false; schedule() };
after_schedule:
	/* work_admit(), where it has got the core back and takes turns with siblings */
	if
	:: interrupts = true;
		interrupts = false;
#ifndef RETURN_FORGETS_WHAT_CAME
		if
		:: attention -> goto attend
		:: else
		fi
#endif
	:: skip
	fi;
	atomic { attention = false; attention_next = false };
	/* linux_deliver() */
	settle();
	do
	:: atomic { waits && linux_is != OFF };
		if
		:: /* Linux has enabled interrupts. */
			waits = false;
			work_unmask();
			half = true;
			half = false;
			work_mask()
		:: /* It has not: the traps are laid for it. */
			break
		fi
	:: !waits || linux_is == OFF -> break
	od;
	atomic { laid = waits; attention_next = waits };
#ifndef RETURN_LOOKS_ONCE
	if
	:: attention -> goto attend
	:: else
	fi;
#endif
leave:
	/* IRET */
	atomic { guest = true; interrupts = true };
	goto own_code
}

/* The RTOS: handles its interrupt, uses the FPU, halts, or does what it must not. */
active proctype rtos_vcpu() provided (core == RTOS && MAY_STEP)
{
end:
	do
	:: atomic {
		pending ->
		pending = false;
		assert(interrupts && !shared_half && !fpu_half)
	}
	:: !pending ->
		if
		:: d_step {
			/* fpu_take() */
			assert(!fpu_half && !shared_half);
#ifndef TAKER_FORGETS_THE_OWNER
			if
			:: fpu == LINUX -> task_switched = true
			:: else
			fi;
#endif
			fpu = RTOS
		}
		:: skip
		fi;
		if
		:: d_step {
			/* Hypercall: halt. */
			interrupts = false;
			rtos_is = HALTED;
			schedule()
		}
		:: d_step {
			/* It is stopped for a mistake, and restarts. */
			EVENTS == 0 || events < EVENTS ->
			if
			:: EVENTS != 0 -> events++
			:: else
			fi;
			interrupts = false;
			rtos_is = OFF;
			rtos_starting = true;
			release_wanted = true;
			start_wanted = true;
			schedule()
		}
		fi
	od
}

/* The idle vCPU: releases, starts, sleeps; between its steps interrupts come in. */
active proctype idle_vcpu() provided (core == IDLE && MAY_STEP)
{
end:
	do
	:: atomic { HOUSEKEEPING -> busy = true };
		if
		:: release_wanted ->
			release_wanted = false;
			assert(!half && !working && interrupt_frames == 0);
			unreleased = false
		:: else
		fi;
		if
		:: start_wanted ->
			start_wanted = false;
			if
			:: rtos_starting ->
				d_step { rtos_starting = false; rtos_is = RUNNING; pending = false }
			:: else
			fi;
			if
			:: vm_is == STARTING ->
				assert(!half && !working && interrupt_frames == 0);
				unreleased = false;
				/* schedule_admit() between two steps of the copy. */
				interrupts = true;
				interrupts = false;
				d_step { schedule() };
				atomic {
					if
					:: vm_is == STARTING ->
						assert(!half && !unreleased && !halt_wanted);
						assert(interrupt_frames == 0 && fault_frames == 0);
						vm_is = RUNNING;
						linux_is = RUNNING;
						show_fpu();
						waits = false;
						due = false;
						attention = true
					:: else
					fi
				}
			:: else
			fi
		:: else
		fi;
		d_step { busy = false; schedule() }
	:: d_step { !HOUSEKEEPING -> schedule() };
		if
		:: HOUSEKEEPING || core != IDLE
		:: else ->
			/* STI; HLT; CLI */
			assert(linux_is != HALTED || (!waits && !due));
			d_step { woken = false; interrupts = true };
			woken;
			interrupts = false
		fi
	od
}

#define consistent ((vm_is == RUNNING) == (linux_is != OFF))

ltl always_consistent { [] consistent }
/* No wake-up is lost, and nothing that was asked for is forgotten. */
ltl rtos_served { [] (pending -> <> !pending) }
ltl halt_happens { [] (halt_wanted -> <> !halt_wanted) }
ltl start_happens { [] (vm_is == STARTING -> <> (vm_is == RUNNING)) }
ltl housekeeping_happens { [] (HOUSEKEEPING -> <> !HOUSEKEEPING) }
