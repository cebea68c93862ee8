/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A multiboot image for two CPUs whose instructions test_several.py knows by number. Both execute
 * PAUSE again and again, so that each has its turn in the middle of what the other does.
 */
#define APIC_COMMAND 0xfee00300
#define APIC_TO_ALL_OTHERS 0xc4000
#define INIT 0x500
#define STARTUP 0x600
#define PAGE 0x8000 /* where the other CPU begins, in real mode */
#define ROUNDS 100

	.section .multiboot, "a"
	.long	0x1badb002, 0, -0x1badb002

	.text
	.globl start
start:
	mov	$other, %esi
	mov	$PAGE, %edi
	mov	$other_behind - other, %ecx
	rep movsb
	movl	$APIC_TO_ALL_OTHERS | INIT, APIC_COMMAND
	mov	$10000, %ecx
1:	pause
	loop	1b
	movl	$APIC_TO_ALL_OTHERS | STARTUP | PAGE >> 12, APIC_COMMAND
1:	pause
	cmpl	$0, other_rounds - other + PAGE
	je	1b
	mov	other_rounds - other + PAGE, %ebx

	.globl own_begin, own_end
own_begin:
	mov	$ROUNDS, %ecx
1:	pause
	dec	%ecx
	jnz	1b
own_end:
	mov	$0x10, %eax
	/* The other CPU has been at work meanwhile. */
	cmp	%ebx, other_rounds - other + PAGE
	jne	1f
	inc	%eax
1:	mov	$0xf4, %edx
	out	%al, %dx
	jmp	1b

	.code16
	.globl other, other_from, other_to
other:
	mov	%cs, %ax
	mov	%ax, %ds
other_from:
	incl	other_rounds - other
	.rept	7
	nop
	.endr
	pause
other_to:
	jmp	other_from
	.balign	4
other_rounds:
	.long	0
other_behind:
