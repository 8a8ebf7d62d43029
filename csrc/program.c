/*
 * Building and checking programs: the whole, transactions and registers. Arrays may
 * move as they grow; an index, never a pointer, refers from one to another, so growing
 * moves nothing that matters.
 */
#include "program.h"

#include "array.h"
#include "error.h"
#include "generator.h"
#include "program_build.h"

#include <stdlib.h>
#include <string.h>

static struct program_register *new_register(struct program *program, const char *name,
                                             struct error *error)
{
    struct program_register *grown =
        array_extend(program->registers, program->register_count, sizeof *grown);
    struct program_register *added;

    if (!grown) {
        error_set_memory(error);
        return NULL;
    }
    program->registers = grown;
    added = &grown[program->register_count];
    memset(added, 0, sizeof *added);
    added->name = strdup(name);
    if (!added->name) {
        error_set_memory(error);
        return NULL;
    }
    program->register_count++;
    return added;
}

/* The registers that every program has, in the order of their numbers. */
static int add_built_in(struct program *program, struct error *error)
{
    struct program_register *worker = new_register(program, "worker", error);

    if (!worker)
        return -1;
    worker->bounded = true;
    worker->set_up = true;
    worker = new_register(program, "workers", error);
    if (!worker)
        return -1;
    worker->set_up = true;
    return 0;
}

int program_new(struct program **result, struct error *error)
{
    struct program *program = calloc(1, sizeof *program);

    if (!program)
        return error_set_memory(error);
    program->set_up_entry = NO_INSTRUCTION;
    if (add_built_in(program, error)) {
        program_free(program);
        return -1;
    }
    *result = program;
    return 0;
}

static void free_arrays(struct program *program)
{
    free(program->instructions);
    free(program->registers);
    free(program->generators);
    free(program->statements);
    free(program->labels);
    free(program->choices);
    free(program->calculations);
    free(program->tests);
    free(program->transactions);
    free(program->mix);
    free(program->deck);
    free(program->session);
    free(program->retry);
    free(program->tolerate);
}

void program_free(struct program *program)
{
    if (!program)
        return;
    for (uint32_t i = 0; i < program->register_count; i++)
        free(program->registers[i].name);
    for (uint32_t i = 0; i < program->generator_count; i++)
        generator_fini(&program->generators[i]);
    for (uint32_t i = 0; i < program->statement_count; i++)
        program_statement_fini(&program->statements[i]);
    for (uint32_t i = 0; i < program->label_count; i++)
        free(program->labels[i].name);
    for (uint32_t i = 0; i < program->choice_count; i++) {
        free(program->choices[i].cumulative);
        free(program->choices[i].targets);
    }
    for (uint32_t i = 0; i < program->test_count; i++)
        free(program->tests[i].right.text);
    for (uint32_t i = 0; i < program->transaction_count; i++)
        free(program->transactions[i].name);
    for (uint32_t i = 0; i < program->session_count; i++)
        free(program->session[i]);
    free_arrays(program);
    free(program);
}

int program_emit(struct program *program, const struct instruction *instruction,
                 struct error *error)
{
    struct instruction *grown =
        array_extend(program->instructions, program->instruction_count, sizeof *grown);

    if (!grown)
        return error_set_memory(error);
    program->instructions = grown;
    grown[program->instruction_count++] = *instruction;
    return 0;
}

static int check_transaction(const struct program *program, const char *name,
                             double weight, struct error *error)
{
    if (!program_weight_is_fine(weight))
        return error_set(
            error, ERROR_INVALID,
            "transaction '%s' has weight %g; it must be above 0 and at most "
            "1e9",
            name, weight);
    for (uint32_t i = 0; i < program->transaction_count; i++)
        if (!strcmp(program->transactions[i].name, name))
            return error_set(error, ERROR_INVALID,
                             "two transactions are called '%s'; their counts could not "
                             "be told apart",
                             name);
    return 0;
}

/* The next transaction's place in the mix. */
static int add_weight(struct program *program, double weight, struct error *error)
{
    uint32_t count = program->transaction_count;
    double *grown = array_extend(program->mix, count, sizeof *grown);

    if (!grown)
        return error_set_memory(error);
    program->mix = grown;
    grown[count] = (count ? grown[count - 1] : 0) + weight;
    return 0;
}

int program_begin_transaction(struct program *program, const char *name, double weight,
                              struct error *error)
{
    struct program_transaction *grown;

    if (check_transaction(program, name, weight, error) ||
        add_weight(program, weight, error))
        return -1;
    grown =
        array_extend(program->transactions, program->transaction_count, sizeof *grown);
    if (!grown)
        return error_set_memory(error);
    program->transactions = grown;
    grown += program->transaction_count;
    grown->name = strdup(name);
    if (!grown->name)
        return error_set_memory(error);
    grown->entry = program->instruction_count;
    grown->keying = grown->thinking = NO_GENERATOR;
    program->transaction_count++;
    for (uint32_t i = 0; i < program->register_count; i++)
        program->registers[i].defined = program->registers[i].set_up;
    return 0;
}

int program_end_transaction(struct program *program, struct error *error)
{
    const struct instruction end = {.operation = OP_COMMITTED};

    return program_emit(program, &end, error);
}

int program_end_rolled_back(struct program *program, struct error *error)
{
    const struct instruction end = {.operation = OP_ROLLED_BACK};

    return program_emit(program, &end, error);
}

static struct program_register *find_register(struct program *program, const char *name)
{
    for (uint32_t i = 0; i < program->register_count; i++)
        if (!strcmp(program->registers[i].name, name))
            return &program->registers[i];
    return NULL;
}

/* The register that a step writes: a new one, or an old one of the same type. */
struct program_register *program_target_register(struct program *program,
                                                 const char *name, enum value_type type,
                                                 struct error *error)
{
    static const char *const types[] = {[VALUE_INTEGER] = "an integer",
                                        [VALUE_REAL] = "a real",
                                        [VALUE_TEXT] = "a text"};
    struct program_register *found = find_register(program, name);

    if (!found) {
        found = new_register(program, name, error);
        if (found)
            found->type = type;
        return found;
    }
    if (found <= &program->registers[REGISTER_WORKERS]) {
        error_set(error, ERROR_INVALID, "register '%s' is built in; choose another",
                  name);
        return NULL;
    }
    if (found->type != type) {
        error_set(error, ERROR_INVALID, "register '%s' holds %s; it cannot take %s",
                  name, types[found->type], types[type]);
        return NULL;
    }
    return found;
}

/* A register that a step reads: it must have a value by then. */
struct program_register *program_source_register(struct program *program,
                                                 const char *name, struct error *error)
{
    struct program_register *found = find_register(program, name);

    if (found && found->defined)
        return found;
    if (program->setting_up)
        error_set(error, ERROR_INVALID,
                  "register '%s' is read before a step of the set-up gives it a value",
                  name);
    else
        error_set(
            error, ERROR_INVALID,
            "register '%s' is read before a step of transaction '%s' gives it a value",
            name, program->transactions[program->transaction_count - 1].name);
    return NULL;
}

uint32_t program_register_index(const struct program *program,
                                const struct program_register *reg)
{
    return (uint32_t)(reg - program->registers);
}

/* What is known of the integers that a register holds. */
struct bounds {
    bool known;
    int64_t low;
    int64_t high;
};

/* Widen the bounds of `reg` to what is about to be written to it. */
static void widen(struct program_register *reg, const struct bounds *written,
                  bool is_new)
{
    reg->bounded = written->known && (is_new || reg->bounded);
    if (is_new || written->low < reg->low)
        reg->low = written->low;
    if (is_new || written->high > reg->high)
        reg->high = written->high;
}

int program_add_generator(struct program *program, struct generator *generator,
                          struct error *error)
{
    struct generator *grown =
        array_extend(program->generators, program->generator_count, sizeof *grown);

    if (!grown) {
        generator_fini(generator);
        return error_set_memory(error);
    }
    program->generators = grown;
    grown[program->generator_count++] = *generator;
    return 0;
}

int program_draw(struct program *program, const char *target,
                 struct generator *generator, struct error *error)
{
    const struct bounds drawn = {generator->bounded, generator->low, generator->high};
    uint32_t registers_before = program->register_count;
    struct instruction draw = {.operation = OP_DRAW, .b = program->generator_count};
    struct program_register *reg;

    if (program_add_generator(program, generator, error))
        return -1;
    reg = program_target_register(program, target, generator->result, error);
    if (!reg)
        return -1;
    if (generator->capacity > reg->capacity)
        reg->capacity = generator->capacity;
    widen(reg, &drawn, program->register_count > registers_before);
    reg->defined = true;
    draw.a = program_register_index(program, reg);
    return program_emit(program, &draw, error);
}

/* The bounds of `from` plus a constant; unknown where they overflow. */
static struct bounds shift_bounds(const struct program_register *from, int64_t plus)
{
    struct bounds bounds = {.known = from->bounded};

    if (__builtin_add_overflow(from->low, plus, &bounds.low) ||
        __builtin_add_overflow(from->high, plus, &bounds.high))
        bounds.known = false;
    return bounds;
}

int program_add(struct program *program, const char *target, const char *source,
                int64_t plus, struct error *error)
{
    uint32_t registers_before = program->register_count;
    struct program_register *from = program_source_register(program, source, error);
    struct instruction add = {.operation = OP_ADD, .number = plus};
    struct program_register *to;
    struct bounds bounds;

    if (!from)
        return -1;
    if (from->type != VALUE_INTEGER)
        return error_set(error, ERROR_INVALID,
                         "register '%s' is no integer; %+lld cannot be added", source,
                         (long long)plus);
    add.b = program_register_index(program, from);
    bounds = shift_bounds(from, plus);
    to = program_target_register(program, target, VALUE_INTEGER, error);
    if (!to)
        return -1;
    /* A second writer may sit in a loop with the first: no bounds can be told then. */
    if (program->register_count == registers_before)
        bounds.known = false;
    widen(to, &bounds, program->register_count > registers_before);
    to->defined = true;
    add.a = program_register_index(program, to);
    return program_emit(program, &add, error);
}

int program_add_session(struct program *program, const char *sql, struct error *error)
{
    char **grown =
        array_extend(program->session, program->session_count, sizeof *grown);

    if (!grown)
        return error_set_memory(error);
    program->session = grown;
    grown[program->session_count] = strdup(sql);
    if (!grown[program->session_count])
        return error_set_memory(error);
    program->session_count++;
    return 0;
}

static int add_number(uint32_t **numbers, uint32_t *count, int64_t number,
                      struct error *error)
{
    uint32_t *grown;

    if (number < 1 || number > UINT16_MAX)
        return error_set(error, ERROR_INVALID, "%lld is no error number (1 to %d)",
                         (long long)number, UINT16_MAX);
    grown = array_extend(*numbers, *count, sizeof *grown);
    if (!grown)
        return error_set_memory(error);
    *numbers = grown;
    grown[(*count)++] = (uint32_t)number;
    return 0;
}

int program_add_retry(struct program *program, int64_t number, struct error *error)
{
    return add_number(&program->retry, &program->retry_count, number, error);
}

int program_add_tolerate(struct program *program, int64_t number, struct error *error)
{
    return add_number(&program->tolerate, &program->tolerate_count, number, error);
}

int program_set_reconnect(struct program *program, int64_t transactions,
                          struct error *error)
{
    if (transactions < 0)
        return error_set(error, ERROR_INVALID,
                         "workers cannot reconnect every %lld transactions",
                         (long long)transactions);
    program->reconnect_every = transactions;
    return 0;
}

/* The ROLLBACK that workers send between attempts is a statement like any other. */
static int add_own_rollback(struct program *program, struct error *error)
{
    program->rollback = program->statement_count;
    return program_control(program, STATEMENT_ROLLBACK, error);
}

int program_finish(struct program *program, struct error *error)
{
    if (!program->transaction_count)
        return error_set(error, ERROR_INVALID, "a workload needs a transaction");
    if (program_lay_deck(program, error) || add_own_rollback(program, error))
        return -1;
    for (uint32_t i = 0; i < program->statement_count; i++)
        if (program_number_handles(program, &program->statements[i], error))
            return -1;
    return program_judge_sharing(program, error);
}

bool program_needs_server(const struct program *program)
{
    /* Only the workers' own ROLLBACK is left in a program without statements. */
    return program->statement_count > 1 || program->session_count;
}
