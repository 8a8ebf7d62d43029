/*
 * benchkit._core: module definition. Multi-phase init; all state is per module.
 */
#define BENCHKIT_NUMPY_IMPORT

#include "py_generator.h"
#include "py_loader.h"
#include "py_numpy.h"
#include "py_state.h"
#include "py_stats.h"

#include "connection.h"
#include "error.h"
#include "stats_init.h"

struct type_entry {
    PyType_Spec *spec;
    size_t offset; /* of the type's slot in struct module_state */
};

static const struct type_entry types[] = {
    {&connection_spec, offsetof(struct module_state, connection_type)},
    {&driver_spec, offsetof(struct module_state, driver_type)},
    {&histogram_spec, offsetof(struct module_state, histogram_type)},
    {&moments_spec, offsetof(struct module_state, moments_type)},
    {&program_spec, offsetof(struct module_state, program_type)},
};

static int add_types(PyObject *module, struct module_state *state)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        PyTypeObject **slot = (PyTypeObject **)((char *)state + types[i].offset);
        *slot = (PyTypeObject *)PyType_FromModuleAndSpec(module, types[i].spec, NULL);
        if (!*slot || PyModule_AddType(module, *slot))
            return -1;
    }
    return 0;
}

static int core_exec(PyObject *module)
{
    struct module_state *state = PyModule_GetState(module);
    struct error error;

    if (_import_array() < 0)
        return -1;
    state->errors = PyImport_ImportModule("benchkit.errors");
    if (!state->errors)
        return -1;
    stats_init();
    if (connection_library_init(&error)) {
        raise_error(state, &error);
        return -1;
    }
    return add_types(module, state);
}

static int core_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct module_state *state = PyModule_GetState(module);

    Py_VISIT(state->errors);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        Py_VISIT(*(PyObject **)((char *)state + types[i].offset));
    return 0;
}

static int core_clear(PyObject *module)
{
    struct module_state *state = PyModule_GetState(module);

    Py_CLEAR(state->errors);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        Py_CLEAR(*(PyObject **)((char *)state + types[i].offset));
    return 0;
}

static PyMethodDef core_methods[] = {
    {"describe", (PyCFunction)(void (*)(void))stats_py_describe,
     METH_VARARGS | METH_KEYWORDS, stats_describe_doc},
    {"draw", (PyCFunction)(void (*)(void))generator_py_draw,
     METH_VARARGS | METH_KEYWORDS, generator_draw_doc},
    {"generator_kinds", generator_py_kinds, METH_NOARGS, generator_kinds_doc},
    {"geometric_mean_ratio", (PyCFunction)(void (*)(void))stats_py_geometric_mean_ratio,
     METH_VARARGS | METH_KEYWORDS, stats_geometric_mean_ratio_doc},
    {"load", (PyCFunction)(void (*)(void))loader_py_load, METH_VARARGS | METH_KEYWORDS,
     loader_load_doc},
    {"percent_of_baseline", (PyCFunction)(void (*)(void))stats_py_percent_of_baseline,
     METH_VARARGS | METH_KEYWORDS, stats_percent_of_baseline_doc},
    {"percentile", (PyCFunction)(void (*)(void))stats_py_percentile,
     METH_VARARGS | METH_KEYWORDS, stats_percentile_doc},
    {"weighted_percentile", (PyCFunction)(void (*)(void))stats_py_weighted_percentile,
     METH_VARARGS | METH_KEYWORDS, stats_weighted_percentile_doc},
    {NULL, NULL, 0, NULL}};

static PyModuleDef_Slot core_slots[] = {
    {Py_mod_exec, core_exec},
#if PY_VERSION_HEX >= 0x030c0000
    /* NumPy's C API does not support sub-interpreters. */
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL}};

struct PyModuleDef core_module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_core",
    .m_doc = "The C core of benchkit: load driver, histograms, statistics.",
    .m_size = sizeof(struct module_state),
    .m_methods = core_methods,
    .m_slots = core_slots,
    .m_traverse = core_traverse,
    .m_clear = core_clear,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&core_module);
}
