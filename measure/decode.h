/* SPDX-License-Identifier: Apache-2.0 */
/* Which event an instruction is, by its bytes. */
#ifndef GANDALF_MEASURE_DECODE_H
#define GANDALF_MEASURE_DECODE_H

#include <stddef.h>
#include <stdint.h>

/* Their names are in report.c. */
enum event {
	EVENT_NONE,
	EVENT_CR0_LOAD,
	EVENT_CR3_LOAD,
	EVENT_INVLPG,
	EVENT_SEGMENT_LOAD, /* of DS, ES, FS, GS or SS */
	EVENT_FAR_TRANSFER, /* far JMP, CALL and RET */
	EVENT_IRET,
	EVENT_INT,
	EVENT_TABLE_LOAD, /* LGDT, LIDT, LLDT, LTR */
	EVENT_PORT, /* IN, OUT and their string forms, once for each element */
	EVENT_HLT,
	EVENT_CLI,
	EVENT_STI,
	EVENT_COUNT,
};

enum event decode(const uint8_t *bytes, size_t size);

#endif
