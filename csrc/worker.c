/*
 * The interpreter, and the loop around it.
 *
 * Time is read once after each statement: the end of one is the start of the next.
 */
#include "worker.h"

#include "batch.h"
#include "clock.h"
#include "connection.h"
#include "generator.h"
#include "program.h"
#include "reply.h"
#include "value.h"
#include "worker_steps.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

/* How an instruction, or a whole attempt, went. */
enum progress {
    PROGRESS_NEXT,        /* go on */
    PROGRESS_COMMITTED,   /* the transaction is over */
    PROGRESS_ROLLED_BACK, /* the transaction is over */
    PROGRESS_ERROR        /* worker->error says why */
};

/* What an error means for the transaction. */
enum verdict {
    VERDICT_RETRY,    /* another attempt */
    VERDICT_TOLERATE, /* it has failed; go on with the next */
    VERDICT_GIVE_UP   /* it has failed, and the run with it */
};

static bool is_over(const struct worker *worker)
{
    /* Relaxed: a late look costs one more transaction, nothing else. */
    return worker->now_ns >=
           atomic_load_explicit(&worker->schedule->end_ns, memory_order_relaxed);
}

static bool is_interrupted(const struct worker *worker)
{
    /* Relaxed: a late look costs one more try, nothing else. */
    return atomic_load_explicit(&worker->interrupted, memory_order_relaxed);
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

/* Record the statement that has just ended, with status 0 or -1. The error of one that
 * was cut off is an echo of the stop, not the server's. */
static void record_statement(struct worker *worker, uint32_t label,
                             const struct reply *reply, int status)
{
    int64_t begun_ns = worker->now_ns;
    int64_t response_ns;

    worker->now_ns = clock_now_ns();
    response_ns = worker->now_ns - begun_ns;
    if (!status)
        recorder_statement(&worker->recorder, current_phase(worker), label, reply,
                           response_ns);
    else if (!is_interrupted(worker))
        recorder_failure(&worker->recorder, current_phase(worker), label,
                         &worker->error, response_ns);
}

static int send_text(struct worker *worker, const struct program_statement *statement,
                     struct reply *reply)
{
    return connection_command(worker->connection, statement->before,
                              strlen(statement->before), reply, &worker->error);
}

/* Which form of a statement the registers ask for. Bounds were known when the program
 * was built, but a later step may have widened those of a register copied from. */
static int find_variant(struct worker *worker,
                        const struct program_statement *statement, uint32_t *variant)
{
    const struct program *program = worker->program;
    uint32_t reg = statement->variant_register;
    uint64_t offset;

    *variant = 0;
    if (reg == NO_REGISTER || reg == REGISTER_WORKER)
        return 0;
    offset =
        (uint64_t)worker->registers[reg].integer - (uint64_t)statement->variant_low;
    if (offset >= statement->variants)
        return error_set(&worker->error, ERROR_INVALID,
                         "register '%s' is %lld, outside the range that '%s{%s}%s' was "
                         "prepared for",
                         program->registers[reg].name,
                         (long long)worker->registers[reg].integer, statement->before,
                         program->registers[reg].name, statement->after);
    *variant = (uint32_t)offset;
    return 0;
}

static int send_prepared(struct worker *worker,
                         const struct program_statement *statement, struct reply *reply)
{
    struct statement *handle;
    uint32_t variant;

    if (find_variant(worker, statement, &variant))
        return -1;
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

static bool is_listed(const uint32_t *numbers, uint32_t count, uint32_t number)
{
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* What the workload wants after worker->error. */
static enum verdict judge(const struct worker *worker)
{
    const struct program *program = worker->program;
    uint32_t number = worker->error.number;

    if (worker->error.kind != ERROR_DATABASE || connection_error_is_loss(number))
        return VERDICT_GIVE_UP;
    if (is_listed(program->retry, program->retry_count, number))
        return VERDICT_RETRY;
    if (is_listed(program->tolerate, program->tolerate_count, number))
        return VERDICT_TOLERATE;
    return VERDICT_GIVE_UP;
}

/* Send the rows that `batch` holds. They stay in it if they are to be sent again. */
static enum progress send_rows(struct worker *worker,
                               const struct program_statement *statement,
                               struct batch *batch)
{
    struct reply reply;
    int status =
        connection_command(worker->connection, batch->text,
                           batch_statement_length(batch), &reply, &worker->error);

    record_statement(worker, statement->label, &reply, status);
    if (!status || judge(worker) != VERDICT_RETRY)
        batch_empty(batch);
    return status ? PROGRESS_ERROR : PROGRESS_NEXT;
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

static void add(struct worker *worker, const struct instruction *instruction)
{
    const struct value *source = &worker->registers[instruction->b];
    struct value *target = &worker->registers[instruction->a];

    /* Unsigned, so that it wraps. */
    target->integer =
        (int64_t)((uint64_t)source->integer + (uint64_t)instruction->number);
    target->is_null = source->is_null;
}

static uint32_t choose(struct worker *worker, const struct program_choice *choice)
{
    return choice->targets[worker_pick(worker, choice->cumulative, choice->count)];
}

/* The end of a loop's body: once more, unless that was the last time. Steps without
 * statements notice only here that they are to be cut off. */
static enum progress next(struct worker *worker, const struct instruction *instruction,
                          uint32_t *here)
{
    if (is_interrupted(worker)) {
        error_set(&worker->error, ERROR_SYSTEM, "interrupted");
        return PROGRESS_ERROR;
    }
    if (--worker->loops[instruction->a] > 0)
        *here = instruction->b;
    return PROGRESS_NEXT;
}

/* Run the instruction at *here and move on. */
static enum progress step(struct worker *worker, uint32_t *here)
{
    const struct program *program = worker->program;
    const struct instruction *instruction = &program->instructions[(*here)++];

    switch (instruction->operation) {
    case OP_DRAW:
        draw(worker, instruction);
        break;
    case OP_ADD:
        add(worker, instruction);
        break;
    case OP_CALCULATE:
        worker_calculate(worker, instruction);
        break;
    case OP_EXECUTE:
        return run_statement(worker, &program->statements[instruction->a]);
    case OP_APPEND_ROW:
        return append_row(worker, instruction->a);
    case OP_REPEAT:
        worker->loops[instruction->a] = worker_times(worker, instruction);
        if (worker->loops[instruction->a] <= 0)
            *here = instruction->b;
        break;
    case OP_NEXT:
        return next(worker, instruction, here);
    case OP_CHOOSE:
        *here = choose(worker, &program->choices[instruction->a]);
        break;
    case OP_IF:
        *here = worker_branch(worker, instruction);
        break;
    case OP_JUMP:
        *here = instruction->b;
        break;
    case OP_COMMITTED:
        return PROGRESS_COMMITTED;
    case OP_ROLLED_BACK:
        return PROGRESS_ROLLED_BACK;
    }
    return PROGRESS_NEXT;
}

/* Run the transaction that starts at `here` once. */
static enum progress attempt(struct worker *worker, uint32_t here)
{
    enum progress progress;

    do
        progress = step(worker, &here);
    while (progress == PROGRESS_NEXT);
    return progress;
}

/* The error ends the run. After the run was told to stop, it is but the echo of an
 * interrupted connection. */
static enum outcome give_up(struct worker *worker)
{
    if (is_interrupted(worker))
        return OUTCOME_IN_FLIGHT;
    worker->failed = true;
    return OUTCOME_FAILED;
}

/* Run one transaction, with as many attempts as it takes. */
static enum outcome run_transaction(struct worker *worker, uint32_t index)
{
    const struct program_transaction *transaction =
        &worker->program->transactions[index];

    for (;;) {
        enum progress progress = attempt(worker, transaction->entry);
        enum verdict verdict;
        if (progress == PROGRESS_COMMITTED)
            return OUTCOME_COMMITTED;
        if (progress == PROGRESS_ROLLED_BACK)
            return OUTCOME_ROLLED_BACK;
        verdict = judge(worker);
        if (verdict == VERDICT_GIVE_UP || roll_back(worker) == PROGRESS_ERROR)
            return give_up(worker);
        if (verdict == VERDICT_TOLERATE)
            return OUTCOME_FAILED;
        if (is_over(worker))
            return OUTCOME_IN_FLIGHT;
        recorder_retry(&worker->recorder, current_phase(worker), index);
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
static void serve(struct worker *worker, uint32_t index)
{
    int64_t begun_ns = worker->now_ns;
    enum outcome outcome;

    recorder_scheduled(&worker->recorder);
    outcome = run_transaction(worker, index);
    if (worker->now_ns == begun_ns) /* no statement read the clock */
        worker->now_ns = clock_now_ns();
    recorder_transaction(&worker->recorder, current_phase(worker), index, outcome,
                         worker->now_ns - begun_ns);
    worker->since_connect++;
}

/* The next transaction, with the pauses around it. One whose keying the end of the run
 * cuts short is not begun. */
static void serve_next(struct worker *worker)
{
    uint32_t index = worker_next_transaction(worker);
    const struct program_transaction *transaction =
        &worker->program->transactions[index];

    worker_pause(worker, transaction->keying);
    if (transaction->keying != NO_GENERATOR && is_over(worker))
        return;
    serve(worker, index);
    if (!worker->failed)
        worker_pause(worker, transaction->thinking);
}

/* Send what is left in a batch, and once more after an error that asks for it: one that
 * lasts would hold up the end for ever. */
static enum progress send_last_rows(struct worker *worker,
                                    const struct program_statement *statement,
                                    struct batch *batch)
{
    for (int retries = 1; send_rows(worker, statement, batch) == PROGRESS_ERROR;
         retries--) {
        enum verdict verdict = judge(worker);
        if (verdict == VERDICT_GIVE_UP)
            return PROGRESS_ERROR;
        if (verdict == VERDICT_TOLERATE || !retries)
            break;
        if (roll_back(worker) == PROGRESS_ERROR)
            return PROGRESS_ERROR;
    }
    return PROGRESS_NEXT;
}

/* Rows that the server turns down as tolerated are gone, as they are in the middle of
 * the run. */
static void send_remaining_rows(struct worker *worker)
{
    const struct program *program = worker->program;

    for (uint32_t i = 0; i < program->statement_count; i++)
        if (worker->batches[i].rows &&
            send_last_rows(worker, &program->statements[i], &worker->batches[i]) ==
                PROGRESS_ERROR) {
            give_up(worker);
            return;
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
    if (worker->program->set_up_entry != NO_INSTRUCTION)
        attempt(worker, worker->program->set_up_entry);
    while (!worker->failed && !is_over(worker) && take_turn(worker)) {
        if (reconnect_is_due(worker) && reconnect(worker)) {
            give_up(worker);
            break;
        }
        serve_next(worker);
    }
    if (!worker->failed)
        send_remaining_rows(worker);
    /* Read anew: what was recorded came before, also if this thread had to wait. */
    worker->ended_ns = clock_now_ns();
    add_cpu_time(worker, 1);
}
