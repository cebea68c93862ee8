/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes lists that the linker puts together. A file that offers something (a kind of guest, a
 * hypercall, a chip at some ports) adds it to a list at the place where it defines it. Whoever
 * looks for one walks the list. So a part is left out of an image by not linking its files, and no
 * table elsewhere names it. Each element is a pointer to a constant structure.
 */
#pragma once

/* Adds a structure of this type to the list. It is used at file scope. */
#define UNIT(list, type, name) \
	__attribute__((used, section(#list))) static const type *const name##_unit = &name

/* Declares where the list begins and where it ends. gandalf.lds defines both symbols. */
#define UNITS(list, type) extern const type *const __start_##list[], *const __stop_##list[]

#define UNITS_FIRST(list) (__start_##list)
#define UNITS_END(list) (__stop_##list)
