/*
 * benchkit._core.load(): fill tables, controlled by the calling thread.
 */
#include "py_loader.h"

#include "py_endpoint.h"
#include "py_generator.h"

#include "connection.h"
#include "error.h"
#include "generator.h"
#include "loader.h"

#include <string.h>

enum { WAIT_NS = 50 * 1000 * 1000 };

/* Tables with all that they point at: made from Python, but independent of it, since
 * the callback may change the lists that they came from. */
struct tables {
    struct load_table *items;
    uint32_t count;
};

static void table_fini(struct load_table *table)
{
    /* The loader sees all this as const; here it is owned. */
    struct generator *columns = (struct generator *)table->columns;
    struct generator *lines = (struct generator *)table->lines;

    for (uint32_t i = 0; i < table->column_count; i++)
        generator_fini(&columns[i]);
    for (uint32_t i = 0; i < table->finish_count; i++)
        PyMem_Free((void *)table->finish[i]);
    if (lines)
        generator_fini(lines);
    PyMem_Free(lines);
    PyMem_Free((void *)table->mark);
    PyMem_Free((void *)table->done);
    PyMem_Free(columns);
    PyMem_Free((void *)table->finish);
    PyMem_Free((void *)table->insert);
}

static void tables_fini(struct tables *tables)
{
    for (uint32_t i = 0; i < tables->count; i++)
        table_fini(&tables->items[i]);
    PyMem_Free(tables->items);
}

/* A copy for PyMem_Free(); NULL with an exception set. */
static const char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = PyMem_Malloc(size);

    if (copy)
        memcpy(copy, text, size);
    else
        PyErr_NoMemory();
    return copy;
}

/* [(kind, {argument: value}), ...] */
static int set_columns(struct load_table *table, PyObject *list, uint64_t seed,
                       struct error *error)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    struct generator *columns = PyMem_Calloc((size_t)count + 1, sizeof *columns);

    if (!columns)
        return error_set_memory(error);
    table->columns = columns;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (generator_from_python(PyList_GET_ITEM(list, i), seed, &columns[i], error))
            return -1;
        table->column_count++;
    }
    return 0;
}

static int set_finish(struct load_table *table, PyObject *list)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    const char **finish = PyMem_Calloc((size_t)count + 1, sizeof *finish);

    if (!finish) {
        PyErr_NoMemory();
        return -1;
    }
    table->finish = finish;
    for (Py_ssize_t i = 0; i < count; i++) {
        const char *text = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
        if (!text || !(finish[i] = copy_text(text)))
            return -1;
        table->finish_count++;
    }
    return 0;
}

static int set_lines(struct load_table *table, PyObject *spec, uint64_t seed,
                     struct error *error)
{
    struct generator *lines;

    if (spec == Py_None)
        return 0;
    lines = PyMem_Calloc(1, sizeof *lines);
    if (!lines)
        return error_set_memory(error);
    table->lines = lines;
    return generator_from_python(spec, seed, lines, error);
}

/* Note the numbers of parts that are there; those of none are left out. */
static int set_done(struct load_table *table, PyObject *list)
{
    uint64_t parts = load_table_parts(table);
    bool *done = PyMem_Calloc((size_t)parts + 1, sizeof *done);

    if (!done) {
        PyErr_NoMemory();
        return -1;
    }
    table->done = done;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        unsigned long long number = PyLong_AsUnsignedLongLong(PyList_GET_ITEM(list, i));
        if (PyErr_Occurred())
            return -1;
        if (number >= 1 && number <= parts)
            done[number - 1] = true;
    }
    return 0;
}

/* {lines: spec, part_rows: number, mark: text, done: [number]}, none of them needed */
static int set_parts(struct load_table *table, PyObject *parts, uint64_t seed,
                     struct error *error)
{
    static char *names[] = {"lines", "part_rows", "mark", "done", NULL};
    PyObject *lines = Py_None, *done = NULL, *nothing = PyTuple_New(0);
    const char *mark = NULL;
    unsigned long long rows = 0;
    int parsed = nothing &&
                 PyArg_ParseTupleAndKeywords(nothing, parts, "|$OKzO!:parts", names,
                                             &lines, &rows, &mark, &PyList_Type, &done);

    Py_XDECREF(nothing);
    if (!parsed)
        return -1;
    table->part_rows = rows;
    if (mark && !(table->mark = copy_text(mark)))
        return -1;
    if (done && set_done(table, done))
        return -1;
    return set_lines(table, lines, seed, error);
}

/* (insert, [column], rows, [statement]) or (insert, [column], rows, [statement], parts)
 */
static int set_table(struct load_table *table, PyObject *item, uint64_t seed,
                     struct error *error)
{
    PyObject *columns, *finish, *parts = NULL;
    const char *insert;
    long long rows;

    if (!PyArg_ParseTuple(item, "sO!LO!|O!:table", &insert, &PyList_Type, &columns,
                          &rows, &PyList_Type, &finish, &PyDict_Type, &parts))
        return -1;
    if (rows < 0)
        return error_set(error, ERROR_INVALID, "a table cannot have %lld rows: %s",
                         rows, insert);
    if (rows && !PyList_GET_SIZE(columns))
        return error_set(error, ERROR_INVALID, "no columns to fill: %s", insert);
    table->rows = (uint64_t)rows;
    table->insert = copy_text(insert);
    return !table->insert || set_columns(table, columns, seed, error) ||
                   set_finish(table, finish) ||
                   (parts && set_parts(table, parts, seed, error))
               ? -1
               : 0;
}

static int tables_init(struct tables *tables, PyObject *list, uint64_t seed,
                       struct error *error)
{
    Py_ssize_t count = PyList_GET_SIZE(list);

    tables->items = PyMem_Calloc((size_t)count + 1, sizeof *tables->items);
    if (!tables->items)
        return error_set_memory(error);
    for (Py_ssize_t i = 0; i < count; i++) {
        tables->count++;
        if (set_table(&tables->items[i], PyList_GET_ITEM(list, i), seed, error))
            return -1;
    }
    return 0;
}

/* Tell how far the load is; -1 with an exception set stops it. */
static int tell_progress(const struct loader *loader, PyObject *callback)
{
    PyObject *answer;

    if (PyErr_CheckSignals())
        return -1;
    if (callback == Py_None)
        return 0;
    answer =
        PyObject_CallFunction(callback, "K", (unsigned long long)loader_rows(loader));
    Py_XDECREF(answer);
    return answer ? 0 : -1;
}

/* 0, or -1 with `error` filled or an exception set. */
static int control(struct loader *loader, PyObject *callback, struct error *error)
{
    enum loader_event event = LOADER_RUNNING;
    int status;

    Py_BEGIN_ALLOW_THREADS
        status = loader_start(loader, error);
    Py_END_ALLOW_THREADS
    while (!status && event == LOADER_RUNNING) {
        Py_BEGIN_ALLOW_THREADS
            event = loader_wait(loader, WAIT_NS, error);
        Py_END_ALLOW_THREADS
        status = event == LOADER_FAILED ? -1 : tell_progress(loader, callback);
    }
    Py_BEGIN_ALLOW_THREADS
        loader_free(loader);
    Py_END_ALLOW_THREADS
    return status;
}

const char loader_load_doc[] =
    "load(endpoint, tables, *, threads=1, seed=0, on_progress=None)\n--\n\n"
    "Fill tables: [(insert, [generator spec], rows, [finishing statement]), ...].\n\n"
    "A fifth item, a dict, may have lines (the spec of how many lines each row "
    "becomes,\n"
    "whose number comes before the columns), part_rows (rows of a transaction), mark "
    "(an\n"
    "INSERT that notes a part, up to its number and its lines) and done (numbers of "
    "parts\n"
    "that are there already).\n\n"
    "on_progress(rows) is called about every 50 ms. The data depend on the seed, not\n"
    "on the number of threads. Raises DatabaseError, WorkloadError; Ctrl-C stops it.";

/* Load with all that Python has given; 0, or -1 as above. */
static int load(PyObject *where, PyObject *list, struct load_options *options,
                PyObject *callback, struct error *error)
{
    struct endpoint endpoint;
    struct tables tables = {0};
    struct loader *loader = NULL;
    int status = endpoint_from_keywords(where, &endpoint);

    if (!status)
        status = tables_init(&tables, list, options->seed, error);
    options->endpoint = &endpoint;
    options->tables = tables.items;
    options->table_count = tables.count;
    if (!status)
        status = loader_new(options, &loader, error);
    if (!status)
        status = control(loader, callback, error);
    tables_fini(&tables);
    return status;
}

PyObject *loader_py_load(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"endpoint", "tables",      "threads",
                            "seed",     "on_progress", NULL};
    struct load_options options = {0};
    struct error error = {0};
    PyObject *where, *list, *callback = Py_None;
    unsigned long long seed = 0;
    long long threads = 1;
    int status;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O!|$LKO:load", names,
                                     &PyDict_Type, &where, &PyList_Type, &list,
                                     &threads, &seed, &callback))
        return NULL;
    where = PyDict_Copy(where); /* keeps the endpoint's strings */
    if (!where)
        return NULL;
    options.threads = threads;
    options.seed = seed;
    status = load(where, list, &options, callback, &error);
    Py_DECREF(where);
    if (!status)
        Py_RETURN_NONE;
    return PyErr_Occurred() ? NULL : raise_error(PyModule_GetState(module), &error);
}
