/*
 * Generators from Python: reading a spec, drawing values, listing the kinds.
 */
#include "py_generator.h"
#include "py_numpy.h"
#include "py_state.h"

#include "error.h"
#include "generator.h"

/* What arguments point at during one generator_init(): no kind has two parameters of
 * the same of these types. */
struct borrowed {
    const char **starts; /* of texts, which are Python's */
    size_t *lengths;
    int64_t *integers;
    struct generator *generators;
    size_t generator_count;
    uint64_t seed; /* for the generators */
};

static void borrowed_fini(struct borrowed *borrowed)
{
    for (size_t i = 0; i < borrowed->generator_count; i++)
        generator_fini(&borrowed->generators[i]);
    PyMem_Free(borrowed->generators);
    PyMem_Free(borrowed->integers);
    PyMem_Free(borrowed->starts);
    PyMem_Free(borrowed->lengths);
}

/* What PARAMETER_* wants, for messages and generator_kinds(). */
static const char *const type_names[] = {[PARAMETER_INTEGER] = "integer",
                                         [PARAMETER_REAL] = "real",
                                         [PARAMETER_FLAG] = "flag",
                                         [PARAMETER_TEXT] = "text",
                                         [PARAMETER_TEXTS] = "texts",
                                         [PARAMETER_INTEGERS] = "integers",
                                         [PARAMETER_GENERATORS] = "generators"};

static const char *const result_names[] = {
    [VALUE_INTEGER] = "integer", [VALUE_REAL] = "real", [VALUE_TEXT] = "text"};

/* Put the pending Python exception, if any, away; `error` tells its text. */
static int set_python_error(struct error *error)
{
    PyObject *type, *value, *trace, *text;
    const char *message;

    PyErr_Fetch(&type, &value, &trace);
    text = value ? PyObject_Str(value) : NULL;
    message = text ? PyUnicode_AsUTF8(text) : NULL;
    error_set(error, ERROR_INVALID, "%s", message ? message : "a Python error");
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return -1;
}

/* A list of the names of all kinds, or of the parameters of `kind`. */
static PyObject *known_names(const struct generator_kind *kind)
{
    PyObject *names = PyList_New(0);
    const struct generator_kind *kinds = generator_kinds();

    for (int i = 0; names; i++) {
        const char *text = kind ? kind->parameters[i].name : kinds[i].name;
        PyObject *name;
        if (!text)
            break;
        name = PyUnicode_FromString(text);
        if (!name || PyList_Append(names, name))
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

/* "unknown <what> <name>" with the nearest of the known names, by benchkit.errors. */
static int set_unknown_name(const char *what, PyObject *name,
                            const struct generator_kind *kind, struct error *error)
{
    PyObject *errors = PyImport_ImportModule("benchkit.errors");
    PyObject *known = known_names(kind);
    PyObject *text = NULL;
    const char *message = NULL;

    if (errors && known)
        text = PyObject_CallMethod(errors, "unknown_name", "sOO", what, name, known);
    if (text)
        message = PyUnicode_AsUTF8(text);
    if (message)
        error_set(error, ERROR_INVALID, "%s", message);
    else
        set_python_error(error);
    Py_XDECREF(text);
    Py_XDECREF(known);
    Py_XDECREF(errors);
    return -1;
}

static int read_integer(PyObject *value, struct generator_argument *argument,
                        struct borrowed *borrowed)
{
    PyObject *number = PyNumber_Index(value);

    (void)borrowed;
    if (!number)
        return -1;
    argument->integer = PyLong_AsLongLong(number);
    Py_DECREF(number);
    return argument->integer == -1 && PyErr_Occurred() ? -1 : 0;
}

static int read_real(PyObject *value, struct generator_argument *argument,
                     struct borrowed *borrowed)
{
    (void)borrowed;
    argument->real = PyFloat_AsDouble(value);
    return argument->real == -1 && PyErr_Occurred() ? -1 : 0;
}

static const char *borrow_text(PyObject *item, size_t *length)
{
    Py_ssize_t bytes = 0;
    const char *text = NULL;

    if (PyUnicode_Check(item))
        text = PyUnicode_AsUTF8AndSize(item, &bytes);
    else
        PyErr_Format(PyExc_TypeError, "must be str, not %.100s",
                     Py_TYPE(item)->tp_name);
    *length = (size_t)bytes;
    return text;
}

/* Take the `count` texts at `items`; they stay Python's. */
static int borrow_texts(PyObject *const *items, Py_ssize_t count,
                        struct generator_argument *argument, struct borrowed *borrowed)
{
    borrowed->starts = PyMem_New(const char *, (size_t)count + 1);
    borrowed->lengths = PyMem_New(size_t, (size_t)count + 1);
    if (!borrowed->starts || !borrowed->lengths) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        borrowed->starts[i] = borrow_text(items[i], &borrowed->lengths[i]);
        if (!borrowed->starts[i])
            return -1;
    }
    argument->texts = borrowed->starts;
    argument->text_lengths = borrowed->lengths;
    argument->text_count = (size_t)count;
    return 0;
}

static int read_text(PyObject *value, struct generator_argument *argument,
                     struct borrowed *borrowed)
{
    return borrow_texts(&value, 1, argument, borrowed);
}

static int check_list(PyObject *value, const char *items)
{
    if (PyTuple_Check(value) || PyList_Check(value))
        return 0;
    PyErr_Format(PyExc_TypeError, "must be a tuple or list of %s, not %.100s", items,
                 Py_TYPE(value)->tp_name);
    return -1;
}

static int read_texts(PyObject *value, struct generator_argument *argument,
                      struct borrowed *borrowed)
{
    if (check_list(value, "str"))
        return -1;
    return borrow_texts(PySequence_Fast_ITEMS(value), PySequence_Fast_GET_SIZE(value),
                        argument, borrowed);
}

static int read_integers(PyObject *value, struct generator_argument *argument,
                         struct borrowed *borrowed)
{
    Py_ssize_t count;

    if (check_list(value, "int"))
        return -1;
    count = PySequence_Fast_GET_SIZE(value);
    borrowed->integers = PyMem_New(int64_t, (size_t)count + 1);
    if (!borrowed->integers) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        struct generator_argument one;
        if (read_integer(PySequence_Fast_ITEMS(value)[i], &one, borrowed))
            return -1;
        borrowed->integers[i] = one.integer;
    }
    argument->integers = borrowed->integers;
    argument->integer_count = (size_t)count;
    return 0;
}

static int make_generators(PyObject *list, struct borrowed *borrowed)
{
    struct error error;

    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++) {
        if (generator_from_python(PySequence_Fast_ITEMS(list)[i], borrowed->seed,
                                  &borrowed->generators[i], &error)) {
            PyErr_SetString(PyExc_ValueError, error.message);
            return -1;
        }
        borrowed->generator_count++;
    }
    return 0;
}

static int read_generators(PyObject *value, struct generator_argument *argument,
                           struct borrowed *borrowed)
{
    int status;

    if (check_list(value, "generators"))
        return -1;
    borrowed->generators = PyMem_Calloc((size_t)PySequence_Fast_GET_SIZE(value) + 1,
                                        sizeof *borrowed->generators);
    if (!borrowed->generators) {
        PyErr_NoMemory();
        return -1;
    }
    if (Py_EnterRecursiveCall(" of generators in generators"))
        return -1;
    status = make_generators(value, borrowed);
    Py_LeaveRecursiveCall();
    argument->generators = borrowed->generators;
    argument->generator_count = borrowed->generator_count;
    return status;
}

typedef int read_function(PyObject *value, struct generator_argument *argument,
                          struct borrowed *borrowed);

static read_function *const readers[] = {
    [PARAMETER_INTEGER] = read_integer,      [PARAMETER_REAL] = read_real,
    [PARAMETER_FLAG] = read_integer,         [PARAMETER_TEXT] = read_text,
    [PARAMETER_TEXTS] = read_texts,          [PARAMETER_INTEGERS] = read_integers,
    [PARAMETER_GENERATORS] = read_generators};

/* Read the argument called `name` into its place in `arguments`. */
static int read_argument(const struct generator_kind *kind, PyObject *name,
                         PyObject *value, struct generator_argument *arguments,
                         struct borrowed *borrowed, struct error *error)
{
    const struct generator_parameter *parameter = kind->parameters;
    struct error cause;

    while (parameter->name && (!PyUnicode_Check(name) ||
                               PyUnicode_CompareWithASCIIString(name, parameter->name)))
        parameter++;
    if (!parameter->name)
        return set_unknown_name("generator parameter", name, kind, error);
    arguments += parameter - kind->parameters;
    arguments->given = true;
    if (!readers[parameter->type](value, arguments, borrowed))
        return 0;
    set_python_error(&cause);
    return error_set(error, ERROR_INVALID, "generator %s: %s (%s): %.300s", kind->name,
                     parameter->name, type_names[parameter->type], cause.message);
}

static int init_from_arguments(const struct generator_kind *kind, PyObject *given,
                               uint64_t seed, struct generator *generator,
                               struct error *error)
{
    struct generator_argument arguments[GENERATOR_PARAMETERS_MAX] = {{.given = false}};
    struct borrowed borrowed = {.seed = seed};
    PyObject *name, *value;
    Py_ssize_t place = 0;
    int status = 0;

    while (!status && PyDict_Next(given, &place, &name, &value))
        status = read_argument(kind, name, value, arguments, &borrowed, error);
    if (!status)
        status = generator_init(generator, kind, arguments, seed, error);
    borrowed_fini(&borrowed);
    return status;
}

int generator_from_python(PyObject *spec, uint64_t seed, struct generator *generator,
                          struct error *error)
{
    const struct generator_kind *kind;
    const char *name;

    if (!PyTuple_Check(spec) || PyTuple_GET_SIZE(spec) != 2 ||
        !PyUnicode_Check(PyTuple_GET_ITEM(spec, 0)) ||
        !PyDict_Check(PyTuple_GET_ITEM(spec, 1)))
        return error_set(error, ERROR_INVALID,
                         "a generator must be (kind, {parameter: value}), not a %.100s",
                         Py_TYPE(spec)->tp_name);
    name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(spec, 0));
    if (!name)
        return set_python_error(error);
    kind = generator_kind_find(name);
    if (!kind)
        return set_unknown_name("generator", PyTuple_GET_ITEM(spec, 0), NULL, error);
    return init_from_arguments(kind, PyTuple_GET_ITEM(spec, 1), seed, generator, error);
}

/* Who draws: worker `worker` of `workers`, from the stream of (seed, worker). */
struct drawing {
    struct generator generator;
    struct value value;
    struct rng rng;
    uint64_t first; /* ordinal of the first draw */
    uint64_t step;
    Py_ssize_t count;
};

static void drawing_fini(struct drawing *drawing)
{
    generator_fini(&drawing->generator);
    value_fini(&drawing->value);
}

static int drawing_init(struct drawing *drawing, const struct generator *whole,
                        uint64_t seed, uint32_t worker, uint32_t workers,
                        struct error *error)
{
    const uint64_t words[] = {seed, worker};

    if (generator_init_worker(&drawing->generator, whole, worker, workers, error))
        return -1;
    rng_seed(&drawing->rng, words, sizeof words / sizeof *words);
    drawing->first = whole->ordinal == ORDINAL_SHARED ? worker : 0;
    drawing->step = whole->ordinal == ORDINAL_SHARED ? workers : 1;
    return value_init(&drawing->value, whole->result, whole->capacity, error);
}

static void draw_at(struct drawing *drawing, Py_ssize_t i)
{
    generator_draw(&drawing->generator, &drawing->rng,
                   drawing->first + (uint64_t)i * drawing->step, &drawing->value);
}

static PyObject *draw_integers(struct drawing *drawing)
{
    npy_intp count = drawing->count;
    PyObject *array = PyArray_SimpleNew(1, &count, NPY_INT64);
    int64_t *numbers;

    if (!array)
        return NULL;
    numbers = PyArray_DATA((PyArrayObject *)array);
    Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t i = 0; i < drawing->count; i++) {
            draw_at(drawing, i);
            numbers[i] = drawing->value.integer;
        }
    Py_END_ALLOW_THREADS
    return array;
}

static PyObject *draw_reals(struct drawing *drawing)
{
    npy_intp count = drawing->count;
    PyObject *array = PyArray_SimpleNew(1, &count, NPY_DOUBLE);
    double *numbers;

    if (!array)
        return NULL;
    numbers = PyArray_DATA((PyArrayObject *)array);
    Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t i = 0; i < drawing->count; i++) {
            draw_at(drawing, i);
            numbers[i] = drawing->value.real;
        }
    Py_END_ALLOW_THREADS
    return array;
}

static PyObject *value_to_python(const struct value *value)
{
    if (value->is_null)
        Py_RETURN_NONE;
    if (value->type == VALUE_INTEGER)
        return PyLong_FromLongLong(value->integer);
    if (value->type == VALUE_REAL)
        return PyFloat_FromDouble(value->real);
    return PyUnicode_DecodeUTF8(value->text, (Py_ssize_t)value->length, NULL);
}

static PyObject *draw_objects(struct drawing *drawing)
{
    PyObject *list = PyList_New(drawing->count);

    for (Py_ssize_t i = 0; list && i < drawing->count; i++) {
        PyObject *item;
        draw_at(drawing, i);
        item = value_to_python(&drawing->value);
        if (item)
            PyList_SET_ITEM(list, i, item);
        else
            Py_CLEAR(list);
    }
    return list;
}

/* What draw() was called with. */
struct draw_arguments {
    PyObject *spec;
    Py_ssize_t count;
    unsigned long long seed;
    unsigned int worker;
    unsigned int workers;
};

static int convert_seed(PyObject *object, void *seed)
{
    PyObject *number = PyNumber_Index(object);

    if (!number)
        return 0;
    *(unsigned long long *)seed = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    return !PyErr_Occurred();
}

static int read_draw_arguments(PyObject *arguments, PyObject *keywords,
                               struct draw_arguments *draw, struct error *error)
{
    static char *names[] = {"spec", "count", "seed", "worker", "workers", NULL};
    int worker = 0, workers = 1;

    *draw = (struct draw_arguments){.seed = 0};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "On|O&ii:draw", names,
                                     &draw->spec, &draw->count, convert_seed,
                                     &draw->seed, &worker, &workers))
        return -1;
    if (draw->count < 0)
        error_set(error, ERROR_INVALID, "draw: count must not be negative, but is %zd",
                  draw->count);
    else if (workers < 1 || worker < 0 || worker >= workers)
        error_set(error, ERROR_INVALID,
                  "draw: worker must be 0 to workers - 1, not %d of %d", worker,
                  workers);
    else {
        draw->worker = (unsigned int)worker;
        draw->workers = (unsigned int)workers;
        return 0;
    }
    return -1;
}

PyObject *generator_py_draw(PyObject *module, PyObject *arguments, PyObject *keywords)
{
    static PyObject *(*const draws[])(struct drawing *) = {[VALUE_INTEGER] =
                                                               draw_integers,
                                                           [VALUE_REAL] = draw_reals,
                                                           [VALUE_TEXT] = draw_objects};
    struct drawing drawing = {.value = {.text = NULL}};
    struct generator whole = {.draw = NULL};
    struct draw_arguments draw;
    PyObject *result = NULL;
    struct error error;

    if (!read_draw_arguments(arguments, keywords, &draw, &error) &&
        !generator_from_python(draw.spec, draw.seed, &whole, &error) &&
        !drawing_init(&drawing, &whole, draw.seed, draw.worker, draw.workers, &error)) {
        drawing.count = draw.count;
        result =
            whole.nullable ? draw_objects(&drawing) : draws[whole.result](&drawing);
    } else if (!PyErr_Occurred()) {
        raise_error(PyModule_GetState(module), &error);
    }
    drawing_fini(&drawing);
    generator_fini(&whole);
    return result;
}

/* The default of a parameter in its own type; None where it has none. */
static PyObject *fallback_of(const struct generator_parameter *parameter)
{
    if (parameter->required)
        Py_RETURN_NONE;
    if (parameter->type == PARAMETER_FLAG)
        return PyBool_FromLong(parameter->fallback != 0);
    if (parameter->type == PARAMETER_INTEGER)
        return PyLong_FromDouble(parameter->fallback);
    return PyFloat_FromDouble(parameter->fallback);
}

static PyObject *describe_parameter(const struct generator_parameter *parameter)
{
    return Py_BuildValue("{sssssOsNsdsd}", "name", parameter->name, "type",
                         type_names[parameter->type], "required",
                         parameter->required ? Py_True : Py_False, "default",
                         fallback_of(parameter), "lowest", parameter->lowest, "highest",
                         parameter->highest);
}

/* Append `item`, whose reference is taken over; 0, or -1 with an exception set. */
static int append(PyObject *list, PyObject *item)
{
    int status = item ? PyList_Append(list, item) : -1;

    Py_XDECREF(item);
    return status;
}

static PyObject *describe_kind(const struct generator_kind *kind)
{
    PyObject *parameters = PyList_New(0);

    for (int i = 0; parameters && kind->parameters[i].name; i++)
        if (append(parameters, describe_parameter(&kind->parameters[i])))
            Py_CLEAR(parameters);
    if (!parameters)
        return NULL;
    return Py_BuildValue("{sssssssN}", "name", kind->name, "summary", kind->summary,
                         "result", result_names[kind->result], "parameters",
                         parameters);
}

PyObject *generator_py_kinds(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyObject *list = PyList_New(0);

    for (const struct generator_kind *kind = generator_kinds(); list && kind->name;
         kind++)
        if (append(list, describe_kind(kind)))
            Py_CLEAR(list);
    return list;
}

const char generator_draw_doc[] =
    "draw($module, /, spec, count, seed=0, worker=0, workers=1)\n--\n\n"
    "Draw count values from the generator that spec, (kind, {parameter: value}),\n"
    "describes, as worker `worker` of `workers` would.\n\n"
    "Returns an int64 or float64 array, a list of str, or a list with None for NULL "
    "where\n"
    "there may be any. Raises WorkloadError.";

const char generator_kinds_doc[] = "generator_kinds($module, /)\n--\n\n"
                                   "The kinds of generators: a list of dicts (name, "
                                   "summary, result, parameters), each\n"
                                   "parameter a dict (name, type, required, default, "
                                   "lowest, highest; the limits of a\n"
                                   "text are for its length in bytes).";
