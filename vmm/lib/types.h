/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines the types and small macros that every file of the VMM uses. Nothing here touches
 * hardware, so the unit tests on the host include this file unchanged.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

/* Compiles a function for speed, where a benchmark shows that this saves instructions. GCC inlines
 * a HOT function in other HOT functions only, so helpers are INLINE instead. Clang, which builds
 * the fuzzers, has no such attribute. */
#ifdef __clang__
#define HOT
#define NAMED
#else
#define HOT __attribute__((optimize("O2")))
/* Is for functions that tools look for by their names, also in an image that is compiled as one. */
#define NAMED __attribute__((noipa, used))
#endif
/* Keeps rare work out of line, so that the frequent path through its caller need not save registers
 * for it. */
#define APART __attribute__((noinline))
/* Marks a function that can fail. A caller that ignores its result does not compile. */
#define MUST_CHECK __attribute__((warn_unused_result))
/* Marks a parameter that this function does not use. It is there because the function is called
 * through a pointer, and others of its type use it. */
#define UNUSED __attribute__((unused))
/* Inlines a function at each call. This costs bytes and saves instructions, mostly since arguments
 * are constants there. */
#define INLINE __attribute__((always_inline)) inline

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Returns whether two ranges of bytes have a byte in common. */
static inline bool overlaps(u32 base1, u32 size1, u32 base2, u32 size2)
{
	return base1 - base2 < size2 || base2 - base1 < size1;
}

static inline u32 minimum(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* A time that never comes, in ticks of the time stamp counter. It is half the range, since
 * differences of times are signed. */
#define TIME_NEVER ((u64)INT64_MAX)
