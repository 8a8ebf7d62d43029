/*
 * NumPy does the conversion, in one step: moving the axis is a view, and the copy
 * converts, aligns and orders at once.
 */
#include "py_stats_array.h"
#include "py_masked.h"

#include <stdbool.h>

static PyArrayObject *any_array(PyObject *values)
{
    PyObject *plain = masked_as_nan(values);
    PyObject *array =
        plain ? PyArray_FromAny(plain, NULL, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL) : NULL;

    Py_XDECREF(plain);
    return (PyArrayObject *)array;
}

/* A new reference to `array` as float64; steals `array`. */
static PyArrayObject *as_doubles(PyArrayObject *array, int flags)
{
    PyObject *doubles = PyArray_FromArray(array, PyArray_DescrFromType(NPY_DOUBLE),
                                          flags | NPY_ARRAY_ENSUREARRAY);

    Py_DECREF(array);
    return (PyArrayObject *)doubles;
}

PyArrayObject *stats_doubles_from(PyObject *values)
{
    PyArrayObject *array = any_array(values);

    return array ? as_doubles(array, NPY_ARRAY_CARRAY_RO) : NULL;
}

/* `axis` as 0..ndim-1; -1 with an exception set where there is no such axis. */
static int axis_from(PyObject *axis, int ndim)
{
    Py_ssize_t number = PyNumber_AsSsize_t(axis, PyExc_ValueError);

    if (number == -1 && PyErr_Occurred())
        return -1;
    if (number < -ndim || number >= ndim) {
        PyErr_Format(PyExc_ValueError,
                     "axis %zd is out of range for values of %d dimensions", number,
                     ndim);
        return -1;
    }
    return (int)(number < 0 ? number + ndim : number);
}

/* A view with `axis` last; steals `array`. */
static PyArrayObject *with_axis_last(PyArrayObject *array, int axis)
{
    npy_intp order[NPY_MAXDIMS];
    PyArray_Dims permutation = {order, PyArray_NDIM(array)};
    PyObject *view;

    for (int i = 0, next = 0; i < permutation.len; i++)
        if (i != axis)
            order[next++] = i;
    order[permutation.len - 1] = axis;
    view = PyArray_Transpose(array, &permutation);
    Py_DECREF(array);
    return (PyArrayObject *)view;
}

/* Fill the sizes for rows along the last axis of `array`, or for a single row. */
static void measure(struct stats_rows *rows, PyArrayObject *array, bool single)
{
    rows->ndim = single ? 0 : PyArray_NDIM(array) - 1;
    rows->count = 1;
    for (int i = 0; i < rows->ndim; i++) {
        rows->shape[i] = PyArray_DIM(array, i);
        rows->count *= (size_t)rows->shape[i];
    }
    rows->size =
        (size_t)(single ? PyArray_SIZE(array) : PyArray_DIM(array, rows->ndim));
}

int stats_rows_init(struct stats_rows *rows, PyObject *values, PyObject *axis)
{
    PyArrayObject *array = any_array(values);
    int number;

    if (!array)
        return -1;
    if (PyArray_NDIM(array) == 0) {
        PyErr_SetString(PyExc_ValueError, "values must have at least one dimension");
        Py_DECREF(array);
        return -1;
    }
    if (axis != Py_None) {
        number = axis_from(axis, PyArray_NDIM(array));
        if (number < 0) {
            Py_DECREF(array);
            return -1;
        }
        array = with_axis_last(array, number);
    }
    if (array)
        array = as_doubles(array, NPY_ARRAY_CARRAY | NPY_ARRAY_ENSURECOPY);
    if (!array)
        return -1;
    rows->array = array;
    rows->values = PyArray_DATA(array);
    measure(rows, array, axis == Py_None);
    return 0;
}

void stats_rows_fini(struct stats_rows *rows)
{
    Py_CLEAR(rows->array);
}
