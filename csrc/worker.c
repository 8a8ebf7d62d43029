/*
 * The interpreter, and the loop around it.
 *
 * Time is read once after each statement: the end of one is the start of the next.
 */
#include "worker.h"

#include "clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* How an instruction, or a whole attempt, went. */
enum progress {
    PROGRESS_NEXT,        /* go on */
    PROGRESS_COMMITTED,   /* the transaction is over */
    PROGRESS_ROLLED_BACK, /* the transaction is over */
    PROGRESS_ERROR        /* worker->error says why */
};

static bool is_over(const struct worker *worker)
{
    /* Relaxed: a late look costs one more transaction, nothing else. */
    return worker->now_ns >=
           atomic_load_explicit(&worker->schedule->end_ns, memory_order_relaxed);
}

/* The phase that an event at `now_ns` belongs to: where it ends, for a timed run; the
 * one its transaction was begun in, for a counted run, which so measures exactly its
 * number. */
static enum phase current_phase(const struct worker *worker)
{
    const struct schedule *schedule = worker->schedule;

    if (schedule->counted)
        return worker->phase;
    if (worker->now_ns < schedule->measure_ns)
        return PHASE_WARMUP;
    return is_over(worker) ? PHASE_DRAIN : PHASE_MEASUREMENT;
}

/* Record the statement that has just ended, with status 0 or -1. */
static void record_statement(struct worker *worker, uint32_t label,
                             const struct reply *reply, int status)
{
    int64_t begun_ns = worker->now_ns;
    int64_t response_ns;

    worker->now_ns = clock_now_ns();
    response_ns = worker->now_ns - begun_ns;
    if (status)
        recorder_failure(&worker->recorder, current_phase(worker), label,
                         &worker->error, response_ns);
    else
        recorder_statement(&worker->recorder, current_phase(worker), label, reply,
                           response_ns);
}

static int send_text(struct worker *worker, const struct program_statement *statement,
                     struct reply *reply)
{
    return connection_command(worker->connection, statement->before,
                              strlen(statement->before), reply, &worker->error);
}

static int send_prepared(struct worker *worker,
                         const struct program_statement *statement, struct reply *reply)
{
    struct statement *handle;
    uint32_t variant = 0;

    if (statement->variants > 1)
        variant = (uint32_t)(worker->registers[statement->variant_register].integer -
                             statement->variant_low);
    if (variant >= statement->variants)
        return error_set(&worker->error, ERROR_INVALID,
                         "register '%s' left the range that '%s...' was prepared for",
                         worker->program->registers[statement->variant_register].name,
                         statement->before);
    handle = worker->handles[statement->first_handle + variant];
    return handle ? statement_execute(handle, reply, &worker->error)
                  : send_text(worker, statement, reply);
}

static enum progress execute(struct worker *worker,
                             const struct program_statement *statement, bool *found)
{
    struct reply reply;
    int status = statement->mode == MODE_TEXT
                     ? send_text(worker, statement, &reply)
                     : send_prepared(worker, statement, &reply);

    record_statement(worker, statement->label, &reply, status);
    *found = !status && reply.found;
    return status ? PROGRESS_ERROR : PROGRESS_NEXT;
}

/* ROLLBACK explicitly: an error such as 1205 leaves the transaction open, and the
 * next BEGIN would commit it. */
static enum progress roll_back(struct worker *worker)
{
    const struct program *program = worker->program;
    bool found;

    return execute(worker, &program->statements[program->rollback], &found);
}

static enum progress run_statement(struct worker *worker,
                                   const struct program_statement *statement)
{
    bool found;
    enum progress progress = execute(worker, statement, &found);

    if (progress != PROGRESS_NEXT || found || !statement->rollback_if_none)
        return progress;
    return roll_back(worker) == PROGRESS_ERROR ? PROGRESS_ERROR : PROGRESS_ROLLED_BACK;
}

/* Send the rows that `batch` holds. They stay in it when a retry may send them again.
 */
static enum progress send_rows(struct worker *worker,
                               const struct program_statement *statement,
                               struct batch *batch)
{
    struct reply reply;
    int status =
        connection_command(worker->connection, batch->text,
                           batch_statement_length(batch), &reply, &worker->error);

    record_statement(worker, statement->label, &reply, status);
    if (status)
        return PROGRESS_ERROR;
    batch_empty(batch);
    return PROGRESS_NEXT;
}

static struct value *const *bind_registers(struct worker *worker,
                                           const struct program_statement *statement)
{
    for (uint32_t i = 0; i < statement->parameter_count; i++)
        worker->bound[i] = &worker->registers[statement->parameters[i]];
    return worker->bound;
}

static enum progress append_row(struct worker *worker, uint32_t index)
{
    const struct program_statement *statement = &worker->program->statements[index];
    struct batch *batch = &worker->batches[index];

    if (batch_is_full(batch) && send_rows(worker, statement, batch) == PROGRESS_ERROR)
        return PROGRESS_ERROR;
    batch_append(batch, bind_registers(worker, statement), statement->parameter_count);
    return PROGRESS_NEXT;
}

static void draw(struct worker *worker, const struct instruction *instruction)
{
    const struct generator *generator = &worker->generators[instruction->b];
    uint64_t ordinal = worker->ordinals[instruction->b];

    worker->ordinals[instruction->b] +=
        generator->ordinal == ORDINAL_SHARED ? worker->workers : 1;
    generator_draw(generator, &worker->rng, ordinal,
                   &worker->registers[instruction->a]);
}

/* An index with probability by weight; `cumulative` holds the weights summed up. */
static uint32_t pick(struct worker *worker, const double *cumulative, uint32_t count)
{
    double point = rng_uniform(&worker->rng) * cumulative[count - 1];
    uint32_t index = 0;

    while (index + 1 < count && cumulative[index] <= point)
        index++;
    return index;
}

/* Instructions that move the program counter; returns its new value. */
static uint32_t go(struct worker *worker, const struct instruction *instruction,
                   uint32_t here)
{
    int64_t *loop = &worker->loops[instruction->a];
    const struct program_choice *choice;

    switch (instruction->operation) {
    case OP_REPEAT:
        *loop = instruction->number;
        return *loop ? here + 1 : instruction->b;
    case OP_NEXT:
        return --*loop > 0 ? instruction->b : here + 1;
    case OP_CHOOSE:
        choice = &worker->program->choices[instruction->a];
        return choice->targets[pick(worker, choice->cumulative, choice->count)];
    default:
        return instruction->b;
    }
}

/* Run the transaction that starts at `here` once. */
static enum progress attempt(struct worker *worker, uint32_t here)
{
    const struct program *program = worker->program;
    enum progress progress = PROGRESS_NEXT;

    while (progress == PROGRESS_NEXT) {
        const struct instruction *instruction = &program->instructions[here];
        switch (instruction->operation) {
        case OP_DRAW:
            draw(worker, instruction);
            here++;
            break;
        case OP_ADD:
            worker->registers[instruction->a].integer =
                worker->registers[instruction->b].integer + instruction->number;
            here++;
            break;
        case OP_EXECUTE:
            progress = run_statement(worker, &program->statements[instruction->a]);
            here++;
            break;
        case OP_APPEND_ROW:
            progress = append_row(worker, instruction->a);
            here++;
            break;
        case OP_COMMITTED:
            progress = PROGRESS_COMMITTED;
            break;
        case OP_ROLLED_BACK:
            progress = PROGRESS_ROLLED_BACK;
            break;
        default:
            here = go(worker, instruction, here);
        }
    }
    return progress;
}

static bool is_listed(const uint32_t *numbers, uint32_t count, uint32_t number)
{
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* An error the workload does not expect ends the run. After the run was told to stop,
 * it is but the echo of an interrupted connection. */
static enum outcome give_up(struct worker *worker)
{
    if (atomic_load_explicit(&worker->interrupted, memory_order_relaxed))
        return OUTCOME_IN_FLIGHT;
    worker->failed = true;
    return OUTCOME_FAILED;
}

/* Run one transaction, with as many attempts as it takes. */
static enum outcome run_transaction(struct worker *worker, uint32_t index)
{
    const struct program *program = worker->program;

    for (;;) {
        enum progress progress = attempt(worker, program->transactions[index].entry);
        uint32_t number = worker->error.number;
        if (progress == PROGRESS_COMMITTED)
            return OUTCOME_COMMITTED;
        if (progress == PROGRESS_ROLLED_BACK)
            return OUTCOME_ROLLED_BACK;
        if (worker->error.kind != ERROR_DATABASE || connection_error_is_loss(number))
            return give_up(worker);
        if (is_listed(program->retry, program->retry_count, number)) {
            if (roll_back(worker) == PROGRESS_ERROR)
                return give_up(worker);
            if (is_over(worker))
                return OUTCOME_IN_FLIGHT;
            recorder_retry(&worker->recorder, current_phase(worker), index);
        } else if (is_listed(program->tolerate, program->tolerate_count, number)) {
            return roll_back(worker) == PROGRESS_ERROR ? give_up(worker)
                                                       : OUTCOME_FAILED;
        } else {
            return give_up(worker);
        }
    }
}

/* In a counted run, take one of the transactions that are left; false when none is. */
static bool take_turn(struct worker *worker)
{
    struct schedule *schedule = worker->schedule;

    if (!schedule->counted)
        return true;
    worker->phase =
        worker->now_ns < schedule->measure_ns ? PHASE_WARMUP : PHASE_MEASUREMENT;
    /* Relaxed: the count itself is all that is shared. */
    return worker->phase == PHASE_WARMUP ||
           atomic_fetch_sub_explicit(&schedule->remaining, 1, memory_order_relaxed) > 0;
}

static bool reconnect_is_due(const struct worker *worker)
{
    return worker->program->reconnect_every &&
           worker->since_connect >= (uint64_t)worker->program->reconnect_every;
}

/* One transaction from its scheduled start to its record. */
static void serve(struct worker *worker)
{
    const struct program *program = worker->program;
    int64_t begun_ns = worker->now_ns;
    uint32_t index = 0;
    enum outcome outcome;

    if (program->transaction_count > 1)
        index = pick(worker, program->mix, program->transaction_count);
    recorder_scheduled(&worker->recorder);
    outcome = run_transaction(worker, index);
    if (worker->now_ns == begun_ns) /* no statement read the clock */
        worker->now_ns = clock_now_ns();
    recorder_transaction(&worker->recorder, current_phase(worker), index, outcome,
                         worker->now_ns - begun_ns);
    worker->since_connect++;
}

/* Send what is left in the batches. */
static void send_remaining_rows(struct worker *worker)
{
    const struct program *program = worker->program;

    for (uint32_t i = 0; i < program->statement_count; i++) {
        struct batch *batch = &worker->batches[i];
        if (batch->rows &&
            send_rows(worker, &program->statements[i], batch) == PROGRESS_ERROR) {
            give_up(worker);
            return;
        }
    }
}

static void add_cpu_time(struct worker *worker, int64_t sign)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    worker->cpu_user_ns += sign * ((int64_t)usage.ru_utime.tv_sec * CLOCK_NS_PER_S +
                                   usage.ru_utime.tv_usec * 1000);
    worker->cpu_system_ns += sign * ((int64_t)usage.ru_stime.tv_sec * CLOCK_NS_PER_S +
                                     usage.ru_stime.tv_usec * 1000);
}

static int reconnect(struct worker *worker)
{
    int status;

    worker_close(worker);
    status = worker_open(worker, &worker->error);
    worker->now_ns = clock_now_ns();
    return status;
}

void worker_run(struct worker *worker)
{
    add_cpu_time(worker, -1);
    worker->now_ns = clock_now_ns();
    while (!worker->failed && !is_over(worker) && take_turn(worker)) {
        if (reconnect_is_due(worker) && reconnect(worker)) {
            give_up(worker);
            break;
        }
        serve(worker);
    }
    if (!worker->failed)
        send_remaining_rows(worker);
    worker->ended_ns = worker->now_ns;
    add_cpu_time(worker, 1);
}
