/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What image.S and image64.S have in common, as text: it is assembled for 32 bits in the one and
 * for 64 bits in the other. Stretches and functions are macros, which stand where the image has
 * them.
 */
#define NOPS(n) .rept n; nop; .endr
#define VECTOR_TIMER 0x20
#define VECTOR_CALL 0x30
#define PIT_TICKS 100

	.macro window_stretch
	.globl window_begin, window_masked, window_open, window_end
window_begin:
	NOPS(3)
	cli
window_masked:
	NOPS(40)
	sti
	nop			/* in the shadow */
window_open:
	NOPS(5)
window_end:
	nop
	.endm

	.macro stack_stretch
	/* The shadow of a load of SS is no window. */
	.globl stack_begin, stack_end
stack_begin:
	mov	%ss, %eax
	mov	%eax, %ss
	nop
	sti			/* no window either: IF was set */
	nop
	nop
stack_end:
	nop
	.endm

	.macro hlt_stretch
	/* HLT in the shadow of STI ends a window. */
	.globl hlt_begin, hlt_masked, hlt_end
	call	timer_arm
hlt_begin:
	cli
hlt_masked:
	NOPS(8)
	sti
	hlt
	nop
hlt_end:
	nop
	.endm

	.macro device_functions
/* EAX to the serial port, lowest byte first, when it is ready. */
number_send:
	mov	%eax, %ebx
	mov	$4, %ecx
1:	mov	$0x3fd, %edx
	in	%dx, %al
	test	$0x20, %al
	jz	1b
	mov	$0x3f8, %edx
	mov	%ebx, %eax
	out	%al, %dx
	shr	$8, %ebx
	loop	1b
	ret

/* The timer's interrupt, once. */
timer_arm:
	mov	$0x30, %al
	out	%al, $0x43
	mov	$PIT_TICKS, %al
	out	%al, $0x40
	xor	%al, %al
	out	%al, $0x40
	ret
/* Until its request is in the interrupt controller. */
timer_wait:
	mov	$0x0a, %al
	out	%al, $0x20
1:	in	$0x20, %al
	test	$1, %al
	jz	1b
	ret

pic_start:
	mov	$0x11, %al
	out	%al, $0x20
	mov	$VECTOR_TIMER, %al
	out	%al, $0x21
	mov	$4, %al
	out	%al, $0x21
	mov	$1, %al
	out	%al, $0x21
	mov	$0x30, %al	/* the timer is silent until armed */
	out	%al, $0x43
	mov	$0xfe, %al
	out	%al, $0x21
	ret
	.endm
