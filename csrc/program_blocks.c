/*
 * Building the blocks of a program: repetitions and choices by weight.
 */
#include "program.h"

#include "array.h"
#include "error.h"
#include "program_build.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Reserve the next instruction; it is filled in when its target is known. */
static int emit_blank(struct program *program, enum operation operation, uint32_t a,
                      struct error *error)
{
    return program_emit(program, &(struct instruction){.operation = operation, .a = a},
                        error);
}

int program_begin_repeat(struct program *program, int64_t times, uint32_t *mark,
                         struct error *error)
{
    if (times < 0)
        return error_set(error, ERROR_INVALID, "steps cannot be repeated %lld times",
                         (long long)times);
    *mark = program->instruction_count;
    if (emit_blank(program, OP_REPEAT, program->loop_count++, error))
        return -1;
    program->instructions[*mark].number = times;
    program->instructions[*mark].c = NO_REGISTER;
    return 0;
}

int program_begin_repeat_by(struct program *program, const char *times, uint32_t *mark,
                            struct error *error)
{
    struct program_register *reg = program_source_register(program, times, error);
    uint32_t index;

    if (!reg)
        return -1;
    if (reg->type != VALUE_INTEGER)
        return error_set(error, ERROR_INVALID,
                         "register '%s' is no integer; steps cannot be repeated by it",
                         times);
    index = program_register_index(program, reg);
    if (program_begin_repeat(program, 0, mark, error))
        return -1;
    program->instructions[*mark].c = index;
    return 0;
}

int program_end_repeat(struct program *program, uint32_t mark, struct error *error)
{
    if (emit_blank(program, OP_NEXT, program->instructions[mark].a, error))
        return -1;
    program->instructions[program->instruction_count - 1].b = mark + 1;
    program->instructions[mark].b = program->instruction_count;
    return 0;
}

static int set_weights(struct program_choice *choice, const double *weights,
                       struct error *error)
{
    double sum = 0;

    choice->cumulative = calloc(choice->count, sizeof *choice->cumulative);
    if (!choice->cumulative)
        return error_set_memory(error);
    for (uint32_t i = 0; i < choice->count; i++) {
        if (!program_weight_is_fine(weights[i]))
            return error_set(error, ERROR_INVALID,
                             "branch %u of a choice has weight %g; it must be above 0 "
                             "and at most 1e9",
                             i + 1, weights[i]);
        sum += weights[i];
        choice->cumulative[i] = sum;
    }
    return 0;
}

static int save_defined(struct program *program, struct choose_block *block,
                        struct error *error)
{
    block->registers = program->register_count;
    block->before = calloc(block->registers, sizeof *block->before);
    if (!block->before)
        return error_set_memory(error);
    for (uint32_t i = 0; i < block->registers; i++)
        block->before[i] = program->registers[i].defined;
    return 0;
}

/* A choice of `count` branches, still without anything that chooses. */
static int begin_choice(struct program *program, uint32_t count,
                        struct choose_block *block, struct error *error)
{
    struct program_choice *grown;

    memset(block, 0, sizeof *block);
    if (!count)
        return error_set(error, ERROR_INVALID, "a choice needs at least one branch");
    grown = array_extend(program->choices, program->choice_count, sizeof *grown);
    if (!grown)
        return error_set_memory(error);
    program->choices = grown;
    block->choice = program->choice_count++;
    grown += block->choice;
    memset(grown, 0, sizeof *grown);
    grown->targets = calloc(count, sizeof *grown->targets);
    grown->count = count;
    block->jumps = calloc(count, sizeof *block->jumps);
    if (!grown->targets || !block->jumps)
        return error_set_memory(error);
    return save_defined(program, block, error);
}

int program_begin_choose(struct program *program, const double *weights, uint32_t count,
                         struct choose_block *block, struct error *error)
{
    if (begin_choice(program, count, block, error) ||
        set_weights(&program->choices[block->choice], weights, error))
        return -1;
    return emit_blank(program, OP_CHOOSE, block->choice, error);
}

int program_begin_if(struct program *program, const char *left,
                     enum comparison comparison, const struct operand_step *right,
                     struct choose_block *block, struct error *error)
{
    enum { BRANCHES = 2 };
    uint32_t test;

    memset(block, 0, sizeof *block);
    if (program_add_test(program, left, comparison, right, &test, error) ||
        begin_choice(program, BRANCHES, block, error) ||
        emit_blank(program, OP_IF, test, error))
        return -1;
    program->instructions[program->instruction_count - 1].b = block->choice;
    return 0;
}

void program_begin_branch(struct program *program, struct choose_block *block)
{
    struct program_choice *choice = &program->choices[block->choice];

    assert(block->branch < choice->count);
    choice->targets[block->branch] = program->instruction_count;
    for (uint32_t i = 0; i < program->register_count; i++)
        program->registers[i].defined = i < block->registers && block->before[i];
}

static int count_defined(struct program *program, struct choose_block *block,
                         struct error *error)
{
    uint32_t count = program->register_count;
    uint32_t *grown = realloc(block->defined_in, count * sizeof *grown);

    if (!grown)
        return error_set_memory(error);
    block->defined_in = grown;
    while (block->counted < count)
        grown[block->counted++] = 0;
    for (uint32_t i = 0; i < count; i++)
        grown[i] += program->registers[i].defined;
    return 0;
}

int program_end_branch(struct program *program, struct choose_block *block,
                       struct error *error)
{
    uint32_t jump = program->instruction_count;

    if (count_defined(program, block, error) || emit_blank(program, OP_JUMP, 0, error))
        return -1;
    block->jumps[block->branch++] = jump;
    return 0;
}

void program_end_choose(struct program *program, struct choose_block *block)
{
    for (uint32_t i = 0; i < block->branch; i++)
        program->instructions[block->jumps[i]].b = program->instruction_count;
    for (uint32_t i = 0; i < program->register_count; i++)
        program->registers[i].defined =
            i < block->counted && block->defined_in[i] == block->branch;
    free(block->jumps);
    free(block->before);
    free(block->defined_in);
    memset(block, 0, sizeof *block);
}
