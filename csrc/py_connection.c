/*
 * benchkit._core.Connection: text statements for server administration.
 *
 * The GIL is released while the server works. A connection serves one thread at a
 * time; a second thread gets an error, not a corrupted protocol.
 */
#include "py_endpoint.h"
#include "py_state.h"

#include "connection.h"
#include "error.h"

#include <stdbool.h>
#include <string.h>

struct py_connection {
    PyObject_HEAD struct connection *connection; /* NULL once closed */
    bool busy;                                   /* a thread is inside, GIL released */
};

/* Collects a result while connection_query() runs without the GIL. The whole result
 * is in memory when the first callback comes, so the GIL is taken there and kept. */
struct collector {
    PyThreadState *released; /* NULL while the GIL is held */
    PyObject *columns;
    PyObject *rows;
};

static PyObject *connection_create(PyTypeObject *type, PyObject *arguments,
                                   PyObject *keywords)
{
    struct py_connection *self;
    struct connection *connection = NULL;
    struct endpoint endpoint;
    struct error error;
    int status;

    if (PyTuple_GET_SIZE(arguments)) {
        PyErr_SetString(PyExc_TypeError, "Connection() takes only keyword arguments");
        return NULL;
    }
    if (endpoint_from_keywords(keywords, &endpoint))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
        status = connection_open(&endpoint, &connection, &error);
    Py_END_ALLOW_THREADS
    if (status)
        return raise_error(state_of_type(type), &error);
    self = (struct py_connection *)type->tp_alloc(type, 0);
    if (!self) {
        connection_close(connection);
        return NULL;
    }
    self->connection = connection;
    return (PyObject *)self;
}

static PyObject *raise_busy(const struct py_connection *self)
{
    struct error error;

    error_set_database(&error, 0, "", "the connection is in use by another thread");
    return raise_error(state_of_type(Py_TYPE(self)), &error);
}

static PyObject *connection_py_close(struct py_connection *self,
                                     PyObject *Py_UNUSED(ignored))
{
    struct connection *connection = self->connection;

    if (self->busy)
        return raise_busy(self);
    self->connection = NULL;
    Py_BEGIN_ALLOW_THREADS
        connection_close(connection);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static void connection_dealloc(struct py_connection *self)
{
    PyTypeObject *type = Py_TYPE(self);

    connection_close(self->connection);
    type->tp_free(self);
    Py_DECREF(type);
}

static void take_gil(struct collector *collector)
{
    if (collector->released) {
        PyEval_RestoreThread(collector->released);
        collector->released = NULL;
    }
}

/* A Python exception is set; the error only stops the query. */
static int python_failure(struct error *error)
{
    return error_set(error, ERROR_INTERNAL, "a Python exception is pending");
}

static PyObject *text_or_none(const char *text, unsigned long length)
{
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "surrogateescape");
}

static int collect_columns(void *context, const char *const *names, unsigned int count,
                           struct error *error)
{
    struct collector *collector = context;

    take_gil(collector);
    Py_CLEAR(collector->columns);
    collector->columns = PyTuple_New(count);
    for (unsigned int i = 0; collector->columns && i < count; i++) {
        PyObject *name = PyUnicode_DecodeUTF8(names[i], (Py_ssize_t)strlen(names[i]),
                                              "surrogateescape");
        if (!name)
            Py_CLEAR(collector->columns);
        else
            PyTuple_SET_ITEM(collector->columns, i, name);
    }
    return collector->columns ? 0 : python_failure(error);
}

static int collect_row(void *context, const char *const *fields,
                       const unsigned long *lengths, unsigned int count,
                       struct error *error)
{
    struct collector *collector = context;
    PyObject *row = PyTuple_New(count);
    int status = -1;

    for (unsigned int i = 0; row && i < count; i++) {
        PyObject *field = text_or_none(fields[i], lengths[i]);
        if (!field)
            Py_CLEAR(row);
        else
            PyTuple_SET_ITEM(row, i, field);
    }
    if (row)
        status = PyList_Append(collector->rows, row);
    Py_XDECREF(row);
    return status ? python_failure(error) : 0;
}

/* Take the connection for this thread; NULL with an exception set if it cannot be. */
static struct connection *enter(struct py_connection *self)
{
    struct error error;

    if (self->busy) {
        raise_busy(self);
        return NULL;
    }
    if (!self->connection) {
        error_set_database(&error, 0, "", "the connection is closed");
        raise_error(state_of_type(Py_TYPE(self)), &error);
        return NULL;
    }
    self->busy = true;
    return self->connection;
}

/* Run `sql` into `collector`; 0, or -1 with an exception set. */
static int run_query(struct py_connection *self, PyObject *sql,
                     struct collector *collector)
{
    struct row_sink sink = {collect_columns, collect_row, collector};
    struct connection *connection;
    Py_ssize_t length;
    const char *text = PyUnicode_AsUTF8AndSize(sql, &length);
    struct error error;
    int status;

    if (!text || !(connection = enter(self)))
        return -1;
    collector->released = PyEval_SaveThread();
    status = connection_query(connection, text, (size_t)length, &sink, &error);
    take_gil(collector);
    self->busy = false;
    if (status && !PyErr_Occurred())
        raise_error(state_of_type(Py_TYPE(self)), &error);
    return status;
}

static PyObject *connection_py_query(struct py_connection *self, PyObject *sql)
{
    struct collector collector = {NULL, NULL, PyList_New(0)};

    if (!collector.rows || run_query(self, sql, &collector))
        Py_CLEAR(collector.rows);
    Py_XDECREF(collector.columns);
    return collector.rows;
}

static PyObject *connection_py_table(struct py_connection *self, PyObject *sql)
{
    struct collector collector = {NULL, NULL, PyList_New(0)};
    PyObject *result = NULL;

    if (collector.rows && !run_query(self, sql, &collector)) {
        if (!collector.columns)
            collector.columns = PyTuple_New(0);
        if (collector.columns)
            result = PyTuple_Pack(2, collector.columns, collector.rows);
    }
    Py_XDECREF(collector.columns);
    Py_XDECREF(collector.rows);
    return result;
}

static PyObject *connection_enter(PyObject *self, PyObject *Py_UNUSED(ignored))
{
    return Py_NewRef(self);
}

static PyObject *connection_exit(struct py_connection *self,
                                 PyObject *Py_UNUSED(arguments))
{
    return connection_py_close(self, NULL);
}

static PyObject *connection_version(struct py_connection *self,
                                    void *Py_UNUSED(closure))
{
    if (!self->connection)
        Py_RETURN_NONE;
    return PyUnicode_FromString(connection_server_version(self->connection));
}

PyDoc_STRVAR(query_doc, "query($self, sql, /)\n--\n\n"
                        "Run one SQL text; return its rows as a list of tuples of str "
                        "or None.\n\nRaises DatabaseError.");
PyDoc_STRVAR(table_doc, "table($self, sql, /)\n--\n\n"
                        "Like query(), but return (column names, rows).");
PyDoc_STRVAR(close_doc, "close($self, /)\n--\n\nLog out. Closing twice is fine.");
PyDoc_STRVAR(connection_doc,
             "Connection(*, host=None, port=0, socket=None, user=None, password=None,\n"
             "           database=None, connect_timeout_s=10, tls=False)\n--\n\n"
             "A connection for text statements; host is used when socket is None.\n\n"
             "Raises DatabaseError when the server refuses or cannot be reached.");

static PyMethodDef connection_methods[] = {
    {"query", (PyCFunction)connection_py_query, METH_O, query_doc},
    {"table", (PyCFunction)connection_py_table, METH_O, table_doc},
    {"close", (PyCFunction)connection_py_close, METH_NOARGS, close_doc},
    {"__enter__", connection_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)connection_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef connection_attributes[] = {
    {"server_version", (getter)connection_version, NULL,
     "The server's version text, such as '11.8.6-MariaDB'; None once closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot connection_slots[] = {
    {Py_tp_doc, (void *)connection_doc},   {Py_tp_new, connection_create},
    {Py_tp_dealloc, connection_dealloc},   {Py_tp_methods, connection_methods},
    {Py_tp_getset, connection_attributes}, {0, NULL}};

PyType_Spec connection_spec = {
    .name = "benchkit._core.Connection",
    .basicsize = sizeof(struct py_connection),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = connection_slots,
};
