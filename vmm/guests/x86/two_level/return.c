/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sees to it that a kernel returns to a process by way of the VMM only. Its IRET faults if the code
 * segment that it asks for is a process's, since these are absent while the kernel runs. But a
 * process can choose what its kernel asks for, such as by its frame of a signal: also the segment
 * of the kernel's code, which is ring 3's, too, and present. That IRET would not fault, and the
 * process would go on in the kernel's view. So where a kernel has returned to a process once, which
 * it does first when no process runs yet, INT3 takes the place of the IRET in its memory. From then
 * on each return from there traps, whatever it asks for, and is served as an IRET. A kernel with
 * several such places must have used each before a process can choose what it asks for.
 *
 * A kernel that reads its own code finds that byte. What it costs is nothing: the trap is no
 * slower than the fault.
 */
#include "guests/x86/emulate.h"
#include "guests/x86/emulation.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"
#include "lib/owner.h"
#include "siblings.h"
#include "views.h"

#define OPCODE_INT3 0xccu
/* The EIPs behind each INT3, of a Linux with one vCPU, of which there is one on this core. */
OF_CORE static u32 own_sites[RETURN_PLACES];

void views_forget_returns(void)
{
	for (unsigned i = 0; i < RETURN_PLACES; i++)
		own_sites[i] = 0;
}

static bool return_is_known(const struct x86 *x86, u32 eip)
{
	const volatile u32 *sites = returns_kept(x86, own_sites);

	for (unsigned i = 0; i < RETURN_PLACES; i++)
		if (sites[i] == eip)
			return true;
	return return_is_of_siblings(x86, eip);
}

/* Returns whether a sibling has put INT3 in the place of the kernel's IRET while that faulted. */
static bool return_is_changed(const struct x86 *x86, u32 eip)
{
	u8 byte;

	return return_is_of_siblings(x86, eip + 1) && guest_read(eip, &byte, 1) &&
	       byte == OPCODE_INT3;
}

/* Returns whether a page that the kernel executes is of the guest's own memory, and none that the
 * VMM keeps from being written: a kernel can also execute the registers of its local APIC. */
static bool page_is_memory(const struct x86 *x86, u32 linear)
{
	const struct shadow *shadow = &x86->shadow;
	u32 frame = (shadow_entry(x86->vcpu, linear) & PTE_FRAME) - shadow->memory_base;

	return frame < shadow->memory_size && frame != shadow->protected_frame;
}

/* Puts INT3 where the kernel has just executed an IRET. Its page may be read-only for the kernel,
 * but not for the VMM. The place is known first, since a sibling may execute it at once. Returns
 * false if there are too many such places, or it cannot be written. */
static bool return_learn(const struct x86 *x86, u32 eip)
{
	volatile u32 *sites = returns_kept(x86, own_sites);
	unsigned i = 0;

	while (i < RETURN_PLACES && sites[i] != 0)
		i++;
	if (i == RETURN_PLACES || !page_is_memory(x86, eip))
		return false;
	sites[i] = eip + 1;
	return write_byte_or_fail((u8 *)eip, OPCODE_INT3);
}

/* Returns the address of the first byte of the IRET's frame that cannot be read, or 0. */
static u32 return_missing(u32 esp)
{
	u8 byte;

	for (u32 linear = esp; linear != esp + 5 * sizeof(u32); linear++)
		if (!guest_read(linear, &byte, 1))
			return linear;
	return 0;
}

/* Injects the #GP of an IRET: with the selector that cannot be loaded. */
static void return_refuse(struct x86 *x86, const struct frame *frame)
{
	u32 words[5] = { 0 };
	u32 cs, index;
	bool process;

	if (!guest_read(frame->esp, words, sizeof(words)))
		words[1] = 0;
	cs = words[1] & 0xffff;
	index = cs / 8;
	process = (cs & 7) == 3 && index < SEGMENT_GUEST_ENTRIES &&
		  bit_test(&x86->vcpu->tables->user_code, index);
	inject_general_protection(x86, (process ? words[4] : cs) & 0xfffc);
}

static void return_serve(struct x86 *x86, struct frame *frame)
{
	const struct emulation e = {
		.x86 = x86, .frame = frame,
		.decoded = { .operation = DECODED_IRET, .operand_size = 4, .length = 1 },
	};
	u32 missing;

	vcpu_count(x86->vcpu, COUNTER_return_faults);
	if (emulate_iret(&e) != EMULATED_FAULT)
		return;
	missing = return_missing(frame->esp);
	if (missing != 0)
		inject_page_fault(x86, missing, 0);
	else
		return_refuse(x86, frame);
}

bool views_return(struct x86 *x86, struct frame *frame)
{
	struct emulation e;

	if (x86->vcpu->view.in_process != 0)
		return false;
	if (frame->vector == EXCEPTION_BP && return_is_known(x86, frame->eip)) {
		x86->vcpu->view.site = frame->eip--;
	} else if (frame->vector != EXCEPTION_NP) {
		return false;
	} else if (!emulation_begin(&e, x86) || e.decoded.operation != DECODED_IRET) {
		/* A sibling may have changed it in front of the look at the instruction. */
		return return_is_changed(x86, frame->eip);
	} else if (!return_learn(x86, frame->eip)) {
		vm_stop(x86->vm,
			"it returns to its processes from too many places, or not from memory");
		return true;
	}
	return_serve(x86, frame);
	return true;
}
