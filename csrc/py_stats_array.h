/*
 * Arrays of any layout, and of any type that float64 can hold, as rows of doubles that
 * the statistics may reorder. Needs the GIL.
 */
#ifndef BENCHKIT_PY_STATS_ARRAY_H
#define BENCHKIT_PY_STATS_ARRAY_H

#include "py_numpy.h"

#include <stddef.h>

/* Of an array and an axis: the values along the axis are a row. Starts as zeros. */
struct stats_rows {
    PyArrayObject *array; /* a copy of ours, in C order, the axis last */
    double *values;       /* its data: `count` rows of `size` */
    size_t count;
    size_t size;
    int ndim; /* shape of the array without the axis */
    npy_intp shape[NPY_MAXDIMS];
};

/* Copy `values` into rows along `axis`, or into a single row where it is None; the only
 * copy that is made. -1 with TypeError or ValueError set if the values are no array of
 * numbers, or do not have that axis. */
int stats_rows_init(struct stats_rows *rows, PyObject *values, PyObject *axis);
void stats_rows_fini(struct stats_rows *rows);

/* `values` as float64 in C order, a copy only where needed, for reading; a new
 * reference, or NULL with TypeError or ValueError set. */
PyArrayObject *stats_doubles_from(PyObject *values);

#endif
