/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of abi/control.h that a guest which manages others can read. In an image for several
 * cores object_read() is in elsewhere.c, in one for one core in own_object.c.
 */
#pragma once

#include "core/vm.h"

/*
 * Copies up to size bytes of the object that argument 0 of the hypercall names, from offset on.
 * size is at most GANDALF_CONTROL_CHUNK, for which bytes has room. Returns how many there were, or
 * GANDALF_ERROR_ARGUMENT. It is a part of the vCPU's work and ends that: interrupts are masked when
 * it returns, and pauses are in between.
 */
int object_read(const struct vcpu *vcpu, u32 name, u32 offset, u8 *bytes, u32 size);

/* Writes the state of the system as this core knows it. Interrupts are masked when it returns, and
 * were not before. */
void system_tell(const struct vcpu *vcpu, struct gandalf_system_status *status);

/* Writes what the description says of a guest, and what room there is for its image. */
void guest_describe(const struct vm *vm, struct gandalf_guest_status *status);

/* Moves what is asked for of an object that is put together in the buffer of a chunk to its
 * beginning; all is the object's size. Returns how much that is. */
int object_part(u8 *bytes, u32 all, u32 offset, u32 size);
