/*
 * benchkit._core.load().
 */
#ifndef BENCHKIT_PY_LOADER_H
#define BENCHKIT_PY_LOADER_H

#include "py_state.h"

#define LOADER_PY_LOAD_DOC                                                             \
    "load(endpoint, tables, *, threads=1, seed=0, on_progress=None)\n--\n\n"           \
    "Fill tables: [(insert, [generator spec], rows, [finishing statement]), ...].\n\n" \
    "on_progress(rows) is called about every 50 ms. The data depend on the seed, "     \
    "not\n"                                                                            \
    "on the number of threads. Raises DatabaseError, WorkloadError; Ctrl-C stops it."

PyObject *loader_py_load(PyObject *module, PyObject *arguments, PyObject *keywords);

#endif
