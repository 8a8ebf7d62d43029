/*
 * The interpreter, and the loop around it.
 *
 * It stops wherever a reply has to come, and goes on from what the worker knows of the
 * statement in flight: a thread may serve other workers meanwhile. Time is read once
 * after each reply, when the worker goes on to its next statement without a pause: the
 * end of one is the start of the next.
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

/* How an instruction, or a whole transaction, went. */
enum progress {
    PROGRESS_NEXT,        /* go on */
    PROGRESS_SENT,        /* go on when the reply has come */
    PROGRESS_COMMITTED,   /* the transaction is over */
    PROGRESS_ROLLED_BACK, /* the transaction is over */
    PROGRESS_FAILED,      /* the transaction is over */
    PROGRESS_IN_FLIGHT,   /* the transaction is over */
    PROGRESS_ERROR        /* worker->error says why */
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

/* Send a statement, prepared or as text. */
static int send_statement(struct worker *worker,
                          const struct program_statement *statement)
{
    uint32_t variant = 0;

    worker->handle = NULL;
    if (statement->mode == MODE_PREPARED) {
        if (find_variant(worker, statement, &variant))
            return -1;
        worker->handle = worker->handles[statement->first_handle + variant];
    }
    if (worker->handle)
        return statement_send(worker->handle, &worker->error);
    return connection_send(worker->connection, statement->before,
                           strlen(statement->before), &worker->error);
}

static int receive_reply(struct worker *worker, struct reply *reply)
{
    return worker->handle
               ? statement_receive(worker->handle, reply, &worker->error)
               : connection_receive(worker->connection, reply, &worker->error);
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

/* Send a statement, prepared or as text; `purpose` says what comes after its reply. */
static enum progress send(struct worker *worker,
                          const struct program_statement *statement,
                          enum purpose purpose)
{
    worker->purpose = purpose;
    if (send_statement(worker, statement)) {
        record_statement(worker, statement->label, NULL, -1);
        return PROGRESS_ERROR;
    }
    worker->sent = statement;
    return PROGRESS_SENT;
}

/* ROLLBACK explicitly: an error such as 1205 leaves the transaction open, and the
 * next BEGIN would commit it. */
static enum progress roll_back(struct worker *worker, enum purpose purpose)
{
    const struct program *program = worker->program;

    return send(worker, &program->statements[program->rollback], purpose);
}

/* Send a text and wait for its reply: not on a thread that others share. */
static int command(struct worker *worker, uint32_t label, const char *sql,
                   size_t length)
{
    struct reply reply;
    int status =
        connection_command(worker->connection, sql, length, &reply, &worker->error);

    record_statement(worker, label, &reply, status);
    return status;
}

/* Send the rows that `batch` holds. They stay in it if they are to be sent again. */
static enum progress send_rows(struct worker *worker,
                               const struct program_statement *statement,
                               struct batch *batch)
{
    int status =
        command(worker, statement->label, batch->text, batch_statement_length(batch));

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
        return send(worker, &program->statements[instruction->a], PURPOSE_STEP);
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

/* The error ends the run. After the run was told to stop, it is but the echo of an
 * interrupted connection. */
static enum progress give_up(struct worker *worker)
{
    if (is_interrupted(worker))
        return PROGRESS_IN_FLIGHT;
    worker->failed = true;
    return PROGRESS_FAILED;
}

/* After worker->error: roll back, or give up when that itself has failed. */
static enum progress recover(struct worker *worker)
{
    worker->verdict = judge(worker);
    if (worker->verdict == VERDICT_GIVE_UP || worker->purpose == PURPOSE_ERROR)
        return give_up(worker);
    return roll_back(worker, PURPOSE_ERROR);
}

/* An error has been rolled back: another attempt, or the end of the transaction. */
static enum progress end_attempt(struct worker *worker)
{
    if (worker->verdict == VERDICT_TOLERATE)
        return PROGRESS_FAILED;
    if (is_over(worker))
        return PROGRESS_IN_FLIGHT;
    recorder_retry(&worker->recorder, current_phase(worker), worker->transaction);
    worker->here = worker->program->transactions[worker->transaction].entry;
    return PROGRESS_NEXT;
}

/* Receive the reply to the statement in flight, and go on as was meant. */
static enum progress receive(struct worker *worker)
{
    const struct program_statement *statement = worker->sent;
    enum purpose purpose = worker->purpose;
    struct reply reply;
    int status = receive_reply(worker, &reply);

    if (status == REPLY_INCOMPLETE)
        return PROGRESS_SENT;
    worker->sent = NULL;
    record_statement(worker, statement->label, &reply, status);
    if (status)
        return PROGRESS_ERROR;
    worker->purpose = PURPOSE_STEP;
    if (purpose == PURPOSE_ERROR)
        return end_attempt(worker);
    if (purpose == PURPOSE_NO_ROW)
        return PROGRESS_ROLLED_BACK;
    return reply.found || !statement->rollback_if_none
               ? PROGRESS_NEXT
               : roll_back(worker, PURPOSE_NO_ROW);
}

/* Run the transaction until it is over, or a reply has to be waited for that the thread
 * must not wait for. */
static enum progress carry_on(struct worker *worker)
{
    enum progress progress = worker->sent ? PROGRESS_SENT : PROGRESS_NEXT;
    bool may_receive = worker->sent || !worker->shares_thread;

    for (;;) {
        while (progress == PROGRESS_NEXT)
            progress = step(worker, &worker->here);
        if (progress == PROGRESS_ERROR)
            progress = recover(worker);
        else if (progress == PROGRESS_SENT && may_receive)
            progress = receive(worker);
        else
            return progress;
        may_receive = !worker->shares_thread;
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

/* False when no transaction of a counted run is left: nobody waits for one more. */
static bool turns_are_left(const struct worker *worker)
{
    const struct schedule *schedule = worker->schedule;

    return !schedule->counted ||
           atomic_load_explicit(&schedule->remaining, memory_order_relaxed) > 0;
}

static bool reconnect_is_due(const struct worker *worker)
{
    return worker->program->reconnect_every &&
           worker->since_connect >= (uint64_t)worker->program->reconnect_every;
}

/* Send what is left in a batch, and once more after an error that asks for it: one that
 * lasts would hold up the end for ever. */
static enum progress send_last_rows(struct worker *worker,
                                    const struct program_statement *statement,
                                    struct batch *batch)
{
    const struct program_statement *rollback =
        &worker->program->statements[worker->program->rollback];

    for (int retries = 1; send_rows(worker, statement, batch) == PROGRESS_ERROR;
         retries--) {
        enum verdict verdict = judge(worker);
        if (verdict == VERDICT_GIVE_UP)
            return PROGRESS_ERROR;
        if (verdict == VERDICT_TOLERATE || !retries)
            break;
        if (command(worker, rollback->label, rollback->before,
                    strlen(rollback->before)))
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

static int reconnect(struct worker *worker)
{
    int status;

    worker_close(worker);
    status = worker_open(worker, &worker->error);
    worker->now_ns = clock_now_ns();
    return status;
}

/* Choose the next transaction, if there is to be one, and key it in. */
static bool choose_next(struct worker *worker)
{
    if (worker->failed || is_over(worker) || !take_turn(worker))
        return false;
    worker->transaction = worker_next_transaction(worker);
    worker->chosen = true;
    worker_pause(worker, worker->program->transactions[worker->transaction].keying);
    return true;
}

/* Begin the chosen transaction at its scheduled start; false when the end of the run
 * came first. */
static bool begin(struct worker *worker)
{
    const struct program *program = worker->program;

    worker->chosen = false;
    if (is_over(worker))
        return false;
    if (reconnect_is_due(worker) && reconnect(worker)) {
        give_up(worker);
        return false;
    }
    worker->begun_ns = worker->now_ns;
    recorder_scheduled(&worker->recorder);
    worker->here = program->transactions[worker->transaction].entry;
    worker->purpose = PURPOSE_STEP;
    worker->in_transaction = true;
    return true;
}

/* Record the transaction, which has ended as `progress` says; the user thinks. */
static void end(struct worker *worker, enum progress progress)
{
    static const enum outcome outcomes[] = {[PROGRESS_COMMITTED] = OUTCOME_COMMITTED,
                                            [PROGRESS_ROLLED_BACK] =
                                                OUTCOME_ROLLED_BACK,
                                            [PROGRESS_FAILED] = OUTCOME_FAILED,
                                            [PROGRESS_IN_FLIGHT] = OUTCOME_IN_FLIGHT};

    if (worker->now_ns == worker->begun_ns) /* no statement read the clock */
        worker->now_ns = clock_now_ns();
    recorder_transaction(&worker->recorder, current_phase(worker), worker->transaction,
                         outcomes[progress], worker->now_ns - worker->begun_ns);
    worker->since_connect++;
    worker->in_transaction = false;
    if (!worker->failed && turns_are_left(worker))
        worker_pause(worker,
                     worker->program->transactions[worker->transaction].thinking);
}

/* Compute what all transactions have in registers. It executes nothing. */
static void set_up(struct worker *worker)
{
    worker->here = worker->program->set_up_entry;
    while (step(worker, &worker->here) == PROGRESS_NEXT)
        continue;
}

void worker_begin(struct worker *worker)
{
    worker->now_ns = clock_now_ns();
    if (worker->program->set_up_entry != NO_INSTRUCTION)
        set_up(worker);
}

bool worker_advance(struct worker *worker)
{
    for (;;) {
        enum progress progress;
        if (worker->resume_ns && !worker_has_rested(worker))
            return true;
        if (!worker->in_transaction && !worker->chosen && !choose_next(worker))
            break;
        if (worker->resume_ns)
            continue;
        if (!worker->in_transaction && !begin(worker))
            break;
        progress = carry_on(worker);
        if (progress == PROGRESS_SENT)
            return true;
        end(worker, progress);
    }
    if (!worker->failed)
        send_remaining_rows(worker);
    /* Read anew: what was recorded came before, also if this thread had to wait. */
    worker->ended_ns = clock_now_ns();
    return false;
}
