/*
 * benchkit._core.Program: from the plain tuples of Workload.spec() to a compiled
 * program. The steps are walked here; program.c judges them.
 */
#include "py_program.h"

#include "py_generator.h"

#include "error.h"
#include "generator.h"
#include "program.h"

#include <string.h>

struct py_program {
    PyObject_HEAD struct program *program;
};

/* The state of one walk. A failed step leaves a Python exception or `error`. */
struct walk {
    struct program *program;
    uint64_t seed; /* of permutations */
    struct error error;
};

static int walk_steps(struct walk *walk, PyObject *steps);

/* ("let", register, (kind, {argument: value})) */
static int walk_let(struct walk *walk, PyObject *step)
{
    const char *target;
    PyObject *spec;
    struct generator generator = {0};

    if (!PyArg_ParseTuple(step, "ssO:let", &(const char *){NULL}, &target, &spec) ||
        generator_from_python(spec, walk->seed, &generator, &walk->error))
        return -1;
    return program_draw(walk->program, target, &generator, &walk->error);
}

/* ("add", register, source register, constant) */
static int walk_add(struct walk *walk, PyObject *step)
{
    const char *target;
    const char *source;
    long long plus;

    if (!PyArg_ParseTuple(step, "sssL:add", &(const char *){NULL}, &target, &source,
                          &plus))
        return -1;
    return program_add(walk->program, target, source, plus, &walk->error);
}

/* The texts of a list, borrowed from it; the caller frees the array with PyMem_Free. */
static const char **list_texts(PyObject *list, uint32_t *count)
{
    Py_ssize_t size = PyList_Size(list);
    const char **texts;

    if (size < 0)
        return NULL;
    texts = PyMem_Calloc((size_t)size + 1, sizeof *texts);
    if (!texts) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        texts[i] = PyUnicode_AsUTF8(PyList_GET_ITEM(list, i));
        if (!texts[i]) {
            PyMem_Free(texts);
            return NULL;
        }
    }
    *count = (uint32_t)size;
    return texts;
}

static int register_type(const char *name, enum value_type *type, struct error *error)
{
    static const char *const names[] = {
        [VALUE_INTEGER] = "integer", [VALUE_REAL] = "real", [VALUE_TEXT] = "text"};

    for (int i = 0; i < 3; i++)
        if (!strcmp(names[i], name)) {
            *type = (enum value_type)i;
            return 0;
        }
    return error_set(error, ERROR_INVALID,
                     "a kept column is 'integer', 'real' or 'text', not '%s'", name);
}

/* Split [(register, type), ...] into two arrays that the caller frees. */
static int kept_columns(PyObject *list, const char ***names, enum value_type **types,
                        uint32_t *count, struct error *error)
{
    Py_ssize_t size = PyList_Size(list);

    if (size < 0)
        return -1;
    *names = PyMem_Calloc((size_t)size + 1, sizeof **names);
    *types = PyMem_Calloc((size_t)size + 1, sizeof **types);
    if (!*names || !*types) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        const char *type;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "ss:keep", &(*names)[i],
                              &type) ||
            register_type(type, &(*types)[i], error))
            return -1;
    }
    *count = (uint32_t)size;
    return 0;
}

/* ("execute", name, sql, [register], [(register, type)], rollback_if_none) */
static int walk_execute(struct walk *walk, PyObject *step)
{
    struct execute_step execute = {0};
    PyObject *parameters, *kept;
    const char **names = NULL;
    enum value_type *types = NULL;
    int rollback_if_none;
    int status = -1;

    if (!PyArg_ParseTuple(step, "sssO!O!p:execute", &(const char *){NULL},
                          &execute.name, &execute.sql, &PyList_Type, &parameters,
                          &PyList_Type, &kept, &rollback_if_none))
        return -1;
    execute.rollback_if_none = rollback_if_none;
    execute.parameters = list_texts(parameters, &execute.parameter_count);
    if (!execute.parameters ||
        kept_columns(kept, &names, &types, &execute.kept_count, &walk->error))
        goto cleanup;
    execute.kept = names;
    execute.kept_types = types;
    status = program_execute(walk->program, &execute, &walk->error);
cleanup:
    PyMem_Free((void *)execute.parameters);
    PyMem_Free(names);
    PyMem_Free(types);
    return status;
}

/* ("insert_rows", name, sql, [register]) */
static int walk_insert_rows(struct walk *walk, PyObject *step)
{
    struct execute_step rows = {0};
    PyObject *parameters;
    int status;

    if (!PyArg_ParseTuple(step, "sssO!:insert_rows", &(const char *){NULL}, &rows.name,
                          &rows.sql, &PyList_Type, &parameters))
        return -1;
    rows.parameters = list_texts(parameters, &rows.parameter_count);
    if (!rows.parameters)
        return -1;
    status = program_append_row(walk->program, &rows, &walk->error);
    PyMem_Free((void *)rows.parameters);
    return status;
}

static int walk_begin(struct walk *walk, PyObject *Py_UNUSED(step))
{
    return program_control(walk->program, STATEMENT_BEGIN, &walk->error);
}

static int walk_commit(struct walk *walk, PyObject *Py_UNUSED(step))
{
    return program_control(walk->program, STATEMENT_COMMIT, &walk->error);
}

static int walk_rollback(struct walk *walk, PyObject *Py_UNUSED(step))
{
    return program_control(walk->program, STATEMENT_ROLLBACK, &walk->error);
}

/* ("repeat", times, [step]) */
static int walk_repeat(struct walk *walk, PyObject *step)
{
    long long times;
    PyObject *steps;
    uint32_t mark;

    if (!PyArg_ParseTuple(step, "sLO:repeat", &(const char *){NULL}, &times, &steps) ||
        program_begin_repeat(walk->program, times, &mark, &walk->error) ||
        walk_steps(walk, steps))
        return -1;
    return program_end_repeat(walk->program, mark, &walk->error);
}

static int walk_branches(struct walk *walk, PyObject *branches,
                         struct choose_block *block)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(branches); i++) {
        PyObject *steps = PyTuple_GetItem(PyList_GET_ITEM(branches, i), 1);
        program_begin_branch(walk->program, block);
        if (!steps || walk_steps(walk, steps) ||
            program_end_branch(walk->program, block, &walk->error))
            return -1;
    }
    return 0;
}

/* ("choose", [(weight, [step])]) */
static int walk_choose(struct walk *walk, PyObject *step)
{
    struct choose_block block = {0};
    PyObject *branches;
    double *weights;
    Py_ssize_t count;
    int status = 0;

    if (!PyArg_ParseTuple(step, "sO!:choose", &(const char *){NULL}, &PyList_Type,
                          &branches))
        return -1;
    count = PyList_GET_SIZE(branches);
    weights = PyMem_Calloc((size_t)count + 1, sizeof *weights);
    if (!weights) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; !status && i < count; i++)
        if (!PyArg_ParseTuple(PyList_GET_ITEM(branches, i), "dO:branch", &weights[i],
                              &(PyObject *){NULL}))
            status = -1;
    if (!status)
        status = program_begin_choose(walk->program, weights, (uint32_t)count, &block,
                                      &walk->error);
    if (!status)
        status = walk_branches(walk, branches, &block);
    program_end_choose(walk->program, &block);
    PyMem_Free(weights);
    return status;
}

static int walk_step(struct walk *walk, PyObject *step)
{
    static const struct {
        const char *name;
        int (*walk)(struct walk *walk, PyObject *step);
    } kinds[] = {{"let", walk_let},           {"add", walk_add},
                 {"execute", walk_execute},   {"insert_rows", walk_insert_rows},
                 {"begin", walk_begin},       {"commit", walk_commit},
                 {"rollback", walk_rollback}, {"repeat", walk_repeat},
                 {"choose", walk_choose}};
    PyObject *name = PyTuple_GetItem(step, 0);

    if (!name)
        return -1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (PyUnicode_Check(name) &&
            !PyUnicode_CompareWithASCIIString(name, kinds[i].name))
            return kinds[i].walk(walk, step);
    PyErr_Format(PyExc_ValueError, "unknown kind of step %R", name);
    return -1;
}

static int walk_steps(struct walk *walk, PyObject *steps)
{
    Py_ssize_t count = PyList_Size(steps);
    int status = count < 0 ? -1 : 0;

    if (Py_EnterRecursiveCall(" in nested steps of a workload"))
        return -1;
    for (Py_ssize_t i = 0; !status && i < count; i++)
        status = walk_step(walk, PyList_GET_ITEM(steps, i));
    Py_LeaveRecursiveCall();
    return status;
}

static int walk_transaction(struct walk *walk, PyObject *item)
{
    const char *name;
    double weight;
    PyObject *steps;

    if (!PyArg_ParseTuple(item, "sdO:transaction", &name, &weight, &steps) ||
        program_begin_transaction(walk->program, name, weight, &walk->error) ||
        walk_steps(walk, steps))
        return -1;
    return program_end_transaction(walk->program, &walk->error);
}

static int walk_session(struct walk *walk, PyObject *item)
{
    const char *sql = PyUnicode_AsUTF8(item);

    return sql ? program_add_session(walk->program, sql, &walk->error) : -1;
}

static int walk_number(struct walk *walk, PyObject *item,
                       int (*add)(struct program *program, int64_t number,
                                  struct error *error))
{
    long long number = PyLong_AsLongLong(item);

    if (number == -1 && PyErr_Occurred())
        return -1;
    return add(walk->program, number, &walk->error);
}

static int walk_retry(struct walk *walk, PyObject *item)
{
    return walk_number(walk, item, program_add_retry);
}

static int walk_tolerate(struct walk *walk, PyObject *item)
{
    return walk_number(walk, item, program_add_tolerate);
}

/* Apply `visit` to every item of the list spec[key]. */
static int walk_list(struct walk *walk, PyObject *spec, const char *key,
                     int (*visit)(struct walk *walk, PyObject *item))
{
    PyObject *list = PyDict_GetItemString(spec, key);

    if (!list || !PyList_Check(list)) {
        PyErr_Format(PyExc_TypeError, "a workload's spec needs a list '%s'", key);
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        if (visit(walk, PyList_GET_ITEM(list, i)))
            return -1;
    return 0;
}

static int walk_spec(struct walk *walk, PyObject *spec)
{
    PyObject *every = PyDict_GetItemString(spec, "reconnect_every");

    if (every && walk_number(walk, every, program_set_reconnect))
        return -1;
    if (walk_list(walk, spec, "transactions", walk_transaction) ||
        walk_list(walk, spec, "session", walk_session) ||
        walk_list(walk, spec, "retry", walk_retry) ||
        walk_list(walk, spec, "tolerate", walk_tolerate))
        return -1;
    return program_finish(walk->program, &walk->error);
}

static PyObject *program_create(PyTypeObject *type, PyObject *arguments,
                                PyObject *keywords)
{
    static char *names[] = {"spec", "seed", NULL};
    struct walk walk = {0};
    unsigned long long seed = 0;
    struct py_program *self;
    PyObject *spec;

    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!|K:Program", names,
                                     &PyDict_Type, &spec, &seed))
        return NULL;
    walk.seed = seed;
    if (program_new(&walk.program, &walk.error) || walk_spec(&walk, spec)) {
        program_free(walk.program);
        return PyErr_Occurred() ? NULL : raise_error(state_of_type(type), &walk.error);
    }
    self = (struct py_program *)type->tp_alloc(type, 0);
    if (!self) {
        program_free(walk.program);
        return NULL;
    }
    self->program = walk.program;
    return (PyObject *)self;
}

static void program_dealloc(struct py_program *self)
{
    PyTypeObject *type = Py_TYPE(self);

    program_free(self->program);
    type->tp_free(self);
    Py_DECREF(type);
}

const struct program *program_of(const struct module_state *state, PyObject *object)
{
    if (PyObject_TypeCheck(object, state->program_type))
        return ((struct py_program *)object)->program;
    PyErr_Format(PyExc_TypeError, "a Program is needed, not %R", Py_TYPE(object));
    return NULL;
}

static PyObject *get_prepared_statements(struct py_program *self,
                                         void *Py_UNUSED(closure))
{
    uint32_t prepared = 0;

    for (uint32_t i = 0; i < self->program->statement_count; i++)
        if (self->program->statements[i].mode == MODE_PREPARED)
            prepared += self->program->statements[i].variants;
    return PyLong_FromUnsignedLong(prepared);
}

static PyObject *get_needs_server(struct py_program *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(program_needs_server(self->program));
}

static PyGetSetDef program_attributes[] = {
    {"prepared_statements", (getter)get_prepared_statements, NULL,
     "Prepared statements that each worker holds open.", NULL},
    {"needs_server", (getter)get_needs_server, NULL,
     "False for a program that executes no statement at all.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyDoc_STRVAR(program_doc,
             "Program(spec, seed=0)\n--\n\n"
             "A compiled workload: what Workload.spec() describes, checked once.\n\n"
             "seed keys the permutations. Raises WorkloadError.");

static PyType_Slot program_slots[] = {{Py_tp_doc, (void *)program_doc},
                                      {Py_tp_new, program_create},
                                      {Py_tp_dealloc, program_dealloc},
                                      {Py_tp_getset, program_attributes},
                                      {0, NULL}};

PyType_Spec program_spec = {
    .name = "benchkit._core.Program",
    .basicsize = sizeof(struct py_program),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = program_slots,
};
