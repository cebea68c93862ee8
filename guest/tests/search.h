/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pc-search.elf and tools/gandalf/stress/search.py agree about: the operations of which
 * programs consist, and how they lie in the guest's RAM disk. The Python module reads this file.
 */
#ifndef SEARCH_H
#define SEARCH_H

/* The victim's and the other RTOS's place in the system. */
#define SEARCH_DISPATCH 1
#define SEARCH_FLOOD 2

/* The RAM disk: this, the number of programs, and they one behind the other; each is the number
 * of its operations and these. */
#define SEARCH_MAGIC 0x68637273
#define SEARCH_ARGUMENTS 5
/* Words of an operation: its number, how often it is repeated, what is added to its first argument
 * each time, and its arguments. */
#define SEARCH_WORDS (3 + SEARCH_ARGUMENTS)

/* Three words in memory that no image has, which outlive a restart: the magic, how many programs
 * have begun, and 1 while one runs. */
#define SEARCH_PROGRESS 0x3ff000

/* Where address spaces of the kernel are made, page tables that they share, and the frames that
 * are in these. */
#define SEARCH_DIRECTORIES 0x400000
#define SEARCH_SPACES 256
#define SEARCH_TABLES 0x500000
#define SEARCH_TABLE_COUNT 64
#define SEARCH_FRAMES 0x600000
#define SEARCH_FRAME_COUNT 256

/* Name, arguments. */
#define SEARCH_OPERATIONS(X)                                                    \
	X(out8, "port value")                                                   \
	X(out16, "port value")                                                  \
	X(out32, "port value")                                                  \
	X(in8, "port")                                                          \
	X(in16, "port")                                                         \
	X(in32, "port")                                                         \
	X(hypercall, "number ebx ecx edx esi")                                  \
	X(fill, "space spaces tables pages write")                              \
	X(space, "space")                                                       \
	X(pde, "address space value")                                           \
	X(pte, "address table value")                                           \
	X(read, "address")                                                      \
	X(write, "address value")                                               \
	X(flush, "start space end")                                             \
	X(invlpg, "address")                                                    \
	X(cr0, "set clear")                                                     \
	X(cr4, "value")                                                         \
	X(dr, "value number")                                                   \
	X(lgdt, "base limit")                                                   \
	X(lidt, "base limit")                                                   \
	X(ltr, "selector")                                                      \
	X(lldt, "selector")                                                     \
	X(execute, "stack instruction")                                         \
	X(user, "address piece")                                                \
	X(flag, "flag")                                                         \
	X(halt, "")                                                             \
	X(wait, "time")                                                         \
	X(timer, "count mode")                                                  \
	X(clock, "register value")                                              \
	X(uart, "bytes step")                                                   \
	X(mask, "irqs")                                                         \
	X(segment, "selector")

#endif
