/*
 * benchkit._core.Histogram: struct histogram as a Python value.
 *
 * The object owns its histogram and is its only writer; the GIL keeps it so.
 */
#include "py_histogram.h"
#include "py_masked.h"
#include "py_numpy.h"
#include "py_state.h"

#include "error.h"
#include "histogram.h"

#include <math.h>

enum { DEFAULT_DIGITS = 3 };

static const long long default_highest = 3600000000000; /* an hour in ns */

struct py_histogram {
    PyObject_HEAD struct histogram histogram;
};

static PyObject *raise_metric_error(PyTypeObject *type, const struct error *error)
{
    return raise_error_as(state_of_type(type), "MetricError", error);
}

/* An empty histogram of `type`; NULL with MetricError set if the layout is not valid.
 */
static struct py_histogram *make(PyTypeObject *type, long long highest, int digits)
{
    struct py_histogram *self = (struct py_histogram *)type->tp_alloc(type, 0);
    struct error error;

    if (self && histogram_init(&self->histogram, highest, digits, &error)) {
        Py_DECREF(self);
        raise_metric_error(type, &error);
        return NULL;
    }
    return self;
}

PyObject *histogram_wrap(const struct module_state *state, struct histogram *histogram)
{
    PyTypeObject *type = state->histogram_type;
    struct py_histogram *self = (struct py_histogram *)type->tp_alloc(type, 0);

    if (self) {
        memcpy(&self->histogram, histogram, sizeof *histogram);
        memset(histogram, 0, sizeof *histogram);
    }
    return (PyObject *)self;
}

static PyObject *histogram_create(PyTypeObject *type, PyObject *arguments,
                                  PyObject *keywords)
{
    static char *names[] = {"highest", "digits", NULL};
    long long highest = default_highest;
    int digits = DEFAULT_DIGITS;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|Li:Histogram", names,
                                     &highest, &digits))
        return NULL;
    return (PyObject *)make(type, highest, digits);
}

static void histogram_dealloc(struct py_histogram *self)
{
    PyTypeObject *type = Py_TYPE(self);

    histogram_fini(&self->histogram);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Count `value` `count` times; several as the middle of its bucket. */
static void record_times(struct histogram *histogram, int64_t value, uint64_t count)
{
    if (count == 1 || value > histogram->highest) {
        for (uint64_t i = 0; i < count; i++)
            histogram_record(histogram, value);
    } else {
        histogram_add(histogram, histogram_index(histogram, value < 0 ? 0 : value),
                      count);
    }
}

static PyObject *histogram_py_record(struct py_histogram *self, PyObject *arguments)
{
    long long value;
    unsigned long long count = 1;

    if (!PyArg_ParseTuple(arguments, "L|K:record", &value, &count))
        return NULL;
    record_times(&self->histogram, value, count);
    Py_RETURN_NONE;
}

/* `values` as an array of int64; NULL with TypeError set where that loses anything. */
static PyArrayObject *integers_from(PyObject *values)
{
    PyObject *plain = masked_left_out(values);
    PyObject *array = plain ? PyArray_FROM_O(plain) : NULL;
    PyObject *integers;

    Py_XDECREF(plain);
    if (!array)
        return NULL;
    if (PyArray_SIZE((PyArrayObject *)array) == 0) /* [] has no type of its own */
        integers = PyArray_FROM_OTF(array, NPY_INT64,
                                    NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
    else
        integers = PyArray_FROM_OTF(array, NPY_INT64, NPY_ARRAY_CARRAY_RO);
    Py_DECREF(array);
    return (PyArrayObject *)integers;
}

static PyObject *histogram_py_record_many(struct py_histogram *self, PyObject *values)
{
    PyArrayObject *array = integers_from(values);
    const int64_t *numbers;
    npy_intp count;

    if (!array)
        return NULL;
    numbers = PyArray_DATA(array);
    count = PyArray_SIZE(array);
    for (npy_intp i = 0; i < count; i++)
        histogram_record(&self->histogram, numbers[i]);
    Py_DECREF(array);
    Py_RETURN_NONE;
}

static PyObject *histogram_py_merge(struct py_histogram *self, PyObject *other)
{
    struct error error;

    if (!Py_IS_TYPE(other, Py_TYPE(self)))
        return PyErr_Format(PyExc_TypeError, "merge() needs a Histogram, not %.100s",
                            Py_TYPE(other)->tp_name);
    if (histogram_merge(&self->histogram, &((struct py_histogram *)other)->histogram,
                        &error))
        return raise_metric_error(Py_TYPE(self), &error);
    Py_RETURN_NONE;
}

/* Fill `values`, as many as `percentiles` has; 0, or -1 with MetricError set. */
static int read_percentiles(struct py_histogram *self, PyArrayObject *percentiles,
                            double *values)
{
    const double *at = PyArray_DATA(percentiles);
    struct error error;
    int64_t value;

    for (npy_intp i = 0; i < PyArray_SIZE(percentiles); i++) {
        if (histogram_percentile(&self->histogram, at[i], &value, &error)) {
            raise_metric_error(Py_TYPE(self), &error);
            return -1;
        }
        values[i] = (double)value;
    }
    return 0;
}

static PyObject *histogram_py_percentile(struct py_histogram *self, PyObject *at)
{
    PyObject *plain = masked_as_nan(at);
    PyArrayObject *percentiles =
        plain
            ? (PyArrayObject *)PyArray_FROM_OTF(plain, NPY_DOUBLE, NPY_ARRAY_CARRAY_RO)
            : NULL;
    PyArrayObject *values;

    Py_XDECREF(plain);
    if (!percentiles)
        return NULL;
    values = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(percentiles),
                                                PyArray_DIMS(percentiles), NPY_DOUBLE);
    if (values && read_percentiles(self, percentiles, PyArray_DATA(values)))
        Py_CLEAR(values);
    Py_DECREF(percentiles);
    if (!values || PyArray_NDIM(values))
        return (PyObject *)values;
    at = PyFloat_FromDouble(*(double *)PyArray_DATA(values));
    Py_DECREF(values);
    return at;
}

static npy_intp used_buckets(const struct histogram *histogram)
{
    struct histogram_span span = histogram_span(histogram);
    npy_intp used = 0;

    for (uint32_t i = span.first; i <= span.last; i++)
        used += histogram_count(histogram, i) > 0;
    return used;
}

static PyObject *histogram_py_counts(struct py_histogram *self,
                                     PyObject *Py_UNUSED(ignored))
{
    const struct histogram *histogram = &self->histogram;
    struct histogram_span span = histogram_span(histogram);
    npy_intp used = used_buckets(histogram);
    PyObject *values = PyArray_SimpleNew(1, &used, NPY_INT64);
    PyObject *counts = PyArray_SimpleNew(1, &used, NPY_INT64);
    npy_intp at = 0;

    for (uint32_t i = span.first; values && counts && i <= span.last; i++) {
        uint64_t count = histogram_count(histogram, i);
        if (count) {
            int64_t *value = PyArray_DATA((PyArrayObject *)values);
            int64_t *number = PyArray_DATA((PyArrayObject *)counts);
            value[at] = histogram_lowest(histogram, i);
            number[at++] = (int64_t)count;
        }
    }
    if (values && counts)
        return Py_BuildValue("NN", values, counts);
    Py_XDECREF(values);
    Py_XDECREF(counts);
    return NULL;
}

static PyObject *histogram_py_encode(struct py_histogram *self,
                                     PyObject *Py_UNUSED(ignored))
{
    unsigned char *payload = PyMem_Malloc(histogram_encoded_limit(&self->histogram));
    PyObject *result;

    if (!payload)
        return PyErr_NoMemory();
    result = PyBytes_FromStringAndSize(
        (char *)payload, (Py_ssize_t)histogram_encode(&self->histogram, payload));
    PyMem_Free(payload);
    return result;
}

static PyObject *histogram_py_decode(PyTypeObject *type, PyObject *arguments,
                                     PyObject *keywords)
{
    static char *names[] = {"payload", "highest", "digits", NULL};
    long long highest = default_highest;
    int digits = DEFAULT_DIGITS;
    struct py_histogram *self;
    struct error error;
    Py_buffer payload;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "y*|Li:decode", names,
                                     &payload, &highest, &digits))
        return NULL;
    self = make(type, highest, digits);
    if (self &&
        histogram_decode(&self->histogram, payload.buf, (size_t)payload.len, &error)) {
        Py_CLEAR(self);
        raise_error_as(state_of_type(type), "StoreError", &error);
    }
    PyBuffer_Release(&payload);
    return (PyObject *)self;
}

static PyObject *histogram_py_copy(struct py_histogram *self,
                                   PyObject *Py_UNUSED(ignored))
{
    const struct histogram *histogram = &self->histogram;
    struct py_histogram *copy =
        make(Py_TYPE(self), histogram->highest, histogram->digits);
    struct error error;

    if (copy && histogram_merge(&copy->histogram, histogram, &error)) {
        Py_CLEAR(copy);
        raise_metric_error(Py_TYPE(self), &error);
    }
    return (PyObject *)copy;
}

static PyObject *histogram_compare(PyObject *self, PyObject *other, int operation)
{
    bool equal;

    if ((operation != Py_EQ && operation != Py_NE) || !Py_IS_TYPE(other, Py_TYPE(self)))
        Py_RETURN_NOTIMPLEMENTED;
    equal = histogram_equal(&((struct py_histogram *)self)->histogram,
                            &((struct py_histogram *)other)->histogram);
    return PyBool_FromLong(equal == (operation == Py_EQ));
}

static PyObject *histogram_repr(struct py_histogram *self)
{
    return PyUnicode_FromFormat("<Histogram of %llu values, highest %lld, %d digits>",
                                (unsigned long long)self->histogram.total,
                                (long long)self->histogram.highest,
                                self->histogram.digits);
}

/* An integer attribute, or NaN where nothing was recorded. */
static PyObject *integer_or_nan(const struct histogram *histogram, int64_t value)
{
    return histogram->total ? PyLong_FromLongLong(value) : PyFloat_FromDouble(NAN);
}

static PyObject *histogram_get_min(struct py_histogram *self, void *Py_UNUSED(closure))
{
    return integer_or_nan(&self->histogram, self->histogram.min);
}

static PyObject *histogram_get_max(struct py_histogram *self, void *Py_UNUSED(closure))
{
    return integer_or_nan(&self->histogram, self->histogram.max);
}

static PyObject *histogram_get_mean(struct py_histogram *self, void *Py_UNUSED(closure))
{
    const struct histogram *histogram = &self->histogram;

    return PyFloat_FromDouble(
        histogram->total ? (double)histogram->sum / (double)histogram->total : NAN);
}

static PyObject *histogram_get_total(struct py_histogram *self,
                                     void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(self->histogram.total);
}

static PyObject *histogram_get_overflow(struct py_histogram *self,
                                        void *Py_UNUSED(closure))
{
    return PyLong_FromUnsignedLongLong(self->histogram.overflow);
}

static PyObject *histogram_get_highest(struct py_histogram *self,
                                       void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(self->histogram.highest);
}

static PyObject *histogram_get_digits(struct py_histogram *self,
                                      void *Py_UNUSED(closure))
{
    return PyLong_FromLong(self->histogram.digits);
}

PyDoc_STRVAR(
    histogram_doc,
    "Histogram(highest=3_600_000_000_000, digits=3)\n--\n\n"
    "Counts of values of 0..highest in buckets of a fixed relative width.\n\n"
    "With 3 digits a bucket spans less than 1/1000 of its value. Higher values are\n"
    "counted in `overflow`. Histograms are equal when layout, counts and overflow "
    "are.");
PyDoc_STRVAR(record_doc,
             "record($self, value, count=1, /)\n--\n\n"
             "Count an integer, once or several times; negative ones count as 0.");
PyDoc_STRVAR(record_many_doc,
             "record_many($self, values, /)\n--\n\n"
             "Count every element of an array of integers; not masked ones.");
PyDoc_STRVAR(merge_doc,
             "merge($self, other, /)\n--\n\n"
             "Add the counts of a histogram with the same layout, exactly.\n\n"
             "Raises MetricError if the layouts differ.");
PyDoc_STRVAR(
    percentile_doc,
    "percentile($self, percentile, /)\n--\n\n"
    "The smallest value at or below which this percentage of the values lies.\n\n"
    "Takes one percentile (0 to 100) and returns a float, or an array and returns\n"
    "a float64 array of its shape, in the unit that was recorded. A value is the\n"
    "middle of its bucket, limited to min..max.\n\n"
    "Raises MetricError when nothing was recorded or a percentile is not in range.");
PyDoc_STRVAR(counts_doc,
             "counts($self, /)\n--\n\n"
             "The buckets that are not empty: two int64 arrays (lowest value of "
             "the bucket, count).");
PyDoc_STRVAR(encode_doc,
             "encode($self, /)\n--\n\n"
             "The counts as the payload of HdrHistogram's V2 format, without "
             "header and compression.\nThe overflow is not part of it.");
PyDoc_STRVAR(
    decode_doc,
    "decode($type, payload, highest=3_600_000_000_000, digits=3)\n--\n\n"
    "Make a histogram from what encode() wrote; min, max and mean are those of "
    "the buckets.\n\nRaises StoreError if the payload is damaged.");
PyDoc_STRVAR(copy_doc, "copy($self, /)\n--\n\nA copy that can be changed by itself.");

static PyMethodDef histogram_methods[] = {
    {"record", (PyCFunction)histogram_py_record, METH_VARARGS, record_doc},
    {"record_many", (PyCFunction)histogram_py_record_many, METH_O, record_many_doc},
    {"merge", (PyCFunction)histogram_py_merge, METH_O, merge_doc},
    {"percentile", (PyCFunction)histogram_py_percentile, METH_O, percentile_doc},
    {"counts", (PyCFunction)histogram_py_counts, METH_NOARGS, counts_doc},
    {"encode", (PyCFunction)histogram_py_encode, METH_NOARGS, encode_doc},
    {"decode", (PyCFunction)(void (*)(void))histogram_py_decode,
     METH_CLASS | METH_VARARGS | METH_KEYWORDS, decode_doc},
    {"copy", (PyCFunction)histogram_py_copy, METH_NOARGS, copy_doc},
    {"__copy__", (PyCFunction)histogram_py_copy, METH_NOARGS, copy_doc},
    {"__deepcopy__", (PyCFunction)histogram_py_copy, METH_O, copy_doc},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef histogram_attributes[] = {
    {"total", (getter)histogram_get_total, NULL,
     "Number of values recorded, overflow included.", NULL},
    {"min", (getter)histogram_get_min, NULL,
     "Smallest value, exact; NaN when nothing was recorded.", NULL},
    {"max", (getter)histogram_get_max, NULL,
     "Largest value, exact; NaN when nothing was recorded.", NULL},
    {"mean", (getter)histogram_get_mean, NULL,
     "Mean of the values, exact; NaN when nothing was recorded.", NULL},
    {"overflow", (getter)histogram_get_overflow, NULL,
     "Number of values above highest.", NULL},
    {"digits", (getter)histogram_get_digits, NULL, "Significant decimal digits.", NULL},
    {"highest", (getter)histogram_get_highest, NULL,
     "Highest value that a bucket counts.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot histogram_slots[] = {{Py_tp_doc, (void *)histogram_doc},
                                        {Py_tp_new, histogram_create},
                                        {Py_tp_dealloc, histogram_dealloc},
                                        {Py_tp_repr, histogram_repr},
                                        {Py_tp_richcompare, histogram_compare},
                                        {Py_tp_hash, PyObject_HashNotImplemented},
                                        {Py_tp_methods, histogram_methods},
                                        {Py_tp_getset, histogram_attributes},
                                        {0, NULL}};

PyType_Spec histogram_spec = {
    .name = "benchkit._core.Histogram",
    .basicsize = sizeof(struct py_histogram),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = histogram_slots,
};
