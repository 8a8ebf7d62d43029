/*
 * Arithmetic, tests, the deck and pauses of a worker.
 */
#include "worker_steps.h"

#include "clock.h"
#include "generator.h"
#include "program.h"
#include "value.h"
#include "worker.h"

#include <string.h>

uint32_t worker_pick(struct worker *worker, const double *cumulative, uint32_t count)
{
    double point = rng_uniform(&worker->rng) * cumulative[count - 1];
    uint32_t index = 0;

    while (index + 1 < count && cumulative[index] <= point)
        index++;
    return index;
}

/* Take one of the cards that are left, which is as good as having shuffled them. */
static uint32_t take_card(struct worker *worker)
{
    uint32_t *deck = worker->deck;
    uint32_t place, card;

    if (!worker->cards_left)
        worker->cards_left = worker->program->deck_count;
    place = (uint32_t)rng_below(&worker->rng, worker->cards_left--);
    card = deck[place];
    deck[place] = deck[worker->cards_left];
    deck[worker->cards_left] = card;
    return card;
}

uint32_t worker_next_transaction(struct worker *worker)
{
    const struct program *program = worker->program;

    if (program->transaction_count == 1)
        return 0;
    return worker->deck ? take_card(worker)
                        : worker_pick(worker, program->mix, program->transaction_count);
}

/* The quotient rounded down; INT64_MIN / -1 wraps. */
static int64_t divide(int64_t left, int64_t right)
{
    if (right == -1)
        return (int64_t)(0 - (uint64_t)left);
    return left / right - (left % right && (left < 0) != (right < 0));
}

static int64_t remainder_of(int64_t left, int64_t right)
{
    int64_t rest = right == -1 ? 0 : left % right;

    return rest && (rest < 0) != (right < 0) ? rest + right : rest;
}

void worker_calculate(struct worker *worker, const struct instruction *instruction)
{
    const struct program_calculation *calculation =
        &worker->program->calculations[instruction->b];
    const struct program_operand *operand = &calculation->right;
    const struct value *left = &worker->registers[calculation->left];
    const struct value *right =
        operand->reg == NO_REGISTER ? NULL : &worker->registers[operand->reg];
    struct value *target = &worker->registers[instruction->a];
    uint64_t a = (uint64_t)left->integer; /* unsigned, so that it wraps */
    uint64_t b = (uint64_t)(right ? right->integer : operand->integer);
    bool is_null = left->is_null || (right ? right->is_null : operand->is_null);

    if (calculation->arithmetic >= ARITHMETIC_DIVIDE && !b)
        is_null = true;
    target->is_null = is_null;
    if (is_null)
        return;
    switch (calculation->arithmetic) {
    case ARITHMETIC_ADD:
        target->integer = (int64_t)(a + b);
        break;
    case ARITHMETIC_SUBTRACT:
        target->integer = (int64_t)(a - b);
        break;
    case ARITHMETIC_MULTIPLY:
        target->integer = (int64_t)(a * b);
        break;
    case ARITHMETIC_DIVIDE:
        target->integer = divide((int64_t)a, (int64_t)b);
        break;
    case ARITHMETIC_REMAINDER:
        target->integer = remainder_of((int64_t)a, (int64_t)b);
        break;
    }
}

/* Below 0, 0 or above as left is less than, equal to or greater than right. */
static int compare_integers(int64_t left, int64_t right)
{
    return (left > right) - (left < right);
}

/* 0 when they are equal. */
static int compare_texts(const struct value *left, const char *text, size_t length)
{
    return left->length != length || memcmp(left->text, text, length) != 0;
}

static int compare_operand(const struct worker *worker, const struct value *left,
                           const struct program_operand *operand)
{
    const struct value *right;

    if (operand->reg == NO_REGISTER)
        return left->type == VALUE_TEXT
                   ? compare_texts(left, operand->text, operand->length)
                   : compare_integers(left->integer, operand->integer);
    right = &worker->registers[operand->reg];
    return left->type == VALUE_TEXT ? compare_texts(left, right->text, right->length)
                                    : compare_integers(left->integer, right->integer);
}

/* With NULL on one side, or on both. */
static bool holds_for_null(enum comparison comparison, bool both)
{
    return comparison == (both ? COMPARISON_EQUAL : COMPARISON_NOT_EQUAL);
}

static bool holds(const struct worker *worker, const struct program_test *test)
{
    const struct value *left = &worker->registers[test->left];
    const struct program_operand *right = &test->right;
    bool right_is_null = right->reg == NO_REGISTER
                             ? right->is_null
                             : worker->registers[right->reg].is_null;
    int order;

    if (left->is_null || right_is_null)
        return holds_for_null(test->comparison, left->is_null && right_is_null);
    order = compare_operand(worker, left, right);
    switch (test->comparison) {
    case COMPARISON_EQUAL:
        return order == 0;
    case COMPARISON_NOT_EQUAL:
        return order != 0;
    case COMPARISON_LESS:
        return order < 0;
    case COMPARISON_AT_MOST:
        return order <= 0;
    case COMPARISON_GREATER:
        return order > 0;
    case COMPARISON_AT_LEAST:
        return order >= 0;
    }
    return false;
}

uint32_t worker_branch(const struct worker *worker,
                       const struct instruction *instruction)
{
    const struct program *program = worker->program;
    const struct program_choice *choice = &program->choices[instruction->b];

    return choice->targets[holds(worker, &program->tests[instruction->a]) ? 0 : 1];
}

int64_t worker_times(const struct worker *worker, const struct instruction *instruction)
{
    const struct value *times;

    if (instruction->c == NO_REGISTER)
        return instruction->number;
    times = &worker->registers[instruction->c];
    return times->is_null ? 0 : times->integer;
}

/* A number of seconds from the worker's stream, in ns and not absurdly long. */
static int64_t draw_pause_ns(struct worker *worker, uint32_t index)
{
    enum { LONGEST_S = 86400 };
    const struct generator *generator = &worker->generators[index];
    struct value drawn = {.type = generator->result};
    double seconds;

    generator_draw(generator, &worker->rng, worker->ordinals[index]++, &drawn);
    seconds = drawn.type == VALUE_INTEGER ? (double)drawn.integer : drawn.real;
    if (!(seconds > 0))
        return 0;
    return (int64_t)((seconds < LONGEST_S ? seconds : LONGEST_S) * CLOCK_NS_PER_S);
}

/* Relaxed: whoever moves the end signals the monitor behind it. */
static int64_t end_of_run(const struct worker *worker)
{
    return atomic_load_explicit(&worker->schedule->end_ns, memory_order_relaxed);
}

void worker_pause(struct worker *worker, uint32_t generator)
{
    int64_t pause_ns;

    if (generator == NO_GENERATOR)
        return;
    pause_ns = draw_pause_ns(worker, generator);
    if (pause_ns)
        worker->resume_ns = worker->now_ns + pause_ns;
}

/* When to go on, by what is known now. */
static int64_t wake_time(const struct worker *worker)
{
    int64_t end_ns = end_of_run(worker);

    return worker->resume_ns < end_ns ? worker->resume_ns : end_ns;
}

static void rest(struct worker *worker)
{
    monitor_lock(&worker->pause);
    while (clock_now_ns() < wake_time(worker))
        monitor_wait(&worker->pause, wake_time(worker));
    monitor_unlock(&worker->pause);
}

bool worker_has_rested(struct worker *worker)
{
    if (!worker->shares_thread)
        rest(worker);
    worker->now_ns = clock_now_ns();
    if (worker->now_ns < wake_time(worker))
        return false;
    worker->resume_ns = 0;
    return true;
}
