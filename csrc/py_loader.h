/*
 * benchkit._core.load().
 */
#ifndef BENCHKIT_PY_LOADER_H
#define BENCHKIT_PY_LOADER_H

#include "py_state.h"

PyObject *loader_py_load(PyObject *module, PyObject *arguments, PyObject *keywords);
extern const char loader_load_doc[];

#endif
