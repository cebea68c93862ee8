/* SPDX-License-Identifier: Apache-2.0 */
/* Which event an instruction is, by its bytes. */
#ifndef GANDALF_MEASURE_DECODE_H
#define GANDALF_MEASURE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Their names are in report.c. */
enum event {
	EVENT_NONE,
	EVENT_CR0_LOAD,
	EVENT_CR3_LOAD,
	EVENT_CR4_LOAD, /* which empties the TLB if it changes PGE */
	EVENT_INVLPG,
	EVENT_SEGMENT_LOAD, /* of DS, ES, FS, GS or SS */
	EVENT_FAR_TRANSFER, /* far JMP, CALL and RET */
	EVENT_IRET,
	EVENT_SYSCALL, /* SYSENTER too */
	EVENT_SYSRET, /* SYSEXIT too */
	EVENT_SWAPGS,
	EVENT_INT,
	EVENT_TABLE_LOAD, /* LGDT, LIDT, LLDT, LTR */
	EVENT_PORT, /* IN, OUT and their string forms, once for each element */
	EVENT_HLT,
	EVENT_CLI,
	EVENT_STI,
	/* Of the model in cache.c, no instructions. */
	EVENT_L1I_MISS,
	EVENT_L1D_MISS,
	EVENT_ITLB_MISS,
	EVENT_DTLB_MISS,
	EVENT_PAGE_WALK,
	EVENT_COUNT,
};

#define INSTRUCTION_SIZE 15

/* code64: in 64-bit mode. */
enum event decode(const uint8_t *bytes, size_t size, bool code64);

#endif
