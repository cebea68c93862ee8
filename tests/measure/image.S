/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A multiboot image whose instructions test_plugin.py knows by number. Each stretch lies between
 * labels NAME_begin and NAME_end, with interrupts enabled in ring 0 at both unless it says so.
 */
#include "image_common.S"

#define HISTORY 8
#define WRITES(n) .rept n; mov history_next, %eax; mov %eax, %edx; and $(HISTORY - 1), %edx; \
	mov %eax, history_ring(, %edx, 4); incl history_next; .endr
#define SELECTOR_CODE 0x08
#define SELECTOR_DATA 0x10
#define SELECTOR_USER_CODE 0x1b
#define SELECTOR_USER_DATA 0x23
#define SELECTOR_BASED_CODE 0x29
#define SELECTOR_RING1_DATA 0x31
#define SELECTOR_TSS 0x38
#define CODE_BASE 0x1000

	.section .multiboot, "a"
	.long	0x1badb002, 0, -0x1badb002

	.text
	.globl start
start:
	mov	$stack, %esp
	lgdt	gdt_pointer
	ljmp	$SELECTOR_CODE, $1f
1:	mov	$SELECTOR_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	call	tables_fill
	lidt	idt_pointer
	mov	$SELECTOR_TSS, %eax
	ltr	%ax
	call	pic_start
	sti
	jmp	1f
1:
	window_stretch

	.globl popf_begin, popf_open, popf_end
popf_begin:
	pushf
	cli
	NOPS(7)
	popf
popf_open:
	nop
popf_end:
	nop

	stack_stretch

	/* A fault in the middle of a block, in a window: 2 instructions in the handler. */
	.globl fault_begin, fault_div, fault_open, fault_end, divide_error
	xor	%ecx, %ecx
fault_begin:
	cli
	NOPS(10)
fault_div:
	div	%ecx		/* 2 bytes, which the handler skips */
	NOPS(20)
	sti
	nop
fault_open:
	nop
fault_end:
	nop

	/* An access to a device, after which QEMU translates anew. */
	.globl device_begin, device_end
device_begin:
	NOPS(4)
	mov	0xfee00030, %eax
	NOPS(6)
	mov	0xfee00030, %eax
	NOPS(2)
device_end:
	nop

	/* What the guest's clock says of a stretch goes to the serial port. */
	.globl clock_begin, clock_end
	mov	$5, %ecx
	mov	$buffer, %edi
	rdtsc
	mov	%eax, %ebx
clock_begin:
	rep stosb		/* 5 and a look */
	mov	0xfee00030, %eax
	NOPS(50)
	rdtsc
clock_end:
	sub	%ebx, %eax
	call	number_send

	/* Ring 3 and back. */
	.globl rings_begin, rings_user, rings_back, rings_end, call_entry
rings_begin:
	mov	$rings_back, %ebx
	push	$SELECTOR_USER_DATA
	push	$user_stack
	pushf
	cli
	push	$SELECTOR_USER_CODE
	push	$rings_user
	iret
rings_user:
	NOPS(100)
	int	$VECTOR_CALL	/* 2 instructions in ring 0 before rings_back */
rings_back:
	sti
	nop
	nop
rings_end:
	nop

	/* An interrupt waits when IRET opens the window: it is taken before ring 3 runs. */
	.globl pending_begin, pending_user, pending_back, pending_end, timer_entry
	call	timer_arm
	cli
	call	timer_wait
	mov	$pending_back, %ebx
pending_begin:
	pushl	$SELECTOR_USER_DATA
	push	$user_stack
	push	$0x202
	push	$SELECTOR_USER_CODE
	push	$pending_user
	iret			/* the window is 6 long */
pending_user:
	NOPS(9)
	int	$VECTOR_CALL
pending_back:
	sti
	nop
	nop
pending_end:
	nop

	hlt_stretch

	/* Ring 1 in a segment with a base: linear addresses, and an interval three times. */
	.globl based_begin, based_entry, based_from, based_to, based_back, based_end
based_begin:
	mov	$based_back, %ebx
	push	$SELECTOR_RING1_DATA
	push	$ring1_stack
	pushf
	push	$SELECTOR_BASED_CODE
	push	$based_entry - CODE_BASE
	iret
based_entry:
	mov	$3, %edx
1:
based_from:
	NOPS(11)
based_to:
	dec	%edx
	jnz	1b
	int	$VECTOR_CALL
based_back:
	sti
	nop
	nop
based_end:
	nop

	/* Events. */
	.globl events_begin, events_end
events_begin:
	mov	%cr3, %eax
	mov	%eax, %cr3
	mov	%eax, %cr3
	mov	%cr0, %eax
	mov	%eax, %cr0
	invlpg	buffer
	invlpg	(%eax)
	invlpg	(%esp)
	push	%es
	pop	%es
	ljmp	$SELECTOR_CODE, $1f
1:	lgdt	gdt_pointer
	in	$0x21, %al
events_end:
	nop

	/* A ring of HISTORY words, into which their numbers go, and a fault now and then. */
	.globl history_begin, history_end, history_ring, history_next
	xor	%ecx, %ecx
history_begin:
	WRITES(3)
	div	%ecx
	WRITES(3)
	div	%ecx
	WRITES(20)
	div	%ecx
	WRITES(1)
history_end:
	nop

	mov	$0x10, %eax
	mov	$0xf4, %edx
	out	%al, %dx
1:	jmp	1b

divide_error:
	addl	$2, (%esp)
	iret
timer_entry:
	push	%eax
	mov	$0x20, %al
	out	%al, $0x20
	pop	%eax
	iret
call_entry:
	add	$20, %esp
	jmp	*%ebx

	device_functions

tables_fill:
	mov	$tss, %eax
	mov	%ax, gdt_tss + 2
	shr	$16, %eax
	mov	%al, gdt_tss + 4
	mov	%ah, gdt_tss + 7
	mov	$divide_error, %eax
	mov	$idt, %edi
	call	gate_fill
	mov	$timer_entry, %eax
	mov	$idt + 8 * VECTOR_TIMER, %edi
	call	gate_fill
	mov	$call_entry, %eax
	mov	$idt + 8 * VECTOR_CALL, %edi
/* An interrupt gate for all rings at EDI, to EAX. */
gate_fill:
	mov	%ax, (%edi)
	movw	$SELECTOR_CODE, 2(%edi)
	movw	$0xee00, 4(%edi)
	shr	$16, %eax
	mov	%ax, 6(%edi)
	ret

	.data
	.balign 8
gdt:	.quad	0
	.quad	0x00cf9a000000ffff
	.quad	0x00cf92000000ffff
	.quad	0x00cffa000000ffff
	.quad	0x00cff2000000ffff
	.quad	0x00cfba001000ffff
	.quad	0x00cfb2000000ffff
gdt_tss:
	.quad	0x0000890000000067
gdt_pointer:
	.word	8 * 8 - 1
	.long	gdt
idt_pointer:
	.word	8 * 49 - 1
	.long	idt
	.balign 4
tss:	.long	0, stack, SELECTOR_DATA
	.fill	23, 4, 0
idt:	.fill	8 * 49, 1, 0
buffer:	.long	0, 0
	.fill	4096, 1, 0
stack:	.fill	1024, 1, 0
user_stack:
	.fill	1024, 1, 0
ring1_stack:
	.long	0

	/* Here, since the symbols of code are known to the test: on a page without any. */
	.text
	.balign 4096
history_next:
	.long	-4		/* about to wrap */
history_ring:
	.fill	HISTORY, 4, 0
	.balign 4096

	.section .note.GNU-stack, "", @progbits
