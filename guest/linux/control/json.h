/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON to standard output. A value has a name in an object and none
 * (NULL) in an array or outside of everything.
 */
#ifndef GANDALFCTL_JSON_H
#define GANDALFCTL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void json_object(const char *name);
void json_array(const char *name);
/* Ends the innermost object or array. The end of the outermost one also ends the line. */
void json_end(void);

void json_string(const char *name, const char *text);
/* Writes any bytes as a string. A byte above 127 becomes the character of that number. */
void json_bytes(const char *name, const char *bytes, size_t size);
void json_number(const char *name, uint64_t number);
/* Writes a number with four digits behind the point. */
void json_fraction(const char *name, double number);
void json_truth(const char *name, bool truth);
void json_null(const char *name);

#endif
