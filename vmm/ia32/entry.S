/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every way into the VMM and out of it. The stubs bring all vectors to one
 * frame (struct frame in core/vcpu.h) and call trap(). C functions take their
 * first three arguments in EAX, EDX and ECX (-mregparm=3).
 */
#include "core/layout.h"
#include "core/vcpu.h"
#include "ia32/entry.h"

#define CR0_WP 0x10000
/* Vectors 8, 10 to 14 and 17: the CPU has pushed an error code. */
#define ERROR_CODES 0x00027d00

/* Where a fault at address \at goes on: read by trap_vmm() in trap.c. */
.macro FIXUP at, to
	.section .fixups, "a"
	.long	\at, \to
	.previous
.endm

	.text
	.altmacro
/* An exception: the CPU has pushed an error code, or 0 stands in for it. Jumps of two
 * bytes reach entry_common, behind the last, or exception_first, in front of the first;
 * from 15, which no CPU raises, that of 14. */
.macro EXCEPTION vector
	.balign ENTRY_EXCEPTION_SIZE
	.if ((ERROR_CODES >> \vector) & 1) == 0
	push	$0
	.endif
	push	$\vector
	.if \vector < 15
	jmp	exception_first
	.elseif \vector == 15
	jmp	. - 10
	.else
	jmp	entry_common
	.endif
.endm

/* How far back a jump of two bytes reaches. */
#define INTERRUPT_REACH 30

/* An interrupt: its vector less 128, which takes two bytes, in the place of the
 * error code. From vectors that only a dedicated CPU sees it jumps from stub to stub. */
.macro INTERRUPT vector
	push	$(\vector - 128)
	.if \vector < 32 + INTERRUPT_REACH
	jmp	interrupt_first
	.else
	jmp	. - INTERRUPT_REACH * ENTRY_INTERRUPT_SIZE
	.endif
.endm

/*
 * The VMM stack here, highest address first:
 *	ss, esp			only from ring 1 and 3
 *	eflags, cs, eip
 *	error code, vector
 *	ds, es, fs, gs
 *	eax ecx edx ebx (CR0 at entry) ebp esi edi	<- esp after PUSHA
 */
.macro ENTER function
	push	%ds
	push	%es
	push	%fs
	push	%gs
	pusha
	mov	$SELECTOR_VMM_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	/* Not what the guest had there, which another's GDT may lack. */
	xor	%eax, %eax
	mov	%eax, %fs
	mov	%eax, %gs
	cld
	/* From here on the VMM may write its own memory: WP 0. */
	mov	%cr0, %eax
	mov	%eax, 12(%esp)
	test	$CR0_WP, %eax
	jz	1f
	and	$~CR0_WP, %eax
	mov	%eax, %cr0
1:	mov	%esp, %eax
	call	\function
.endm

interrupt_first:
	jmp	entry_interrupt
	.globl entry_interrupts
entry_interrupts:
	.set i, 32
	.rept 224
	INTERRUPT %i
	.set i, i + 1
	.endr
	.balign ENTRY_EXCEPTION_SIZE
exception_first:
	jmp	entry_common
	.globl entry_exceptions
	.balign ENTRY_EXCEPTION_SIZE
entry_exceptions:
	.set i, 0
	.rept 32
	EXCEPTION %i
	.set i, i + 1
	.endr

entry_common:
	ENTER	trap
	jmp	entry_return

entry_interrupt:
	push	(%esp)
	addl	$128, (%esp)
	movl	$0, 4(%esp)
	ENTER	trap_interrupt
	.globl	entry_return
entry_return:
	testb	$3, 60(%esp)
	jz	return_vmm
	mov	core, %eax
	/* From here on nothing changes any more. */
	cli
	cmpl	$0, VCPU_ATTENTION(%eax)
	jne	return_attend
	/* To a guest: its CR0 (WP for Linux, TS). Reloaded only if it differs,
	 * since a MOV to CR0 is slow and serialising. */
return_guest:
	mov	VCPU_CR0(%eax), %ecx
	mov	%cr0, %eax
	cmp	%eax, %ecx
	je	return_pop
	mov	%ecx, %cr0
return_pop:
	popa
pop_gs:	pop	%gs
pop_fs:	pop	%fs
pop_es:	pop	%es
pop_ds:	pop	%ds
	add	$8, %esp
return_iret:
	iret

return_attend:
	call	trap_attend
	mov	core, %eax
	jmp	return_guest

	/* To the VMM itself: with the CR0 and the segments that it had. At the first
	 * instructions of an entry they are still the guest's. */
return_vmm:
	mov	12(%esp), %eax
	mov	%eax, %cr0
	popa
	pop	%gs
	pop	%fs
	pop	%es
	pop	%ds
	add	$8, %esp
	iret

	/* A selector that the guest's tables no longer hold: the null selector
	 * stands in for it. */
.macro POP_FIXUP at
	FIXUP	\at, fix_\at
fix_\at:
	movl	$0, (%esp)
	jmp	\at
.endm
	POP_FIXUP pop_gs
	POP_FIXUP pop_fs
	POP_FIXUP pop_es
	POP_FIXUP pop_ds

	/* The guest cannot be entered as its frame says. ESP points at EIP, CS,
	 * EFLAGS, ESP, SS, as after the CPU's own pushes. */
	FIXUP	return_iret, fix_iret
fix_iret:
	push	$0
	push	$VECTOR_RETURN_FAULT
	jmp	entry_common

/*
 * void switch_stack(struct vcpu *from, struct vcpu *to, u32 cr3)
 * Leaves on from's stack: return address, ebp, ebx, esi, edi <- saved_esp.
 */
	.globl switch_stack
switch_stack:
	push	%ebp
	push	%ebx
	push	%esi
	push	%edi
	mov	%esp, VCPU_SAVED_ESP(%eax)
	test	%ecx, %ecx
	jz	1f
	mov	%ecx, %cr3
1:	mov	VCPU_SAVED_ESP(%edx), %esp
	pop	%edi
	pop	%esi
	pop	%ebx
	pop	%ebp
	ret

/* u32 entry_copy_8(void *to, const void *from) */
	.globl entry_copy_8
entry_copy_8:
	mov	(%edx), %ecx
copy_8:
	mov	4(%edx), %edx
	mov	%ecx, (%eax)
	mov	%edx, 4(%eax)
	xor	%eax, %eax
	ret
	FIXUP	entry_copy_8, fix_copy_8
	FIXUP	copy_8, fix_copy_8
fix_copy_8:
	mov	$8, %eax
	ret

/* u32 entry_copy(void *to, const void *from, u32 size) */
	.globl entry_copy
entry_copy:
	push	%esi
	push	%edi
	mov	%eax, %edi
	mov	%edx, %esi
	mov	%ecx, %edx
	shr	$2, %ecx
copy_long:
	rep movsl
	and	$3, %edx
	mov	%edx, %ecx
copy_byte:
	rep movsb
	mov	%ecx, %eax
	pop	%edi
	pop	%esi
	ret
	FIXUP	copy_long, fix_copy_long
	FIXUP	copy_byte, fix_copy
fix_copy_long:
	and	$3, %edx
	lea	(%edx, %ecx, 4), %ecx
fix_copy:
	mov	%ecx, %eax
	pop	%edi
	pop	%esi
	ret

	.section .note.GNU-stack, "", @progbits
