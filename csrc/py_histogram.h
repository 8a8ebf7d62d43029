/*
 * benchkit._core.Histogram: how other files of the binding hand one to Python.
 */
#ifndef BENCHKIT_PY_HISTOGRAM_H
#define BENCHKIT_PY_HISTOGRAM_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

struct histogram;
struct module_state;

/* A Histogram that takes over the content of `histogram`, which is zeroed; nobody else
 * may write it. On failure NULL with an exception set, and `histogram` is unchanged. */
PyObject *histogram_wrap(const struct module_state *state, struct histogram *histogram);

#endif
