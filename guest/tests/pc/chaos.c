/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test guest pc-chaos.elf: a kernel that does at random whatever ring 1 can do to the VMM, in any
 * order: tables, control and debug registers, stacks, jumps, interrupts, chips, garbage as code. Each
 * exception and many an interrupt lead back to the start of the next deed. It is to be restarted
 * whenever it is stopped; the VMM, and whoever runs beside it, must not notice.
 */
#include "machine.h"
#include "print.h"
#include "suite.h"

#define BASE 0xfee00000U
#define KERNEL_SCRATCH 0xe0000000U
#define DIRECTORIES 4
#define GARBAGE 24
#define PIECES 4096

struct table_register {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

extern char stack_top_of_chaos[], trap_stack_top[], user_stack_top[];
void chaos_recover(void) __attribute__((noreturn));
void chaos_run(void) __attribute__((noreturn));
bool chaos_irq(void);
extern const char chaos_gates[];

/* Where all begins again. */
struct descriptor good_gdt[512] __attribute__((aligned(4096)));
struct descriptor good_idt[IDT_ENTRIES] __attribute__((aligned(8)));
struct table_register good_gdtr, good_idtr;
static uint32_t directories[DIRECTORIES][1024] __attribute__((aligned(4096)));
static uint32_t kernel_table[1024] __attribute__((aligned(4096)));
static uint8_t code[4096] __attribute__((section(".user"), aligned(4096)));
static uint32_t random_state;
static uint32_t deeds, seen_vectors;
static uint8_t fxsave_area[512] __attribute__((aligned(16)));

__asm__(".text\n"
	".globl chaos_recover, chaos_gates\n"
	"chaos_recover:\n\t"
	"cld\n\t"
	"movl $trap_stack_top - 4096 + 0xc0000000, %esp\n\t"
	"lgdt %cs:good_gdtr\n\t"
	"lidt %cs:good_idtr\n\t"
	"movl $0x68, %eax\n\tmovl %eax, %ss\n\t"
	"movl $0x7b, %eax\n\tmovl %eax, %ds\n\tmovl %eax, %es\n\t"
	"xorl %eax, %eax\n\tmovl %eax, %fs\n\tmovl %eax, %gs\n\t"
	"movl $trap_stack_top - 4096 + 0xc0000000, %esp\n\t"
	"pushl $2\n\tpopfl\n\t"
	"call chaos_run\n"
	/* Interrupts: back to where they came from, or not. */
	"chaos_gates:\n\t"
	"pushal\n\tpushl %ds\n\tpushl %es\n\t"
	"movl $0x7b, %eax\n\tmovl %eax, %ds\n\tmovl %eax, %es\n\t"
	"cld\n\t"
	"call chaos_irq\n\t"
	"testl %eax, %eax\n\tjz chaos_recover\n\t"
	"popl %es\n\tpopl %ds\n\tpopal\n\tiret\n");

static uint32_t rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

static uint32_t below(uint32_t limit)
{
	return rnd() % limit;
}

static bool one_in(uint32_t n)
{
	return below(n) == 0;
}

static uint32_t address(void)
{
	static const uint32_t bases[] = {
		0, 0x100000, SCRATCH, KERNEL_SCRATCH, KERNEL_SCRATCH, KERNEL_SCRATCH + 0x1000,
		0xe0002000, 0xe0003000, 0xfc000000, 0xfc001000, 0xfc011000, 0xfc012000, 0xfc013000,
		0xfc015000, 0xfc016000, 0xfc400000, 0xfd000000, 0xff000000, 0xfbfff000, 0xfffff000,
		0xc0000000, 0xc0100000, SCRATCH + 0x1000, SCRATCH + 0x2000, 0xfee00000, 0x1000000,
	};
	uint32_t base = bases[below(sizeof(bases) / sizeof(bases[0]))];

	switch (below(6)) {
	case 0:
		return base;
	case 1:
		return base - below(32);
	case 2:
		return base + below(32);
	case 3:
		return rnd();
	default:
		return base + (below(0x2000) & ~3U);
	}
}

static uint32_t selector(void)
{
	static const uint16_t known[] = { 0, 0x10, 0x18, 0x33, 0x3b, 0x43, 0x60, 0x61, 0x68, 0x69,
					  0x73, 0x7b, 0x80, 0x98, 0xd8, 0x100, 0x101, 0x103, 0x108,
					  0x109, 0x110, 0x118, 0x120, 4, 0x107 };

	return one_in(3) ? below(0x130) : known[below(sizeof(known) / 2)];
}

static uint32_t value(void)
{
	switch (below(4)) {
	case 0:
		return address();
	case 1:
		return below(0x1000);
	case 2:
		return 1U << below(32);
	default:
		return rnd();
	}
}

static uint32_t frame(void)
{
	switch (below(8)) {
	case 0:
		return BASE;
	case 1:
		return one_in(20) ? 0x1000000 + (below(4) << 12) : 0x800000;
	case 2:
		return (uint32_t)kernel_table;
	case 3:
		return (uint32_t)scratch_table;
	case 4:
		return (uint32_t)directories[below(DIRECTORIES)];
	case 5:
		return (uint32_t)&gdt_page;
	case 6:
		return one_in(20) ? rnd() & 0xfffff000 : 0x400000 | (rnd() & 0x7ff000);
	default:
		return (uint32_t)scratch_frame[below(4)];
	}
}

static uint32_t entry(void)
{
	return frame() | (one_in(6) ? 0 : PAGE_P) | (rnd() & 0x1fe & (one_in(5) ? ~0U : ~PAGE_PS)) |
	       (one_in(2) ? PAGE_W | PAGE_A | PAGE_D : 0);
}

static struct descriptor descriptor(void)
{
	struct descriptor d;

	switch (below(4)) {
	case 0:
		return (struct descriptor){ rnd(), rnd() };
	case 1:
		return (struct descriptor){ value(), rnd() | 0x8000 };
	default:
		d = descriptor_make(one_in(2) ? 0 : address(), one_in(2) ? 0xfffff : rnd() & 0xfffff,
				    (uint8_t)(0x80 | below(128)), (uint8_t)(below(16)));
		return d;
	}
}

static struct descriptor gate(void)
{
	uint32_t to = one_in(4) ? value() : (uint32_t)chaos_gates;
	uint32_t cs = one_in(8) ? selector() : KERNEL_CODE;
	uint32_t type = one_in(8) ? below(256) : 0x8e | (one_in(2) ? 0x60 : 0) | below(2);

	return (struct descriptor){ (to & 0xffff) | cs << 16, (to & 0xffff0000) | type << 8 };
}

bool chaos_irq(void)
{
	seen_vectors++;
	if (environment == DEDICATED)
		*(volatile uint32_t *)KERNEL_SCRATCH;
	port_out(0xa0, 0x20);
	port_out(0x20, 0x20);
	if (environment == DEDICATED && one_in(2))
		__asm__ volatile("movl %%eax, %c0" : : "i"(KERNEL_SCRATCH + 0xb0), "a"(0) : "memory");
	return !one_in(3);
}

static void tables_good(void)
{
	__asm__ volatile("lgdt %0" : : "m"(good_gdtr));
	for (uint32_t i = 0; i < GDT_ENTRIES; i++)
		if (gdt[i].low != good_gdt[i].low || gdt[i].high != good_gdt[i].high)
			gdt[i] = good_gdt[i];
	kernel_table[0] = BASE | PAGE_P | PAGE_W | PAGE_A | PAGE_D;
	for (uint32_t i = 1; i < 8; i++)
		kernel_table[i] = (uint32_t)scratch_frame[i % 4] | PAGE_P | PAGE_W | PAGE_A | PAGE_D;
	for (uint32_t d = 0; d < DIRECTORIES; d++)
		for (uint32_t i = 0; i < 1024; i++)
			directories[d][i] = page_directory[i];
	gdt_register_load();
	task_load();
}

static void code_call(uint32_t size)
{
	code[size] = 0xc3;
	__asm__ volatile("pushal\n\tcall *%0\n\tpopal" : : "r"(code) : "memory", "cc");
}

static void code_int(uint32_t vector)
{
	code[0] = 0xcd;
	code[1] = (uint8_t)vector;
	code_call(2);
}

static uint32_t some_vector(void)
{
	static const uint8_t known[] = { 3, 4, 0x1e, 0x80, 1, 8, 13, 14, 0x20, 0x30, 0x31, 0x3f };

	return one_in(3) ? below(256) : known[below(sizeof(known))];
}

/* A watch on what MOV to SS reads delays its exception to behind the next instruction. */
static void deed_stack_segment(void)
{
	static volatile uint32_t data = 0x68;
	uint8_t vector = (uint8_t)some_vector();

	dr0_write((uint32_t)&data);
	dr7_write(0x000f0403 ^ below(16) << 16);
	code[0] = 0x8e; /* MOV SS, [data] */
	code[1] = 0x15;
	*(uint32_t *)&code[2] = (uint32_t)&data;
	code[6] = one_in(4) ? 0x90 : 0xcd;
	code[7] = code[6] == 0x90 ? 0x90 : vector;
	code_call(8);
	dr7_write(0);
}

static void deed_garbage(void)
{
	for (uint32_t i = 0; i < GARBAGE; i++) {
		uint8_t byte = (uint8_t)rnd();

		if (byte == 0xf4 || (byte & 0xf4) == 0xe4 || (byte & 0xfc) == 0x6c ||
		    byte == 0xeb || (byte & 0xf0) == 0x70)
			byte = 0x0f;
		code[i] = byte;
	}
	if (one_in(2)) {
		user_trap((const char *)code);
		return;
	}
	__asm__ volatile("pushal\n\tcall *%0\n\tpopal" : : "r"(code) : "memory", "cc");
}

static void deed_return(void)
{
	uint32_t eflags = one_in(3) ? rnd() : 2 | (rnd() & 0x254dd5);
	uint32_t cs = one_in(2) ? KERNEL_CODE : selector();
	uint32_t eip = one_in(3) ? value() : (uint32_t)code;
	uint32_t words[5] = { one_in(10) ? value() : eip, one_in(2) ? KERNEL_CODE : cs, eflags, value(), one_in(2) ? USER_DATA : selector() };

	if (environment != DEDICATED || one_in(2))
		eflags |= EFLAGS_INTERRUPT;
	words[2] = eflags;
	code[0] = 0xcc;
	__asm__ volatile("pushl 16(%0)\n\tpushl 12(%0)\n\tpushl 8(%0)\n\tpushl 4(%0)\n\tpushl (%0)\n\t"
			 "iret"
			 :
			 : "r"(words)
			 : "memory");
}

static void deed_far(void)
{
	static struct {
		uint32_t offset;
		uint16_t selector;
	} __attribute__((packed)) to;

	to.offset = one_in(2) ? (uint32_t)code : value();
	to.selector = (uint16_t)selector();
	code[0] = 0xcc;
	if (one_in(2))
		__asm__ volatile("ljmp *%0" : : "m"(to));
	else
		__asm__ volatile("lcall *%0" : : "m"(to));
}

static void deed_stack(void)
{
	uint32_t esp = one_in(40) ? address() : KERNEL_SCRATCH + 0x1010 + (below(0x6800) & ~(one_in(4) ? 0U : 3U));

	if (one_in(10) && environment == DEDICATED)
		esp = KERNEL_SCRATCH + 0x80 + below(0x400);

	code[0] = 0x89; /* MOV ESP, EAX */
	code[1] = 0xc4;
	switch (below(5)) {
	case 0:
		code[2] = 0xcc;
		break;
	case 1:
		code[2] = 0x0f;
		code[3] = 0x0b;
		break;
	case 2:
		code[2] = 0x0f; /* MOV CR4: long work */
		code[3] = 0x22;
		code[4] = 0xe3;
		code[5] = 0xcc;
		break;
	case 3:
		code[2] = 0xcf;
		break;
	default:
		code[2] = 0xcd;
		code[3] = (uint8_t)some_vector();
		code[4] = 0xcc;
	}
	__asm__ volatile("call *%0" : : "r"(code), "a"(esp), "b"(cr4_read() ^ (PAGE_G >> 1)) : "memory");
}

static void deed_segments(void)
{
	uint32_t s = selector();

	switch (below(5)) {
	case 0:
		__asm__ volatile("movl %0, %%ds" : : "r"(s));
		__asm__ volatile("int $0x1e" : : "a"(GANDALF_HYPERCALL_NULL));
		break;
	case 1:
		__asm__ volatile("movl %0, %%es" : : "r"(s));
		break;
	case 2:
		__asm__ volatile("movl %0, %%fs" : : "r"(s));
		break;
	case 3:
		__asm__ volatile("movl %0, %%gs" : : "r"(s));
		break;
	default:
		__asm__ volatile("movl %0, %%ss" : : "r"(s));
	}
}

static void deed_ports(void)
{
	static const uint16_t ports[] = { 0x20, 0x21, 0xa0, 0xa1, 0x40, 0x43, 0x40, 0x4d0, 0x4d1, 0x70,
					  0x71, 0x61 };
	static const uint8_t bytes[] = { 0x11, 0x13, 0x19, 0x20, 8, 0x28, 0x30, 0x68, 0x0c, 0x0b, 0,
					 0x18, 0x1e, 0xff, 0xfa, 4, 1, 3, 2, 0x34, 0x60, 0xa0, 0xc1 };
	uint16_t port = ports[below(sizeof(ports) / 2)];
	uint8_t byte = one_in(4) ? (uint8_t)rnd() : bytes[below(sizeof(bytes))];

	if (port == 0x61)
		byte &= 3;
	port_out(port, byte);
	if (one_in(4)) {
		port_out(0x20, 0x11);
		port_out(0x21, bytes[below(sizeof(bytes))]);
		port_out(0x21, 4);
		port_out(0x21, one_in(4) ? 3 : 1);
		port_out(0x21, one_in(3) ? 0 : 0xfa);
		pit_start(500 + below(3000));
	}
}

static void deed_apic(void)
{
	static const uint16_t offsets[] = { 0x80, 0xb0, 0xd0, 0xe0, 0xf0, 0x280, 0x2f0, 0x300, 0x310,
					    0x320, 0x330, 0x340, 0x350, 0x360, 0x370, 0x380, 0x3e0 };
	uint32_t offset = one_in(5) ? below(0x1000) & ~3U : offsets[below(17)];
	uint32_t word = one_in(2) ? rnd() & 0xe07ff : one_in(2) ? 0x40000 | below(256) : value();

	*(volatile uint32_t *)(KERNEL_SCRATCH + offset) = word;
}

static void deed_float(void)
{
	for (uint32_t i = 0; i < 512; i++)
		fxsave_area[i] = (uint8_t)rnd();
	if (!one_in(3))
		*(uint32_t *)&fxsave_area[24] &= 0xffbf;
	if (one_in(2))
		cr0_write(cr0_read() & ~(CR0_TS | CR0_EM));
	__asm__ volatile("fxrstor %0" : : "m"(fxsave_area));
	if (one_in(2))
		__asm__ volatile("fld1\n\tfldz\n\tfdivrp\n\tfwait");
}

static void deed_tables(void)
{
	struct table_register r;

	switch (below(7)) {
	case 0:
	case 1:
		gdt[below(GDT_ENTRIES)] = descriptor();
		if (one_in(2))
			gdt[KERNEL_CODE / 8] = good_gdt[KERNEL_CODE / 8];
		break;
	case 2:
		r = (struct table_register){ (uint16_t)value(),
					     !one_in(30) ? (uint32_t)gdt : address() };
		__asm__ volatile("lgdt %0" : : "m"(r) : "memory");
		break;
	case 3:
		idt[one_in(8) ? below(IDT_ENTRIES) : 0x20 + below(0xe0)] = gate();
		r = (struct table_register){ 0x7ff, (uint32_t)idt };
		__asm__ volatile("lidt %0" : : "m"(r) : "memory");
		break;
	case 4:
		if (!one_in(20))
			break;
		r = (struct table_register){ (uint16_t)value(), one_in(4) ? address() : (uint32_t)idt };
		__asm__ volatile("lidt %0" : : "m"(r) : "memory");
		break;
	case 5:
		gdt[TASK_STATE / 8] = descriptor_make(one_in(10) ? address() : (uint32_t)&task_state, 0x67, 0x89, 0);
		__asm__ volatile("ltr %w0" : : "r"(TASK_STATE) : "memory");
		break;
	default:
		task_state.esp0 = one_in(30) ? address() : KERNEL_SCRATCH + 0x1100 + below(0x6000);
		task_state.ss0 = one_in(10) ? selector() : KERNEL_DATA;
		__asm__ volatile("lldt %w0" : : "r"(0) : "memory");
		code_int(0x80);
		user_trap((const char *)code);
	}
}

static void deed_pages(void)
{
	uint32_t d = below(DIRECTORIES);

	switch (below(10)) {
	case 0:
	case 1:
		kernel_table[below(12)] = entry();
		break;
	case 2:
		scratch_table[below(12)] = entry();
		break;
	case 3:
		d = below(4) == 0 ? 0x384 : 0x380;
		for (uint32_t i = 0; i < DIRECTORIES; i++)
			directories[i][d] = one_in(2) ? (uint32_t)kernel_table | 0x67 : entry();
		break;
	case 4:
		directories[d][0x100 + below(2)] = one_in(2) ? (uint32_t)scratch_table | 7 : entry();
		break;
	case 5:
		cr3_write((uint32_t)directories[d] | (one_in(3) ? below(0x1000) : 0));
		break;
	case 6:
		cr4_write(cr4_read() ^ (one_in(2) ? CR4_PGE : CR4_PGE));
		break;
	case 7:
		hypercall(GANDALF_HYPERCALL_FLUSH, (uint32_t)directories[d], value(), value());
		break;
	default:
		invlpg(address());
	}
}

static void deed_registers(void)
{
	switch (below(8)) {
	case 0:
		cr0_write(cr0_read() ^ (rnd() & (CR0_TS | CR0_EM | CR0_MP | CR0_NE | 1U << 18)));
		break;
	case 1:
		dr0_write(address());
		dr1_write(address());
		dr2_write(one_in(2) ? (uint32_t)code : address());
		dr3_write(one_in(2) ? (uint32_t)&task_state : address());
		break;
	case 2:
		dr7_write(rnd());
		break;
	case 3:
		__asm__ volatile("pushl %0\n\tpopfl" : : "r"((rnd() & ~0x200U) | 2) : "cc", "memory");
		break;
	case 4:
		__asm__ volatile("rdmsr" : : "c"(one_in(2) ? 0x1bU : value()) : "eax", "edx");
		break;
	case 5:
		__asm__ volatile("wrmsr" : : "c"(one_in(2) ? 0x1bU : value()), "a"(rnd()), "d"(0));
		break;
	default:
		__asm__ volatile("lmsw %w0" : : "r"(rnd() | 1));
	}
}

static void deed_hypercall(void)
{
	static const uint8_t numbers[] = { 16, 16, 16, 16, 18, 32, 33, 34, 35, 36 };

	hypercall(one_in(100) ? 17 : one_in(300) ? below(64) : numbers[below(10)], value(), value(), value());
}

static void deed_memory(void)
{
	volatile uint32_t *at = (volatile uint32_t *)address();

	/* What this kernel needs to go on is spared. */
	if ((uint32_t)at - 0xc0000000U < 0x1000000 || (uint32_t)at < 0x1000000)
		return;
	if (one_in(2) || (one_in(2) && (uint32_t)at - KERNEL_SCRATCH >= 0x8000))
		__asm__ volatile("movl (%0), %%eax" : : "r"(at) : "eax", "memory");
	else
		__asm__ volatile("movl %1, (%0)" : : "r"(at), "a"(value()) : "memory");
}

static void deed_wait(void)
{
	pic_init();
	pic_unmask(1);
	pit_start(2000);
	irq_wait();
	irq_enable();
	cr4_write(cr4_read() ^ CR4_PGE);
	cr4_write(cr4_read() ^ CR4_PGE);
}

static void (*const all[])(void) = {
	deed_stack_segment, deed_garbage, deed_return, deed_far, deed_stack, deed_segments, deed_ports,
	deed_apic, deed_float, deed_tables, deed_tables, deed_pages, deed_pages, deed_pages,
	deed_registers, deed_hypercall, deed_memory, deed_memory, deed_wait,
};

void chaos_run(void)
{
	static uint32_t depth;
	uint32_t number;

	if (!one_in(4))
		gdt_register_load();
	if (one_in(4)) {
		cr3_write((uint32_t)page_directory);
		cr0_write(0x80010033);
		dr7_write(0);
		tables_good();
		cr3_write((uint32_t)directories[0]);
		cr4_write(CR4_PSE | CR4_PGE);
		pic_init();
		pic_unmask(1);
		pit_start(1000 + below(2000));
	}
	for (uint32_t i = 0; i < 20; i++) {
		hypercall(GANDALF_HYPERCALL_ALIVE, 0, 0, 0);
		if (++deeds % 500 == 0)
			print("deeds=%u interrupts=%u\n", deeds, seen_vectors);
		number = below(sizeof(all) / sizeof(all[0]));
		if (all[number] == deed_apic && environment != DEDICATED)
			continue;
		if (one_in(3))
			irq_enable();
		depth++;
		all[number]();
	}
	chaos_recover();
}

void suite_run(void)
{
	random_state = (uint32_t)time_stamp() | 1;
	gdt_load();
	segments_load();
	for (uint32_t vector = 0; vector < IDT_ENTRIES; vector++) {
		uint32_t to = vector < 0x20 || vector == 0x80 ? (uint32_t)chaos_recover : (uint32_t)chaos_gates;

		idt[vector] = (struct descriptor){ (to & 0xffff) | KERNEL_CODE << 16,
						   (to & 0xffff0000) | (vector == 0x80 ? 0xee00U : 0x8e00U) };
	}
	gdt[TLS_FIRST] = descriptor_make(0, 0xfffff, DESCRIPTOR_DATA(3), DESCRIPTOR_PAGES);
	gdt_register_load();
	idt_load();
	for (uint32_t vector = 0; vector < IDT_ENTRIES; vector++) {
		uint32_t to = vector < 0x20 || vector == 0x80 ? (uint32_t)chaos_recover : (uint32_t)chaos_gates;

		idt[vector] = (struct descriptor){ (to & 0xffff) | KERNEL_CODE << 16,
						   (to & 0xffff0000) | (vector == 0x80 ? 0xee00U : 0x8e00U) };
	}
	task_load();
	for (uint32_t i = 0; i < GDT_ENTRIES; i++)
		good_gdt[i] = gdt[i];
	for (uint32_t i = 0; i < IDT_ENTRIES; i++)
		good_idt[i] = idt[i];
	good_gdtr = (struct table_register){ sizeof(gdt) - 1, (uint32_t)good_gdt };
	good_idtr = (struct table_register){ sizeof(good_idt) - 1, (uint32_t)good_idt };
	paging_enable();
	kernel_half_map();
	page_directory[KERNEL_SCRATCH / LARGE_PAGE_SIZE] = (uint32_t)kernel_table | 0x67;
	tables_good();
	cr3_write((uint32_t)directories[0]);
	print("chaos begins, seed 0x%x\n", random_state);
	chaos_recover();
}
