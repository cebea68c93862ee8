/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attack of pc-attack.elf: INT n with each of the 256 vectors.
 *
 *	software RING
 *
 * RING: 1 or 3. It says what each gave that was not a general protection fault with the vector's
 * gate as the error code, and then how many were that.
 */
#include "attack.h"

#include "print.h"

#define OPCODE_INT 0xcd
#define UD2 0x0b0f
/* Of error codes: a gate. */
#define IN_IDT 2U

static struct {
	uint8_t opcode, vector;
	uint16_t behind;
} __attribute__((packed)) text __attribute__((section(".user"), aligned(16)));

static void software_interrupt(uint32_t ring, uint32_t vector)
{
	text.opcode = OPCODE_INT;
	text.vector = (uint8_t)vector;
	text.behind = UD2;
	if (ring == 3)
		user_trap((const char *)&text);
	else
		TRAP_PROVOKE("jmp *%0", : : "r"(&text), "a"(GANDALF_HYPERCALL_NULL)
			     : "ecx", "edx", "memory", "cc");
}

static void attack_software(const uint32_t *arguments)
{
	uint32_t refused = 0;

	for (uint32_t vector = 0; vector < IDT_ENTRIES; vector++) {
		software_interrupt(arguments[0], vector);
		if (trap.vector == VECTOR_GP && trap.error == vector * 8 + IN_IDT)
			refused++;
		else
			print("int 0x%x: trap %u, error 0x%x\n", vector, trap.vector, trap.error);
	}
	print("refused: %u\n", refused);
}

const struct attack attacks_software[] = { { "software", attack_software }, { 0 } };
