/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has every way into the VMM and out of it. The stubs bring all vectors to one frame (struct frame
 * in state.h) and call the vector's handler. C functions take their first three arguments in EAX,
 * EDX and ECX (-mregparm=3).
 */
#include "arch/ia32/entry.h"
#include "arch/ia32/fixup_assembler.h"
#include "arch/ia32/layout.h"
#include "arch/ia32/masked_assembler.h"
#include "return_check.h"
#include "return_vmm.h"

#define CR0_WP 0x10000

/* Room for the stubs of all vectors, which entries_make() makes. They have a page of their own,
 * since a CPU drops the code that it has decoded when something near it is written. */
	.section .stubs, "awx", @nobits
	.balign	4096
	.globl	entry_stubs
entry_stubs:
	.skip	ENTRY_STUBS * ENTRY_STUB_SIZE
	.text

/*
 * Saves the registers and loads the VMM's data segments; EAX is CR0 then. The VMM stack behind it,
 * highest address first, with offsets from ESP:
 *	72 ss, 68 esp				only from ring 1 and 3, by the CPU
 *	64 eflags, 60 cs, 56 eip		by the CPU
 *	52 error code, 48 vector		by the stub; the error code also by the CPU
 *	44 ds, 40 es, 36 fs, 32 gs
 *	28 eax, 24 ecx, 20 edx, 16 ebx
 *	12 unused: entry stores CR0 here
 *	8 ebp, 4 esi, 0 edi			<- esp
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
	/* Clears WP, so that the VMM may write its own memory from here on. EAX is CR0. */
.macro CLEAR_WP
	test	$CR0_WP, %eax
	jz	1f
	and	$~CR0_WP, %eax
	mov	%eax, %cr0
1:
.endm
	/* Serves a hypercall, which only a guest can make. What its function returns becomes
	 * the guest's EAX. */
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
	/* The frame is a guest's if it lies where vcpu->frame says (arch/ia32/origin.h). */
	mov	core, %eax
	cmp	VCPU_FRAME(%eax), %esp
	jne	return_vmm
return_to_guest:
	/* With interrupts masked, nothing changes any more that the return depends on. */
	cli
	MASKED	return_to_guest
	cmpl	$0, VCPU_ATTENTION(%eax)
	je	return_guest
	call	trap_attend
	mov	core, %eax
	/* Returns to a guest with its CR0 (WP for Linux, TS), which is loaded only if it
	 * differs, since a MOV to CR0 is slow and serialising. */
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

	/* void entry_leave(struct frame *frame) goes on as if a handler returned to that frame. */
	.globl	entry_leave
entry_leave:
	mov	%eax, %esp
	jmp	entry_return

	/* Returns to the VMM itself, with the CR0, DS and ES that it had. FS and GS mean nothing
	 * to the VMM, and this GDT may lack the selectors in them, so they are not loaded. The
	 * exception is an entry that was interrupted before it loaded DS: FS and GS are still
	 * those of this guest then. */
return_vmm:
	mov	12(%esp), %eax
	mov	%eax, %cr0
	cmpw	$SELECTOR_VMM_DATA, 44(%esp)
	popa
	je	1f
vmm_gs:	pop	%gs
vmm_fs:	pop	%fs
	sub	$8, %esp
1:	add	$8, %esp
vmm_es:	pop	%es
vmm_ds:	pop	%ds
	add	$8, %esp
	iret

	RETURN_VMM_FIXUPS
	POP_FIXUP pop_gs
	POP_FIXUP pop_fs
	POP_FIXUP pop_es
	POP_FIXUP pop_ds

	/*
	 * The IRET has faulted: the guest cannot be entered as its frame says. What the IRET did
	 * not pop is what the CPU pushes on an entry, so the two pushes make it an entry with a
	 * vector of its own. Highest address first:
	 *	ss, esp, eflags, cs, eip	left by the IRET
	 *	0, the error code
	 *	VECTOR_RETURN_FAULT		<- esp at entry
	 */
	FIXUP	return_iret, fix_iret
	.globl	fix_iret
fix_iret:
	push	$0
	push	$VECTOR_RETURN_FAULT
	jmp	entry

/*
 * u32 entry_copy(void *to, const void *from, u32 size). A fault of a REP MOVS goes on at its
 * fix-up with the same stack, highest address first:
 *	return address
 *	esi of the caller
 *	edi of the caller	<- esp
 */
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
