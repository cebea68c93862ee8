/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the operands of an instruction that is emulated. */
#include "guests/x86/emulation.h"

#include "guests/x86/guest_access.h"
#include "guests/x86/inject.h"

u32 segment_selector(const struct frame *frame, unsigned segment)
{
	const u32 selectors[] = {frame->es, frame->cs, frame->ss, frame->ds, frame->fs, frame->gs};

	return selectors[segment] & 0xffff;
}

u32 operand_address(const struct emulation *e)
{
	const struct decoded *decoded = &e->decoded;
	u32 index = segment_selector(e->frame, decoded->segment) / 8;
	u32 address = decoded->displacement;

	if (decoded->base != REGISTER_NONE)
		address += *register_pointer(e->frame, decoded->base);
	if (decoded->index != REGISTER_NONE)
		address += *register_pointer(e->frame, decoded->index) << decoded->scale;
	return address + (index < SEGMENT_GUEST_ENTRIES
				  ? descriptor_base(e->x86->vcpu->tables->gdt[index])
				  : 0);
}

bool operand_read(const struct emulation *e, void *to, u32 size)
{
	u32 address = operand_address(e);
	u8 first;

	if (guest_read(address, to, size))
		return true;
	/* The fault is that of the first byte that is missing, which may be on the next page. */
	if (guest_read(address, &first, sizeof(first)))
		address = PAGE_OF(address + size - 1);
	inject_page_fault(e->x86, address, 0);
	return false;
}

bool operand_16(const struct emulation *e, u16 *value)
{
	if (e->decoded.has_memory)
		return operand_read(e, value, sizeof(*value));
	*value = (u16)*operand_register(e);
	return true;
}

bool emulation_begin(struct emulation *e, struct x86 *x86)
{
	u8 bytes[DECODE_LENGTH_MAXIMUM];
	u32 count = guest_fetch(x86->vcpu, bytes, sizeof(bytes));

	e->x86 = x86;
	e->frame = x86->vcpu->frame;
	e->error = e->frame->error;
	return decode(&e->decoded, bytes, count) == DECODE_OK;
}
