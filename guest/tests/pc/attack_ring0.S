/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an attack wants the VMM to run: proof that it has ring 0.
 */
#define WITHOUT_WP 0xfffeffff
#define KERNEL_HALF 0xc0000000	/* what is there is always in the shadow */
#define EXIT_PORT 0xf4		/* QEMU's isa-debug-exit */
#define EXIT_IN_RING_0 0x5a

	.text
	.globl	payload
payload:
	mov	%cs, %eax
	test	$3, %al
	jnz	1f
	mov	%cr0, %eax
	and	$WITHOUT_WP, %eax
	mov	%eax, %cr0
	mov	payload_target + KERNEL_HALF, %eax
	movl	$0x676e6972, (%eax)
	mov	$EXIT_IN_RING_0, %al
	outb	%al, $EXIT_PORT
1:	cli
2:	jmp	2b

	.data
	.globl	payload_target
payload_target: .long 0

	.section .note.GNU-stack, "", @progbits
