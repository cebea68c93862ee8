/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attacks of pc-attack.elf by vectors that are not its own. On a dedicated CPU the 8259s are,
 * and it gives them those of exceptions; and each can be named by INT n.
 *
 *	vectors MASTER SLAVE MODE IRQ WHERE TARGET
 *	others WHERE
 *	step
 *
 * MASTER, SLAVE: ICW2; MODE: ICW4; IRQ: of which device; WHERE: where the interrupt comes, see enum
 * where; TARGET: what the payload writes. The second is about all vectors that
 * are no exception's, in steps of eight, and says how many came. The third is a single step without
 * an IDT.
 */
#include "attack.h"

#include "print.h"

enum where { IN_IDLE, IN_RING_1, AT_WORK, IN_RING_3, IN_UPCALL };

#define HZ 2000
/* Of the VMM: no selector for a guest. */
#define VMM_CODE 0x100
#define FIRST_BASE 0x20U
#define BASES 28U
/* Time stamps for which an interrupt is waited for: twenty milliseconds. */
#define PATIENCE_MS 20

#define KEYBOARD_DATA 0x60
#define KEYBOARD_COMMAND 0x64
#define KEYBOARD_FULL 0x01
#define KEYBOARD_SET_MODE 0x60
#define KEYBOARD_FILL 0xd2
#define MOUSE_FILL 0xd3
#define BOTH_INTERRUPT 0x03
#define UART 0x3f8
#define UART_INTERRUPTS (UART + 1)
#define UART_MODEM (UART + 4)
#define UART_OUT2 0x08
#define UART_ON_EMPTY 0x02
#define FLOPPY 0x3f2
#define FLOPPY_RESET 0x00
#define FLOPPY_ON 0x0c
#define CMOS_INDEX 0x70
#define CMOS_DATA 0x71
#define RTC_A 0x0a
#define RTC_B 0x0b
#define RTC_C 0x0c
#define RTC_1024_HZ 0x26
#define RTC_PERIODIC 0x42

/* user.S: until it is told to end. */
extern const char user_interrupted[];
extern volatile uint32_t user_finish;

static const uint32_t *given;

static uint8_t cmos_read(uint8_t index)
{
	port_out(CMOS_INDEX, index);
	return port_in(CMOS_DATA);
}

static void cmos_write(uint8_t index, uint8_t value)
{
	port_out(CMOS_INDEX, index);
	port_out(CMOS_DATA, value);
}

static void keyboard_fill(uint8_t command)
{
	while (port_in(KEYBOARD_COMMAND) & KEYBOARD_FULL)
		port_in(KEYBOARD_DATA);
	port_out(KEYBOARD_COMMAND, KEYBOARD_SET_MODE);
	port_out(KEYBOARD_DATA, BOTH_INTERRUPT);
	port_out(KEYBOARD_COMMAND, command);
	port_out(KEYBOARD_DATA, 0x55);
}

/* Has the device of a line ask for an interrupt, soon or at once. */
static void device_start(uint32_t irq)
{
	if (irq == 0) {
		pit_start(HZ);
	} else if (irq == 1 || irq == 12) {
		keyboard_fill(irq == 1 ? KEYBOARD_FILL : MOUSE_FILL);
	} else if (irq == 4) {
		port_out(UART_MODEM, UART_OUT2);
		port_out(UART_INTERRUPTS, UART_ON_EMPTY);
	} else if (irq == 6) {
		port_out(FLOPPY, FLOPPY_RESET);
		port_out(FLOPPY, FLOPPY_ON);
	} else if (irq == 8) {
		cmos_write(RTC_A, RTC_1024_HZ);
		cmos_write(RTC_B, RTC_PERIODIC);
		cmos_read(RTC_C);
	}
}

static void devices_stop(void)
{
	pit_stop();
	port_out(UART_INTERRUPTS, 0);
	cmos_write(RTC_B, 0x02);
}

/* What comes as an exception goes on behind. */
static void spin(void)
{
	uint64_t end = time_stamp() + (uint64_t)PATIENCE_MS * time_stamps_per_ms();

	TRAP_PROVOKE("sti\n2:\trdtsc\n\tsubl %0, %%eax\n\tsbbl %1, %%edx\n\tjb 2b",
		     : : "r"((uint32_t)end), "r"((uint32_t)(end >> 32))
		     : "eax", "edx", "memory", "cc");
	irq_disable();
}

static void halt(void)
{
	TRAP_PROVOKE("sti\n\thlt", : : : "memory");
	irq_disable();
}

/* STI lets interrupts in behind the next instruction only, and that is the VMM's work. */
static void work(uint32_t irq)
{
	irq_await((uint16_t)(1 << irq));
	TRAP_PROVOKE("sti\n\tmovl %0, %%cr4", : : "r"(cr4_read() ^ CR4_PGE) : "memory");
	irq_disable();
}

static void user_spin(void)
{
	user_finish = 0;
	/* An interrupt that finds no page for its frame is lost. */
	*(volatile uint32_t *)(task_state.esp0 - 4) = 0;
	user_trap(user_interrupted);
	irq_disable();
}

static void come(enum where where, uint32_t irq)
{
	if (where == IN_IDLE)
		halt();
	else if (where == IN_RING_3)
		user_spin();
	else if (where == AT_WORK)
		work(irq);
	else
		spin();
}

static void vectors_take(const uint32_t *arguments)
{
	pic_program((uint8_t)arguments[0], (uint8_t)arguments[1], (uint8_t)arguments[2]);
	pic_unmask((uint16_t)(1 << arguments[3]));
}

/* In the middle of the VMM's work. */
static void tick(struct trap_frame *frame)
{
	if (frame->cs != VMM_CODE)
		return;
	vectors_take(given);
	come(IN_UPCALL, 0);
}

static void attack_vectors(const uint32_t *arguments)
{
	uint32_t irq = arguments[3], where = arguments[4];

	given = arguments;
	payload_lay(arguments[5]);
	time_stamps_per_ms();
	/* The VMM believes to know the vectors, and so has points. */
	vectors_show();
	if (where == IN_UPCALL) {
		irq_hook[0] = tick;
		work(0);
	} else {
		pit_stop();
		vectors_take(arguments);
		device_start(irq);
		come(where, irq);
	}
	devices_stop();
	pic_init();
}

static void user_end(struct trap_frame *frame)
{
	(void)frame;
	user_finish = 1;
}

static void attack_others(const uint32_t *arguments)
{
	uint32_t came = 0;

	time_stamps_per_ms();
	vectors_show();
	irq_hook[0] = user_end;
	for (uint32_t i = 0; i < BASES; i++) {
		uint32_t base = FIRST_BASE + i * 8;

		/* By this one ring 3 ends. */
		if (base == VECTOR_SYSTEM_CALL)
			continue;
		idt[base] = idt[VECTOR_IRQ];
		idt_open(VECTOR_IRQ);
		pic_program((uint8_t)base, 0x70, 1);
		pic_unmask(1);
		irq_count[0] = 0;
		come((enum where)arguments[0], 0);
		came += irq_count[0] != 0;
	}
	print("came: %u of %u\n", came, BASES - 1);
}

static void attack_step(const uint32_t *arguments)
{
	static const struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) empty = { 0, 0 };

	(void)arguments;
	__asm__ volatile("lidt %0\n\tpushfl\n\torl %1, (%%esp)\n\tpopfl\n\tnop"
			 : : "m"(empty), "i"(EFLAGS_TRAP) : "memory", "cc");
}

const struct attack attacks_vectors[] = { { "vectors", attack_vectors },
					{ "others", attack_others },
					{ "step", attack_step },
					{ 0 } };
