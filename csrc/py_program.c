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

/* The place of `name` among `count` names, or -1 with `error` set. */
static int find_word(const char *const *names, int count, const char *name,
                     const char *what, struct error *error)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return i;
    return error_set(error, ERROR_INVALID, "'%s' is no %s", name, what);
}

static int constant_from_python(PyObject *object, struct value *constant)
{
    Py_ssize_t length;

    memset(constant, 0, sizeof *constant);
    if (object == Py_None) {
        constant->is_null = 1;
        return 0;
    }
    if (!PyUnicode_Check(object)) {
        constant->type = VALUE_INTEGER;
        constant->integer = PyLong_AsLongLong(object);
        return constant->integer == -1 && PyErr_Occurred() ? -1 : 0;
    }
    constant->type = VALUE_TEXT;
    constant->text = (char *)PyUnicode_AsUTF8AndSize(object, &length); /* only read */
    constant->length = (unsigned long)length;
    return constant->text ? 0 : -1;
}

/* ("register", name) or ("constant", value); borrowed from the tuple. */
static int operand_from_python(PyObject *tuple, struct operand_step *operand,
                               struct value *constant)
{
    const char *kind;
    PyObject *object;

    if (!PyArg_ParseTuple(tuple, "sO:operand", &kind, &object))
        return -1;
    *operand = (struct operand_step){.constant = constant};
    if (strcmp(kind, "register"))
        return constant_from_python(object, constant);
    operand->reg = PyUnicode_AsUTF8(object);
    return operand->reg ? 0 : -1;
}

/* ("calculate", register, register, operator, operand) */
static int walk_calculate(struct walk *walk, PyObject *step)
{
    static const char *const operators[] = {
        [ARITHMETIC_ADD] = "+",       [ARITHMETIC_SUBTRACT] = "-",
        [ARITHMETIC_MULTIPLY] = "*",  [ARITHMETIC_DIVIDE] = "//",
        [ARITHMETIC_REMAINDER] = "%",
    };
    const char *target, *left, *sign;
    struct operand_step right;
    struct value constant;
    PyObject *operand;
    int arithmetic;

    if (!PyArg_ParseTuple(step, "ssssO!:calculate", &(const char *){NULL}, &target,
                          &left, &sign, &PyTuple_Type, &operand) ||
        operand_from_python(operand, &right, &constant))
        return -1;
    arithmetic = find_word(operators, 5, sign, "arithmetic operator", &walk->error);
    if (arithmetic < 0)
        return -1;
    return program_calculate(walk->program, target, (enum arithmetic)arithmetic, left,
                             &right, &walk->error);
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

static int walk_rolled_back(struct walk *walk, PyObject *Py_UNUSED(step))
{
    return program_end_rolled_back(walk->program, &walk->error);
}

/* `times` is a number or the name of a register. */
static int begin_repeat(struct walk *walk, PyObject *times, uint32_t *mark)
{
    const char *name;
    long long number;

    if (PyUnicode_Check(times)) {
        name = PyUnicode_AsUTF8(times);
        return name ? program_begin_repeat_by(walk->program, name, mark, &walk->error)
                    : -1;
    }
    number = PyLong_AsLongLong(times);
    if (number == -1 && PyErr_Occurred())
        return -1;
    return program_begin_repeat(walk->program, number, mark, &walk->error);
}

/* ("repeat", times or register, [step]) */
static int walk_repeat(struct walk *walk, PyObject *step)
{
    PyObject *times, *steps;
    uint32_t mark;

    if (!PyArg_ParseTuple(step, "sOO:repeat", &(const char *){NULL}, &times, &steps) ||
        begin_repeat(walk, times, &mark) || walk_steps(walk, steps))
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

static int walk_branch(struct walk *walk, PyObject *steps, struct choose_block *block)
{
    program_begin_branch(walk->program, block);
    if (walk_steps(walk, steps))
        return -1;
    return program_end_branch(walk->program, block, &walk->error);
}

/* ("if", register, comparison, operand, [step], [step]) */
static int walk_if(struct walk *walk, PyObject *step)
{
    static const char *const comparisons[] = {
        [COMPARISON_EQUAL] = "==",  [COMPARISON_NOT_EQUAL] = "!=",
        [COMPARISON_LESS] = "<",    [COMPARISON_AT_MOST] = "<=",
        [COMPARISON_GREATER] = ">", [COMPARISON_AT_LEAST] = ">=",
    };
    struct choose_block block = {0};
    PyObject *operand, *then, *otherwise;
    const char *left, *sign;
    struct operand_step right;
    struct value constant;
    int comparison;
    int status;

    if (!PyArg_ParseTuple(step, "sssO!OO:if", &(const char *){NULL}, &left, &sign,
                          &PyTuple_Type, &operand, &then, &otherwise) ||
        operand_from_python(operand, &right, &constant))
        return -1;
    comparison = find_word(comparisons, 6, sign, "comparison", &walk->error);
    if (comparison < 0)
        return -1;
    status = program_begin_if(walk->program, left, (enum comparison)comparison, &right,
                              &block, &walk->error);
    if (!status)
        status = walk_branch(walk, then, &block);
    if (!status)
        status = walk_branch(walk, otherwise, &block);
    program_end_choose(walk->program, &block);
    return status;
}

static int walk_step(struct walk *walk, PyObject *step)
{
    static const struct {
        const char *name;
        int (*walk)(struct walk *walk, PyObject *step);
    } kinds[] = {{"let", walk_let},
                 {"add", walk_add},
                 {"execute", walk_execute},
                 {"insert_rows", walk_insert_rows},
                 {"begin", walk_begin},
                 {"commit", walk_commit},
                 {"rollback", walk_rollback},
                 {"repeat", walk_repeat},
                 {"choose", walk_choose},
                 {"if", walk_if},
                 {"calculate", walk_calculate},
                 {"rolledback", walk_rolled_back}};
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

/* Two generators, each of which may be None. */
static int walk_pauses(struct walk *walk, PyObject *keying, PyObject *thinking)
{
    PyObject *specs[] = {keying, thinking};
    struct generator generators[2] = {0};
    struct generator *given[2] = {NULL, NULL};

    for (int i = 0; i < 2; i++) {
        if (specs[i] == Py_None)
            continue;
        if (generator_from_python(specs[i], walk->seed, &generators[i], &walk->error)) {
            generator_fini(&generators[0]);
            return -1;
        }
        given[i] = &generators[i];
    }
    return program_set_pauses(walk->program, given[0], given[1], &walk->error);
}

/* (name, weight, [step], keying, thinking) */
static int walk_transaction(struct walk *walk, PyObject *item)
{
    PyObject *steps, *keying = Py_None, *thinking = Py_None;
    const char *name;
    double weight;

    if (!PyArg_ParseTuple(item, "sdO|OO:transaction", &name, &weight, &steps, &keying,
                          &thinking) ||
        program_begin_transaction(walk->program, name, weight, &walk->error) ||
        walk_pauses(walk, keying, thinking) || walk_steps(walk, steps))
        return -1;
    return program_end_transaction(walk->program, &walk->error);
}

/* The steps of spec["set_up"], if there are any. */
static int walk_set_up(struct walk *walk, PyObject *spec)
{
    PyObject *steps = PyDict_GetItemString(spec, "set_up");

    if (!steps)
        return 0;
    if (program_begin_set_up(walk->program, &walk->error) || walk_steps(walk, steps))
        return -1;
    return program_end_set_up(walk->program, &walk->error);
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
    if (PyDict_GetItemString(spec, "deck") == Py_True)
        program_set_deck(walk->program);
    if (walk_set_up(walk, spec) ||
        walk_list(walk, spec, "transactions", walk_transaction) ||
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
