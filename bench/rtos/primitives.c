/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RTOS of the bench: measures what the VMM's primitives cost, as the papers did, and then halts
 * for ever, so that Linux has the CPU as if it were alone but for the RTOS's being there.
 *
 *	hypercall		the hypercall that does nothing
 *	privileged_instruction	CLI, which the VMM gives to the guest's handler as an exception;
 *				the handler steps over it
 *
 * Lines are those of bench/workload/bench.c. A first run that an interrupt disturbed would show in
 * the maximum.
 */
#include "print.h"
#include "rtos.h"

#define SAMPLES 1000u
#define WARM_UP 8u
#define VECTOR_GENERAL_PROTECTION 13

static uint32_t samples[SAMPLES];
static volatile uint32_t skipped;

/* Steps over an instruction of one byte. On the stack: error code, EIP, CS, EFLAGS. Leaves the
 * interrupt flag at 0, which it was. */
void skip(void);
__asm__(".globl skip\n"
	"skip:\n"
	"	add	$4, %esp\n"
	"	incl	(%esp)\n"
	"	incl	skipped\n"
	"	iret\n");

/* It has no arguments. */
static void hypercall_run(void)
{
	uint32_t number = GANDALF_HYPERCALL_NULL;

	__asm__ volatile("int %1" : "+a"(number) : "i"(GANDALF_HYPERCALL_VECTOR) : "memory");
}

static void privileged_run(void)
{
	__asm__ volatile("cli" : : : "memory");
}

static void nothing_run(void)
{
	__asm__ volatile("" : : : "memory");
}

static uint32_t once(void (*run)(void))
{
	uint64_t start = time_stamp();

	run();
	return (uint32_t)(time_stamp() - start);
}

static void sort(void)
{
	for (uint32_t i = 1; i < SAMPLES; i++) {
		uint32_t value = samples[i], j = i;

		for (; j > 0 && samples[j - 1] > value; j--)
			samples[j] = samples[j - 1];
		samples[j] = value;
	}
}

static void measure(const char *name, void (*run)(void))
{
	uint32_t sum = 0, overhead;

	for (uint32_t i = 0; i < WARM_UP; i++)
		once(nothing_run);
	overhead = once(nothing_run);
	for (uint32_t i = 0; i < WARM_UP; i++)
		once(run);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		samples[i] = once(run) - overhead;
		sum += samples[i];
	}
	sort();
	print("sample=%s samples=%u minimum=%u median=%u mean_times_100=%u maximum=%u overhead=%u "
	      "timer=0 others=0\n",
	      name, SAMPLES, samples[0], samples[SAMPLES / 2], sum / (SAMPLES / 100),
	      samples[SAMPLES - 1], overhead);
}

void main(void)
{
	static struct gandalf_handlers handlers;

	handlers.entry[VECTOR_GENERAL_PROTECTION] = (uint32_t)skip;
	handlers_register(&handlers);
	measure("hypercall", hypercall_run);
	measure("privileged_instruction", privileged_run);
	if (skipped != SAMPLES + WARM_UP)
		print("bench: privileged_instruction: there were %u exceptions\n", skipped);
}
