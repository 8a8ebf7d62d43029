/*
 * Arrays of float64 that are contiguous already come in without a copy.
 */
#include "py_stats.h"
#include "py_numpy.h"
#include "py_state.h"

#include "error.h"
#include "stats_summary.h"

const char stats_describe_doc[] =
    "describe($module, values, /)\n--\n\n"
    "Return n, mean, sd, minimum and maximum of a one-dimensional array as a dict.\n\n"
    "NaN stands for an absent value and is left out; sd is of the population.\n"
    "Without any value, n is 0 and the others are NaN.";

/* A new reference; NULL with an exception set. */
static PyArrayObject *doubles_from(PyObject *values)
{
    PyObject *array = PyArray_FROM_OTF(values, NPY_DOUBLE, NPY_ARRAY_CARRAY_RO);

    if (array && PyArray_NDIM((PyArrayObject *)array) != 1) {
        PyErr_Format(PyExc_ValueError, "values must have one dimension, not %d",
                     PyArray_NDIM((PyArrayObject *)array));
        Py_CLEAR(array);
    }
    return (PyArrayObject *)array;
}

PyObject *stats_py_describe(PyObject *module, PyObject *values)
{
    PyArrayObject *array = doubles_from(values);
    struct stats_summary summary;
    struct error error;
    const double *data;
    size_t size;
    int status;

    if (!array)
        return NULL;
    data = PyArray_DATA(array);
    size = (size_t)PyArray_SIZE(array);
    Py_BEGIN_ALLOW_THREADS
        status = stats_summary_compute(data, size, &summary, &error);
    Py_END_ALLOW_THREADS
    Py_DECREF(array);
    if (status)
        return raise_error(PyModule_GetState(module), &error);
    return Py_BuildValue("{s:n,s:d,s:d,s:d,s:d}", "n", (Py_ssize_t)summary.count,
                         "mean", summary.mean, "sd", summary.sd, "minimum",
                         summary.minimum, "maximum", summary.maximum);
}
