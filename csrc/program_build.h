/*
 * What the files that build programs share; for program*.c only.
 */
#ifndef BENCHKIT_PROGRAM_BUILD_H
#define BENCHKIT_PROGRAM_BUILD_H

#include "program.h"
#include "value.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct generator;

/* Weights add up without losing the small ones. */
static inline bool program_weight_is_fine(double weight)
{
    return weight > 0 && weight <= 1e9;
}

/* One more instruction. */
int program_emit(struct program *program, const struct instruction *instruction,
                 struct error *error);

/* The register that a step writes: a new one, or an old one of the same type. NULL
 * with `error` filled. Registers may move when one is added. */
struct program_register *program_target_register(struct program *program,
                                                 const char *name, enum value_type type,
                                                 struct error *error);

/* A register that a step reads: it must have a value by then. NULL with `error`
 * filled. */
struct program_register *program_source_register(struct program *program,
                                                 const char *name, struct error *error);

uint32_t program_register_index(const struct program *program,
                                const struct program_register *reg);

/* Append `generator` (taken over, also on failure) to the program's. */
int program_add_generator(struct program *program, struct generator *generator,
                          struct error *error);

/* Count the deck's cards, if there is to be one, once all transactions are known. */
int program_lay_deck(struct program *program, struct error *error);

/* Add a test; its place among the program's in *index. */
int program_add_test(struct program *program, const char *left,
                     enum comparison comparison, const struct operand_step *right,
                     uint32_t *index, struct error *error);

/* Give a statement of a complete program its place among a worker's handles. */
int program_number_handles(struct program *program, struct program_statement *statement,
                           struct error *error);

/* Find out whether a complete program is shareable. */
int program_judge_sharing(struct program *program, struct error *error);

/* Free what a statement owns. */
void program_statement_fini(struct program_statement *statement);

#endif
