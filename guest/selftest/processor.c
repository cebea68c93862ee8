/* SPDX-License-Identifier: Apache-2.0 */
/* The processor by CPUID (SDM vol. 2, CPUID), which any ring may execute. */
#include "processor.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "print.h"

#define LEAF_NAME 0x80000002U /* the first of three with the name's text */
#define NAME_SIZE 48

struct cpuid_result {
	uint32_t a, b, c, d;
};

struct feature {
	const char *name;
	uint32_t bit;
};

/* Of EDX and of ECX in leaf 1. */
static const struct feature features_d[] = {
	{ "PSE", 3 }, { "TSC", 4 }, { "APIC", 9 }, { "SEP", 11 }, { "PGE", 13 },
	{ "CMOV", 15 }, { "FXSR", 24 }, { "SSE", 25 }, { "HTT", 28 },
};
static const struct feature features_c[] = {
	{ "VMX", 5 }, { "XSAVE", 26 }, { "HYPERVISOR", 31 },
};

static struct cpuid_result cpuid(uint32_t leaf)
{
	struct cpuid_result result;

	__asm__("cpuid"
		: "=a"(result.a), "=b"(result.b), "=c"(result.c), "=d"(result.d)
		: "a"(leaf), "c"(0));
	return result;
}

/* Bits from first on, so many. */
static uint32_t bits(uint32_t value, uint32_t first, uint32_t count)
{
	return value >> first & ((1U << count) - 1);
}

static void version_print(uint32_t version)
{
	uint32_t family = bits(version, 8, 4), model = bits(version, 4, 4);

	if (family == 6 || family == 15)
		model += bits(version, 16, 4) << 4;
	if (family == 15)
		family += bits(version, 20, 8);
	print("family %u, model %u, stepping %u\n", family, model, bits(version, 0, 4));
}

static void name_print(void)
{
	char name[NAME_SIZE + 1] = { 0 };

	if (cpuid(LEAF_NAME & ~0xffU).a < LEAF_NAME + 2)
		return;
	for (uint32_t i = 0; i < 3; i++) {
		struct cpuid_result part = cpuid(LEAF_NAME + i);

		memcpy(name + i * sizeof(part), &part, sizeof(part));
	}
	print("self-test: it calls itself %s\n", name);
}

static void features_print(uint32_t word, const struct feature *features, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bits(word, features[i].bit, 1))
			print(" %s", features[i].name);
}

void processor_print(void)
{
	struct cpuid_result maker = cpuid(0), about = cpuid(1);
	uint32_t text[4] = { maker.b, maker.d, maker.c, 0 };

	print("self-test: CPU by %s, ", (const char *)text);
	version_print(about.a);
	name_print();
	print("self-test: it has");
	features_print(about.d, features_d, sizeof(features_d) / sizeof(features_d[0]));
	features_print(about.c, features_c, sizeof(features_c) / sizeof(features_c[0]));
	print("\n");
}
