/*
 * Building and checking programs. Arrays may move as they grow; an index, never a
 * pointer, refers from one to another, so growing moves nothing that matters.
 */
#include "program.h"

#include "array.h"
#include "error.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    VARIANTS_MAX = 16384, /* tables that one statement may range over */
    KEPT_TEXT_BYTES = 1024
};

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

int program_new(struct program **result, struct error *error)
{
    struct program *program = calloc(1, sizeof *program);
    struct program_register *worker;

    if (!program)
        return error_set_memory(error);
    worker = new_register(program, "worker", error);
    if (!worker) {
        program_free(program);
        return -1;
    }
    worker->type = VALUE_INTEGER;
    worker->bounded = true;
    *result = program;
    return 0;
}

static void free_statement(struct program_statement *statement)
{
    free(statement->before);
    free(statement->after);
    free(statement->parameters);
    free(statement->kept);
}

static void free_arrays(struct program *program)
{
    free(program->instructions);
    free(program->registers);
    free(program->generators);
    free(program->statements);
    free(program->labels);
    free(program->choices);
    free(program->transactions);
    free(program->mix);
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
        free_statement(&program->statements[i]);
    for (uint32_t i = 0; i < program->label_count; i++)
        free(program->labels[i].name);
    for (uint32_t i = 0; i < program->choice_count; i++) {
        free(program->choices[i].cumulative);
        free(program->choices[i].targets);
    }
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

    if (!(weight > 0) || weight > 1e9)
        return error_set(error, ERROR_INVALID,
                         "transaction '%s' has weight %g; it must be above 0", name,
                         weight);
    if (add_weight(program, weight, error))
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
    program->transaction_count++;
    for (uint32_t i = 0; i < program->register_count; i++)
        program->registers[i].defined = i == REGISTER_WORKER;
    return 0;
}

int program_end_transaction(struct program *program, struct error *error)
{
    const struct instruction end = {.operation = OP_COMMITTED};

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
static struct program_register *target_register(struct program *program,
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
    if (found == &program->registers[REGISTER_WORKER]) {
        error_set(error, ERROR_INVALID,
                  "register 'worker' is built in; choose another");
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
static struct program_register *source_register(struct program *program,
                                                const char *name, struct error *error)
{
    struct program_register *found = find_register(program, name);

    if (found && found->defined)
        return found;
    error_set(
        error, ERROR_INVALID,
        "register '%s' is read before a step of transaction '%s' gives it a value",
        name, program->transactions[program->transaction_count - 1].name);
    return NULL;
}

static uint32_t register_index(const struct program *program,
                               const struct program_register *reg)
{
    return (uint32_t)(reg - program->registers);
}

/* Widen the known bounds of `reg` to what is about to be written to it. */
static void widen(struct program_register *reg, bool bounded, int64_t low, int64_t high,
                  bool is_new)
{
    reg->bounded = bounded && (is_new || reg->bounded);
    if (is_new || low < reg->low)
        reg->low = low;
    if (is_new || high > reg->high)
        reg->high = high;
}

int program_draw(struct program *program, const char *target,
                 struct generator *generator, struct error *error)
{
    uint32_t registers_before = program->register_count;
    struct generator *grown;
    struct program_register *reg;
    struct instruction draw = {.operation = OP_DRAW};

    grown = array_extend(program->generators, program->generator_count, sizeof *grown);
    if (!grown) {
        generator_fini(generator);
        return error_set_memory(error);
    }
    program->generators = grown;
    grown[program->generator_count++] = *generator;
    reg = target_register(program, target, generator->result, error);
    if (!reg)
        return -1;
    if (generator->capacity > reg->capacity)
        reg->capacity = generator->capacity;
    widen(reg, generator->bounded, generator->low, generator->high,
          program->register_count > registers_before);
    reg->defined = true;
    draw.a = register_index(program, reg);
    draw.b = program->generator_count - 1;
    return program_emit(program, &draw, error);
}

int program_add(struct program *program, const char *target, const char *source,
                int64_t plus, struct error *error)
{
    uint32_t registers_before = program->register_count;
    struct program_register *from = source_register(program, source, error);
    struct program_register *to;
    struct instruction add = {.operation = OP_ADD, .number = plus};
    bool is_new;

    if (!from)
        return -1;
    if (from->type != VALUE_INTEGER)
        return error_set(error, ERROR_INVALID,
                         "register '%s' is no integer; %+lld cannot be added", source,
                         (long long)plus);
    add.b = register_index(program, from);
    to = target_register(program, target, VALUE_INTEGER, error);
    if (!to)
        return -1;
    from = &program->registers[add.b]; /* a new target may have moved it */
    /* A second writer may sit in a loop with the first: no bounds can be told then. */
    is_new = program->register_count > registers_before;
    widen(to, is_new && from->bounded, from->low + plus, from->high + plus, is_new);
    to->defined = true;
    add.a = register_index(program, to);
    return program_emit(program, &add, error);
}

static enum statement_kind kind_of_sql(const char *sql)
{
    size_t start = strspn(sql, " \t\r\n(");

    for (int kind = 0; kind < STATEMENT_OTHER; kind++) {
        const char *word = statement_kind_name((enum statement_kind)kind);
        size_t length = strlen(word);
        if (!strncasecmp(sql + start, word, length) &&
            !isalnum((unsigned char)sql[start + length]))
            return (enum statement_kind)kind;
    }
    return STATEMENT_OTHER;
}

const char *statement_kind_name(enum statement_kind kind)
{
    static const char *const names[] = {
        [STATEMENT_SELECT] = "select",     [STATEMENT_INSERT] = "insert",
        [STATEMENT_UPDATE] = "update",     [STATEMENT_DELETE] = "delete",
        [STATEMENT_REPLACE] = "replace",   [STATEMENT_CALL] = "call",
        [STATEMENT_BEGIN] = "begin",       [STATEMENT_COMMIT] = "commit",
        [STATEMENT_ROLLBACK] = "rollback", [STATEMENT_OTHER] = "other"};

    return names[kind];
}

/* The label `name` of this kind, made if it is new. -1 without memory. */
static int find_label(struct program *program, const char *name,
                      enum statement_kind kind, uint32_t *index, struct error *error)
{
    struct program_label *grown;

    for (*index = 0; *index < program->label_count; (*index)++)
        if (program->labels[*index].kind == kind &&
            !strcmp(program->labels[*index].name, name))
            return 0;
    grown = array_extend(program->labels, program->label_count, sizeof *grown);
    if (!grown)
        return error_set_memory(error);
    program->labels = grown;
    grown[*index].name = strdup(name);
    if (!grown[*index].name)
        return error_set_memory(error);
    grown[*index].kind = kind;
    program->label_count++;
    return 0;
}

/* Find `{name}` in `sql` from `from` on: its start, and its length with both braces. */
static const char *find_placeholder(const char *from, size_t *length)
{
    for (const char *brace = strchr(from, '{'); brace; brace = strchr(brace + 1, '{')) {
        const char *end = brace + 1;
        while (isalnum((unsigned char)*end) || *end == '_')
            end++;
        if (*end == '}' && end > brace + 1) {
            *length = (size_t)(end - brace) + 1;
            return brace;
        }
    }
    return NULL;
}

/* Split the SQL at its placeholder and find the register that it names. */
static int set_sql(struct program *program, struct program_statement *statement,
                   const char *sql, struct error *error)
{
    size_t length = 0;
    const char *placeholder = find_placeholder(sql, &length);
    const char *after = placeholder ? placeholder + length : "";
    struct program_register *reg;
    char *name;

    statement->before =
        placeholder ? strndup(sql, (size_t)(placeholder - sql)) : strdup(sql);
    statement->after = strdup(after);
    if (!statement->before || !statement->after)
        return error_set_memory(error);
    statement->variants = 1;
    statement->variant_register = NO_REGISTER;
    if (!placeholder)
        return 0;
    if (find_placeholder(after, &length))
        return error_set(error, ERROR_INVALID,
                         "a statement may have one {register} in its SQL: %s", sql);
    name = strndup(placeholder + 1, length - 2);
    if (!name)
        return error_set_memory(error);
    reg = source_register(program, name, error);
    free(name);
    if (!reg)
        return -1;
    statement->variant_register = register_index(program, reg);
    return 0;
}

static uint32_t *resolve(struct program *program, const char *const *names,
                         uint32_t count, struct error *error)
{
    uint32_t *indices = calloc(count ? count : 1, sizeof *indices);

    if (!indices) {
        error_set_memory(error);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct program_register *reg = source_register(program, names[i], error);
        if (!reg) {
            free(indices);
            return NULL;
        }
        indices[i] = register_index(program, reg);
    }
    return indices;
}

static int keep_columns(struct program *program, struct program_statement *statement,
                        const struct execute_step *step, struct error *error)
{
    statement->kept = calloc(step->kept_count ? step->kept_count : 1, sizeof(uint32_t));
    if (!statement->kept)
        return error_set_memory(error);
    statement->kept_count = step->kept_count;
    for (uint32_t i = 0; i < step->kept_count; i++) {
        struct program_register *reg =
            target_register(program, step->kept[i], step->kept_types[i], error);
        if (!reg)
            return -1;
        if (reg->type == VALUE_TEXT && reg->capacity < KEPT_TEXT_BYTES)
            reg->capacity = KEPT_TEXT_BYTES;
        reg->bounded = false;
        reg->defined = true;
        statement->kept[i] = register_index(program, reg);
    }
    return 0;
}

/* Add `statement` (taken over, also on failure) and the instruction that runs it. */
static int add_statement(struct program *program, struct program_statement *statement,
                         enum operation operation, struct error *error)
{
    struct instruction run = {.operation = operation, .a = program->statement_count};
    struct program_statement *grown =
        array_extend(program->statements, program->statement_count, sizeof *grown);

    if (!grown) {
        free_statement(statement);
        return error_set_memory(error);
    }
    program->statements = grown;
    grown[program->statement_count++] = *statement;
    return program_emit(program, &run, error);
}

static int add_step(struct program *program, const struct execute_step *step,
                    enum statement_mode mode, struct error *error)
{
    static const enum operation operations[] = {[MODE_PREPARED] = OP_EXECUTE,
                                                [MODE_TEXT] = OP_EXECUTE,
                                                [MODE_ROWS] = OP_APPEND_ROW};
    struct program_statement statement = {.mode = mode,
                                          .parameter_count = step->parameter_count,
                                          .rollback_if_none = step->rollback_if_none};

    if (find_label(program, step->name, kind_of_sql(step->sql), &statement.label,
                   error))
        return -1;
    if (set_sql(program, &statement, step->sql, error))
        goto cleanup;
    statement.parameters =
        resolve(program, step->parameters, step->parameter_count, error);
    if (!statement.parameters || keep_columns(program, &statement, step, error))
        goto cleanup;
    return add_statement(program, &statement, operations[mode], error);
cleanup:
    free_statement(&statement);
    return -1;
}

int program_execute(struct program *program, const struct execute_step *step,
                    struct error *error)
{
    return add_step(program, step, MODE_PREPARED, error);
}

int program_append_row(struct program *program, const struct execute_step *step,
                       struct error *error)
{
    if (!step->parameter_count)
        return error_set(error, ERROR_INVALID, "'%s' inserts rows without columns",
                         step->name);
    return add_step(program, step, MODE_ROWS, error);
}

int program_control(struct program *program, enum statement_kind kind,
                    struct error *error)
{
    const struct instruction end = {.operation = OP_ROLLED_BACK};
    const struct execute_step step = {.name = statement_kind_name(kind),
                                      .sql = statement_kind_name(kind)};

    if (add_step(program, &step, MODE_TEXT, error))
        return -1;
    return kind == STATEMENT_ROLLBACK ? program_emit(program, &end, error) : 0;
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

int program_add_retry(struct program *program, uint32_t number, struct error *error)
{
    uint32_t *grown = array_extend(program->retry, program->retry_count, sizeof *grown);

    if (!grown)
        return error_set_memory(error);
    program->retry = grown;
    grown[program->retry_count++] = number;
    return 0;
}

int program_add_tolerate(struct program *program, uint32_t number, struct error *error)
{
    uint32_t *grown =
        array_extend(program->tolerate, program->tolerate_count, sizeof *grown);

    if (!grown)
        return error_set_memory(error);
    program->tolerate = grown;
    grown[program->tolerate_count++] = number;
    return 0;
}

static int count_variants(const struct program *program,
                          struct program_statement *statement, struct error *error)
{
    const struct program_register *reg;

    if (statement->variant_register == NO_REGISTER ||
        statement->variant_register == REGISTER_WORKER)
        return 0;
    reg = &program->registers[statement->variant_register];
    if (!reg->bounded)
        return error_set(error, ERROR_INVALID,
                         "{%s} in '%s{%s}%s' needs a register drawn by a generator of "
                         "integers with bounds",
                         reg->name, statement->before, reg->name, statement->after);
    if (reg->high - reg->low >= VARIANTS_MAX)
        return error_set(error, ERROR_INVALID,
                         "{%s} ranges over %lld..%lld; at most %d forms of a statement "
                         "are possible",
                         reg->name, (long long)reg->low, (long long)reg->high,
                         VARIANTS_MAX);
    statement->variant_low = reg->low;
    statement->variants = (uint32_t)(reg->high - reg->low) + 1;
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
    if (add_own_rollback(program, error))
        return -1;
    for (uint32_t i = 0; i < program->statement_count; i++) {
        struct program_statement *statement = &program->statements[i];
        if (count_variants(program, statement, error))
            return -1;
        statement->first_handle = program->handle_count;
        program->handle_count += statement->variants;
    }
    program->finished = true;
    return 0;
}

char *program_statement_sql(const struct program_statement *statement, uint32_t variant,
                            uint32_t worker)
{
    enum { NUMBER_BYTES = 24 };
    size_t size = strlen(statement->before) + strlen(statement->after) + NUMBER_BYTES;
    char *sql = malloc(size);
    int64_t number = statement->variant_low + variant;

    if (!sql)
        return NULL;
    if (statement->variant_register == NO_REGISTER)
        snprintf(sql, size, "%s", statement->before);
    else
        snprintf(sql, size, "%s%lld%s", statement->before,
                 (long long)(statement->variant_register == REGISTER_WORKER ? worker
                                                                            : number),
                 statement->after);
    return sql;
}
