/*
 * A program: a workload's transactions, validated once and compiled to a flat list of
 * instructions that workers run.
 *
 * Building goes through the program_* calls below in the order of the steps; each
 * checks what it is given. After program_finish() the program is immutable and may be
 * shared by any number of workers and drivers.
 */
#ifndef BENCHKIT_PROGRAM_H
#define BENCHKIT_PROGRAM_H

#include "value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct generator;

/* What an instruction does with its operands `a`, `b` and `number`. */
enum operation {
    OP_DRAW,       /* register a = generator b */
    OP_ADD,        /* register a = register b + number */
    OP_CALCULATE,  /* register a = calculation b */
    OP_EXECUTE,    /* statement a */
    OP_APPEND_ROW, /* statement a: one more row, sent when the packet is full */
    OP_REPEAT,     /* loop a runs number times, or as often as register c says; if 0,
                      go to b */
    OP_NEXT,       /* loop a: once less; go to b unless done */
    OP_CHOOSE,     /* go to a branch of choice a */
    OP_IF,         /* go to the first branch of choice b if test a holds, else to the
                      second */
    OP_JUMP,       /* go to b */
    OP_COMMITTED,  /* the transaction ends: committed */
    OP_ROLLED_BACK /* the transaction ends: rolled back */
};

struct instruction {
    enum operation operation;
    uint32_t a;
    uint32_t b;
    uint32_t c;
    int64_t number;
};

/* Integer arithmetic. Anything with NULL, and a division by 0, is NULL; sums and
 * products wrap; a quotient is rounded down, and a remainder has its divisor's sign. */
enum arithmetic {
    ARITHMETIC_ADD,
    ARITHMETIC_SUBTRACT,
    ARITHMETIC_MULTIPLY,
    ARITHMETIC_DIVIDE,
    ARITHMETIC_REMAINDER
};

/* Comparisons. With NULL on one side all fail but NOT_EQUAL; a test for NULL compares
 * with a NULL constant. */
enum comparison {
    COMPARISON_EQUAL,
    COMPARISON_NOT_EQUAL,
    COMPARISON_LESS,
    COMPARISON_AT_MOST,
    COMPARISON_GREATER,
    COMPARISON_AT_LEAST
};

#define NO_REGISTER UINT32_MAX

/* The right side of a calculation or a test: a register, or a constant. */
struct program_operand {
    uint32_t reg; /* NO_REGISTER: the constant */
    bool is_null;
    int64_t integer;
    char *text; /* owned; NULL: the integer */
    size_t length;
};

struct program_calculation {
    enum arithmetic arithmetic;
    uint32_t left; /* register */
    struct program_operand right;
};

struct program_test {
    enum comparison comparison;
    uint32_t left; /* register */
    struct program_operand right;
};

/* What a statement is to the server, by its first word; the names are those of the
 * Com_% status variables. */
enum statement_kind {
    STATEMENT_SELECT,
    STATEMENT_INSERT,
    STATEMENT_UPDATE,
    STATEMENT_DELETE,
    STATEMENT_REPLACE,
    STATEMENT_CALL,
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_ROLLBACK,
    STATEMENT_OTHER
};

const char *statement_kind_name(enum statement_kind kind);

/* A name under which statements are counted. */
struct program_label {
    char *name;
    enum statement_kind kind;
};

struct program_register {
    char *name;
    enum value_type type;
    size_t capacity; /* of text */
    bool bounded;    /* integer within low..high: usable as a table number */
    int64_t low;
    int64_t high;
    bool defined; /* while building: has a value at this point of the program */
    bool set_up;  /* has a value before the first transaction */
};

enum statement_mode {
    MODE_PREPARED, /* binary protocol */
    MODE_TEXT,     /* fixed text: BEGIN, COMMIT, ROLLBACK */
    MODE_ROWS      /* a batch of rows */
};

/* One statement, in `variants` forms: {register} in its SQL is replaced by each value
 * of that register. Without one there is a single form. */
struct program_statement {
    enum statement_mode mode;
    uint32_t label;
    char *before;              /* SQL up to the placeholder, or all of it */
    char *after;               /* SQL behind it, or "" */
    uint32_t variant_register; /* NO_REGISTER: none */
    int64_t variant_low;
    uint32_t variants;
    uint32_t first_handle; /* its place among all handles of a worker */
    uint32_t *parameters;  /* registers */
    uint32_t parameter_count;
    uint32_t *kept; /* registers */
    uint32_t kept_count;
    bool rollback_if_none;
};

struct program_choice {
    double *cumulative; /* weights summed up; NULL: a test decides */
    uint32_t *targets;
    uint32_t count;
};

struct program_transaction {
    char *name;
    uint32_t entry; /* its first instruction */
    /* Generators of how many seconds to wait before it and behind it, outside of its
     * response time; NO_GENERATOR: not at all. */
    uint32_t keying;
    uint32_t thinking;
};

#define NO_GENERATOR UINT32_MAX

/* Growing arrays; `count` elements of `items`. */
struct program {
    struct instruction *instructions;
    struct program_register *registers;
    struct generator *generators;
    struct program_statement *statements;
    struct program_label *labels;
    struct program_choice *choices;
    struct program_calculation *calculations;
    struct program_test *tests;
    struct program_transaction *transactions;
    double *mix;        /* cumulative weights of the transactions */
    uint32_t *deck;     /* transactions, each as often as its weight; NULL: by weight */
    char **session;     /* statements for a new connection */
    uint32_t *retry;    /* error numbers */
    uint32_t *tolerate; /* error numbers */
    uint32_t instruction_count, register_count, generator_count, statement_count,
        label_count, choice_count, transaction_count, session_count, retry_count,
        tolerate_count, loop_count, calculation_count, test_count, deck_count;
    uint32_t set_up_entry; /* NO_INSTRUCTION: nothing is set up */
    bool setting_up;       /* while building */
    bool dealt;            /* a deck is wanted */
    uint32_t handle_count; /* statements x variants */
    uint32_t rollback;     /* the ROLLBACK that workers send after an error */
    int64_t reconnect_every;
    bool shareable; /* its workers only wait for replies: several can share a thread */
};

#define NO_INSTRUCTION UINT32_MAX

/* Built-in registers, present in every program. */
enum {
    REGISTER_WORKER, /* `worker`: the worker's number from 1 */
    REGISTER_WORKERS /* `workers`: how many there are */
};

/* Make an empty program; program_free() it. */
int program_new(struct program **result, struct error *error);
void program_free(struct program *program);

int program_begin_transaction(struct program *program, const char *name, double weight,
                              struct error *error);
int program_end_transaction(struct program *program, struct error *error);

/* The steps between these run once in each worker, before its first transaction; what
 * they leave in registers is there in all of them. They draw and compute, and execute
 * nothing. Before the first transaction. */
int program_begin_set_up(struct program *program, struct error *error);
int program_end_set_up(struct program *program, struct error *error);

/* Wait before (`keying`) and after (`thinking`) each of the latest transaction, for as
 * many seconds as a generator of integers or reals draws; NULL: do not. The generators
 * become the program's also on failure. */
int program_set_pauses(struct program *program, struct generator *keying,
                       struct generator *thinking, struct error *error);

/* Choose transactions from a shuffled deck in which each lies as often as its weight,
 * which must be a whole number: every worker plays its own. */
void program_set_deck(struct program *program);

/* Draw into a register, which takes the generator's type. The generator becomes the
 * program's also on failure. */
int program_draw(struct program *program, const char *target,
                 struct generator *generator, struct error *error);

int program_add(struct program *program, const char *target, const char *source,
                int64_t plus, struct error *error);

/* The right side as a step names it. */
struct operand_step {
    const char *reg; /* NULL: the constant */
    const struct value *constant;
};

/* Calculate with integers into a register. */
int program_calculate(struct program *program, const char *target,
                      enum arithmetic arithmetic, const char *left,
                      const struct operand_step *right, struct error *error);

/* An EXECUTE step. Names and SQL are borrowed for the call. */
struct execute_step {
    const char *name;
    const char *sql;
    const char *const *parameters;
    uint32_t parameter_count;
    const char *const *kept;
    const enum value_type *kept_types;
    uint32_t kept_count;
    bool rollback_if_none;
};

int program_execute(struct program *program, const struct execute_step *step,
                    struct error *error);

/* One row of a bulk INSERT; `step` has parameters but nothing kept. */
int program_append_row(struct program *program, const struct execute_step *step,
                       struct error *error);

/* BEGIN, COMMIT or ROLLBACK by kind; the last two end the transaction's fate only
 * when nothing follows: COMMIT goes on, ROLLBACK ends it. */
int program_control(struct program *program, enum statement_kind kind,
                    struct error *error);

/* End the transaction as rolled back, without a statement: the server has done so. */
int program_end_rolled_back(struct program *program, struct error *error);

/* Blocks nest; each _begin returns in *mark what its _end needs. */
int program_begin_repeat(struct program *program, int64_t times, uint32_t *mark,
                         struct error *error);

/* The same, as often as an integer register says then; NULL or less than 1: never. */
int program_begin_repeat_by(struct program *program, const char *times, uint32_t *mark,
                            struct error *error);
int program_end_repeat(struct program *program, uint32_t mark, struct error *error);

/* A choice of `count` branches by weight. For each branch in turn:
 * program_begin_branch, its steps, program_end_branch; then program_end_choose. */
struct choose_block {
    uint32_t choice;
    uint32_t branch;      /* the next one */
    uint32_t *jumps;      /* instruction at the end of each branch; owned */
    bool *before;         /* registers with a value before the choice; owned */
    uint32_t registers;   /* how many there were then */
    uint32_t *defined_in; /* by register: branches that end with a value; owned */
    uint32_t counted;     /* registers there */
};

int program_begin_choose(struct program *program, const double *weights, uint32_t count,
                         struct choose_block *block, struct error *error);

/* A choice of two branches, the first of which runs when a register compares so. */
int program_begin_if(struct program *program, const char *left,
                     enum comparison comparison, const struct operand_step *right,
                     struct choose_block *block, struct error *error);
void program_begin_branch(struct program *program, struct choose_block *block);
int program_end_branch(struct program *program, struct choose_block *block,
                       struct error *error);
void program_end_choose(struct program *program, struct choose_block *block);

int program_add_session(struct program *program, const char *sql, struct error *error);

/* Error numbers to retry or to tolerate. */
int program_add_retry(struct program *program, int64_t number, struct error *error);
int program_add_tolerate(struct program *program, int64_t number, struct error *error);

/* Log in anew after every so many transactions; 0: never. */
int program_set_reconnect(struct program *program, int64_t transactions,
                          struct error *error);

/* Check the whole; nothing may be added afterwards. */
int program_finish(struct program *program, struct error *error);

/* True if workers pause before or after some of the transactions. */
bool program_pauses(const struct program *program);

/* False for a program that executes no statement at all. */
bool program_needs_server(const struct program *program);

/* The text of variant `variant` of a statement for worker `worker` (from 1) into a
 * buffer that the caller frees. */
char *program_statement_sql(const struct program_statement *statement, uint32_t variant,
                            uint32_t worker);

#endif
