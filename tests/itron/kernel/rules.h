/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An application that checks the kernel against the rules of the specification. Prints what does
 * not hold, and `PASS rules` or `FAIL rules` at the end.
 *
 * `main` does the checks. Helper tasks of a higher, a lower and the same priority execute what main
 * gives them, each a function, and write letters into a trace that shows who ran when.
 */
#ifndef RULES_H
#define RULES_H

#include <stdbool.h>

#include "kernel.h"

#define MAIN_PRIORITY 8

#define expect(condition) expectation(condition, __FILE_NAME__, __LINE__, #condition)
void expectation(bool holds, const char *file, int line, const char *text);

/* Adds a letter; compares the letters since the last comparison. */
void trace(char letter);
bool traced(const char *letters);

/* Activates a dormant helper task to execute a function. */
ER helper_start(ID task, void (*work)(void));
void helper_set(ID task, void (*work)(void));

/* Has the timer's handler execute a function; returns when it has. */
void in_handler(void (*work)(void));

extern void (*exception_work)(TEXPTN pattern);
extern volatile UINT cyclic_counted, cyclic_phases;
extern void (*volatile exception_handler_work)(void);

void main_run(VP_INT exinf);
void helper_run(VP_INT exinf);
void main_exception(TEXPTN pattern, VP_INT exinf);
void handler_call(VP_INT exinf);
void cyclic_count_up(VP_INT exinf);
void cyclic_phase(VP_INT exinf);
void exception_skip(T_EXCINF *information);
void initialize(VP_INT exinf);

/* tasks.c, objects.c, contexts.c */
void check_tasks(void);
void check_objects(void);
void check_contexts(void);

#endif
