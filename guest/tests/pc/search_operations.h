/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of which the programs of pc-search.elf consist. */
#ifndef SEARCH_OPERATIONS_H
#define SEARCH_OPERATIONS_H

#include <stdint.h>

typedef void operation_function(const uint32_t *arguments);

/* The operation of a number, as search.h counts them; of any number. */
operation_function *search_operation(uint32_t number);
/* The page tables that all address spaces share. */
void search_tables_make(void);
/* Does nothing for so many time stamps. */
void search_rest(uint32_t time);

#endif
