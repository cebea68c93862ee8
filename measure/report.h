/* SPDX-License-Identifier: Apache-2.0 */
/* The result as a JSON file; tools/gandalf/measure/measurement.py has the model that reads it. */
#ifndef GANDALF_MEASURE_REPORT_H
#define GANDALF_MEASURE_REPORT_H

/* The file is complete or not there. Returns what is wrong, or a null pointer. */
const char *report_write(const char *path);

#endif
