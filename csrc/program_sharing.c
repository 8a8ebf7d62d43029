/*
 * Whether several workers can share a thread: only if none of them can run on without
 * end, or wait for anything but the replies to its statements.
 *
 * What a worker does between two statements is short if no way through the program
 * leads back to where it came from without executing one. Ways lead back at the end of
 * a loop's body, and from the end of a transaction to the beginning of any.
 */
#include "program.h"

#include "array.h"
#include "error.h"
#include "program_build.h"

#include <stdlib.h>
#include <string.h>

static void mark_branches(const struct program_choice *choice, bool *reached)
{
    for (uint32_t i = 0; i < choice->count; i++)
        reached[choice->targets[i]] = true;
}

/* Ways that an instruction leaves open; those that lead back are left out. */
static void mark_next(const struct program *program, uint32_t here, bool *reached)
{
    const struct instruction *instruction = &program->instructions[here];

    switch (instruction->operation) {
    case OP_CHOOSE:
        mark_branches(&program->choices[instruction->a], reached);
        break;
    case OP_IF:
        mark_branches(&program->choices[instruction->b], reached);
        break;
    case OP_JUMP:
        reached[instruction->b] = true;
        break;
    case OP_REPEAT:
        if (instruction->c != NO_REGISTER) /* any number, perhaps none */
            reached[here + 1] = reached[instruction->b] = true;
        else
            reached[instruction->number ? here + 1 : instruction->b] = true;
        break;
    case OP_DRAW:
    case OP_ADD:
    case OP_CALCULATE:
    case OP_NEXT:
        reached[here + 1] = true;
        break;
    case OP_EXECUTE: /* the thread may leave the worker here */
    case OP_APPEND_ROW:
    case OP_COMMITTED:
    case OP_ROLLED_BACK:
        break;
    }
}

/* Mark what can be reached from `from` without executing a statement. */
static void mark_silent(const struct program *program, uint32_t from, bool *reached)
{
    memset(reached, 0, program->instruction_count * sizeof *reached);
    reached[from] = true;
    for (uint32_t i = from; i < program->instruction_count; i++)
        if (reached[i])
            mark_next(program, i, reached);
}

static bool has_silent_loop(const struct program *program, bool *reached)
{
    for (uint32_t i = 0; i < program->instruction_count; i++)
        if (program->instructions[i].operation == OP_NEXT) {
            mark_silent(program, program->instructions[i].b, reached);
            if (reached[i])
                return true;
        }
    return false;
}

static bool has_silent_transaction(const struct program *program, bool *reached)
{
    for (uint32_t i = 0; i < program->transaction_count; i++) {
        mark_silent(program, program->transactions[i].entry, reached);
        for (uint32_t j = 0; j < program->instruction_count; j++) {
            enum operation operation = program->instructions[j].operation;
            if (reached[j] &&
                (operation == OP_COMMITTED || operation == OP_ROLLED_BACK))
                return true;
        }
    }
    return false;
}

/* Rows are sent, and connections opened, while the thread waits. */
static bool waits(const struct program *program)
{
    for (uint32_t i = 0; i < program->instruction_count; i++)
        if (program->instructions[i].operation == OP_APPEND_ROW)
            return true;
    return program->reconnect_every;
}

int program_judge_sharing(struct program *program, struct error *error)
{
    bool *reached = array_zeroed(program->instruction_count, sizeof *reached);

    if (!reached)
        return error_set_memory(error);
    program->shareable = !waits(program) && !has_silent_loop(program, reached) &&
                         !has_silent_transaction(program, reached);
    free(reached);
    return 0;
}
