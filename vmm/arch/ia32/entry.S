/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every way into the VMM and out of it. The stubs bring all vectors to one
 * frame (struct frame in core/vcpu.h) and call the vector's handler. C functions take
 * their first three arguments in EAX, EDX and ECX (-mregparm=3).
 */
#include "arch/ia32/entry.h"
#include "arch/ia32/layout.h"
#include "core/masked_assembler.h"
#include "core/vcpu.h"
#include "return_check.h"

#define CR0_WP 0x10000

/* Where a fault at address \at goes on: read by trap_vmm() in trap.c. */
.macro FIXUP at, to
	.section .fixups, "a"
	.long	\at, \to
	.previous
.endm

/* The stubs of all vectors: trap_init() makes them. In a page of their own, since a
 * CPU gives up what it knows of code when something near it is written. */
	.section .stubs, "awx", @nobits
	.balign	4096
	.globl	entry_stubs
entry_stubs:
	.skip	ENTRY_STUBS * ENTRY_STUB_SIZE
	.text

/*
 * The VMM stack here, highest address first:
 *	ss, esp			only from ring 1 and 3
 *	eflags, cs, eip
 *	error code, vector
 *	ds, es, fs, gs
 *	eax ecx edx ebx (CR0 at entry) ebp esi edi	<- esp after PUSHA
 */
.macro ENTER
	push	%ds
	push	%es
	push	%fs
	push	%gs
	pusha
	mov	$SELECTOR_VMM_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	cld
	mov	%cr0, %eax
.endm
	/* From here on the VMM may write its own memory: WP 0. */
.macro CLEAR_WP
	test	$CR0_WP, %eax
	jz	1f
	and	$~CR0_WP, %eax
	mov	%eax, %cr0
1:
.endm
	/* A hypercall, from a guest: what its function returns is the guest's EAX. */
	.globl	entry_hypercall
entry_hypercall:
	ENTER
	CLEAR_WP
	mov	%esp, %eax
	call	trap_hypercall
	mov	%eax, 28(%esp)
	mov	core, %eax
	jmp	return_to_guest
	.globl	entry
entry:
	ENTER
	mov	%eax, 12(%esp)
	CLEAR_WP
	mov	48(%esp), %edx
	mov	%esp, %eax
	call	*trap_handlers(, %edx, 4)
	.globl	entry_return
entry_return:
	/* A guest's frame lies where the vCPU has it (arch/ia32/origin.h). */
	mov	core, %eax
	cmp	VCPU_FRAME(%eax), %esp
	jne	return_vmm
return_to_guest:
	/* From here on nothing changes any more. */
	cli
	MASKED	return_to_guest
	cmpl	$0, VCPU_ATTENTION(%eax)
	je	return_guest
	call	trap_attend
	mov	core, %eax
	/* To a guest: its CR0 (WP for Linux, TS). Reloaded only if it differs,
	 * since a MOV to CR0 is slow and serialising. */
return_guest:
	CHECK_RETURN
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

	/* void entry_leave(struct frame *frame): as if a handler returned to a frame as above. */
	.globl	entry_leave
entry_leave:
	mov	%eax, %esp
	jmp	entry_return

	/* To the VMM itself: with the CR0 and the segments that it had. FS and GS mean
	 * nothing to it, and whose selectors they hold this GDT may lack; but at the first
	 * instructions of an entry, before DS is loaded, they are still this guest's. */
return_vmm:
	mov	12(%esp), %eax
	mov	%eax, %cr0
	cmpw	$SELECTOR_VMM_DATA, 44(%esp)
	popa
	je	1f
	pop	%gs
	pop	%fs
	sub	$8, %esp
1:	add	$8, %esp
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
	jmp	entry

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
