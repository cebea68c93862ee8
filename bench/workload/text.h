/* SPDX-License-Identifier: Apache-2.0 */
/* Text for a program without a library: numbers, comparison, and lines that are written at once. */
#ifndef BENCH_TEXT_H
#define BENCH_TEXT_H

#include <stdbool.h>
#include <stdint.h>

bool text_is(const char *text, const char *other);
/* Whether the text up to its end holds a word. */
bool text_has(const char *text, const char *end, const char *word);
/* The decimal number that a text begins with, 0 if there is none. end: set to what is behind it,
 * unless NULL. */
uint64_t text_number(const char *text, const char **end);

/* Add to the line that is being made. */
void line_text(const char *text);
void line_number(uint64_t value);
/* " name=value" */
void line_field(const char *name, uint64_t value);
/* Ends the line and writes it. */
void line_write(int file);

#endif
