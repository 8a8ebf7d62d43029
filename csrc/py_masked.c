/*
 * A masked array is known by what it can do, so that numpy.ma is not imported for every
 * program that has none.
 */
#include "py_masked.h"

#include <stdbool.h>

static bool is_masked(PyObject *values)
{
    return PyArray_Check(values) && !PyArray_CheckExact(values) &&
           PyObject_HasAttrString(values, "mask") &&
           PyObject_HasAttrString(values, "compressed");
}

/* 0, or -1 with TypeError set for a sequence that has masked arrays in it. */
static int check_items(PyObject *values)
{
    bool is_list = PyList_Check(values) || PyTuple_Check(values);
    Py_ssize_t count = is_list ? PySequence_Fast_GET_SIZE(values) : 0;

    for (Py_ssize_t i = 0; i < count; i++) {
        if (!is_masked(PySequence_Fast_GET_ITEM(values, i)))
            continue;
        PyErr_SetString(PyExc_TypeError,
                        "a sequence of masked values would lose its masks: join them "
                        "with numpy.ma.stack() or numpy.ma.array()");
        return -1;
    }
    return 0;
}

/* `values` as masked float64; a copy only where they are of another type. */
static PyObject *masked_doubles(PyObject *values)
{
    PyObject *astype = PyObject_GetAttrString(values, "astype");
    PyObject *type = Py_BuildValue("(s)", "f8");
    PyObject *how = Py_BuildValue("{s:s,s:O}", "casting", "safe", "copy", Py_False);
    PyObject *doubles = astype && type && how ? PyObject_Call(astype, type, how) : NULL;

    Py_XDECREF(astype);
    Py_XDECREF(type);
    Py_XDECREF(how);
    return doubles;
}

PyObject *masked_as_nan(PyObject *values)
{
    PyObject *doubles, *filled;

    if (!is_masked(values))
        return check_items(values) ? NULL : Py_NewRef(values);
    doubles = masked_doubles(values);
    filled = doubles ? PyObject_CallMethod(doubles, "filled", "d", Py_NAN) : NULL;
    Py_XDECREF(doubles);
    return filled;
}

PyObject *masked_left_out(PyObject *values)
{
    if (!is_masked(values))
        return check_items(values) ? NULL : Py_NewRef(values);
    return PyObject_CallMethod(values, "compressed", NULL);
}
