/*
 * Arrays come in by the buffer protocol, without a copy.
 */
#include "py_stats.h"
#include "py_state.h"

#include "error.h"
#include "stats_summary.h"

#include <string.h>

/* Take a view of `values`, to be released by the caller. -1 with TypeError set. */
static int take_doubles(PyObject *values, Py_buffer *view)
{
    if (PyObject_GetBuffer(values, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT))
        return -1;
    if (view->ndim == 1 && view->format && strcmp(view->format, "d") == 0)
        return 0;
    PyErr_SetString(PyExc_TypeError, "values must be a one-dimensional float64 array");
    PyBuffer_Release(view);
    return -1;
}

PyObject *stats_py_describe(PyObject *module, PyObject *values)
{
    struct stats_summary summary;
    struct error error;
    Py_buffer view;
    int status;

    if (take_doubles(values, &view))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = stats_summary_compute(view.buf, (size_t)view.shape[0], &summary, &error);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&view);
    if (status)
        return raise_error(PyModule_GetState(module), &error);
    return Py_BuildValue("{s:n,s:d,s:d,s:d,s:d}", "n", (Py_ssize_t)summary.count,
                         "mean", summary.mean, "sd", summary.sd, "minimum",
                         summary.minimum, "maximum", summary.maximum);
}
