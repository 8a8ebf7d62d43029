/*
 * benchkit._core.Driver: a run, controlled by the thread that calls run().
 *
 * The GIL is released while workers work; every 20 ms the controller looks for
 * signals, so that Ctrl-C stops a run at once and what was measured can still be read.
 */
#include "py_endpoint.h"
#include "py_program.h"
#include "py_result.h"
#include "py_state.h"

#include "clock.h"
#include "connection.h"
#include "driver.h"
#include "error.h"

#include <math.h>
#include <stdbool.h>

enum { SIGNAL_CHECK_NS = 20 * 1000 * 1000 };

struct py_driver {
    PyObject_HEAD struct driver *driver;
    PyObject *program;       /* keeps the program alive */
    PyObject *endpoint_dict; /* keeps the endpoint's strings alive; or NULL */
    const struct program *compiled;
    struct endpoint endpoint;
    bool started; /* run() has been called, perhaps in another thread */
    bool ended;   /* there is a result */
};

static int seconds_to_ns(double seconds, const char *name, int64_t *ns)
{
    if (seconds >= 0 && seconds <= 1e9) {
        *ns = (int64_t)llround(seconds * CLOCK_NS_PER_S);
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s must be 0 to 1e9 seconds", name);
    return -1;
}

/* Times in seconds as they come from Python. */
struct times {
    double warmup_s, duration_s, interval_s, drain_s;
};

static int set_times(struct driver_options *options, const struct times *times)
{
    if (seconds_to_ns(times->warmup_s, "warmup_s", &options->warmup_ns) ||
        seconds_to_ns(times->duration_s, "duration_s", &options->duration_ns) ||
        seconds_to_ns(times->interval_s, "interval_s", &options->interval_ns) ||
        seconds_to_ns(times->drain_s, "drain_s", &options->drain_ns))
        return -1;
    return 0;
}

static int driver_setup(struct py_driver *self, struct module_state *state,
                        struct driver_options *options, PyObject *endpoint)
{
    struct error error;

    if (endpoint != Py_None && !PyDict_Check(endpoint)) {
        PyErr_Format(PyExc_TypeError, "endpoint is a dict or None, not %R",
                     Py_TYPE(endpoint));
        return -1;
    }
    if (endpoint != Py_None) {
        self->endpoint_dict = PyDict_Copy(endpoint);
        if (!self->endpoint_dict ||
            endpoint_from_keywords(self->endpoint_dict, &self->endpoint))
            return -1;
        options->endpoint = &self->endpoint;
    }
    if (driver_new(self->compiled, options, &self->driver, &error)) {
        raise_error(state, &error);
        return -1;
    }
    return 0;
}

static PyObject *driver_create(PyTypeObject *type, PyObject *arguments,
                               PyObject *keywords)
{
    static char *names[] = {"program",      "endpoint",   "threads",    "seed",
                            "warmup_s",     "duration_s", "interval_s", "drain_s",
                            "transactions", NULL};
    struct module_state *state = state_of_type(type);
    struct driver_options options = {0};
    const struct program *compiled;
    struct times times = {.interval_s = 1, .drain_s = 30};
    long long threads = 1, transactions = 0;
    unsigned long long seed = 0;
    PyObject *program, *endpoint;
    struct py_driver *self;

    if (!PyArg_ParseTupleAndKeywords(
            arguments, keywords, "OO|$LKddddL:Driver", names, &program, &endpoint,
            &threads, &seed, &times.warmup_s, &times.duration_s, &times.interval_s,
            &times.drain_s, &transactions) ||
        set_times(&options, &times) || !(compiled = program_of(state, program)))
        return NULL;
    options.workers = threads;
    options.seed = seed;
    options.transactions = transactions;
    self = (struct py_driver *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->program = Py_NewRef(program);
    self->compiled = compiled;
    if (driver_setup(self, state, &options, endpoint))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void driver_dealloc(struct py_driver *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct driver *driver = self->driver;

    self->driver = NULL;
    Py_BEGIN_ALLOW_THREADS
        driver_free(driver);
    Py_END_ALLOW_THREADS
    Py_XDECREF(self->program);
    Py_XDECREF(self->endpoint_dict);
    type->tp_free(self);
    Py_DECREF(type);
}

/* A pending exception, set aside while the run is brought to its end. */
struct pending {
    PyObject *type, *value, *trace;
};

static void set_aside(struct pending *pending)
{
    if (!PyErr_Occurred())
        return;
    if (pending->type)
        PyErr_Clear();
    else
        PyErr_Fetch(&pending->type, &pending->value, &pending->trace);
}

/* Hand the newest row to the callback; its exception stops the run. */
static void tell_interval(struct py_driver *self, PyObject *callback)
{
    const struct module_state *state = state_of_type(Py_TYPE(self));
    PyObject *row, *histograms, *answer = NULL;

    if (callback == Py_None)
        return;
    row = result_last_row(self->driver);
    histograms =
        row ? result_last_histograms(state, self->driver, self->compiled) : NULL;
    if (histograms)
        answer = PyObject_CallFunctionObjArgs(callback, row, histograms, NULL);
    Py_XDECREF(answer);
    Py_XDECREF(row);
    Py_XDECREF(histograms);
}

/* Control the run to its end. Whatever Python raises meanwhile stops it. */
static enum driver_event control(struct py_driver *self, PyObject *callback,
                                 struct pending *pending, struct error *error)
{
    enum driver_event event;

    do {
        Py_BEGIN_ALLOW_THREADS
            event = driver_wait(self->driver, SIGNAL_CHECK_NS, error);
        Py_END_ALLOW_THREADS
        if (event == DRIVER_INTERVAL)
            tell_interval(self, callback);
        if (PyErr_Occurred() || PyErr_CheckSignals()) {
            set_aside(pending);
            driver_stop(self->driver);
        }
    } while (event != DRIVER_ENDED && event != DRIVER_FAILED);
    return event;
}

static int start(struct py_driver *self)
{
    struct error error;
    int status;

    if (self->started) {
        PyErr_SetString(PyExc_RuntimeError, "a driver runs once; make a new one");
        return -1;
    }
    self->started = true;
    Py_BEGIN_ALLOW_THREADS
        status = driver_start(self->driver, &error);
    Py_END_ALLOW_THREADS
    if (status)
        raise_error(state_of_type(Py_TYPE(self)), &error);
    return status;
}

static PyObject *driver_py_run(struct py_driver *self, PyObject *arguments,
                               PyObject *keywords)
{
    static char *names[] = {"on_interval", NULL};
    const struct module_state *state = state_of_type(Py_TYPE(self));
    PyObject *callback = Py_None;
    struct pending pending = {0};
    struct error error;
    enum driver_event event;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:run", names, &callback) ||
        start(self))
        return NULL;
    event = control(self, callback, &pending, &error);
    self->ended = event == DRIVER_ENDED;
    if (pending.type) {
        PyErr_Restore(pending.type, pending.value, pending.trace);
        return NULL;
    }
    if (event == DRIVER_FAILED)
        return raise_error(state, &error);
    return result_summary(state, self->driver, self->compiled);
}

static PyObject *driver_py_result(struct py_driver *self, PyObject *Py_UNUSED(ignored))
{
    if (!self->ended)
        Py_RETURN_NONE;
    return result_summary(state_of_type(Py_TYPE(self)), self->driver, self->compiled);
}

static PyObject *driver_py_stop(struct py_driver *self, PyObject *Py_UNUSED(ignored))
{
    driver_stop(self->driver);
    Py_RETURN_NONE;
}

static PyObject *driver_get_start_ns(struct py_driver *self, void *Py_UNUSED(closure))
{
    int64_t start_ns = driver_start_ns(self->driver);

    if (!start_ns)
        Py_RETURN_NONE;
    return PyLong_FromLongLong(start_ns);
}

PyDoc_STRVAR(
    run_doc,
    "run($self, /, on_interval=None)\n--\n\n"
    "Run to the end and return result().\n\n"
    "on_interval(row, histograms) is called about once per interval with the\n"
    "row as a dict and [(tag, Histogram)]. An exception from it, or Ctrl-C,\n"
    "stops the run within 0.2 s (it still gets the last rows) and is raised;\n"
    "result() then holds what was measured. Raises DatabaseError when workers\n"
    "cannot connect or prepare, RunError when stopped before all have.");
PyDoc_STRVAR(result_doc,
             "result($self, /)\n--\n\n"
             "What was measured, as a dict; None before the run has ended.");
PyDoc_STRVAR(stop_doc, "stop($self, /)\n--\n\nStop the run soon, from any thread; no "
                       "effect once it has ended.");
PyDoc_STRVAR(
    driver_doc,
    "Driver(program, endpoint, *, threads=1, seed=0, warmup_s=0.0,\n"
    "       duration_s=0.0, interval_s=1.0, drain_s=30.0, transactions=0)\n"
    "--\n\n"
    "One run of a Program; endpoint is a dict of Connection's keywords, or None\n"
    "for a program that needs no server. The measurement ends after duration_s\n"
    "or that number of transactions, whichever is first; 0 means no such limit.");

static PyMethodDef driver_methods[] = {
    {"run", (PyCFunction)(void (*)(void))driver_py_run, METH_VARARGS | METH_KEYWORDS,
     run_doc},
    {"result", (PyCFunction)driver_py_result, METH_NOARGS, result_doc},
    {"stop", (PyCFunction)driver_py_stop, METH_NOARGS, stop_doc},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef driver_attributes[] = {
    {"start_ns", (getter)driver_get_start_ns, NULL,
     "When the warmup began, on the clock of time.monotonic_ns(); None before.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot driver_slots[] = {
    {Py_tp_doc, (void *)driver_doc},   {Py_tp_new, driver_create},
    {Py_tp_dealloc, driver_dealloc},   {Py_tp_methods, driver_methods},
    {Py_tp_getset, driver_attributes}, {0, NULL}};

PyType_Spec driver_spec = {
    .name = "benchkit._core.Driver",
    .basicsize = sizeof(struct py_driver),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = driver_slots,
};
