/*
 * Statistics of stats_*.h as functions of benchkit._core.
 */
#ifndef BENCHKIT_PY_STATS_H
#define BENCHKIT_PY_STATS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define STATS_DESCRIBE_DOC                                                             \
    "describe($module, values, /)\n--\n\n"                                             \
    "Return n, mean, sd, minimum and maximum of a one-dimensional, contiguous\n"       \
    "float64 array as a dict.\n\n"                                                     \
    "NaN stands for an absent value and is left out; sd is of the population.\n"       \
    "Without any value, n is 0 and the others are NaN."

/* describe(values): see STATS_DESCRIBE_DOC. Releases the GIL while it computes. */
PyObject *stats_py_describe(PyObject *module, PyObject *values);

#endif
