/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See cache.h. Caches are looked up by physical address, which comes from the TLBs; these are
 * filled by a walk of the page tables in the machine's memory, which are as the CPU that has just
 * used them left them.
 */
#include "cache.h"

#include <string.h>

#include "cpu.h"
#include "measurement.h"

#define WAYS_MAXIMUM 8u
#define PAGE_BITS 12u
#define CR0_PG 0x80000000u
#define CR4_PSE 0x10u
#define CR4_PAE 0x20u
#define CR4_PGE 0x80u
#define ENTRY_PRESENT 0x1u
#define ENTRY_LARGE 0x80u
#define ENTRY_GLOBAL 0x100u
#define LEVELS_MAXIMUM 4u

/* Of a cache the tag is the line's physical address; of a TLB it is the page's linear one, and the
 * frame its physical one. Within a set the most recently used comes first. */
struct way {
	bool valid, global;
	uint64_t tag, frame;
};
struct table {
	unsigned sets, ways, bits; /* bits: of an address that are within a line or page */
	struct way *way;
};

/* A TLB has a part for each size of pages. */
struct tlb {
	struct table small, large;
	enum event miss;
};

#define TABLE(sets, ways, bits) \
	{ sets, ways, bits, (struct way[(sets) * (ways)]){ { false, false, 0, 0 } } }
static struct table instruction_cache = TABLE(128, 4, 5);
static struct table data_cache = TABLE(128, 4, 5);
static struct tlb instruction_tlb = { TABLE(8, 4, PAGE_BITS), TABLE(1, 2, PAGE_BITS),
				      EVENT_ITLB_MISS };
static struct tlb data_tlb = { TABLE(16, 4, PAGE_BITS), TABLE(2, 4, PAGE_BITS), EVENT_DTLB_MISS };

/* Where QEMU has them. */
static const void *cr0, *cr3, *cr4, *registers;
static const uint64_t *efer;

/* An instruction whose effect is to come. */
static const uint8_t *expected;
static uint64_t paging; /* the bits of control registers on which all entries depend */

const char *cache_start(void)
{
	cr0 = cpu_field("env.cr[0]", cpu.word);
	cr3 = cpu_field("env.cr[3]", cpu.word);
	cr4 = cpu_field("env.cr[4]", cpu.word);
	registers = cpu_field("env.regs", cpu.word);
	efer = cpu_field("env.efer", sizeof(*efer));
	if (!cr0 || !cr3 || !cr4 || !registers)
		return "QEMU's table of registers is not as in release 7.2";
	return NULL;
}

static struct way *table_set(const struct table *table, uint64_t address)
{
	return &table->way[(address >> table->bits) % table->sets * table->ways];
}

/* The way that has an address, moved to the front of its set; null if none has. */
static struct way *table_find(const struct table *table, uint64_t address)
{
	struct way *set = table_set(table, address);
	uint64_t tag = address >> table->bits;

	for (unsigned i = 0; i < table->ways; i++) {
		struct way found = set[i];

		if (!found.valid || found.tag != tag)
			continue;
		memmove(&set[1], &set[0], i * sizeof(*set));
		set[0] = found;
		return &set[0];
	}
	return NULL;
}

static void table_add(const struct table *table, uint64_t address, uint64_t frame, bool global)
{
	struct way *set = table_set(table, address);

	memmove(&set[1], &set[0], (table->ways - 1) * sizeof(*set));
	set[0] = (struct way){ true, global, address >> table->bits, frame };
}

static void table_empty(const struct table *table, bool globals)
{
	for (unsigned i = 0; i < table->sets * table->ways; i++)
		if (globals || !table->way[i].global)
			table->way[i].valid = false;
}

static void table_drop(const struct table *table, uint64_t address)
{
	struct way *way = table_find(table, address);

	if (way)
		way->valid = false;
}

static void count(enum event event)
{
	events[cpu_ring()][event]++;
}

/* --- Page tables --- */

struct page {
	uint64_t frame;
	unsigned bits; /* of the address within it */
	bool global;
};

static uint64_t entry_read(uint64_t address, unsigned size)
{
	uint64_t entry = 0;

	cpu_physical_memory_rw(address, &entry, size, false);
	return entry;
}

/* The page that an address lies in; of a mapping that has gone meanwhile, something. */
static struct page walk(uint64_t linear)
{
	bool wide = cpu_word(cr4) & CR4_PAE;
	unsigned size = wide ? 8 : 4, width = wide ? 9 : 10;
	unsigned levels = !wide ? 2 : efer && *efer & 0x400 ? 4 : 3;
	uint64_t mask = wide ? 0x000ffffffffff000u : 0xfffff000u;
	uint64_t table = cpu_word(cr3) & (levels == 3 ? 0xffffffe0u : mask), entry = 0;

	for (unsigned level = levels; level-- > 0;) {
		unsigned bits = PAGE_BITS + level * width;
		uint64_t index = linear >> bits & ((1u << width) - 1);

		entry = entry_read(table + index * size, size);
		if (level > 0 && level < 3 && entry & ENTRY_LARGE &&
		    (wide || cpu_word(cr4) & CR4_PSE))
			return (struct page){ entry & mask & ~((1ull << bits) - 1), bits,
					      entry & ENTRY_GLOBAL };
		if (!(entry & ENTRY_PRESENT))
			break;
		table = entry & mask;
	}
	return (struct page){ entry & mask, PAGE_BITS, entry & ENTRY_GLOBAL };
}

/* --- Accesses --- */

/* The part for large pages is indexed by their own number, whatever their size is now. */
static unsigned large_bits(void)
{
	return cpu_word(cr4) & CR4_PAE ? 21 : 22;
}

static uint64_t tlb_translate(struct tlb *tlb, uint64_t linear)
{
	struct way *way;
	struct page page;

	if (!(cpu_word(cr0) & CR0_PG))
		return linear;
	way = table_find(&tlb->small, linear);
	if (way)
		return way->frame | (linear & ((1u << PAGE_BITS) - 1));
	tlb->large.bits = large_bits();
	way = table_find(&tlb->large, linear);
	if (way)
		return way->frame | (linear & ((1u << tlb->large.bits) - 1));
	count(tlb->miss);
	count(EVENT_PAGE_WALK);
	page = walk(linear);
	table_add(page.bits == PAGE_BITS ? &tlb->small : &tlb->large, linear, page.frame,
		  page.global && cpu_word(cr4) & CR4_PGE);
	return page.frame | (linear & ((1ull << page.bits) - 1));
}

static void cache_look(struct table *cache, uint64_t physical, enum event miss)
{
	if (table_find(cache, physical))
		return;
	count(miss);
	table_add(cache, physical, 0, false);
}

void cache_fetch(uint64_t linear)
{
	cache_look(&instruction_cache, tlb_translate(&instruction_tlb, linear), EVENT_L1I_MISS);
}

void cache_access(uint64_t linear)
{
	cache_look(&data_cache, tlb_translate(&data_tlb, linear), EVENT_L1D_MISS);
}

/* --- What empties TLBs --- */

static void tlbs_empty(bool globals)
{
	table_empty(&instruction_tlb.small, globals);
	table_empty(&instruction_tlb.large, globals);
	table_empty(&data_tlb.small, globals);
	table_empty(&data_tlb.large, globals);
}

static void tlbs_drop(uint64_t linear)
{
	table_drop(&instruction_tlb.small, linear);
	table_drop(&instruction_tlb.large, linear);
	table_drop(&data_tlb.small, linear);
	table_drop(&data_tlb.large, linear);
}

static uint64_t register_value(unsigned number)
{
	return cpu_word((const char *)registers + number * cpu.word);
}

static int64_t displacement(const uint8_t *at, unsigned size)
{
	int32_t wide;

	if (size == 1)
		return (int8_t)*at;
	memcpy(&wide, at, sizeof(wide));
	return size ? wide : 0;
}

/* The address of the operand in memory that a ModRM byte begins. Segments are flat where it
 * matters: of a ring that may use INVLPG. prefix: REX, or 0. next: of the instruction behind
 * it. */
static uint64_t operand(const uint8_t *modrm, unsigned prefix, uint64_t next)
{
	unsigned mode = *modrm >> 6, base = *modrm & 7;
	const uint8_t *at = modrm + 1;
	uint64_t address = 0;

	if (base == 4) {
		unsigned index = (*at >> 3 & 7) | (prefix & 2) << 2;

		base = *at & 7;
		if (index != 4)
			address = register_value(index) << (*at >> 6);
		at++;
	} else if (mode == 0 && base == 5 && cpu_code64()) {
		return next + (uint64_t)displacement(at, 4);
	}
	if (mode == 0 && base == 5)
		return address + (uint64_t)displacement(at, 4);
	address += register_value(base | (prefix & 1) << 3);
	return address + (uint64_t)displacement(at, mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

static void invlpg(const uint8_t *bytes)
{
	unsigned prefix = 0;
	uint64_t address;

	while (*bytes != 0x0f)
		prefix = *bytes++;
	address = operand(bytes + 2, (prefix & 0xf0) == 0x40 ? prefix : 0, cpu_linear());
	tlbs_drop(cpu_code64() ? address : (uint32_t)address);
}

void cache_expect(const uint8_t *instruction)
{
	expected = instruction;
}

void cache_forget(void)
{
	expected = NULL;
}

void cache_settle(void)
{
	uint64_t now = (cpu_word(cr0) & CR0_PG) | (cpu_word(cr4) & (CR4_PSE | CR4_PAE | CR4_PGE));
	const uint8_t *bytes = expected;

	if (now != paging)
		tlbs_empty(true);
	paging = now;
	expected = NULL;
	if (!bytes)
		return;
	if (decode(bytes, INSTRUCTION_SIZE, cpu_code64()) == EVENT_CR3_LOAD)
		tlbs_empty(false);
	else
		invlpg(bytes);
}
