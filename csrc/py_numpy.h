/*
 * NumPy's C API, set up once for all files: include this instead of the NumPy headers.
 * The API table lives in module.c, which defines BENCHKIT_NUMPY_IMPORT before it
 * includes this and calls _import_array(). Compiles with the headers of NumPy 1.24 and
 * of 2.x.
 */
#ifndef BENCHKIT_PY_NUMPY_H
#define BENCHKIT_PY_NUMPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_22_API_VERSION
#define NPY_TARGET_VERSION NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL benchkit_array_api
#ifndef BENCHKIT_NUMPY_IMPORT
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#endif
