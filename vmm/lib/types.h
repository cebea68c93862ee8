/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The types and small macros that every file of the VMM uses. Nothing here
 * touches hardware, so the host's unit tests include it unchanged.
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

/* Compiled for speed, where a benchmark counts the instructions that it saves. GCC inlines such a
 * function in others of its kind only, so it is for whole functions, not for helpers: those are
 * INLINE. Clang, which builds the fuzzers, has no such attribute. */
#ifdef __clang__
#define HOT
#else
#define HOT __attribute__((optimize("O2")))
#endif
/* A function of its own, so that the frequent way saves no registers for it. */
#define APART __attribute__((noinline))
/* A function that can fail: who calls it looks at what it returns, or it does not compile. */
#define MUST_CHECK __attribute__((warn_unused_result))
/* A parameter of what is called through a table. */
#define UNUSED __attribute__((unused))
/* Where a copy for constant arguments is worth its bytes. */
#define INLINE __attribute__((always_inline)) inline

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Whether base1, size1 and base2, size2 have a byte in common. */
static inline bool overlaps(u32 base1, u32 size1, u32 base2, u32 size2)
{
	return base1 - base2 < size2 || base2 - base1 < size1;
}

static inline u32 minimum(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* A time that never comes, in ticks of the time stamp counter; differences of
 * times have a sign. */
#define TIME_NEVER ((u64)INT64_MAX)
