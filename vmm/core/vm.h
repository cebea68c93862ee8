/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual machine: a guest's memory, its description, its console, and
 * whether it lives. The vCPU that runs it is in vcpu.h.
 */
#pragma once

#include "abi/control.h"
#include "abi/table.h"
#include "core/time.h"
#include "core/vcpu.h"
#include "device/console.h"

struct guest_kind;

/* What has become of a guest that was taken down; the sentences are in vm.c. */
enum vm_notice {
	NOTICE_NONE,
	NOTICE_RESET_OFF,     /* it asked for a reset, which its description does not let it have */
	NOTICE_RESET_RESTART, /* it asked for a reset */
	NOTICE_OFF,           /* it has switched itself off */
	NOTICE_COMMAND,       /* somebody has stopped it */
	NOTICE_FAULT_STOPPED, /* it has failed once too often */
	NOTICE_FAULT_RESTART, /* it has failed */
};

struct vm {
	const struct guest_kind *kind;
	const struct gandalf_guest *guest;
	u32 index;
	u32 state;           /* GANDALF_STATE_...; STARTING: the idle vCPU is to load it */
	struct vcpu *vcpus;  /* vcpu_count of them, one behind the other; the first starts it */
	u32 vcpu_count;
	struct console *console;
	struct board *board; /* Linux: its mainboard (guests/x86/board.h) */
	u32 linear;          /* RTOS: where its memory is mapped */
	u32 channel_bytes;   /* RTOS: behind it */
	bool unreleased;     /* its shadow page tables still exist */
	u32 fault_restarts;
	u64 started;         /* time stamp */
	char *report;        /* GANDALF_REPORT_SIZE bytes: the last one's text */
	struct deadline watchdog;
	u64 alive;           /* its last sign of life; 0: none yet */
	enum vm_notice notice; /* of its end, which the idle vCPU is to log */
	bool faulted;        /* the idle vCPU is to log the report */
	bool silent;         /* and to say in its reason that it gave no sign of life */
	bool refused;        /* and to log that it tried to manage others */
	bool halt_wanted;    /* a stop came while the VMM worked for it */
	const struct gandalf_image *first_image; /* of the guest, in the table */
	struct gandalf_image image; /* and what it is now: control.c replaces an RTOS's, */
	u32 entry;           /* and where that begins; in the guest's memory */
	u32 code_count;
	u8 code[15];         /* for the report: the instruction where the guest was stopped */
	char reason[GANDALF_REASON_SIZE]; /* why it was stopped */
};

static inline void vm_each_vcpu(const struct vm *vm, void (*visit)(struct vcpu *vcpu))
{
	for (u32 i = 0; i < vm->vcpu_count; i++)
		visit(&vm->vcpus[i]);
}

/* Makes the virtual machines of the table; starts none. */
void vm_create_all(void);

/* Asks the idle vCPU to load and start the guest. */
void vm_request_start(struct vm *vm);

/* The guest asked for a reset or switched itself off. */
void vm_reboot(struct vm *vm);
void vm_power_off(struct vm *vm);
/* GANDALF_ACTION_START to _RESUME, for the VMM's console or another guest. Returns
 * 0 or GANDALF_ERROR_... */
int vm_act(struct vm *vm, u32 action);
/* Takes it down if that had to wait for the end of the VMM's work for it. */
void vm_halt_wanted(struct vm *vm);
/* The guest did what cannot be answered otherwise: it is stopped with a report.
 * The pattern is of lib/format.h. The caller returns to the scheduler. */
void vm_stop(struct vm *vm, const char *pattern, ...) __attribute__((format(printf, 2, 3)));

/* A sign of life for its watchdog; the first starts it. */
void vm_show_life(struct vm *vm);
/* Whether any guest runs or will. */
bool vm_any_alive(void);
/* Whether this one does. */
bool vm_is_alive(const struct vm *vm);

struct vm *vm_find(const char *name);
const char *vm_state_name(const struct vm *vm);
