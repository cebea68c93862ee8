/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads the direct ways between a process and its kernel (two_level/view_switch.h). Both gates mask
 * interrupts, for less than 100 instructions. DS is still the guest's, so all goes by SS, which is
 * the VMM's, and whose segment leaves the first page out: a pointer that is 0 faults. What is read
 * of the guest may fault; then the way through C begins as if nothing had been done, but that
 * view_switch_call may have loaded the kernel's view, as that way does first. In virtual-8086 mode
 * INT n is a #GP, but not in every emulator, and INT3 is a process's.
 */
#include "arch/ia32/entry.h"
#include "arch/ia32/fixup_assembler.h"
#include "arch/ia32/layout.h"
#include "view_switch.h"

#define EFLAGS_VM 0x20000
#define PTE_W 2
#define RING 3
/* The frame for the kernel: EIP, CS, EFLAGS, ESP, SS. */
#define FRAME_BYTES 20
#define EXCEPTION_BP 3

	.section .text.ways, "ax", @progbits
	/*
	 * INT 0x80 of a process. The VMM stack, highest address first, with offsets from ESP:
	 *	32 ss, 28 esp, 24 eflags, 20 cs, 16 eip		by the CPU
	 *	12 eax, 8 ecx, 4 edx, 0 ebx			<- esp
	 * On the kernel's stack the same five words are put that the CPU would have put there.
	 */
	.globl	view_switch_call
view_switch_call:
	push	%eax
	push	%ecx
	push	%edx
	push	%ebx
	mov	%ss:core, %eax
	cmpl	$0, %ss:VIEW_SWITCH_READY(%eax)
	je	call_by_c
	cmpl	$0, %ss:VCPU_ATTENTION(%eax)
	jne	call_by_c
	cmpw	$VIEW_SWITCH_USER_CODE, 20(%esp)
	jne	call_by_c
	mov	%ss:VIEW_SWITCH_KERNEL(%eax), %ecx
	mov	%ecx, %cr3
	mov	%ecx, %ss:VIEW_SWITCH_VCPU_CR3(%eax)
	mov	%ecx, %ss:core + VIEW_SWITCH_CORE_CR3
	mov	%ss:VIEW_SWITCH_ESP0(%eax), %ecx
call_ss0:
	cmpw	$VIEW_SWITCH_KERNEL_DATA, %ss:4(%ecx)
	jne	call_by_c
call_esp0:
	mov	%ss:(%ecx), %edx
	/* The frame must be below the VMM, in one page that the shadow has as writable. */
	sub	$FRAME_BYTES, %edx
	cmp	$GANDALF_BASE - FRAME_BYTES, %edx
	ja	call_by_c
	mov	%edx, %ebx
	and	$4095, %ebx
	cmp	$4096 - FRAME_BYTES, %ebx
	ja	call_by_c
	mov	%edx, %ebx
	shr	$22, %ebx
	mov	%ss:VIEW_SWITCH_TABLES(%eax), %ecx
	mov	%ss:(%ecx, %ebx, 4), %ecx
	/* That of a page table has these bits: that of a large page has others, and none is 0. */
	sub	$VIEW_SWITCH_TABLE_BITS, %ecx
	test	$4095, %ecx
	jnz	call_by_c
	add	%ss:pool_distance, %ecx
	mov	%edx, %ebx
	shr	$12, %ebx
	and	$1023, %ebx
	testb	$PTE_W, %ss:(%ecx, %ebx, 4)
	jz	call_by_c
	/* All of it is in one page, so if one word fails then it is the first one: in page 0, which
	 * these segments lack. */
	mov	16(%esp), %ecx
call_frame:
	mov	%ecx, %ss:(%edx)
	movl	$VIEW_SWITCH_USER_CODE, %ss:4(%edx)
	/* IF is 1 and IOPL 0 in a process, as its kernel is to see them; but an emulator may begin
	 * this way in virtual-8086 mode with IOPL 3. */
	mov	24(%esp), %ecx
	test	$EFLAGS_VM, %ecx
	jnz	call_by_c
	mov	%ecx, %ss:8(%edx)
	mov	28(%esp), %ecx
	mov	%ecx, %ss:12(%edx)
	movzwl	32(%esp), %ecx
	mov	%ecx, %ss:16(%edx)
	/* Nothing fails any more. */
	mov	%ss:VIEW_SWITCH_ENTRY(%eax), %ecx
	mov	%ecx, 16(%esp)
	movl	$VIEW_SWITCH_KERNEL_CODE | RING, 20(%esp)
	andl	$~VIEW_SWITCH_EFLAGS_CLEARED, 24(%esp)
	mov	%edx, 28(%esp)
	movl	$VIEW_SWITCH_KERNEL_DATA | RING, 32(%esp)
	movl	$0, %ss:GANDALF_SHARED_PAGE
	mov	%ss:VIEW_SWITCH_VCPU_TABLES(%eax), %ecx
	movl	$VIEW_SWITCH_USER_HIGH, %ss:(VIEW_SWITCH_USER_CODE & ~7) + 4(%ecx)
	movl	$0, %ss:VIEW_SWITCH_IN_PROCESS(%eax)
	movl	$0, %ss:VIEW_SWITCH_READY(%eax)
	incl	%ss:view_switch + VIEW_SWITCH_CALLS
	pop	%ebx
	pop	%edx
	pop	%ecx
	pop	%eax
call_iret:
	iret
	FIXUP	call_ss0, call_by_c
	FIXUP	call_esp0, call_by_c
	FIXUP	call_frame, call_by_c
	FIXUP	call_iret, fix_iret

call_by_c:
	pop	%ebx
	pop	%edx
	pop	%ecx
	pop	%eax
	jmp	entry_stubs + VIEW_SWITCH_SYSTEM_CALL * ENTRY_STUB_SIZE

	/*
	 * #BP, which is the kernel's IRET to a process if all is as it mostly is (return.c). The
	 * VMM stack, highest address first, with offsets from ESP:
	 *	32 ss, 28 esp				only from ring 3, by the CPU
	 *	24 eflags, 20 cs, 16 eip		by the CPU
	 *	12 eax, 8 ecx, 4 edx, 0 ebx		<- esp
	 */
	.globl	view_switch_return
view_switch_return:
	push	%eax
	push	%ecx
	push	%edx
	push	%ebx
	testb	$RING, 20(%esp)
	jz	return_by_c
	mov	%ss:core, %eax
	cmpl	$0, %ss:VIEW_SWITCH_IN_PROCESS(%eax)
	jne	return_by_c
	cmpl	$0, %ss:VCPU_ATTENTION(%eax)
	jne	return_by_c
	mov	%ss:VIEW_SWITCH_PROCESS(%eax), %ebx
	test	%ebx, %ebx
	jz	return_fill
return_look:
	mov	16(%esp), %ecx
	cmp	%ss:VIEW_SWITCH_SITE(%eax), %ecx
	jne	return_by_c
	mov	28(%esp), %edx
	cmp	$GANDALF_BASE - FRAME_BYTES, %edx
	ja	return_by_c
return_cs:
	cmpw	$VIEW_SWITCH_USER_CODE, %ss:4(%edx)
	jne	return_by_c
return_ss:
	cmpw	$VIEW_SWITCH_USER_DATA, %ss:16(%edx)
	jne	return_by_c
	mov	%ss:VIEW_SWITCH_VCPU_TABLES(%eax), %ecx
	cmpl	$VIEW_SWITCH_USER_BIT, %ss:VIEW_SWITCH_USER_CODES(%ecx)
	jne	return_by_c
	cmpl	$VIEW_SWITCH_USER_LOW, %ss:(VIEW_SWITCH_USER_CODE & ~7)(%ecx)
	jne	return_by_c
	cmpl	$VIEW_SWITCH_USER_HIGH, %ss:(VIEW_SWITCH_USER_CODE & ~7) + 4(%ecx)
	jne	return_by_c
return_eflags:
	testl	$EFLAGS_VM, %ss:8(%edx)
	jnz	return_by_c
return_eip:
	cmpl	$GANDALF_BASE, %ss:(%edx)
	jae	return_by_c
return_esp:
	mov	%ss:12(%edx), %ecx
	/* All words have been read, so they are there, and nothing fails any more. */
	mov	%ecx, 28(%esp)
	mov	%ss:8(%edx), %ecx
	and	$VIEW_SWITCH_EFLAGS_GUEST, %ecx
	or	%ss:VIEW_SWITCH_VCPU_EFLAGS(%eax), %ecx
	mov	%ecx, 24(%esp)
	mov	%ss:(%edx), %ecx
	mov	%ecx, 16(%esp)
	movl	$VIEW_SWITCH_USER_CODE, 20(%esp)
	movl	$VIEW_SWITCH_USER_DATA, 32(%esp)
	mov	%ss:VIEW_SWITCH_VCPU_TABLES(%eax), %ecx
	movl	$VIEW_SWITCH_USER_HIGH | VIEW_SWITCH_PRESENT, \
		%ss:(VIEW_SWITCH_USER_CODE & ~7) + 4(%ecx)
	mov	%ebx, %cr3
	mov	%ebx, %ss:VIEW_SWITCH_VCPU_CR3(%eax)
	mov	%ebx, %ss:core + VIEW_SWITCH_CORE_CR3
	movl	$1, %ss:VIEW_SWITCH_READY(%eax)
	movl	$1, %ss:VIEW_SWITCH_IN_PROCESS(%eax)
	incl	%ss:view_switch + VIEW_SWITCH_RETURNS
	pop	%ebx
	pop	%edx
	pop	%ecx
	pop	%eax
view_switch_iret:
	iret
	FIXUP	return_cs, return_by_c
	FIXUP	return_ss, return_by_c
	FIXUP	return_eflags, return_by_c
	FIXUP	return_eip, return_by_c
	FIXUP	return_esp, return_by_c
	FIXUP	view_switch_iret, fix_iret

	/*
	 * The kernel may have served a page fault, so the page is filled first. This is C, but
	 * short. It takes the VMM's segments, and gives the process's back. The VMM stack below
	 * what is drawn above:
	 *	-4 the process's ds
	 *	-8 its es		<- esp at the call
	 */
return_fill:
	cmpl	$0, %ss:VIEW_SWITCH_AWAITED(%eax)
	je	return_by_c
	push	%ds
	push	%es
	mov	$SELECTOR_VMM_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	cld
	call	views_fill_awaited
fill_es:
	pop	%es
fill_ds:
	pop	%ds
	mov	%ss:core, %eax
	mov	%ss:VIEW_SWITCH_PROCESS(%eax), %ebx
	test	%ebx, %ebx
	jnz	return_look
	jmp	return_by_c
	POP_FIXUP fill_es
	POP_FIXUP fill_ds

return_by_c:
	pop	%ebx
	pop	%edx
	pop	%ecx
	pop	%eax
	jmp	entry_stubs + EXCEPTION_BP * ENTRY_STUB_SIZE

	.section .note.GNU-stack, "", @progbits
