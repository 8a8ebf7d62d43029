/*
 * Statistics of stats_*.h as functions of benchkit._core.
 */
#ifndef BENCHKIT_PY_STATS_H
#define BENCHKIT_PY_STATS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern const char stats_describe_doc[];

/* describe(values): see the docstring. Releases the GIL while it computes. */
PyObject *stats_py_describe(PyObject *module, PyObject *values);

#endif
