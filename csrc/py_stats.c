/*
 * The functions: arguments in, arrays or named results out.
 */
#include "py_stats.h"
#include "py_numpy.h"
#include "py_state.h"
#include "py_stats_array.h"

#include "error.h"
#include "stats_percentile.h"
#include "stats_ratio.h"
#include "stats_summary.h"

#include <stdbool.h>
#include <stdlib.h>

const char stats_describe_doc[] =
    "describe($module, /, values, axis=None)\n--\n\n"
    "Summarise an array, or each of its rows along an axis, in one call.\n\n"
    "Parameters\n"
    "----------\n"
    "values : array_like of at least one dimension\n"
    "    Any layout, and any type that casts safely to float64. NaN stands for an\n"
    "    absent value and is left out, as are masked values. Infinities are values.\n"
    "axis : int, optional\n"
    "    Where it is given, every result is an array of the remaining shape, or a\n"
    "    NumPy scalar where that has no dimension.\n\n"
    "Returns\n"
    "-------\n"
    "dict\n"
    "    n, absent (number of NaN), mean, max, min, sd (of the population, divided by\n"
    "    n), sd_sample (divided by n - 1), cov (sd / mean), median, p95, p99 (type 7:\n"
    "    linear between neighbours, as numpy.percentile), skewness (g1, biased) and\n"
    "    kurtosis (excess, biased).\n\n"
    "Without values n is 0 and all others are NaN. With a single value sd is 0 and\n"
    "sd_sample NaN; where all values are equal, skewness and kurtosis are NaN. Among\n"
    "infinities the mean is infinite or NaN, and sd, sd_sample, cov, skewness and\n"
    "kurtosis are NaN. Needs one copy of the values.";

const char stats_percentile_doc[] =
    "percentile($module, /, values, q, axis=None)\n--\n\n"
    "Return percentiles of an array, or of its rows along an axis, by selection.\n\n"
    "Parameters\n"
    "----------\n"
    "values : array_like of at least one dimension\n"
    "    As in describe(): NaN is left out.\n"
    "q : float or array_like\n"
    "    Percentiles, 0 to 100.\n"
    "axis : int, optional\n"
    "    The axis to go along; the whole array if left out.\n\n"
    "Returns\n"
    "-------\n"
    "float or ndarray\n"
    "    The shape of q, then what remains of that of values; type 7: at rank\n"
    "    q/100 * (n - 1) of the sorted values, linear between neighbours. NaN where\n"
    "    no value is present.\n\n"
    "Raises MetricError if a percentile is not in range.";

const char stats_weighted_percentile_doc[] =
    "weighted_percentile($module, /, values, weights, q)\n--\n\n"
    "Return percentiles of values that count as often as their weights say.\n\n"
    "Buckets of several histograms, of any layout, are merged by concatenation.\n\n"
    "Parameters\n"
    "----------\n"
    "values, weights : array_like of the same shape\n"
    "    NaN is left out with its weight. Weights are 0 or more.\n"
    "q : float or array_like\n"
    "    Percentiles, 0 to 100.\n\n"
    "Returns\n"
    "-------\n"
    "float or ndarray\n"
    "    Of the shape of q: the smallest value at or below which q percent of the\n"
    "    weight lies, as Histogram.percentile(). NaN without any weight.\n\n"
    "Raises MetricError if a percentile or a weight is not in range.";

const char stats_percent_of_baseline_doc[] =
    "percent_of_baseline($module, /, candidate, baseline)\n--\n\n"
    "Return candidate / baseline * 100 for each cell of two arrays of one shape.\n\n"
    "NaN where a side is absent (NaN) or the baseline is 0.";

const char stats_geometric_mean_ratio_doc[] =
    "geometric_mean_ratio($module, /, candidate, baseline)\n--\n\n"
    "Return the geometric mean of candidate / baseline over cells of both sides.\n\n"
    "Parameters\n"
    "----------\n"
    "candidate, baseline : array_like of the same shape\n"
    "    NaN stands for an absent cell.\n\n"
    "Returns\n"
    "-------\n"
    "dict\n"
    "    ratio (NaN if there is no such cell), used (cells that both sides have, "
    "finite\n"
    "    and above 0) and cells (cells that at least one side has).";

struct field {
    const char *name;
    size_t offset; /* in struct stats_summary */
};

static const struct field counts[] = {
    {"n", offsetof(struct stats_summary, count)},
    {"absent", offsetof(struct stats_summary, absent)},
};

static const struct field numbers[] = {
    {"mean", offsetof(struct stats_summary, mean)},
    {"max", offsetof(struct stats_summary, maximum)},
    {"min", offsetof(struct stats_summary, minimum)},
    {"sd", offsetof(struct stats_summary, sd)},
    {"sd_sample", offsetof(struct stats_summary, sd_sample)},
    {"cov", offsetof(struct stats_summary, cov)},
    {"median", offsetof(struct stats_summary, median)},
    {"p95", offsetof(struct stats_summary, p95)},
    {"p99", offsetof(struct stats_summary, p99)},
    {"skewness", offsetof(struct stats_summary, skewness)},
    {"kurtosis", offsetof(struct stats_summary, kurtosis)},
};

enum {
    COUNTS = sizeof counts / sizeof *counts,
    NUMBERS = sizeof numbers / sizeof *numbers
};

static size_t count_in(const struct stats_summary *summary, const struct field *field)
{
    return *(const size_t *)((const char *)summary + field->offset);
}

static double number_in(const struct stats_summary *summary, const struct field *field)
{
    return *(const double *)((const char *)summary + field->offset);
}

/* Steals `value`, which may be NULL with an exception set. */
static int set_item(PyObject *dict, const char *name, PyObject *value)
{
    int status = value ? PyDict_SetItemString(dict, name, value) : -1;

    Py_XDECREF(value);
    return status;
}

/* The summary of a single row. */
static PyObject *describe_whole(const struct stats_rows *rows)
{
    struct stats_summary summary;
    PyObject *dict;
    int status = 0;

    Py_BEGIN_ALLOW_THREADS
        stats_summary_compute(rows->values, rows->size, &summary);
    Py_END_ALLOW_THREADS
    dict = PyDict_New();
    if (!dict)
        return NULL;
    for (size_t i = 0; !status && i < COUNTS; i++)
        status = set_item(dict, counts[i].name,
                          PyLong_FromSize_t(count_in(&summary, &counts[i])));
    for (size_t i = 0; !status && i < NUMBERS; i++)
        status = set_item(dict, numbers[i].name,
                          PyFloat_FromDouble(number_in(&summary, &numbers[i])));
    if (status)
        Py_CLEAR(dict);
    return dict;
}

/* An array of float64 or int64 whose shape is `outer` and, behind it, the rows'. */
static PyObject *make_array(const npy_intp *outer, int outer_ndim,
                            const struct stats_rows *rows, int type)
{
    npy_intp shape[2 * NPY_MAXDIMS];
    int ndim = 0;

    for (int i = 0; i < outer_ndim; i++)
        shape[ndim++] = outer[i];
    for (int i = 0; i < rows->ndim; i++)
        shape[ndim++] = rows->shape[i];
    return PyArray_SimpleNew(ndim, shape, type);
}

/* Write the summary of each row to the columns. Does not need the GIL. */
static void fill_columns(const struct stats_rows *rows, int64_t *count_columns,
                         double *number_columns)
{
    size_t size = rows->count;

    for (size_t row = 0; row < size; row++) {
        struct stats_summary summary;
        stats_summary_compute(rows->values + row * rows->size, rows->size, &summary);
        for (size_t i = 0; i < COUNTS; i++)
            count_columns[i * size + row] = (int64_t)count_in(&summary, &counts[i]);
        for (size_t i = 0; i < NUMBERS; i++)
            number_columns[i * size + row] = number_in(&summary, &numbers[i]);
    }
}

/* Put each column into the dict by its name. */
static int set_columns(PyObject *dict, PyObject *columns, const struct field *fields,
                       size_t count)
{
    int status = 0;

    for (size_t i = 0; !status && i < count; i++)
        status =
            set_item(dict, fields[i].name, PySequence_GetItem(columns, (Py_ssize_t)i));
    return status;
}

/* All columns of a type are one array: the system provides that faster than many. */
static PyObject *describe_rows(const struct stats_rows *rows)
{
    const npy_intp count_size = COUNTS, number_size = NUMBERS;
    PyObject *count_columns = make_array(&count_size, 1, rows, NPY_INT64);
    PyObject *number_columns = make_array(&number_size, 1, rows, NPY_DOUBLE);
    PyObject *dict = PyDict_New();

    if (!count_columns || !number_columns || !dict) {
        Py_CLEAR(dict);
    } else {
        Py_BEGIN_ALLOW_THREADS
            fill_columns(rows, PyArray_DATA((PyArrayObject *)count_columns),
                         PyArray_DATA((PyArrayObject *)number_columns));
        Py_END_ALLOW_THREADS
        if (set_columns(dict, count_columns, counts, COUNTS) ||
            set_columns(dict, number_columns, numbers, NUMBERS))
            Py_CLEAR(dict);
    }
    Py_XDECREF(count_columns);
    Py_XDECREF(number_columns);
    return dict;
}

PyObject *stats_py_describe(PyObject *Py_UNUSED(module), PyObject *arguments,
                            PyObject *keywords)
{
    static char *names[] = {"values", "axis", NULL};
    struct stats_rows rows = {0};
    PyObject *values, *axis = Py_None;
    PyObject *result;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:describe", names,
                                     &values, &axis))
        return NULL;
    if (stats_rows_init(&rows, values, axis))
        return NULL;
    result = axis == Py_None ? describe_whole(&rows) : describe_rows(&rows);
    stats_rows_fini(&rows);
    return result;
}

/* `q` as percentiles; a new reference, or NULL with an exception set. */
static PyArrayObject *percentiles_from(PyObject *module, PyObject *q)
{
    PyArrayObject *array = stats_doubles_from(q);
    const double *at = array ? PyArray_DATA(array) : NULL;
    struct error error;

    for (npy_intp i = 0; array && i < PyArray_SIZE(array); i++) {
        if (stats_is_percentile(at[i]))
            continue;
        error_set(&error, ERROR_INVALID, "a percentile must be 0 to 100, not %g",
                  at[i]);
        raise_error_as(PyModule_GetState(module), "MetricError", &error);
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

/* Fill `results`; 0, or -1 without memory. Does not need the GIL. */
static int fill_percentiles(const struct stats_rows *rows, const double *at,
                            size_t count, double *results)
{
    size_t *ranks = malloc((2 * count + 1) * sizeof *ranks);
    double *of_row = malloc((count + 1) * sizeof *of_row);
    struct stats_percentiles wanted = {at, count, ranks};
    int status = ranks && of_row ? 0 : -1;

    for (size_t row = 0; !status && row < rows->count; row++) {
        stats_percentiles(rows->values + row * rows->size, rows->size, &wanted, of_row);
        for (size_t i = 0; i < count; i++)
            results[i * rows->count + row] = of_row[i];
    }
    free(ranks);
    free(of_row);
    return status;
}

/* A float where `array` is a single number of no dimension; steals `array`. */
static PyObject *float_or_array(PyArrayObject *array)
{
    PyObject *number;

    if (!array || PyArray_NDIM(array))
        return (PyObject *)array;
    number = PyFloat_FromDouble(*(double *)PyArray_DATA(array));
    Py_DECREF(array);
    return number;
}

static PyObject *percentiles_of(const struct stats_rows *rows, PyArrayObject *at)
{
    PyArrayObject *results = (PyArrayObject *)make_array(
        PyArray_DIMS(at), PyArray_NDIM(at), rows, NPY_DOUBLE);
    size_t count = (size_t)PyArray_SIZE(at);
    int status;

    if (!results)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
        status = fill_percentiles(rows, PyArray_DATA(at), count, PyArray_DATA(results));
    Py_END_ALLOW_THREADS
    if (status) {
        Py_DECREF(results);
        return PyErr_NoMemory();
    }
    return (PyObject *)results;
}

PyObject *stats_py_percentile(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"values", "q", "axis", NULL};
    struct stats_rows rows = {0};
    PyObject *values, *q, *axis = Py_None;
    PyObject *result = NULL;
    PyArrayObject *at;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OO|O:percentile", names,
                                     &values, &q, &axis))
        return NULL;
    at = percentiles_from(module, q);
    if (at && !stats_rows_init(&rows, values, axis))
        result = percentiles_of(&rows, at);
    if (result && axis == Py_None)
        result = float_or_array((PyArrayObject *)result);
    stats_rows_fini(&rows);
    Py_XDECREF(at);
    return result;
}

/* 0, or -1 with ValueError set. */
static int check_same_shape(PyArrayObject *one, PyArrayObject *other, const char *names)
{
    if (PyArray_SAMESHAPE(one, other))
        return 0;
    PyErr_Format(PyExc_ValueError, "%s must have the same shape", names);
    return -1;
}

static PyObject *weighted_percentiles(PyObject *module, struct stats_weighted *weighted,
                                      PyArrayObject *at)
{
    PyArrayObject *results;
    const double *percentiles = PyArray_DATA(at);
    struct error error;
    double *result;
    int status;

    Py_BEGIN_ALLOW_THREADS
        status = stats_weighted_prepare(weighted, &error);
    Py_END_ALLOW_THREADS
    if (status)
        return raise_error_as(PyModule_GetState(module), "MetricError", &error);
    results = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(at), PyArray_DIMS(at),
                                                 NPY_DOUBLE);
    if (!results)
        return NULL;
    result = PyArray_DATA(results);
    for (npy_intp i = 0; i < PyArray_SIZE(at); i++)
        result[i] = stats_weighted_percentile(weighted, percentiles[i]);
    return float_or_array(results);
}

PyObject *stats_py_weighted_percentile(PyObject *module, PyObject *arguments,
                                       PyObject *keywords)
{
    static char *names[] = {"values", "weights", "q", NULL};
    struct stats_rows values = {0}, weights = {0};
    PyObject *arrays[2], *q, *result = NULL;
    PyArrayObject *at;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO:weighted_percentile",
                                     names, &arrays[0], &arrays[1], &q))
        return NULL;
    at = percentiles_from(module, q);
    if (at && !stats_rows_init(&values, arrays[0], Py_None) &&
        !stats_rows_init(&weights, arrays[1], Py_None) &&
        !check_same_shape(values.array, weights.array, "values and weights")) {
        struct stats_weighted weighted = {values.values, weights.values, values.size};
        result = weighted_percentiles(module, &weighted, at);
    }
    stats_rows_fini(&values);
    stats_rows_fini(&weights);
    Py_XDECREF(at);
    return result;
}

struct sides {
    PyArrayObject *candidate, *baseline;
};

static void drop_sides(struct sides *sides)
{
    Py_CLEAR(sides->candidate);
    Py_CLEAR(sides->baseline);
}

/* Both sides from the arguments of the function that `format` names; -1 with an
 * exception set. */
static int parse_sides(struct sides *sides, PyObject *arguments, PyObject *keywords,
                       const char *format)
{
    static char *names[] = {"candidate", "baseline", NULL};
    PyObject *candidate, *baseline;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, format, names, &candidate,
                                     &baseline))
        return -1;
    sides->candidate = stats_doubles_from(candidate);
    sides->baseline = sides->candidate ? stats_doubles_from(baseline) : NULL;
    if (sides->baseline &&
        !check_same_shape(sides->candidate, sides->baseline, "candidate and baseline"))
        return 0;
    drop_sides(sides);
    return -1;
}

static PyObject *percent_of(const struct sides *sides)
{
    PyArrayObject *percent = (PyArrayObject *)PyArray_SimpleNew(
        PyArray_NDIM(sides->candidate), PyArray_DIMS(sides->candidate), NPY_DOUBLE);

    if (!percent)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
        stats_percent_of_baseline(PyArray_DATA(sides->candidate),
                                  PyArray_DATA(sides->baseline),
                                  (size_t)PyArray_SIZE(percent), PyArray_DATA(percent));
    Py_END_ALLOW_THREADS
    return (PyObject *)percent;
}

PyObject *stats_py_percent_of_baseline(PyObject *Py_UNUSED(module), PyObject *arguments,
                                       PyObject *keywords)
{
    PyObject *percent;
    struct sides sides;

    if (parse_sides(&sides, arguments, keywords, "OO:percent_of_baseline"))
        return NULL;
    percent = percent_of(&sides);
    drop_sides(&sides);
    return percent;
}

PyObject *stats_py_geometric_mean_ratio(PyObject *Py_UNUSED(module),
                                        PyObject *arguments, PyObject *keywords)
{
    struct stats_mean_ratio mean;
    struct sides sides;

    if (parse_sides(&sides, arguments, keywords, "OO:geometric_mean_ratio"))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
        stats_geometric_mean_ratio(PyArray_DATA(sides.candidate),
                                   PyArray_DATA(sides.baseline),
                                   (size_t)PyArray_SIZE(sides.candidate), &mean);
    Py_END_ALLOW_THREADS
    drop_sides(&sides);
    return Py_BuildValue("{s:d,s:n,s:n}", "ratio", mean.ratio, "used",
                         (Py_ssize_t)mean.used, "cells", (Py_ssize_t)mean.cells);
}
