/*
 * What the files of the binding share: the module's state and how a C error becomes
 * a Python exception. Needs the GIL everywhere.
 */
#ifndef BENCHKIT_PY_STATE_H
#define BENCHKIT_PY_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

struct error;

/* One per module object; filled by the exec slot, cleared by the garbage collector. */
struct module_state {
    PyObject *errors; /* the module benchkit.errors */
    PyTypeObject *connection_type;
    PyTypeObject *driver_type;
    PyTypeObject *histogram_type;
    PyTypeObject *moments_type;
    PyTypeObject *program_type;
};

extern struct PyModuleDef core_module;

/* The state of the module that made `type` (a type of this module, or a subclass). */
struct module_state *state_of_type(PyTypeObject *type);

/* Set the exception that `error` maps to; always returns NULL. */
PyObject *raise_error(const struct module_state *state, const struct error *error);

/* The same, but an invalid argument is the exception `name` of benchkit.errors. */
PyObject *raise_error_as(const struct module_state *state, const char *name,
                         const struct error *error);

/* A message as a str. It may be cut inside a character, which is then replaced. */
PyObject *message_text(const char *message);

/* Each type's spec, defined in the file that owns the type. */
extern PyType_Spec connection_spec;
extern PyType_Spec driver_spec;
extern PyType_Spec histogram_spec;
extern PyType_Spec moments_spec;
extern PyType_Spec program_spec;

#endif
