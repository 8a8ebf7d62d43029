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

enum { WAIT_NS = 50 * 1000 * 1000 };

/* Tables with all that they point at, made from Python and freed as one. */
struct tables {
    struct load_table *items;
    uint32_t count;
};

static void free_columns(const struct load_table *table)
{
    /* The loader sees its columns as const; here they are owned. */
    struct generator *columns = (struct generator *)table->columns;

    for (uint32_t i = 0; columns && i < table->column_count; i++)
        generator_fini(&columns[i]);
    PyMem_Free(columns);
}

static void tables_fini(struct tables *tables)
{
    for (uint32_t i = 0; tables->items && i < tables->count; i++) {
        free_columns(&tables->items[i]);
        PyMem_Free((void *)tables->items[i].finish);
    }
    PyMem_Free(tables->items);
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
    table->column_count = (uint32_t)count;
    for (Py_ssize_t i = 0; i < count; i++)
        if (generator_from_python(PyList_GET_ITEM(list, i), seed, &columns[i], error))
            return -1;
    return 0;
}

static int set_finish(struct load_table *table, PyObject *list, struct error *error)
{
    Py_ssize_t count = PyList_GET_SIZE(list);
    const char **finish = PyMem_Calloc((size_t)count + 1, sizeof *finish);

    if (!finish)
        return error_set_memory(error);
    table->finish = finish;
    table->finish_count = (uint32_t)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        finish[i] = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
        if (!finish[i])
            return -1;
    }
    return 0;
}

/* (insert, [column], rows, [statement]); text is borrowed from the tuple. */
static int set_table(struct load_table *table, PyObject *item, uint64_t seed,
                     struct error *error)
{
    PyObject *columns, *finish;
    unsigned long long rows;

    if (!PyArg_ParseTuple(item, "sO!KO!:table", &table->insert, &PyList_Type, &columns,
                          &rows, &PyList_Type, &finish))
        return -1;
    table->rows = rows;
    if (rows && !PyList_GET_SIZE(columns))
        return error_set(error, ERROR_INVALID, "no columns to fill: %s", table->insert);
    return set_columns(table, columns, seed, error) || set_finish(table, finish, error)
               ? -1
               : 0;
}

static int tables_init(struct tables *tables, PyObject *list, uint64_t seed,
                       struct error *error)
{
    tables->count = (uint32_t)PyList_GET_SIZE(list);
    tables->items = PyMem_Calloc((size_t)tables->count + 1, sizeof *tables->items);
    if (!tables->items)
        return error_set_memory(error);
    for (uint32_t i = 0; i < tables->count; i++)
        if (set_table(&tables->items[i], PyList_GET_ITEM(list, i), seed, error))
            return -1;
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
    "on_progress(rows) is called about every 50 ms. The data depend on the seed, not\n"
    "on the number of threads. Raises DatabaseError, WorkloadError; Ctrl-C stops it.";

PyObject *loader_py_load(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"endpoint", "tables",      "threads",
                            "seed",     "on_progress", NULL};
    struct module_state *state = PyModule_GetState(module);
    struct tables tables = {0};
    struct loader *loader = NULL;
    struct endpoint endpoint;
    struct error error = {0};
    PyObject *where, *list, *callback = Py_None;
    unsigned int threads = 1;
    unsigned long long seed = 0;
    int status;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!O!|$IKO:load", names,
                                     &PyDict_Type, &where, &PyList_Type, &list,
                                     &threads, &seed, &callback) ||
        endpoint_from_keywords(where, &endpoint))
        return NULL;
    status = tables_init(&tables, list, seed, &error);
    if (!status)
        status = loader_new(&endpoint, tables.items, tables.count, threads, seed,
                            &loader, &error);
    if (!status)
        status = control(loader, callback, &error);
    tables_fini(&tables);
    if (!status)
        Py_RETURN_NONE;
    return PyErr_Occurred() ? NULL : raise_error(state, &error);
}
