/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is the virtual local APIC. Which interrupt comes next follows from IRR, ISR and TPR; when the
 * timer expires follows from its count, its divisor and the time at which it was started.
 */
#include "device/local_apic.h"

#include "abi/apic.h"
#include "lib/math.h"
#include "lib/string.h"

/* Offsets of the registers (SDM vol. 3, table 10-1). */
enum {
	ID = 0x20, VERSION = 0x30, TPR = 0x80, PPR = 0xa0, EOI = 0xb0, LDR = 0xd0, DFR = 0xe0,
	SPURIOUS = 0xf0, ISR = 0x100, IRR = 0x200, ESR = 0x280, ICR_LOW = 0x300, ICR_HIGH = 0x310,
	LVT_TIMER = 0x320, LVT_THERMAL = 0x330, LVT_PERFORMANCE = 0x340, LVT_LINT0 = 0x350,
	LVT_LINT1 = 0x360, LVT_ERROR = 0x370, INITIAL_COUNT = 0x380, DIVIDE = 0x3e0,
	AUTOMATIC_END = GANDALF_APIC_AUTOMATIC_END,
};

enum { FIRST_VECTOR = 16, LAST_VECTORS = 0xe0, VERSION_VALUE = 0x00050014, SPURIOUS_RESET = 0xff };
/* Bytes in which all of them are, but for AUTOMATIC_END. */
#define REGISTERS_SIZE 0x400u
#define LVT_MASKED 0x10000u
#define LVT_PERIODIC 0x20000u
#define LVT_MODE 0x700u
#define LVT_EXTERNAL 0x700u
#define APIC_ENABLED 0x100u

/* What a register keeps of a store. */
struct kept {
	u16 offset;
	u32 bits;
};

static const struct kept kept[] = {
	{TPR, 0xff}, {LDR, 0xff000000}, {DFR, 0xf0000000}, {SPURIOUS, 0x1ff},
	{ICR_LOW, 0x000ccfff & ~0x1000u}, {ICR_HIGH, 0xff000000}, {LVT_TIMER, 0x300ff},
	{LVT_THERMAL, 0x107ff}, {LVT_PERFORMANCE, 0x107ff}, {LVT_LINT0, 0x1a7ff},
	{LVT_LINT1, 0x1a7ff}, {LVT_ERROR, 0x100ff}, {INITIAL_COUNT, ~0u}, {DIVIDE, 0xb},
	{AUTOMATIC_END, 1},
};
_Static_assert(ARRAY_SIZE(kept) == LOCAL_APIC_KEPT, "local_apic.h");

/* By bytes, since an index would cost a shift at each register of a loop. */
static inline u32 *at(const struct local_apic *apic, u32 offset)
{
	return (u32 *)((u8 *)apic->page + offset);
}

/* --- Requests and interrupts in service --- */

static int highest(const u32 *words, u8 summary)
{
	u32 word;

	if (summary == 0)
		return -1;
	word = 31 - (u32)__builtin_clz(summary);
	return (int)(word * 32 + 31 - (u32)__builtin_clz(words[word]));
}

/* Shows a word of IRR or ISR to the guest, and notes whether it is 0. */
static void word_show(struct local_apic *apic, u32 offset, const u32 *words, u8 *summary, u32 word)
{
	u32 now = words[word];

	*at(apic, offset + word * 16) = now;
	if (now != 0)
		*summary |= (u8)(1u << word);
	else
		*summary &= (u8)~(1u << word);
}

/* The processor priority (SDM vol. 3, section 10.8.3.1). */
static u32 priority_of(const struct local_apic *apic)
{
	u32 task = *at(apic, TPR);
	int served = highest(apic->service, apic->served);

	if (served < 0 || task >> 4 >= (u32)served >> 4)
		return task;
	return (u32)served & 0xf0;
}

/* Finds anew which interrupt comes next, behind a change of what is requested, in service or kept
 * out. Here once, since it is asked for several times on the way to the guest. */
static void next_find(struct local_apic *apic)
{
	u32 priority = priority_of(apic);
	int vector = highest(apic->request, apic->requested);

	*at(apic, PPR) = priority;
	if ((*at(apic, SPURIOUS) & APIC_ENABLED) == 0 || vector >> 4 <= (int)(priority >> 4))
		vector = -1;
	apic->pending = vector;
}

static void request_set(struct local_apic *apic, u32 vector, bool wanted)
{
	u32 bit = 1u << vector % 32, word = vector / 32;

	apic->request[word] = (apic->request[word] & ~bit) | (wanted ? bit : 0);
	word_show(apic, IRR, apic->request, &apic->requested, word);
}

static void service_set(struct local_apic *apic, u32 vector, bool wanted)
{
	u32 bit = 1u << vector % 32, word = vector / 32;

	apic->service[word] = (apic->service[word] & ~bit) | (wanted ? bit : 0);
	word_show(apic, ISR, apic->service, &apic->served, word);
}

void local_apic_request(struct local_apic *apic, u32 vector)
{
	if (vector < FIRST_VECTOR || vector > 0xff)
		return;
	request_set(apic, vector, true);
	next_find(apic);
}

void local_apic_request_ipis(struct local_apic *apic, u32 vectors)
{
	const u32 word = ARRAY_SIZE(apic->request) - 1;

	apic->request[word] |= vectors;
	word_show(apic, IRR, apic->request, &apic->requested, word);
	next_find(apic);
}

u32 local_apic_acknowledge(struct local_apic *apic)
{
	u32 vector = (u32)local_apic_pending(apic);

	request_set(apic, vector, false);
	if (*at(apic, AUTOMATIC_END) == 0)
		service_set(apic, vector, true);
	next_find(apic);
	return vector;
}

static void service_end(struct local_apic *apic)
{
	int vector = highest(apic->service, apic->served);

	if (vector >= 0)
		service_set(apic, (u32)vector, false);
}

bool local_apic_takes_external(const struct local_apic *apic)
{
	u32 entry = *at(apic, LVT_LINT0);

	if ((*at(apic, SPURIOUS) & APIC_ENABLED) == 0)
		return apic->first;
	return (entry & (LVT_MASKED | LVT_MODE)) == LVT_EXTERNAL;
}

/* --- The timer --- */

/* Returns by how many bits the bus clock is shifted to count: 1 to 7, or 0. */
static u32 divide_shift(const struct local_apic *apic)
{
	u32 value = *at(apic, DIVIDE);

	return ((value & 3) + (value >> 1 & 4) + 1) & 7;
}

static u64 period_of(const struct local_apic *apic)
{
	return (u64)*at(apic, INITIAL_COUNT) << divide_shift(apic);
}

/* Returns the whole periods that have passed by now. */
static u64 periods_by(const struct local_apic *apic, u64 now)
{
	u64 passed = (now - apic->start) >> divide_shift(apic);

	return divide_u64(passed, *at(apic, INITIAL_COUNT), NULL);
}

static bool timer_runs(const struct local_apic *apic)
{
	return *at(apic, INITIAL_COUNT) != 0 && !apic->expired;
}

u64 local_apic_deadline(const struct local_apic *apic)
{
	if (!timer_runs(apic) || (*at(apic, LVT_TIMER) & LVT_MASKED))
		return TIME_NEVER;
	return apic->start + (apic->taken + 1) * period_of(apic);
}

bool local_apic_expire(struct local_apic *apic, u64 now)
{
	u32 entry = *at(apic, LVT_TIMER);
	u64 periods;

	if (!timer_runs(apic) || (periods = periods_by(apic, now)) <= apic->taken)
		return false;
	apic->taken = periods;
	apic->expired = (entry & LVT_PERIODIC) == 0;
	if (entry & LVT_MASKED)
		return false;
	local_apic_request(apic, entry & 0xff);
	return true;
}

/* Begins a count. A change of the divisor counts as that, too. */
static void timer_begin(struct local_apic *apic, u64 now)
{
	apic->start = now;
	apic->taken = 0;
	apic->expired = false;
}

/* --- Stores --- */

static void all_mask(struct local_apic *apic)
{
	for (u32 offset = LVT_TIMER; offset <= LVT_ERROR; offset += 16)
		*at(apic, offset) |= LVT_MASKED;
}

static void store_effect(struct local_apic *apic, u32 offset, u64 now)
{
	if (offset == INITIAL_COUNT || offset == DIVIDE)
		timer_begin(apic, now);
	if ((*at(apic, SPURIOUS) & APIC_ENABLED) == 0)
		all_mask(apic);
	next_find(apic);
	apic->lets_last_in = *at(apic, AUTOMATIC_END) != 0 &&
			     (*at(apic, SPURIOUS) & APIC_ENABLED) != 0 &&
			     *at(apic, TPR) < LAST_VECTORS;
}

bool local_apic_write(struct local_apic *apic, u32 offset, u32 value, u64 now)
{
	bool changed = local_apic_expire(apic, now);

	if (offset == EOI)
		service_end(apic);
	for (u32 i = 0; i < ARRAY_SIZE(kept); i++)
		if (kept[i].offset == offset) {
			*at(apic, offset) = value & kept[i].bits;
			if (offset == DFR)
				*at(apic, offset) |= 0x0fffffff;
			store_effect(apic, offset, now);
			return changed || (offset != ICR_LOW && offset != ICR_HIGH);
		}
	next_find(apic);
	return changed || offset == EOI;
}

void local_apic_reset(struct local_apic *apic, u32 *page, u32 id, bool first)
{
	/* The rest of the page is never written: to clear it would take a thousand instructions. */
	memset(page, 0, REGISTERS_SIZE);
	*apic = (struct local_apic){.page = page, .first = first, .pending = -1};
	*at(apic, AUTOMATIC_END) = 0;
	*at(apic, ID) = id << 24;
	*at(apic, VERSION) = VERSION_VALUE;
	*at(apic, DFR) = ~0u;
	*at(apic, SPURIOUS) = SPURIOUS_RESET;
	all_mask(apic);
}

void local_apic_save(const struct local_apic *apic, struct local_apic_state *state)
{
	const struct kept *from = kept;
	const u8 *page = (const u8 *)apic->page;
	u32 *to = state->kept;

	state->apic = *apic;
	do
		*to++ = *(const u32 *)(page + from->offset);
	while (++from != kept + ARRAY_SIZE(kept));
}

/* Words of IRR and ISR that are 0 in both states are shown as 0 already. */
void local_apic_load(struct local_apic *apic, const struct local_apic_state *state)
{
	u32 words = apic->requested | apic->served | state->apic.requested | state->apic.served;
	u32 *page = apic->page;

	*apic = state->apic;
	apic->page = page;
	for (u32 i = 0; i < ARRAY_SIZE(kept); i++)
		*at(apic, kept[i].offset) = state->kept[i];
	for (; words != 0; words &= words - 1) {
		u32 word = (u32)__builtin_ctz(words);

		word_show(apic, IRR, apic->request, &apic->requested, word);
		word_show(apic, ISR, apic->service, &apic->served, word);
	}
	next_find(apic);
}
