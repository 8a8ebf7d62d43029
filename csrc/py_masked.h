/*
 * Masked arrays of numpy.ma, whose masks NumPy's own conversions silently drop. Needs
 * the GIL everywhere.
 */
#ifndef BENCHKIT_PY_MASKED_H
#define BENCHKIT_PY_MASKED_H

#include "py_numpy.h"

/* A new reference to `values`, or, where they are masked, to a copy of them as float64
 * with NaN in masked places. NULL with TypeError set where they do not cast safely, or
 * are a list of masked arrays. */
PyObject *masked_as_nan(PyObject *values);

/* A new reference to `values`, or, where they are masked, to a flat copy of those that
 * are not. NULL with an exception set, as above. */
PyObject *masked_left_out(PyObject *values);

#endif
