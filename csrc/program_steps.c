/*
 * Building what a program computes and how it goes from one transaction to the next:
 * arithmetic, tests, the set-up, pauses and the deck.
 */
#include "program.h"

#include "array.h"
#include "error.h"
#include "generator.h"
#include "program_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const type_names[] = {
    [VALUE_INTEGER] = "an integer", [VALUE_REAL] = "a real", [VALUE_TEXT] = "a text"};

static int copy_text(struct program_operand *operand, const struct value *constant,
                     struct error *error)
{
    operand->length = constant->length;
    operand->text = malloc(constant->length + 1);
    if (!operand->text)
        return error_set_memory(error);
    memcpy(operand->text, constant->text, constant->length);
    return 0;
}

/* What `right` names or holds. A text is copied: the operand owns it. */
static int resolve_operand(struct program *program, const struct operand_step *right,
                           enum value_type type, struct program_operand *operand,
                           struct error *error)
{
    const struct value *constant = right->constant;
    const struct program_register *reg;

    memset(operand, 0, sizeof *operand);
    operand->reg = NO_REGISTER;
    if (!right->reg) {
        operand->is_null = constant->is_null;
        operand->integer = constant->integer;
        if (!constant->is_null && constant->type != type)
            return error_set(error, ERROR_INVALID, "%s cannot go together with %s",
                             type_names[type], type_names[constant->type]);
        return type == VALUE_TEXT && !constant->is_null
                   ? copy_text(operand, constant, error)
                   : 0;
    }
    reg = program_source_register(program, right->reg, error);
    if (!reg)
        return -1;
    if (reg->type != type)
        return error_set(error, ERROR_INVALID,
                         "register '%s' holds %s, which cannot go together with %s",
                         right->reg, type_names[reg->type], type_names[type]);
    operand->reg = program_register_index(program, reg);
    return 0;
}

int program_calculate(struct program *program, const char *target,
                      enum arithmetic arithmetic, const char *left,
                      const struct operand_step *right, struct error *error)
{
    const struct program_register *from = program_source_register(program, left, error);
    struct program_calculation calculation = {.arithmetic = arithmetic};
    struct instruction run = {.operation = OP_CALCULATE,
                              .b = program->calculation_count};
    struct program_calculation *grown;
    struct program_register *to;

    if (!from)
        return -1;
    if (from->type != VALUE_INTEGER)
        return error_set(error, ERROR_INVALID,
                         "register '%s' holds %s; only integers are calculated with",
                         left, type_names[from->type]);
    calculation.left = program_register_index(program, from);
    if (resolve_operand(program, right, VALUE_INTEGER, &calculation.right, error))
        return -1;
    to = program_target_register(program, target, VALUE_INTEGER, error);
    if (!to)
        return -1;
    to->bounded = false;
    to->defined = true;
    run.a = program_register_index(program, to);
    grown =
        array_extend(program->calculations, program->calculation_count, sizeof *grown);
    if (!grown)
        return error_set_memory(error);
    program->calculations = grown;
    grown[program->calculation_count++] = calculation;
    return program_emit(program, &run, error);
}

int program_add_test(struct program *program, const char *left,
                     enum comparison comparison, const struct operand_step *right,
                     uint32_t *index, struct error *error)
{
    const struct program_register *from = program_source_register(program, left, error);
    bool ordered = comparison > COMPARISON_NOT_EQUAL;
    struct program_test test = {.comparison = comparison};
    struct program_test *grown;

    if (!from)
        return -1;
    if (from->type == VALUE_REAL || (from->type == VALUE_TEXT && ordered))
        return error_set(error, ERROR_INVALID,
                         "register '%s' holds %s; integers are compared, and whether "
                         "texts are equal",
                         left, type_names[from->type]);
    if (!right->reg && right->constant->is_null && ordered)
        return error_set(error, ERROR_INVALID,
                         "register '%s' is neither above nor below NULL", left);
    test.left = program_register_index(program, from);
    if (resolve_operand(program, right, from->type, &test.right, error))
        return -1;
    grown = array_extend(program->tests, program->test_count, sizeof *grown);
    if (!grown) {
        free(test.right.text);
        return error_set_memory(error);
    }
    program->tests = grown;
    *index = program->test_count;
    grown[program->test_count++] = test;
    return 0;
}

int program_begin_set_up(struct program *program, struct error *error)
{
    if (program->transaction_count || program->set_up_entry != NO_INSTRUCTION)
        return error_set(error, ERROR_INVALID,
                         "a program has one set-up, before its transactions");
    program->setting_up = true;
    program->set_up_entry = program->instruction_count;
    for (uint32_t i = 0; i < program->register_count; i++)
        program->registers[i].defined = program->registers[i].set_up;
    return 0;
}

int program_end_set_up(struct program *program, struct error *error)
{
    const struct instruction end = {.operation = OP_COMMITTED};

    program->setting_up = false;
    for (uint32_t i = 0; i < program->register_count; i++)
        program->registers[i].set_up = program->registers[i].defined;
    return program_emit(program, &end, error);
}

/* Take over a generator of seconds, also on failure; its place in *index. */
static int add_pause(struct program *program, struct generator *generator,
                     uint32_t *index, struct error *error)
{
    uint32_t place = program->generator_count;

    if (!generator)
        return 0;
    if (program_add_generator(program, generator, error))
        return -1;
    if (program->generators[place].result == VALUE_TEXT)
        return error_set(error, ERROR_INVALID,
                         "a pause is a number of seconds, not a text");
    *index = place;
    return 0;
}

int program_set_pauses(struct program *program, struct generator *keying,
                       struct generator *thinking, struct error *error)
{
    struct program_transaction *transaction =
        &program->transactions[program->transaction_count - 1];
    int status = add_pause(program, keying, &transaction->keying, error);

    if (status && thinking)
        generator_fini(thinking);
    return status ? -1 : add_pause(program, thinking, &transaction->thinking, error);
}

bool program_pauses(const struct program *program)
{
    for (uint32_t i = 0; i < program->transaction_count; i++)
        if (program->transactions[i].keying != NO_GENERATOR ||
            program->transactions[i].thinking != NO_GENERATOR)
            return true;
    return false;
}

void program_set_deck(struct program *program)
{
    program->dealt = true;
}

static double weight_of(const struct program *program, uint32_t transaction)
{
    return program->mix[transaction] -
           (transaction ? program->mix[transaction - 1] : 0);
}

int program_lay_deck(struct program *program, struct error *error)
{
    enum { CARDS_MAX = 100000 };
    uint32_t count = program->transaction_count;
    double cards = program->mix[count - 1];

    if (!program->dealt)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (weight_of(program, i) != floor(weight_of(program, i)))
            return error_set(error, ERROR_INVALID,
                             "transaction '%s' has weight %g; in a deck it must be a "
                             "whole number",
                             program->transactions[i].name, weight_of(program, i));
    if (cards > CARDS_MAX)
        return error_set(error, ERROR_INVALID, "a deck of %.0f is too large; %d is not",
                         cards, CARDS_MAX);
    program->deck = calloc((size_t)cards, sizeof *program->deck);
    if (!program->deck)
        return error_set_memory(error);
    for (uint32_t i = 0; i < count; i++)
        while (program->deck_count < program->mix[i])
            program->deck[program->deck_count++] = i;
    return 0;
}
