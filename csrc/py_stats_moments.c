/*
 * benchkit._core.Moments: struct stats_moments as a Python value.
 *
 * The arrays are read without the GIL, the object is changed with it.
 */
#include "py_state.h"
#include "py_stats_array.h"

#include "stats_moments.h"

struct py_moments {
    PyObject_HEAD struct stats_moments moments;
};

static PyObject *moments_create(PyTypeObject *type, PyObject *arguments,
                                PyObject *keywords)
{
    static char *names[] = {NULL};
    struct py_moments *self;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, ":Moments", names))
        return NULL;
    self = (struct py_moments *)type->tp_alloc(type, 0);
    if (self)
        stats_moments_compute(&self->moments, NULL, 0);
    return (PyObject *)self;
}

static void moments_dealloc(struct py_moments *self)
{
    PyTypeObject *type = Py_TYPE(self);

    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *moments_add(struct py_moments *self, PyObject *values)
{
    struct stats_rows rows = {0};
    struct stats_moments part;

    if (stats_rows_init(&rows, values, Py_None))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
        stats_moments_compute(&part, rows.values, rows.size);
    Py_END_ALLOW_THREADS
    stats_rows_fini(&rows);
    stats_moments_merge(&self->moments, &part);
    Py_RETURN_NONE;
}

static PyObject *moments_merge(struct py_moments *self, PyObject *other)
{
    if (!Py_IS_TYPE(other, Py_TYPE(self)))
        return PyErr_Format(PyExc_TypeError, "merge() needs Moments, not %.100s",
                            Py_TYPE(other)->tp_name);
    stats_moments_merge(&self->moments, &((struct py_moments *)other)->moments);
    Py_RETURN_NONE;
}

static PyObject *moments_repr(struct py_moments *self)
{
    return PyUnicode_FromFormat("<Moments of %zu values>", self->moments.count);
}

static PyObject *moments_get_n(struct py_moments *self, void *Py_UNUSED(closure))
{
    return PyLong_FromSize_t(self->moments.count);
}

static PyObject *moments_get_absent(struct py_moments *self, void *Py_UNUSED(closure))
{
    return PyLong_FromSize_t(self->moments.absent);
}

/* What computes an attribute: the closure of moments_get_figure(). */
struct figure {
    double (*read)(const struct stats_moments *);
};

static const struct figure mean = {stats_moments_mean};
static const struct figure max = {stats_moments_maximum};
static const struct figure min = {stats_moments_minimum};
static const struct figure sd = {stats_moments_sd};
static const struct figure sd_sample = {stats_moments_sd_sample};
static const struct figure skewness = {stats_moments_skewness};
static const struct figure kurtosis = {stats_moments_kurtosis};

static PyObject *moments_get_figure(struct py_moments *self, void *closure)
{
    const struct figure *figure = closure;

    return PyFloat_FromDouble(figure->read(&self->moments));
}

PyDoc_STRVAR(
    moments_doc,
    "Moments()\n--\n\n"
    "Running moments of a stream: mean, spread and shape without the values.\n\n"
    "All attributes but the counts are NaN as long as there is no value; they are\n"
    "those of describe() for all values together.");
PyDoc_STRVAR(add_doc, "add($self, values, /)\n--\n\n"
                      "Take in an array of at least one dimension; NaN is left out.");
PyDoc_STRVAR(merge_doc, "merge($self, other, /)\n--\n\n"
                        "Take in all values that other Moments have seen.");

static PyMethodDef moments_methods[] = {
    {"add", (PyCFunction)moments_add, METH_O, add_doc},
    {"merge", (PyCFunction)moments_merge, METH_O, merge_doc},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef moments_attributes[] = {
    {"n", (getter)moments_get_n, NULL, "Number of values that are not NaN.", NULL},
    {"absent", (getter)moments_get_absent, NULL, "Number of values that are NaN.",
     NULL},
    {"mean", (getter)moments_get_figure, NULL, "Mean.", (void *)&mean},
    {"max", (getter)moments_get_figure, NULL, "Largest value.", (void *)&max},
    {"min", (getter)moments_get_figure, NULL, "Smallest value.", (void *)&min},
    {"sd", (getter)moments_get_figure, NULL,
     "Standard deviation of the population, divided by n.", (void *)&sd},
    {"sd_sample", (getter)moments_get_figure, NULL,
     "Standard deviation of a sample, divided by n - 1.", (void *)&sd_sample},
    {"skewness", (getter)moments_get_figure, NULL, "g1, biased.", (void *)&skewness},
    {"kurtosis", (getter)moments_get_figure, NULL, "Excess kurtosis, biased.",
     (void *)&kurtosis},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot moments_slots[] = {{Py_tp_doc, (void *)moments_doc},
                                      {Py_tp_new, moments_create},
                                      {Py_tp_dealloc, moments_dealloc},
                                      {Py_tp_repr, moments_repr},
                                      {Py_tp_methods, moments_methods},
                                      {Py_tp_getset, moments_attributes},
                                      {0, NULL}};

PyType_Spec moments_spec = {
    .name = "benchkit._core.Moments",
    .basicsize = sizeof(struct py_moments),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = moments_slots,
};
