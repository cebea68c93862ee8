/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What gandalf.patch puts in the place of instructions that a kernel in ring 1
 * leaves to the VMM. The build makes this arch/x86/include/asm/gandalf.h of the
 * kernels that it patches, and has the compiler include it in front of every
 * file, as the kernel does with linux/kconfig.h: the patch has no line for that.
 * Assembly files get it as well, and nothing from it.
 *
 * The kernel's makefiles try options of the compiler with the same flags, but
 * without folders of headers, and take an error for an option that is not there.
 * So nothing of Linux is included here, and __always_inline is spelled out.
 */
#if !defined(_ASM_X86_GANDALF_H) && !defined(__ASSEMBLER__)
#define _ASM_X86_GANDALF_H

/*
 * The numbers of the interface, which the build copies beside the drivers. Its
 * structures need types that no file has yet when this is included; a driver that
 * wants them includes the interface again, and so it must not seem included.
 */
#define __ASSEMBLER__
#include "../../../../drivers/misc/gandalf/gandalf.h"
#include "../../../../drivers/misc/gandalf/apic.h"
#undef __ASSEMBLER__
#undef GANDALF_H

#define GANDALF_STRING_OF(text) #text
#define GANDALF_STRING(number) GANDALF_STRING_OF(number)

/* The interrupt flag in the shared page, as the operand of an instruction. */
#define GANDALF_FLAG GANDALF_STRING(GANDALF_SHARED_PAGE)

/* The flag's other mapping, through which it is set. */
#define GANDALF_FLAG_ALIAS GANDALF_STRING(GANDALF_SHARED_ALIAS)

/* Address of cr2 in struct gandalf_shared, which a test compares. */
#define GANDALF_CR2 (GANDALF_SHARED_PAGE + 4)

#define GANDALF_INLINE static inline __attribute__((__always_inline__))

/* Stands for CLI, which would trap. */
GANDALF_INLINE void gandalf_irq_disable(void)
{
	asm volatile("movl $0, " GANDALF_FLAG : : : "memory");
}

/*
 * Stands for STI. The VMM makes the alias read-only while an interrupt waits: this
 * store faults then, and the interrupt is delivered behind it.
 */
GANDALF_INLINE void gandalf_irq_enable(void)
{
	asm volatile("movl %0, " GANDALF_FLAG_ALIAS
		     : : "i" (GANDALF_INTERRUPT_FLAG) : "memory");
}

/*
 * The address of the last page fault, which the VMM leaves in the shared page.
 * Reading the register would trap once more in each fault.
 */
GANDALF_INLINE unsigned long gandalf_read_cr2(void)
{
	return *(const volatile unsigned long *)GANDALF_CR2;
}

/*
 * To be called for each TLS descriptor of the GDT with the one that it is to be: if
 * it changes, the VMM stores all three, in the GDT and in the real one, which is its
 * copy. Most switches of processes change none, and then there is no call.
 */
GANDALF_INLINE void gandalf_update_tls(const void *entry, const void *descriptor,
				       const void *all)
{
	long result;

	if (__builtin_memcmp(entry, descriptor, 8))
		asm volatile("int %[vector]"
			     : "=a" (result)
			     : [vector] "i" (GANDALF_HYPERCALL_VECTOR),
			       "0" (GANDALF_HYPERCALL_LOAD_TLS), "b" (all)
			     : "memory");
}

/*
 * Once in GANDALF_SPINS looks for what another vCPU is to do, has the VMM let those run that share
 * the caller's CPU, of which that may be one. The loop that looks counts.
 */
GANDALF_INLINE void gandalf_relax(unsigned int *spins)
{
	long result;

	asm volatile("pause" : : : "memory");
	if (++*spins % GANDALF_SPINS == 0)
		asm volatile("int %[vector]"
			     : "=a" (result)
			     : [vector] "i" (GANDALF_HYPERCALL_VECTOR),
			       "0" (GANDALF_HYPERCALL_YIELD)
			     : "memory");
}

/*
 * Architectures may define for Linux how it waits until a word fulfils a condition on VAL, and x86
 * does not (asm-generic/barrier.h). All waits for spin locks, read-write locks and calls of other
 * CPUs' functions are made of it.
 */
#ifdef CONFIG_SMP
#define smp_cond_load_relaxed(pointer, condition)                               \
({                                                                              \
	typeof(pointer) gandalf_word = (pointer);                               \
	unsigned int gandalf_spins = 0;                                         \
	__unqual_scalar_typeof(*gandalf_word) VAL;                              \
                                                                                \
	for (;;) {                                                              \
		VAL = READ_ONCE(*gandalf_word);                                 \
		if (condition)                                                  \
			break;                                                  \
		gandalf_relax(&gandalf_spins);                                  \
	}                                                                       \
	(typeof(*gandalf_word))VAL;                                             \
})

/* Address of locks in struct gandalf_shared, which a test compares. */
#define GANDALF_LOCKS GANDALF_STRING(GANDALF_SHARED_PAGE + 36)

/*
 * Count the spin locks that the CPU holds, so that the VMM may have an RTOS wait until there are
 * none. Linux has a place for what an architecture does once it has taken a spin lock, and before
 * it releases one, which x86 has nothing for (asm-generic/mmiowb.h). Defining that header's guard
 * has it define nothing.
 */
#define __ASM_GENERIC_MMIOWB_H
#define mmiowb_set_pending() do { } while (0)
#define mmiowb_spin_lock() asm volatile("incl " GANDALF_LOCKS : : : "memory")
#define mmiowb_spin_unlock() asm volatile("decl " GANDALF_LOCKS : : : "memory")
#endif

/*
 * Tells the VMM, which keeps shadow page tables across CR3 loads, that user mappings
 * from start up to end were downgraded in the address space of a page directory, of
 * which it takes the physical address.
 */
GANDALF_INLINE void gandalf_flush(unsigned long directory, unsigned long start,
				  unsigned long end)
{
	long result;

	asm volatile("int %[vector]"
		     : "=a" (result)
		     : [vector] "i" (GANDALF_HYPERCALL_VECTOR),
		       "0" (GANDALF_HYPERCALL_FLUSH), "b" (directory), "c" (start), "d" (end)
		     : "memory");
}

#endif
