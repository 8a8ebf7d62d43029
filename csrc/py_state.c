/*
 * From C errors to the exceptions of benchkit.errors.
 */
#include "py_state.h"

#include "error.h"

#include <string.h>

struct module_state *state_of_type(PyTypeObject *type)
{
    PyObject *module = PyType_GetModuleByDef(type, &core_module);

    return module ? PyModule_GetState(module) : NULL;
}

PyObject *message_text(const char *message)
{
    return PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
}

/* A new exception of `type`; NULL with another one set. */
static PyObject *make_exception(PyObject *type, const struct error *error)
{
    PyObject *text = message_text(error->message);

    if (error->kind == ERROR_DATABASE)
        return PyObject_CallFunction(type, "NIs", text, error->number, error->sqlstate);
    return PyObject_CallFunction(type, "N", text);
}

static PyObject *raise_named(const struct module_state *state, const char *name,
                             const struct error *error)
{
    PyObject *type = PyObject_GetAttrString(state->errors, name);
    PyObject *exception = type ? make_exception(type, error) : NULL;

    if (exception)
        PyErr_SetObject(type, exception);
    Py_XDECREF(exception);
    Py_XDECREF(type);
    return NULL;
}

PyObject *raise_error(const struct module_state *state, const struct error *error)
{
    static const char *const names[] = {[ERROR_NONE] = "BenchkitError",
                                        [ERROR_INVALID] = "WorkloadError",
                                        [ERROR_DATABASE] = "DatabaseError",
                                        [ERROR_SYSTEM] = "RunError",
                                        [ERROR_INTERNAL] = "BenchkitError"};

    return raise_named(state, names[error->kind], error);
}

PyObject *raise_error_as(const struct module_state *state, const char *name,
                         const struct error *error)
{
    if (error->kind != ERROR_INVALID)
        return raise_error(state, error);
    return raise_named(state, name, error);
}
