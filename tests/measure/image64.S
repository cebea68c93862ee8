/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What image.S is for 64-bit code: a multiboot image whose instructions test_plugin64.py knows by
 * number. The first megabytes are mapped where they are, and again at HIGH_VMM and at HIGH_GUEST,
 * for all rings. Each stretch lies between labels NAME_begin and NAME_end, with interrupts enabled
 * in ring 0 at both unless it says so. Linked for 64 bits, then made an ELF file for 32, which is
 * what multiboot loads.
 */
#include "image_common.S"

#define SELECTOR_CODE 0x08
#define SELECTOR_DATA 0x10
#define SELECTOR_USER_CODE32 0x1b
#define SELECTOR_USER_DATA 0x23
#define SELECTOR_USER_CODE 0x2b
#define SELECTOR_TSS 0x30
#define HIGH_VMM 0xffff82d040000000
#define HIGH_GUEST 0xffffffff80000000
#define APIC_VERSION 0xfee00030
#define MSR_EFER 0xc0000080
#define EFER_LME_SCE 0x101
#define MSR_STAR 0xc0000081
#define MSR_LSTAR 0xc0000082
#define MSR_FMASK 0xc0000084
#define FLAGS_IF 0x200
#define FLAGS_USER 0x202
#define CR4_PAE 0x20
#define CR0_PG_WP 0x80010000
#define PAGE_TABLE 0x7		/* present, writable, for all rings */
#define PAGE_LARGE 0x87
#define PAGES (1 << 21)

	.section .multiboot, "a"
	.long	0x1badb002, 0, -0x1badb002

	.text
	.code32
	.globl start
start:
	mov	$stack, %esp
	call	pages_fill
	mov	$CR4_PAE, %eax
	mov	%eax, %cr4
	mov	$table4, %eax
	mov	%eax, %cr3
	mov	$MSR_EFER, %ecx
	mov	$EFER_LME_SCE, %eax
	xor	%edx, %edx
	wrmsr
	mov	%cr0, %eax
	or	$CR0_PG_WP, %eax
	mov	%eax, %cr0
	lgdt	gdt_pointer
	ljmp	$SELECTOR_CODE, $start64

/* Two gigabytes at page tables: the first, and the fourth, where the APIC is. */
pages_fill:
	mov	$PAGE_LARGE, %eax
	mov	$table2, %edi
	call	table_fill
	mov	$0xc0000000 + PAGE_LARGE, %eax
	mov	$table2_apic, %edi
	call	table_fill
	movl	$table3 + PAGE_TABLE, table4
	movl	$table3_vmm + PAGE_TABLE, table4 + 8 * (HIGH_VMM >> 39 & 511)
	movl	$table3_guest + PAGE_TABLE, table4 + 8 * (HIGH_GUEST >> 39 & 511)
	movl	$table2 + PAGE_TABLE, table3
	movl	$table2_apic + PAGE_TABLE, table3 + 8 * 3
	movl	$table2 + PAGE_TABLE, table3_vmm + 8 * (HIGH_VMM >> 30 & 511)
	movl	$table2 + PAGE_TABLE, table3_guest + 8 * (HIGH_GUEST >> 30 & 511)
	ret
table_fill:
	mov	$512, %ecx
1:	mov	%eax, (%edi)
	add	$PAGES, %eax
	add	$8, %edi
	loop	1b
	ret

	.code64
start64:
	mov	$SELECTOR_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	mov	$stack, %rsp
	call	tables_fill
	lidt	idt_pointer
	mov	$SELECTOR_TSS, %eax
	ltr	%ax
	call	calls_start
	call	pic_start
	sti
	jmp	1f
1:
	window_stretch

	.globl popf_begin, popf_open, popf_end
popf_begin:
	pushfq
	cli
	NOPS(7)
	popfq
popf_open:
	nop
popf_end:
	nop

	stack_stretch

	/* A fault in the middle of a block, in a window: 2 instructions in the handler. */
	.globl fault_begin, fault_open, fault_end, divide_error
	xor	%ecx, %ecx
fault_begin:
	cli
	NOPS(10)
	div	%ecx		/* 2 bytes, which the handler skips */
	NOPS(20)
	sti
	nop
fault_open:
	nop
fault_end:
	nop

	/* What the guest's clock says of a stretch with a device in it goes to the serial port. */
	.globl clock_begin, clock_end
	mov	$5, %ecx
	mov	$buffer, %edi
	mov	$APIC_VERSION, %r8d
	rdtsc
	mov	%eax, %ebx
clock_begin:
	rep stosb		/* 5 and a look */
	mov	(%r8), %eax
	NOPS(50)
	rdtsc
clock_end:
	sub	%ebx, %eax
	call	number_send

	/* Ring 3 and back, by IRET and INT. */
	.globl rings_begin, rings_user, rings_back, rings_end, call_entry
rings_begin:
	mov	$rings_back, %rbx
	push	$SELECTOR_USER_DATA
	push	$user_stack
	pushfq
	cli
	push	$SELECTOR_USER_CODE
	push	$rings_user
	iretq
rings_user:
	NOPS(100)
	int	$VECTOR_CALL	/* 2 instructions in ring 0 before rings_back */
rings_back:
	sti
	nop
	nop
rings_end:
	nop

	/* SYSCALL masks, SYSRET opens again; neither is a delivery. */
	.globl syscall_begin, syscall_user, syscall_next, syscall_back, syscall_end
	.globl syscall_entry, syscall_return
	mov	$syscall_back, %rbx
	mov	$syscall_return, %r15
	mov	$syscall_user, %rcx
	mov	$FLAGS_USER, %r11d
	mov	$user_stack, %r12
syscall_begin:
	cli
	mov	%r12, %rsp	/* SYSRET leaves it alone */
	sysretq
syscall_user:
	NOPS(30)
	syscall
syscall_next:
	NOPS(10)
	int	$VECTOR_CALL
syscall_back:
	sti
	nop
	nop
syscall_end:
	nop

	/* An interrupt waits when SYSRET opens the window: it is taken before ring 3 runs. */
	.globl pending_begin, pending_user, pending_back, pending_end, timer_entry
	call	timer_arm
	cli
	call	timer_wait
	mov	$pending_back, %rbx
	mov	$pending_user, %rcx
	mov	$FLAGS_USER, %r11d
	mov	$user_stack, %rsp
pending_begin:
	NOPS(4)
	sysretq			/* the window is 5 long */
pending_user:
	NOPS(9)
	int	$VECTOR_CALL
pending_back:
	sti
	nop
	nop
pending_end:
	nop

	/* The same with IRET. */
	.globl iret_begin, iret_user, iret_back, iret_end
	call	timer_arm
	cli
	call	timer_wait
	mov	$iret_back, %rbx
iret_begin:
	push	$SELECTOR_USER_DATA
	push	$user_stack
	push	$FLAGS_USER
	push	$SELECTOR_USER_CODE
	push	$iret_user
	iretq			/* the window is 6 long */
iret_user:
	NOPS(9)
	int	$VECTOR_CALL
iret_back:
	sti
	nop
	nop
iret_end:
	nop

	hlt_stretch

	/* Ring 0 at the VMM's addresses, masked and not. */
	.globl high_begin, high_masked, high_open, high_end
	mov	$high_entry, %eax
	add	high_vmm, %rax
	jmp	*%rax
high_entry:
	nop
	jmp	1f
1:
high_begin:
	NOPS(3)
	cli
high_masked:
	NOPS(20)
	sti
	nop			/* in the shadow */
high_open:
	NOPS(2)
high_end:
	nop
	mov	$1f, %eax
	jmp	*%rax
1:
	/* A kernel in ring 3 at its addresses, then a process, with a system call each. */
	.globl guest_begin, guest_entry, guest_process, guest_back, guest_end
	mov	$guest_back, %rbx
	mov	$syscall_return, %r15
	mov	$FLAGS_USER, %r11d
	mov	$guest_entry, %ecx
	add	high_guest, %rcx
	mov	$user_stack, %rsp
guest_begin:
	cli
	sysretq
guest_entry:
	NOPS(12)
	syscall
	mov	$guest_process, %eax
	jmp	*%rax
guest_process:
	NOPS(25)
	syscall
	int	$VECTOR_CALL
guest_back:
	sti
	nop
	nop
guest_end:
	nop

	/* 32-bit code in ring 3: what is one instruction there is another in 64-bit code. */
	.globl compatible_begin, compatible_end
	mov	$compatible_back, %rbx
	mov	$compatible_user, %ecx
	mov	$FLAGS_USER, %r11d
	mov	$user_stack, %rsp
	mov	$SELECTOR_USER_DATA, %eax
	mov	%eax, %es
compatible_begin:
	mov	%eax, %ds
	cli
	sysretl
	.code32
compatible_user:
	push	%es
	pop	%es
	les	user_pointer, %eax
	int	$VECTOR_CALL
	.code64
compatible_back:
	sti
	nop
	nop
compatible_end:
	nop

	/* Events. */
	.globl events_begin, events_end
	mov	$buffer, %r8d
events_begin:
	mov	%cr3, %rax
	mov	%rax, %cr3
	mov	%rax, %r9
	mov	%r9, %cr3
	mov	%cr0, %rax
	mov	%rax, %cr0
	mov	%cr4, %rax
	mov	%rax, %cr4
	mov	%cr8, %rax
	mov	%rax, %cr8	/* none: no TLB, no trap of note */
	mov	%cr8, %r9
	mov	%r9, %cr8
	invlpg	buffer
	invlpg	(%r8)
	invlpg	(%rsp)
	swapgs
	swapgs
	push	%fs
	pop	%fs
	push	$SELECTOR_CODE
	push	$1f
	lretq
1:	lgdt	gdt_pointer
	in	$0x21, %al
	andn	%rax, %r8, %rdx	/* C4: LES in 32-bit code */
events_end:
	nop

	mov	$0x10, %eax
	mov	$0xf4, %edx
	out	%al, %dx
1:	jmp	1b

divide_error:
	addq	$2, (%rsp)
	iretq
timer_entry:
	push	%rax
	mov	$0x20, %al
	out	%al, $0x20
	pop	%rax
	iretq
/* Leads to RBX, in ring 0 on the stack from before the way to ring 3. */
call_entry:
	mov	$stack, %esp
	jmp	*%rbx
syscall_entry:
	swapgs
	NOPS(15)
	jmp	*%r15
syscall_return:
	swapgs
	sysretq

	device_functions

/* SYSCALL leads to syscall_entry with interrupts masked. SYSRET takes its selectors from behind
 * that of 32-bit user code. */
calls_start:
	mov	$MSR_STAR, %ecx
	xor	%eax, %eax
	mov	$(SELECTOR_USER_CODE32 << 16) + SELECTOR_CODE, %edx
	wrmsr
	mov	$MSR_LSTAR, %ecx
	mov	$syscall_entry, %eax
	xor	%edx, %edx
	wrmsr
	mov	$MSR_FMASK, %ecx
	mov	$FLAGS_IF, %eax
	wrmsr
	ret

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
	mov	$idt + 16 * VECTOR_TIMER, %edi
	call	gate_fill
	mov	$call_entry, %eax
	mov	$idt + 16 * VECTOR_CALL, %edi
/* An interrupt gate for all rings at RDI, to RAX. */
gate_fill:
	mov	%ax, (%rdi)
	movw	$SELECTOR_CODE, 2(%rdi)
	movw	$0xee00, 4(%rdi)
	shr	$16, %eax
	mov	%ax, 6(%rdi)
	ret

	.data
	.balign 8
gdt:	.quad	0
	.quad	0x00af9a000000ffff
	.quad	0x00cf92000000ffff
	.quad	0x00cffa000000ffff
	.quad	0x00cff2000000ffff
	.quad	0x00affa000000ffff
gdt_tss:
	.quad	0x0000890000000067, 0
gdt_pointer:
	.word	8 * 8 - 1
	.quad	gdt
idt_pointer:
	.word	16 * 49 - 1
	.quad	idt
	.balign 8
high_vmm:
	.quad	HIGH_VMM
high_guest:
	.quad	HIGH_GUEST
user_pointer:
	.long	0
	.word	SELECTOR_USER_DATA
	.balign 16
	.long	0
tss:	.long	0
	.quad	stack
	.fill	23, 4, 0
	.balign 16
idt:	.fill	16 * 49, 1, 0
buffer:	.long	0, 0
	.fill	4096, 1, 0
	.balign 16
stack:	.fill	1024, 1, 0
user_stack:
	.long	0

	.balign 4096
table4:	.fill	4096, 1, 0
table3:	.fill	4096, 1, 0
table3_vmm:
	.fill	4096, 1, 0
table3_guest:
	.fill	4096, 1, 0
table2:	.fill	4096, 1, 0
table2_apic:
	.fill	4096, 1, 0

	.section .note.GNU-stack, "", @progbits
