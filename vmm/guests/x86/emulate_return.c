/* SPDX-License-Identifier: Apache-2.0 */
/* Emulates the interrupt flag, halts, and IRET and other loads of CS and SS. */
#include "arch/ia32/decode_quick.h"
#include "core/work.h"
#include "guests/x86/board.h"
#include "guests/x86/emulation.h"
#include "guests/x86/guest_access.h"
#include "guests/x86/linux.h"
#include "guests/x86/masked_sections.h"
#include "siblings.h"
#include "views.h"

enum emulated emulate_cli(const struct emulation *e)
{
	linux_set_interrupts(e->x86, false);
	return EMULATED_NEXT;
}

enum emulated emulate_hlt(const struct emulation *e)
{
	struct x86 *x86 = e->x86;

	work_mask(halt);
	board_settle(x86);
	e->frame->eip += e->decoded.length;
	vcpu_count(x86->vcpu, COUNTER_halts);
	if (linux_interrupt_flag(x86) != 0)
		linux_sleep(x86);
	else if (x86->vcpu->state == VCPU_RUNNING)
		halt_for_ever(x86);
	return EMULATED_JUMP;
}

/* Emulates a HLT behind the STI together with it. An interrupt that was delivered between the two
 * would not end the halt. */
enum emulated emulate_sti(const struct emulation *e)
{
	u8 next = 0;

	linux_set_interrupts(e->x86, true);
	if (!guest_read(e->frame->eip + e->decoded.length, &next, 1) || !decode_halts(next))
		return EMULATED_NEXT;
	e->frame->eip++;
	return emulate_hlt(e);
}

static void return_to(struct x86 *x86, struct frame *frame, const u32 *words)
{
	frame->eip = words[0];
	/* IF is the image's where it is the guest's own, and always set where it is not. */
	frame->eflags = vcpu_eflags(x86->vcpu, words[2]) | (words[2] & EFLAGS_IF);
	if ((words[1] & 3) == 3) {
		frame->cs = words[1] & 0xffff;
		frame->esp = words[3];
		frame->ss = words[4] & 0xffff;
		views_show_process(x86);
		kernel_is_left(x86);
	} else {
		frame->cs = (words[1] & 0xfffcu) | PRIVILEGE_KERNEL;
		frame->esp += 3 * (u32)sizeof(u32);
		linux_set_interrupts(x86, (words[2] & EFLAGS_IF) != 0);
	}
}

/* Returns whether the real GDT has a segment for this selector at its RPL. A code segment that is
 * absent counts while returns are stopped, which may have made it so. */
static bool selector_is_loadable(const struct x86 *x86, u32 selector, bool code)
{
	u32 index = (selector & 0xffff) / 8;
	u64 wanted = DESCRIPTOR_USER | (code ? DESCRIPTOR_CODE : DESCRIPTOR_WRITABLE);
	u64 mask = DESCRIPTOR_USER | DESCRIPTOR_CODE | (code ? 0 : DESCRIPTOR_WRITABLE);
	bool stopped = views_stop_now(returns_are_stopped(x86));
	u64 descriptor;

	if (index >= SEGMENT_GUEST_ENTRIES || (selector & 4))
		return false;
	descriptor = x86->vcpu->tables->gdt[index];
	if ((descriptor & DESCRIPTOR_PRESENT) == 0 && !(stopped && code))
		return false;
	return (descriptor & mask) == wanted &&
	       views_segment_fits(x86->vcpu, selector, descriptor);
}

/* Returns whether the VMM's IRET could load what the guest's IRET asks for. */
static bool return_is_possible(const struct x86 *x86, const u32 *words)
{
	if ((words[2] & EFLAGS_VM) || !selector_is_loadable(x86, words[1], true) ||
	    words[0] > descriptor_limit(x86->vcpu->tables->gdt[(words[1] & 0xffff) / 8]))
		return false;
	return (words[1] & 3) != 3 ||
	       ((words[4] & 3) == 3 && selector_is_loadable(x86, words[4], false));
}

enum emulated emulate_iret(const struct emulation *e)
{
	u32 words[5]; /* EIP, CS, EFLAGS, and to ring 3 ESP, SS */
	u32 esp = e->frame->esp;

	if (e->error == SELECTOR_VMM_CODE && guest_read(esp, words, 3 * sizeof(u32)))
		upcall_return(e->x86, words);
	if (e->decoded.operand_size != 4 || !guest_read(esp, words, 3 * sizeof(u32)) ||
	    ((words[1] & 3) == 3 && !guest_read(esp, words, sizeof(words))) ||
	    !return_is_possible(e->x86, words))
		return EMULATED_FAULT;
	vcpu_count(e->x86->vcpu, COUNTER_returns);
	return_to(e->x86, e->frame, words);
	return EMULATED_JUMP;
}

/* Emulates a load of SS with an RPL of 0, which only ring 0 can do. */
enum emulated emulate_mov_to_sreg(const struct emulation *e)
{
	u16 selector;

	if (e->decoded.reg != SEGMENT_SS)
		return EMULATED_FAULT;
	if (!operand_16(e, &selector))
		return EMULATED_JUMP;
	if ((selector & 3) != 0 || !selector_is_loadable(e->x86, selector, false))
		return EMULATED_FAULT;
	e->frame->ss = selector | PRIVILEGE_KERNEL;
	return EMULATED_NEXT;
}
