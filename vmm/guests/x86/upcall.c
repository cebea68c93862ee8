/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a dedicated CPU the gates of interrupts lead to ring 1. An interrupt that comes while the
 * VMM works in ring 0 cannot enter a less privileged ring: the CPU raises #GP in the VMM. By then
 * it has taken the interrupt from the 8259 or local APIC, which still tells which one it is. At
 * the points where that may happen, the VMM's work is suspended where it is. The stacks then,
 * highest address first:
 *
 *	VMM stack, read-only meanwhile	guest kernel's stack
 *	guest's frame			...
 *	work, up to the point		EFLAGS
 *	#GP frame of the VMM		CS: the VMM's code segment
 *	upcall()			EIP of the VMM		<- handler's ESP
 *
 *	VMM stack of the next depth	<- esp0
 *	guest's frame: its handler's
 *
 *	  point, #GP              IRET to ring 0, #GP
 *	work ------> guest's handler ------> work
 *	               |   ^  its own faults and hypercalls, at points of
 *	               v   |  which it can be suspended again
 *	              work, one deeper
 *
 * To the guest this looks like an interrupt of its kernel. So the kernel must not be preemptible,
 * or such a frame could stay on the stack of a task that does not run. If the guest never comes
 * back, or stops, the suspended work is given up; nothing is half done at a point, so nothing is
 * missing.
 */
#include "guests/x86/upcall.h"

#include "arch/ia32/entry.h"
#include "core/core.h"
#include "core/trace.h"
#include "direct_message.h"
#include "guests/x86/inject.h"
#include "guests/x86/masked_sections.h"
#include "platform/pc/apic.h"
#include "platform/pc/i8259.h"

/* Pages from one VMM stack to the next: a hole and two pages. */
#define STACK_DISTANCE 3u

/* Returns the page-table entries of the VMM stack at a depth. Ring 1 may write there while nothing
 * is on the stack. All stacks but the first have one page, which is more than an entry takes. */
static u32 *stack_pages(const struct vcpu *vcpu, u32 depth)
{
	return (u32 *)pool_pointer(vcpu->table_frame) + (LAYOUT_STACK >> PAGE_SHIFT) % 1024 +
	       depth * STACK_DISTANCE;
}

bool upcall_create(struct vcpu *vcpu)
{
	for (u32 depth = 1; depth <= UPCALL_DEPTH; depth++) {
		u32 frame = pool_allocate();

		if (frame == 0)
			return false;
		stack_pages(vcpu, depth)[1] = frame | PTE_P | PTE_W | PTE_A | PTE_D;
	}
	return true;
}

static void stack_protect(const struct vcpu *vcpu, u32 depth)
{
	u32 *pages = stack_pages(vcpu, depth);

	pages[0] ^= PTE_W;
	pages[1] ^= PTE_W;
}

void upcall_reset(struct x86 *x86)
{
	x86->point = NULL;
	x86->irq_bases[0] = x86->irq_bases[1] = 0;
	while (x86->upcall_depth != 0)
		stack_protect(x86->vcpu, --x86->upcall_depth);
}

/* Makes the stack at a depth read-only when its work is suspended, or writable again, and has
 * entries lead to the stack of the frame. The load of CR3 also drops what the TLB has of page
 * tables that the work may have freed. */
static void stack_switch(struct vcpu *vcpu, u32 depth, struct frame *frame)
{
	stack_protect(vcpu, depth);
	vcpu->frame = frame;
	vcpu->x86->flag = &frame->eflags;
	vcpu->tables->tss.esp0 = (u32)(frame + 1);
	cr3_write(cr3_read());
}

/* What has come by the VMM's own gates is delivered first. */
void upcall_point(struct x86 *x86)
{
	if ((x86->vcpu->frame->eflags & EFLAGS_IF) == 0 || x86->direct_count != 0)
		return;
	if (x86->upcall_depth == UPCALL_DEPTH) {
		vcpu_count(x86->vcpu, COUNTER_upcall_refusals);
		return;
	}
	x86->apic_priority = apic_priority();
	sti_nop_cli(upcall_point);
}

/* Returns the vector of the interrupt that came at the last point, or 0 if it cannot be told. One
 * of the APIC's own raises the APIC's priority; one of the 8259s', which the APIC passes on, does
 * not. */
static u32 vector_find(const struct x86 *x86)
{
	int irq;

	if (apic_priority() != x86->apic_priority)
		return apic_in_service();
	irq = i8259_in_service();
	if (irq < 0 || x86->irq_bases[irq / 8] == 0)
		return 0;
	return x86->irq_bases[irq / 8] + (u32)irq % 8;
}

void upcall(struct frame *vmm)
{
	struct vcpu *vcpu = core.current;
	struct x86 *x86 = vcpu->x86;
	u32 depth = x86->upcall_depth;
	struct frame *handler = (struct frame *)(LAYOUT_STACK_TOP + (depth + 1) * STACK_DISTANCE *
						 PAGE_SIZE) - 1;
	u32 vector = vector_find(x86);

	if (vector == 0)
		return;
	trace(TRACE_upcall, vector, vmm->eip);
	vcpu_count(vcpu, COUNTER_upcalls);
	vcpu->counters[COUNTER_upcalls_nested] += depth != 0;
	x86->upcalls[x86->upcall_depth++] = (struct upcall){vcpu->frame, vmm};
	vmm->eflags &= ~EFLAGS_IF; /* only a point, which reads the APIC's priority, opens it */
	*handler = *vcpu->frame;
	stack_switch(vcpu, depth, handler);
	handler->eip = vmm->eip;
	handler->cs = SELECTOR_VMM_CODE;
	/* If that has stopped the guest, its work is given up, and its registers for the report are
	 * those of its own frame. */
	if (!inject(x86, vector, INJECT_NO_ERROR))
		*handler = *x86->upcalls[depth].guest;
	entry_leave(handler);
}

void upcall_return(struct x86 *x86, const u32 *words)
{
	const struct upcall *last = x86->upcalls + x86->upcall_depth - 1;

	/* EIP, CS and EFLAGS lie where inject() has put them. */
	if (x86->upcall_depth == 0 || words[0] != last->vmm->eip ||
	    x86->vcpu->frame->esp != last->guest->esp - 3 * sizeof(u32))
		return;
	stack_switch(x86->vcpu, --x86->upcall_depth, last->guest);
	entry_leave(last->vmm);
}

/*
 * Only the guest knows the vectors that it gave the 8259s, until an interrupt comes by the VMM's
 * own gates. All systems of the PC give the second 8259 the vectors behind the first's. Should one
 * not, the second's first interrupt during a halt corrects that.
 */
void upcall_learn(struct x86 *x86, u32 vector)
{
	int irq;

	if (!core.interruptible || vector - x86->irq_bases[0] < 8 ||
	    vector - x86->irq_bases[1] < 8 || vector == apic_in_service() ||
	    (irq = i8259_in_service()) < 0)
		return;
	x86->irq_bases[irq / 8] = vector - (u32)irq % 8;
	if (irq >= 8)
		return;
	x86->irq_bases[1] = x86->irq_bases[0] + 8;
	x86->point = upcall_point;
}

/* Points may be open if the APIC keeps the 8259s' interrupts out: it tells its own vectors
 * itself. */
void upcall_apic_write(struct x86 *x86, u32 offset, u32 value)
{
	bool alone;

	if (direct_message_comes() && (offset == APIC_LOGICAL || offset == APIC_LOGICAL_FORMAT))
		return;
	alone = apic_write_for_guest(offset, value);
	if (offset == APIC_SPURIOUS)
		direct_message_renew();
	x86->point = core.interruptible && (alone || x86->irq_bases[0] != 0) ? upcall_point : NULL;
}
