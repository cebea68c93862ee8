/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists that the linker puts together. A file that offers something (a kind of guest, a hypercall,
 * a chip at some ports) adds it to a list where it defines it, and whoever looks for one walks the
 * list: what an image lacks is simply not linked, and what it has needs no line elsewhere. Each
 * element is a pointer to a structure that stays as it is.
 */
#pragma once

/* At file scope: makes a structure of this type part of the list. */
#define UNIT(list, type, name) \
	__attribute__((used, section(#list))) static const type *const name##_unit = &name

/* Where the list begins, and behind its end: sections whose names are words have such symbols. */
#define UNITS(list, type) extern const type *const __start_##list[], *const __stop_##list[]

#define UNITS_FIRST(list) (__start_##list)
#define UNITS_END(list) (__stop_##list)
