/*
 * From counts and rows to dicts, lists and a NumPy structured array.
 */
#include "py_result.h"

#include "py_histogram.h"
#include "py_numpy.h"

#include "clock.h"
#include "driver.h"
#include "error.h"
#include "histogram.h"
#include "outcome.h"
#include "program.h"
#include "recorder.h"
#include "sampler.h"
#include "summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const phase_names[] = {[PHASE_WARMUP] = "warmup",
                                          [PHASE_MEASUREMENT] = "measurement",
                                          [PHASE_DRAIN] = "drain"};

/* The fields of struct interval_row, in order; all have 8 bytes. */
struct row_field {
    const char *name;
    size_t offset;
    bool is_real;
};

#define REAL_FIELD(name)                                                               \
    {                                                                                  \
#name, offsetof(struct interval_row, name), true                               \
    }
#define COUNT_FIELD(name)                                                              \
    {                                                                                  \
#name, offsetof(struct interval_row, name), false                              \
    }

static const struct row_field row_fields[] = {
    REAL_FIELD(time_s),          REAL_FIELD(elapsed_s),      COUNT_FIELD(phase),
    COUNT_FIELD(committed),      COUNT_FIELD(rolled_back),   COUNT_FIELD(failed),
    COUNT_FIELD(retries),        COUNT_FIELD(statements),    COUNT_FIELD(reads),
    COUNT_FIELD(writes),         COUNT_FIELD(other),         COUNT_FIELD(errors),
    REAL_FIELD(response_mean_s), REAL_FIELD(response_p50_s), REAL_FIELD(response_p95_s),
    REAL_FIELD(response_p99_s),  REAL_FIELD(response_max_s)};

enum { ROW_FIELDS = sizeof row_fields / sizeof *row_fields };

_Static_assert(sizeof(struct interval_row) == ROW_FIELDS * 8,
               "row_fields lists every field of struct interval_row");

/* dict[key] = value, taking the reference; -1 if value is NULL. */
static int set_item(PyObject *dict, const char *key, PyObject *value)
{
    int status = value ? PyDict_SetItemString(dict, key, value) : -1;

    Py_XDECREF(value);
    return status;
}

static PyObject *field_value(const struct interval_row *row,
                             const struct row_field *field)
{
    const char *place = (const char *)row + field->offset;

    if (field->is_real)
        return PyFloat_FromDouble(*(const double *)(const void *)place);
    return PyLong_FromLongLong(*(const int64_t *)(const void *)place);
}

PyObject *result_last_row(const struct driver *driver)
{
    const struct sampler *sampler = driver_sampler(driver);
    const struct interval_row *row = &sampler->rows[sampler->row_count - 1];
    PyObject *dict = PyDict_New();

    for (int i = 0; dict && i < ROW_FIELDS; i++)
        if (set_item(dict, row_fields[i].name, field_value(row, &row_fields[i])))
            Py_CLEAR(dict);
    return dict;
}

/* "transaction.name" or "statement.name", with the phase before it unless it is the
 * measurement. */
static PyObject *tag_name(const struct program *program, uint32_t tag, enum phase phase)
{
    bool is_transaction = tag < program->transaction_count;
    const char *name = is_transaction
                           ? program->transactions[tag].name
                           : program->labels[tag - program->transaction_count].name;

    return PyUnicode_FromFormat("%s%s%s.%s",
                                phase == PHASE_MEASUREMENT ? "" : phase_names[phase],
                                phase == PHASE_MEASUREMENT ? "" : ".",
                                is_transaction ? "transaction" : "statement", name);
}

static PyObject *copy_histogram(const struct module_state *state,
                                const struct histogram *source)
{
    struct histogram copy;
    struct error error;

    if (histogram_init(&copy, source->highest, source->digits, &error) ||
        histogram_merge(&copy, source, &error))
        return raise_error(state, &error);
    return histogram_wrap(state, &copy);
}

static int append_histogram(PyObject *list, PyObject *tag, PyObject *histogram)
{
    PyObject *pair = tag && histogram ? PyTuple_Pack(2, tag, histogram) : NULL;
    int status = pair ? PyList_Append(list, pair) : -1;

    Py_XDECREF(pair);
    Py_XDECREF(tag);
    Py_XDECREF(histogram);
    return status;
}

PyObject *result_last_histograms(const struct module_state *state,
                                 const struct driver *driver,
                                 const struct program *program)
{
    const struct sampler *sampler = driver_sampler(driver);
    enum phase phase = (enum phase)sampler->rows[sampler->row_count - 1].phase;
    PyObject *list = PyList_New(0);

    for (uint32_t tag = 0; list && tag < sampler->tag_count; tag++) {
        const struct histogram *interval = &sampler->interval[tag];
        if (count_read(&interval->total) &&
            append_histogram(list, tag_name(program, tag, phase),
                             copy_histogram(state, interval)))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *row_dtype_list(void)
{
    PyObject *list = PyList_New(ROW_FIELDS);

    for (int i = 0; list && i < ROW_FIELDS; i++) {
        PyObject *pair = Py_BuildValue("ss", row_fields[i].name,
                                       row_fields[i].is_real ? "<f8" : "<i8");
        if (!pair)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, pair);
    }
    return list;
}

static PyObject *rows_array(const struct sampler *sampler)
{
    npy_intp count = (npy_intp)sampler->row_count;
    PyArray_Descr *descr = NULL;
    PyObject *list = row_dtype_list();
    PyObject *array;

    if (!list || !PyArray_DescrConverter(list, &descr)) {
        Py_XDECREF(list);
        return NULL;
    }
    Py_DECREF(list);
    /* Takes over the reference to descr. */
    array = PyArray_NewFromDescr(&PyArray_Type, descr, 1, &count, NULL, NULL, 0, NULL);
    if (array && count)
        memcpy(PyArray_DATA((PyArrayObject *)array), sampler->rows,
               sampler->row_count * sizeof *sampler->rows);
    return array;
}

static PyObject *transaction_dict(const struct module_state *state,
                                  const struct driver *driver,
                                  const struct program *program, uint32_t index)
{
    struct transaction_summary summary;
    struct error error;
    PyObject *response;

    if (summary_transaction(driver, PHASE_MEASUREMENT, index, &summary, &error))
        return raise_error(state, &error);
    response = histogram_wrap(state, &summary.response);
    if (!response)
        return NULL;
    return Py_BuildValue("{sssKsKsKsKsN}", "name", program->transactions[index].name,
                         "committed", summary.outcomes[OUTCOME_COMMITTED],
                         "rolled_back", summary.outcomes[OUTCOME_ROLLED_BACK], "failed",
                         summary.outcomes[OUTCOME_FAILED], "retries", summary.retries,
                         "response", response);
}

static PyObject *statement_dict(const struct module_state *state,
                                const struct driver *driver,
                                const struct program *program, uint32_t index)
{
    const struct program_label *label = &program->labels[index];
    struct statement_summary summary;
    struct error error;
    PyObject *response;

    if (summary_statement(driver, PHASE_MEASUREMENT, index, &summary, &error))
        return raise_error(state, &error);
    response = histogram_wrap(state, &summary.response);
    if (!response)
        return NULL;
    return Py_BuildValue("{sssssKsKsKsKsKsN}", "name", label->name, "kind",
                         statement_kind_name(label->kind), "executions",
                         summary.executions, "results", summary.results, "writes",
                         summary.writes, "errors", summary.errors,
                         "executions_in_all_phases", summary_executions(driver, index),
                         "response", response);
}

/* A list of what `make` returns for each index. */
static PyObject *
make_list(const struct module_state *state, const struct driver *driver,
          const struct program *program, uint32_t count,
          PyObject *(*make)(const struct module_state *, const struct driver *,
                            const struct program *, uint32_t))
{
    PyObject *list = PyList_New(count);

    for (uint32_t i = 0; list && i < count; i++) {
        PyObject *item = make(state, driver, program, i);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, item);
    }
    return list;
}

static PyObject *errors_list(const struct module_state *state,
                             const struct driver *driver, const struct program *program)
{
    struct error_counts *errors;
    struct error error;
    uint32_t count;
    PyObject *list;

    if (summary_errors(driver, &errors, &count, &error))
        return raise_error(state, &error);
    list = PyList_New(count);
    for (uint32_t i = 0; list && i < count; i++) {
        PyObject *item = Py_BuildValue(
            "{sIsssNsssKss}", "number", errors[i].number, "sqlstate",
            errors[i].sqlstate, "message", message_text(errors[i].message), "statement",
            program->labels[errors[i].label].name, "count", errors[i].count, "phase",
            phase_names[errors[i].phase]);
        if (!item)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, item);
    }
    free(errors);
    return list;
}

static uint64_t outcome_sum(const struct driver_result *result, enum outcome outcome)
{
    uint64_t sum = 0;

    for (int phase = 0; phase < PHASE_COUNT; phase++)
        sum += result->outcomes[phase][outcome];
    return sum;
}

static PyObject *accounting_dict(const struct driver_result *result)
{
    return Py_BuildValue("{sKsKsKsKsK}", "scheduled", result->scheduled, "committed",
                         outcome_sum(result, OUTCOME_COMMITTED), "rolled_back",
                         outcome_sum(result, OUTCOME_ROLLED_BACK), "failed",
                         outcome_sum(result, OUTCOME_FAILED), "in_flight",
                         result->in_flight);
}

static PyObject *error_dict(const struct driver *driver,
                            const struct driver_result *result)
{
    const struct error *error = driver_error(driver);

    if (result->why != STOP_ERROR)
        Py_RETURN_NONE;
    return Py_BuildValue("{sIsssN}", "number", error->number, "sqlstate",
                         error->sqlstate, "message", message_text(error->message));
}

static PyObject *head_dict(const struct driver_result *result)
{
    static const char *const reasons[] = {[STOP_TIME] = "time",
                                          [STOP_COUNT] = "count",
                                          [STOP_REQUEST] = "request",
                                          [STOP_ERROR] = "error"};

    return Py_BuildValue("{sssdsdsIsdsdsK}", "stopped_by", reasons[result->why],
                         "warmup_s", result->warmup_s, "measured_s", result->measured_s,
                         "os_threads", (unsigned int)result->os_threads, "cpu_user_s",
                         (double)result->cpu_user_ns / CLOCK_NS_PER_S, "cpu_system_s",
                         (double)result->cpu_system_ns / CLOCK_NS_PER_S,
                         "statements_in_all_phases", result->statements);
}

PyObject *result_summary(const struct module_state *state, const struct driver *driver,
                         const struct program *program)
{
    struct driver_result result;
    struct error error;
    PyObject *dict;

    if (driver_finish(driver, &result, &error))
        return raise_error(state, &error);
    dict = head_dict(&result);
    if (!dict || set_item(dict, "accounting", accounting_dict(&result)) ||
        set_item(dict, "error", error_dict(driver, &result)) ||
        set_item(dict, "rows", rows_array(driver_sampler(driver))) ||
        set_item(dict, "transactions",
                 make_list(state, driver, program, program->transaction_count,
                           transaction_dict)) ||
        set_item(
            dict, "statements",
            make_list(state, driver, program, program->label_count, statement_dict)) ||
        set_item(dict, "errors", errors_list(state, driver, program)))
        Py_CLEAR(dict);
    return dict;
}
