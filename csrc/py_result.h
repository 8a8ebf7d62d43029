/*
 * What a driver measured, as Python objects. Needs the GIL.
 */
#ifndef BENCHKIT_PY_RESULT_H
#define BENCHKIT_PY_RESULT_H

#include "py_state.h"

struct driver;
struct program;

/* The newest row of the series as a dict. New reference, or NULL. */
PyObject *result_last_row(const struct driver *driver);

/* Its histograms that are not empty, as [(tag, Histogram)]. New reference, or NULL. */
PyObject *result_last_histograms(const struct module_state *state,
                                 const struct driver *driver,
                                 const struct program *program);

/* The whole of an ended run as a dict. New reference, or NULL. */
PyObject *result_summary(const struct module_state *state, const struct driver *driver,
                         const struct program *program);

#endif
