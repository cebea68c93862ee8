/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fuzz_shadow.c has to know of the world in which its guest runs: here rings tell its kernel
 * from its processes. two_level/world.h is the other one.
 */
#ifndef GANDALF_FUZZ_WORLD_H
#define GANDALF_FUZZ_WORLD_H

#include "shadow_machine.h"

/* The ring of the guest's kernel, whether a guest may have the CPU to itself, and how many frames
 * of the pool its spaces need beyond what they have in the other world. */
#define WORLD_KERNEL_RING 1u
#define WORLD_HAS_DEDICATED true
#define WORLD_FRAMES 0u

/* Chooses what the description says of the world. */
static void world_choose(u32 what)
{
	(void)what;
}

/* The guest goes on in its kernel (ring 1) or in a process (ring 3). */
static void world_goes_on(u32 ring)
{
	(void)ring;
}

/* Returns the error code that the CPU has for an access of the kernel or of a process. */
static u32 world_error(u32 error)
{
	return error;
}

/* Returns the vector by which the guest enters the VMM of its own accord, or else this one. */
static u32 world_call(u32 vector)
{
	return vector;
}

/* Returns whether an exception may come at any place. */
static bool world_raises(u32 vector)
{
	(void)vector;
	return true;
}

/* Returns what the guest's processes may do by rights in a directory of the kernel's view. */
static struct rights world_of_kernel(struct rights rights)
{
	return rights;
}

/* Returns the same of the directory that is loaded. */
static struct rights world_of_loaded(struct rights rights)
{
	return rights;
}

/* Returns the directory in which a process sees nothing of its kernel, if it is loaded; or 0. */
static u32 world_process(void)
{
	return 0;
}

/* Returns whether spaces that are not loaded need not be up to date. */
static bool world_detects(void)
{
	return false;
}

#endif
