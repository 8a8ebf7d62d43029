/*
 * From C errors to the exceptions of benchkit.errors.
 */
#include "py_state.h"

#include "error.h"

struct module_state *state_of_type(PyTypeObject *type)
{
    PyObject *module = PyType_GetModuleByDef(type, &core_module);

    return module ? PyModule_GetState(module) : NULL;
}

static PyObject *raise_database_error(PyObject *type, const struct error *error)
{
    PyObject *exception;

    exception = PyObject_CallFunction(type, "sIs", error->message, error->number,
                                      error->sqlstate);
    if (exception) {
        PyErr_SetObject(type, exception);
        Py_DECREF(exception);
    }
    return NULL;
}

PyObject *raise_error(const struct module_state *state, const struct error *error)
{
    static const char *const names[] = {[ERROR_NONE] = "BenchkitError",
                                        [ERROR_INVALID] = "WorkloadError",
                                        [ERROR_DATABASE] = "DatabaseError",
                                        [ERROR_SYSTEM] = "RunError",
                                        [ERROR_INTERNAL] = "BenchkitError"};
    PyObject *type = PyObject_GetAttrString(state->errors, names[error->kind]);

    if (!type)
        return NULL;
    if (error->kind == ERROR_DATABASE)
        raise_database_error(type, error);
    else
        PyErr_SetString(type, error->message);
    Py_DECREF(type);
    return NULL;
}

PyObject *raise_error_as(const struct module_state *state, const char *name,
                         const struct error *error)
{
    PyObject *type;

    if (error->kind != ERROR_INVALID)
        return raise_error(state, error);
    type = PyObject_GetAttrString(state->errors, name);
    if (type)
        PyErr_SetString(type, error->message);
    Py_XDECREF(type);
    return NULL;
}
