/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what the VMM says of the machine and its guests, and has it act on a guest. */
#ifndef GANDALFCTL_GUEST_H
#define GANDALFCTL_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "device.h"
#include "table.h"

struct guest {
	uint32_t place;
	struct gandalf_guest_status status;
};

/* The functions below return false after a sentence on standard error. */
/* Reads an object of control.h as a whole. */
bool object_read(uint32_t object, uint32_t place, void *to, uint32_t size);
bool system_read(struct gandalf_system_status *status);
/* Reads the state of a CPU. On a machine with one that is what system_read() has said of it. */
bool cpu_read(const struct gandalf_system_status *system, uint32_t cpu,
	      struct gandalf_core_status *status);
bool guest_read(uint32_t place, struct guest *guest);
/* Finds the guest of that name, and reads the system's status, too, if system is not NULL. */
bool guest_find(const char *name, struct guest *guest, struct gandalf_system_status *system);
/* Does what guest_find() does, but refuses the Linux that this program runs in. */
bool guest_find_other(const char *name, struct guest *guest);

/* Says why the VMM refused to read or write. Returns 1. */
int refused(long error);

/* How many CPUs the machine's description has, of which this command knows. */
uint32_t cpus_of(const struct gandalf_system_status *system);

const char *guest_state_name(const struct guest *guest);
const char *guest_kind_name(const struct guest *guest);
/* Returns whether the guest's memory is in use. */
bool guest_lives(const struct guest *guest);

/* Waits a moment for the VMM, or for another command. Returns false if tries, which is 0 at first,
 * says that this has lasted for so long that there is no more to wait for. */
bool guest_waits(unsigned *tries);
/* Waits until no other command wants something done to the guest, and keeps others waiting from
 * then on. Returns false if one has it for too long. */
bool guest_keep(const struct guest *guest);
/* Has the VMM act on a guest, and repeats that while it is busy with the guest. Returns 0 or
 * -errno. */
long guest_act(const struct guest *guest, uint32_t action);
/* Says that the image is sent that has this size, entry point and CRC-32. Returns likewise. */
long guest_load(const struct guest *guest, uint32_t size, uint32_t entry, uint32_t crc);
/* Has a vCPU move to a CPU, and waits until it is there. Returns 0 or an error. */
long guest_move(const struct guest *guest, uint32_t vcpu, uint32_t cpu);
/* Says why it has not (move.c). Returns 1. */
int move_refused(const struct guest *guest, uint32_t vcpu, uint32_t cpu, long error);
/* Sets GANDALF_PREEMPTION_..., or with GANDALF_PREEMPTION_ASK does not. Returns which one the guest
 * has, or an error. */
long guest_policy(const struct guest *guest, uint32_t policy);
/* Finds the CPU of a vCPU, and how often it has moved. Returns false if there is no such vCPU, or
 * the guest's do not move. */
bool guest_vcpu(const struct guest *guest, uint32_t number, uint32_t *cpu, uint32_t *moves);
/* Returns what all moves of a vCPU have taken of GANDALF_TICKS_..., modulo 2^31, or for how many
 * milliseconds it has waited, or an error. */
long guest_ticks(const struct guest *guest, uint32_t number, uint32_t kind);
/* Waits while the guest is being loaded. Returns false only if its status cannot be read. */
bool guest_settle(struct guest *guest);

#endif
