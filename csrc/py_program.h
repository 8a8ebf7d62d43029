/*
 * benchkit._core.Program, as other files of the binding see it.
 */
#ifndef BENCHKIT_PY_PROGRAM_H
#define BENCHKIT_PY_PROGRAM_H

#include "py_state.h"

struct program;

/* The program inside a Program object (borrowed; it lives as long as the object);
 * NULL with TypeError set for any other object. */
const struct program *program_of(const struct module_state *state, PyObject *object);

#endif
