/*
 * Generators from their Python form, (kind, {parameter: value}), and the functions of
 * benchkit._core that show what they are and yield.
 */
#ifndef BENCHKIT_PY_GENERATOR_H
#define BENCHKIT_PY_GENERATOR_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

struct error;
struct generator;

/* Make the generator that `spec` describes; `seed` keys its permutations. -1 with
 * ERROR_INVALID naming what is wrong (the nearest name for an unknown one), or
 * ERROR_SYSTEM; no Python exception is set then. Needs the GIL. */
int generator_from_python(PyObject *spec, uint64_t seed, struct generator *generator,
                          struct error *error);

/* benchkit._core.draw and benchkit._core.generator_kinds */
PyObject *generator_py_draw(PyObject *module, PyObject *arguments, PyObject *keywords);
PyObject *generator_py_kinds(PyObject *module, PyObject *ignored);
extern const char generator_draw_doc[];
extern const char generator_kinds_doc[];

#endif
