/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual machine: a guest's description, memory, console and state. The vCPU that runs the guest
 * is in vcpu.h.
 */
#pragma once

#include "abi/control.h"
#include "abi/table.h"
#include "core/time.h"
#include "core/vcpu.h"
#include "device/console.h"
#include "vm_part.h"

/* The VMs of a core, and its vCPUs. */
#define PLACES_MAXIMUM (GANDALF_GUESTS_MAXIMUM + FURTHER_PLACES)

struct guest_kind;

/* What has become of a guest that was taken down. The sentences are in loader.c. */
enum vm_notice {
	NOTICE_NONE,
	NOTICE_RESET_OFF,     /* it asked for a reset, but its description says that it stays off */
	NOTICE_RESET_RESTART, /* it asked for a reset and restarts */
	NOTICE_OFF,           /* it has switched itself off */
	NOTICE_COMMAND,       /* somebody has stopped it */
	NOTICE_FAULT_STOPPED, /* it has failed once too often and stays stopped */
	NOTICE_FAULT_RESTART, /* it has failed and restarts */
};

struct vm {
	const struct guest_kind *kind;
	const struct gandalf_guest *guest;
	u32 index;           /* its place in the system description */
	u32 state;           /* GANDALF_STATE_...; STARTING: the idle vCPU is to load it */
	/* Its vCPUs, one behind the other, the first of which boots. It has one: of a Linux with
	 * several each is a VM of its own, since it may be on another core (core/part.h). */
	struct vcpu *vcpus;
	u32 vcpu_count;
	struct console *console;
	u32 linear;          /* for an RTOS: the linear address of its memory */
	bool unreleased;     /* it has stopped, and what it has left is not freed yet */
	u32 fault_restarts;  /* restarts after faults, at most restart_limit of the table */
	u64 started;         /* time stamp of its last start; 0: none */
	char *report;        /* text of its last report, in GANDALF_REPORT_SIZE bytes */
	struct deadline watchdog;
	u64 alive;           /* time stamp of its last sign of life; 0: none yet */
	enum vm_notice notice; /* what the idle vCPU is to log about its end */
	bool faulted;        /* the idle vCPU is to log its report */
	bool silent;         /* the reason in that report is that it gave no sign of life */
	bool refused;        /* the idle vCPU is to log that it tried to manage others */
	bool halt_wanted;    /* a stop or pause waits for the end of the VMM's work for it */
	u32 entry;           /* where the guest begins, in its own memory */
	u32 code_count;      /* how many bytes of code are known */
	const struct gandalf_image *first_image; /* its first image in the table */
	struct gandalf_image image; /* what is loaded instead of that; control.c can change it */
	u8 code[15];         /* the instruction at which the guest was stopped, for the report */
	char reason[GANDALF_REASON_SIZE]; /* why it was stopped */
	struct vm_part;      /* which of its guest's vCPUs it is (vm_part.h) */
};

/* Calls a function for each vCPU of a guest. */
static inline void vm_each_vcpu(const struct vm *vm, void (*visit)(struct vcpu *vcpu))
{
	for (u32 i = 0; i < vm->vcpu_count; i++)
		visit(&vm->vcpus[i]);
}

/* The reports, by guest. A core has memory for those of its own guests only. */
extern char vm_reports[GANDALF_GUESTS_MAXIMUM][GANDALF_REPORT_SIZE];

/* Makes what guests of each kind have in common. The first core calls it before others run. */
void vm_prepare_kinds(void);
/* Makes the virtual machines of the table, and asks for the start of those of this core. */
void vm_create_all(void);

/* Asks the idle vCPU to load and start the guest. */
void vm_request_start(struct vm *vm);

/* Takes a guest down that has asked for a reset, and restarts it if its description says so. */
void vm_reboot(struct vm *vm);
/* Takes a guest down that has switched itself off. */
void vm_power_off(struct vm *vm);
/* Performs GANDALF_ACTION_START to GANDALF_ACTION_RESUME for the VMM's console or another guest.
 * Returns 0 or GANDALF_ERROR_... Interrupts must be masked. */
int vm_act(struct vm *vm, u32 action);
/* Is that for a guest of this core, behind vm_act()'s questions (struct guest_kind). */
int vm_act_here(struct vm *vm, u32 action);
/* Stops a guest for a command: at once, or when the VMM's work for it ends. Interrupts must be
 * masked. */
void vm_halt(struct vm *vm);
/* Pauses the part of a guest that is paused, or resumes it: at once, or when the VMM's work for it
 * ends. Interrupts must be masked. */
void vm_pause_with(struct vm *vm, bool paused);
/* Performs a stop that had to wait for the end of the VMM's work for the guest. */
void vm_halt_wanted(struct vm *vm);
/* Stops a guest with a report, since it did what cannot be answered otherwise. pattern gives the
 * reason (lib/format.h). It returns with interrupts masked, and the caller returns to the
 * scheduler. It does nothing if the guest has been stopped before. */
void vm_stop(struct vm *vm, const char *pattern, ...) __attribute__((format(printf, 2, 3)));

/* Takes down a guest that has failed, here or on another of its cores, and restarts it if its
 * description says so. Interrupts must be masked. */
void vm_fall(struct vm *vm);

/* Takes a sign of life from the guest. The first one starts its watchdog. */
void vm_show_life(struct vm *vm);
/* Returns whether any guest runs, is paused, or is about to start. */
bool vm_any_alive(void);
/* Returns whether this guest does. */
bool vm_is_alive(const struct vm *vm);

/* Returns the guest of that name, or NULL. */
struct vm *vm_find(const char *name);
/* Returns the word for its state. */
const char *vm_state_name(const struct vm *vm);
