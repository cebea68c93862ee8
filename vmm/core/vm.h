/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual machine: a guest's memory, its description, its console, and
 * whether it lives. The vCPU that runs it is in vcpu.h.
 */
#ifndef GANDALF_CORE_VM_H
#define GANDALF_CORE_VM_H

#include "abi/table.h"
#include "core/vcpu.h"
#include "device/console.h"

enum vm_state {
	VM_OFF,      /* powered itself off, or not started */
	VM_RUNNING,
	VM_STOPPED,  /* stopped by the VMM, with a report */
	VM_STARTING, /* the idle vCPU is to load it */
};

struct pc;

struct vm {
	const struct gandalf_guest *guest;
	u32 index;
	enum vm_state state;
	struct vcpu *vcpu;
	struct console *console;
	struct pc *pc;       /* Linux: the PC that it sees */
	struct rtos *rtos;   /* RTOS: its handlers and timer */
	u32 linear;          /* RTOS: where its memory is mapped */
	bool unreleased;     /* its shadow page tables still exist */
	u32 fault_restarts;
	u64 started;         /* time stamp */
	char reason[72];     /* why it was stopped */
	const char *halt_wanted; /* vm_halt() came while the VMM worked for it */
};

/* Makes the virtual machines of the table; starts none. Returns NULL or a
 * sentence that says what is missing. */
const char *vm_create_all(void);

/* Asks the idle vCPU to load and start the guest. */
void vm_request_start(struct vm *vm);
/* Frees what stopped guests have left; on the idle vCPU. */
void vm_release_stopped(void);
/* Loads and starts what was asked for; runs on the idle vCPU's stack and lets
 * more urgent guests run between pages. */
void vm_start_requested(void);

/* The guest asked for a reset or switched itself off. */
void vm_reboot(struct vm *vm);
void vm_power_off(struct vm *vm);
/* Somebody at the VMM's console wants it down: at once, or where the VMM's work
 * for it ends. reason: not copied. */
void vm_halt(struct vm *vm, const char *reason);
/* The latter, if vm->halt_wanted says so. */
void vm_halt_wanted(struct vm *vm);
/* The guest did what cannot be answered otherwise: it is stopped with a report.
 * The pattern is of lib/format.h. The caller returns to the scheduler. */
void vm_stop(struct vm *vm, const char *pattern, ...) __attribute__((format(printf, 2, 3)));

/* Whether any guest runs or will. */
bool vm_any_alive(void);

struct vm *vm_find(const char *name);
const char *vm_state_name(const struct vm *vm);

#endif
