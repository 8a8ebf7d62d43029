/*
 * Building the statements of a program: labels, SQL with its placeholder, parameters
 * and kept columns.
 */
#include "program.h"

#include "array.h"
#include "error.h"
#include "program_build.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    VARIANTS_MAX = 16384, /* tables that one statement may range over */
    KEPT_TEXT_BYTES = 1024
};

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

static int add_label(struct program *program, const char *name,
                     enum statement_kind kind, struct error *error)
{
    struct program_label *grown =
        array_extend(program->labels, program->label_count, sizeof *grown);

    if (!grown)
        return error_set_memory(error);
    program->labels = grown;
    grown += program->label_count;
    grown->kind = kind;
    grown->name = strdup(name);
    if (!grown->name)
        return error_set_memory(error);
    program->label_count++;
    return 0;
}

/* The label `name`, made if it is new. */
static int find_label(struct program *program, const char *name,
                      enum statement_kind kind, uint32_t *index, struct error *error)
{
    uint32_t i = 0;

    while (i < program->label_count && strcmp(program->labels[i].name, name))
        i++;
    if (i == program->label_count && add_label(program, name, kind, error))
        return -1;
    if (program->labels[i].kind != kind)
        return error_set(
            error, ERROR_INVALID,
            "a statement called '%s' is %s and another is %s; their counts "
            "could not be told apart",
            name, statement_kind_name(program->labels[i].kind),
            statement_kind_name(kind));
    *index = i;
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
    reg = program_source_register(program, name, error);
    free(name);
    if (!reg)
        return -1;
    statement->variant_register = program_register_index(program, reg);
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
        struct program_register *reg =
            program_source_register(program, names[i], error);
        if (!reg) {
            free(indices);
            return NULL;
        }
        indices[i] = program_register_index(program, reg);
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
            program_target_register(program, step->kept[i], step->kept_types[i], error);
        if (!reg)
            return -1;
        if (reg->type == VALUE_TEXT && reg->capacity < KEPT_TEXT_BYTES)
            reg->capacity = KEPT_TEXT_BYTES;
        reg->bounded = false;
        reg->defined = true;
        statement->kept[i] = program_register_index(program, reg);
    }
    return 0;
}

void program_statement_fini(struct program_statement *statement)
{
    free(statement->before);
    free(statement->after);
    free(statement->parameters);
    free(statement->kept);
}

/* Add `statement` (taken over, also on failure) and the instruction that runs it. */
static int add_statement(struct program *program, struct program_statement *statement,
                         enum operation operation, struct error *error)
{
    struct instruction run = {.operation = operation, .a = program->statement_count};
    struct program_statement *grown =
        array_extend(program->statements, program->statement_count, sizeof *grown);

    if (!grown) {
        program_statement_fini(statement);
        return error_set_memory(error);
    }
    program->statements = grown;
    grown[program->statement_count++] = *statement;
    return program_emit(program, &run, error);
}

/* A worker collects rows for one table only. */
static int check_one_form(const struct program *program,
                          const struct program_statement *statement,
                          struct error *error)
{
    if (statement->variant_register == NO_REGISTER ||
        statement->variant_register == REGISTER_WORKER)
        return 0;
    return error_set(error, ERROR_INVALID,
                     "rows are inserted by '%s{%s}%s'; only {worker} can be part of it",
                     statement->before,
                     program->registers[statement->variant_register].name,
                     statement->after);
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

    if (program->setting_up)
        return error_set(error, ERROR_INVALID,
                         "the set-up cannot execute '%s': it draws and computes; "
                         "statements for a new connection are its session",
                         step->name);
    if (find_label(program, step->name, kind_of_sql(step->sql), &statement.label,
                   error))
        return -1;
    if (set_sql(program, &statement, step->sql, error) ||
        (mode == MODE_ROWS && check_one_form(program, &statement, error)))
        goto cleanup;
    statement.parameters =
        resolve(program, step->parameters, step->parameter_count, error);
    if (!statement.parameters || keep_columns(program, &statement, step, error))
        goto cleanup;
    return add_statement(program, &statement, operations[mode], error);
cleanup:
    program_statement_fini(&statement);
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
    const struct execute_step step = {.name = statement_kind_name(kind),
                                      .sql = statement_kind_name(kind)};

    if (add_step(program, &step, MODE_TEXT, error))
        return -1;
    return kind == STATEMENT_ROLLBACK ? program_end_rolled_back(program, error) : 0;
}

/* How many forms the statement has; known once its register has all its writers. */
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
    if ((uint64_t)reg->high - (uint64_t)reg->low >= VARIANTS_MAX)
        return error_set(error, ERROR_INVALID,
                         "{%s} ranges over %lld..%lld; at most %d forms of a statement "
                         "are possible",
                         reg->name, (long long)reg->low, (long long)reg->high,
                         VARIANTS_MAX);
    statement->variant_low = reg->low;
    statement->variants = (uint32_t)(reg->high - reg->low) + 1;
    return 0;
}

int program_number_handles(struct program *program, struct program_statement *statement,
                           struct error *error)
{
    if (count_variants(program, statement, error))
        return -1;
    statement->first_handle = program->handle_count;
    program->handle_count += statement->variants;
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
