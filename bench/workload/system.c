/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of system.h that are no single instruction, and the entry of a program. */
#include "system.h"

/* For a kernel that offers nothing. */
void system_interrupt(void);
void *system_entry = (void *)system_interrupt;

void system_restore(void);
void system_start(long *stack);

/* CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD and _SYSVSEM. */
#define THREAD_FLAGS 0x50f00
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

/*
 * The kernel leaves on the stack: argument count, arguments, 0, environment, 0, auxiliary vector.
 * system_restore is where a signal's handler returns to.
 */
#ifdef __x86_64__
__asm__(".globl _start\n"
	"_start:\n"
	"	xor	%ebp, %ebp\n"
	"	mov	%rsp, %rdi\n"
	"	and	$-16, %rsp\n"
	"	call	system_start\n"
	"system_restore:\n"
	"	mov	$15, %eax\n"
	"	syscall\n"
	"system_interrupt:\n"
	"	ret\n"
	/* clone(): the new thread begins behind the call, on its own stack, where its function's
	 * address lies as if it were to be returned to. */
	".globl system_thread\n"
	"system_thread:\n"
	"	sub	$8, %rsi\n"
	"	mov	%rdi, (%rsi)\n"
	"	mov	$" TEXT(THREAD_FLAGS) ", %edi\n"
	"	mov	$56, %eax\n"
	"	syscall\n"
	"	ret\n");
#else
__asm__(".globl _start\n"
	"_start:\n"
	"	xor	%ebp, %ebp\n"
	"	mov	%esp, %eax\n"
	"	and	$-16, %esp\n"
	"	sub	$12, %esp\n"
	"	push	%eax\n"
	"	call	system_start\n"
	"system_restore:\n"
	"	mov	$173, %eax\n"
	"	int	$0x80\n"
	"system_interrupt:\n"
	"	int	$0x80\n"
	"	ret\n"
	/* The arguments are behind what is saved and the return address. */
	".globl system_call6\n"
	"system_call6:\n"
	"	push	%ebx\n"
	"	push	%esi\n"
	"	push	%edi\n"
	"	push	%ebp\n"
	"	mov	20(%esp), %eax\n"
	"	mov	24(%esp), %ebx\n"
	"	mov	28(%esp), %ecx\n"
	"	mov	32(%esp), %edx\n"
	"	mov	36(%esp), %esi\n"
	"	mov	40(%esp), %edi\n"
	"	mov	44(%esp), %ebp\n"
	"	call	*system_entry\n"
	"	pop	%ebp\n"
	"	pop	%edi\n"
	"	pop	%esi\n"
	"	pop	%ebx\n"
	"	ret\n"
	/* clone(): as above. The new thread's EBX is of no use to it. */
	".globl system_thread\n"
	"system_thread:\n"
	"	push	%ebx\n"
	"	mov	8(%esp), %edx\n"
	"	mov	12(%esp), %ecx\n"
	"	sub	$8, %ecx\n"
	"	mov	%edx, 4(%ecx)\n"
	"	mov	$" TEXT(THREAD_FLAGS) ", %ebx\n"
	"	mov	$120, %eax\n"
	"	int	$0x80\n"
	"	pop	%ebx\n"
	"	ret\n");
#endif

long system_handle(int signal, void (*handler)(int number))
{
	struct signal_action action = { .handler = handler,
					.flags = SA_SIGINFO | SA_RESTORER,
					.restorer = system_restore };

	return system_call6(CALL_SIGACTION, signal, (long)&action, 0, sizeof(action.mask), 0, 0);
}

static void *map(size_t size, int how)
{
	long result = system_call6(CALL_MMAP, 0, (long)size, PROT_READ | PROT_WRITE,
				   how | MAP_ANONYMOUS, -1, 0);

	return result < 0 && result > -4096 ? NULL : (void *)result;
}

void *system_map(size_t size)
{
	return map(size, MAP_PRIVATE);
}

void *system_map_shared(size_t size)
{
	return map(size, MAP_SHARED);
}

static long affinity_set(unsigned long mask)
{
	return system_call(CALL_SETAFFINITY, 0, sizeof(mask), (long)&mask);
}

long system_stay_on(unsigned cpu)
{
	return affinity_set(1ul << cpu);
}

long system_run_anywhere(void)
{
	return affinity_set(~0ul);
}

/* The compiler calls these for structures and arrays. */
void *memset(void *to, int value, size_t size);
void *memcpy(void *to, const void *from, size_t size);

void *memset(void *to, int value, size_t size)
{
	char *bytes = to;

	while (size--)
		*bytes++ = (char)value;
	return to;
}

void *memcpy(void *to, const void *from, size_t size)
{
	const char *source = from;
	char *bytes = to;

	while (size--)
		*bytes++ = *source++;
	return to;
}

__attribute__((used)) void system_start(long *stack)
{
	char **arguments = (char **)(stack + 1);
	long *vector = stack + *stack + 2;

	while (*vector++)
		;
	for (; *vector != AT_NULL; vector += 2)
		if (*vector == AT_SYSINFO)
			system_entry = (void *)vector[1];
	system_exit(program((int)*stack, arguments));
}
