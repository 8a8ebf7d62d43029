/*
 * Statistics of stats_*.h as functions of benchkit._core; each is described by its
 * docstring. All release the GIL while they compute.
 */
#ifndef BENCHKIT_PY_STATS_H
#define BENCHKIT_PY_STATS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern const char stats_describe_doc[];
extern const char stats_percentile_doc[];
extern const char stats_weighted_percentile_doc[];
extern const char stats_percent_of_baseline_doc[];
extern const char stats_geometric_mean_ratio_doc[];

PyObject *stats_py_describe(PyObject *module, PyObject *arguments, PyObject *keywords);
PyObject *stats_py_percentile(PyObject *module, PyObject *arguments,
                              PyObject *keywords);
PyObject *stats_py_weighted_percentile(PyObject *module, PyObject *arguments,
                                       PyObject *keywords);
PyObject *stats_py_percent_of_baseline(PyObject *module, PyObject *arguments,
                                       PyObject *keywords);
PyObject *stats_py_geometric_mean_ratio(PyObject *module, PyObject *arguments,
                                        PyObject *keywords);

#endif
