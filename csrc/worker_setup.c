/*
 * What a worker needs before it can run: memory, and a connection with every
 * statement prepared.
 */
#include "worker.h"

#include "batch.h"
#include "connection.h"
#include "generator.h"
#include "program.h"
#include "reply.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>

static int make_registers(struct worker *worker, struct error *error)
{
    const struct program *program = worker->program;

    worker->registers =
        array_zeroed(program->register_count, sizeof *worker->registers);
    if (!worker->registers)
        return error_set_memory(error);
    for (uint32_t i = 0; i < program->register_count; i++)
        if (value_init(&worker->registers[i], program->registers[i].type,
                       program->registers[i].capacity, error))
            return -1;
    worker->registers[REGISTER_WORKER].integer = worker->number;
    worker->registers[REGISTER_WORKERS].integer = worker->workers;
    return 0;
}

static int make_generators(struct worker *worker, struct error *error)
{
    const struct program *program = worker->program;
    uint32_t count = program->generator_count;

    worker->generators = array_zeroed(count, sizeof *worker->generators);
    worker->ordinals = array_zeroed(count, sizeof *worker->ordinals);
    if (!worker->generators || !worker->ordinals)
        return error_set_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        if (generator_init_worker(&worker->generators[i], &program->generators[i],
                                  worker->number - 1, worker->workers, error))
            return -1;
        if (worker->generators[i].ordinal == ORDINAL_SHARED)
            worker->ordinals[i] = worker->number - 1;
    }
    return 0;
}

/* Scratch space for the registers of the statement with the most of them. */
static int make_bound(struct worker *worker, struct error *error)
{
    const struct program *program = worker->program;
    uint32_t most = 1;

    for (uint32_t i = 0; i < program->statement_count; i++) {
        const struct program_statement *statement = &program->statements[i];
        if (statement->parameter_count + statement->kept_count > most)
            most = statement->parameter_count + statement->kept_count;
    }
    worker->bound = array_zeroed(most, sizeof *worker->bound);
    return worker->bound ? 0 : error_set_memory(error);
}

static void point_at_registers(const struct worker *worker, const uint32_t *indices,
                               uint32_t count, struct value **pointers)
{
    for (uint32_t i = 0; i < count; i++)
        pointers[i] = &worker->registers[indices[i]];
}

enum { PACKET_BYTES = 512 * 1024 }; /* of a bulk insert, as in sysbench */

static int make_batches(struct worker *worker, struct error *error)
{
    const struct program *program = worker->program;
    int status = 0;

    worker->batches = array_zeroed(program->statement_count, sizeof *worker->batches);
    if (!worker->batches)
        return error_set_memory(error);
    for (uint32_t i = 0; !status && i < program->statement_count; i++) {
        const struct program_statement *statement = &program->statements[i];
        char *sql;
        if (statement->mode != MODE_ROWS)
            continue;
        sql = program_statement_sql(statement, 0, worker->number);
        if (!sql)
            return error_set_memory(error);
        point_at_registers(worker, statement->parameters, statement->parameter_count,
                           worker->bound);
        status = batch_init(&worker->batches[i], sql, worker->bound,
                            statement->parameter_count, PACKET_BYTES, error);
        free(sql);
    }
    return status;
}

static int copy_deck(struct worker *worker, struct error *error)
{
    const struct program *program = worker->program;

    if (!program->deck)
        return 0;
    worker->deck = array_zeroed(program->deck_count, sizeof *worker->deck);
    if (!worker->deck)
        return error_set_memory(error);
    memcpy(worker->deck, program->deck, program->deck_count * sizeof *worker->deck);
    return 0;
}

int worker_init(struct worker *worker, struct error *error)
{
    const struct program *program = worker->program;
    const uint64_t words[] = {worker->seed, worker->number};

    pthread_mutex_init(&worker->connection_lock, NULL);
    monitor_init(&worker->pause);
    rng_seed(&worker->rng, words, sizeof words / sizeof *words);
    worker->loops = array_zeroed(program->loop_count, sizeof *worker->loops);
    worker->handles = calloc(program->handle_count, sizeof *worker->handles);
    if (!worker->loops || !worker->handles)
        return error_set_memory(error);
    if (make_registers(worker, error) || make_generators(worker, error) ||
        make_bound(worker, error) || make_batches(worker, error) ||
        copy_deck(worker, error))
        return -1;
    return recorder_init(&worker->recorder, program->transaction_count,
                         program->label_count, error);
}

void worker_fini(struct worker *worker)
{
    const struct program *program = worker->program;

    recorder_fini(&worker->recorder);
    for (uint32_t i = 0; worker->registers && i < program->register_count; i++)
        value_fini(&worker->registers[i]);
    for (uint32_t i = 0; worker->generators && i < program->generator_count; i++)
        generator_fini(&worker->generators[i]);
    for (uint32_t i = 0; worker->batches && i < program->statement_count; i++)
        batch_fini(&worker->batches[i]);
    free(worker->registers);
    free(worker->generators);
    free(worker->ordinals);
    free(worker->loops);
    free(worker->handles);
    free(worker->batches);
    free(worker->bound);
    free(worker->deck);
    monitor_fini(&worker->pause);
    pthread_mutex_destroy(&worker->connection_lock);
}

static int prepare_variant(struct worker *worker,
                           const struct program_statement *statement, uint32_t variant,
                           struct error *error)
{
    char *sql = program_statement_sql(statement, variant, worker->number);
    struct value **kept = worker->bound + statement->parameter_count;
    const struct program_label *label = &worker->program->labels[statement->label];
    struct statement_text text = {.sql = sql,
                                  .is_call = label->kind == STATEMENT_CALL,
                                  .parameters = worker->bound,
                                  .parameter_count = statement->parameter_count,
                                  .kept = kept,
                                  .kept_count = statement->kept_count,
                                  .look_for_row = statement->rollback_if_none};
    int status;

    if (!sql)
        return error_set_memory(error);
    text.length = strlen(sql);
    point_at_registers(worker, statement->parameters, statement->parameter_count,
                       worker->bound);
    point_at_registers(worker, statement->kept, statement->kept_count, kept);
    status =
        connection_prepare(worker->connection, &text,
                           &worker->handles[statement->first_handle + variant], error);
    free(sql);
    return status;
}

/* Some statements, such as LOCK TABLES on MySQL, cannot be prepared. Without
 * parameters and results they can be sent as text instead: their handle stays NULL. */
static bool can_be_text(const struct program_statement *statement,
                        const struct error *error)
{
    enum { UNSUPPORTED_PREPARED = 1295 };

    return error->number == UNSUPPORTED_PREPARED && !statement->parameter_count &&
           !statement->kept_count && !statement->rollback_if_none &&
           statement->variant_register == NO_REGISTER;
}

static int prepare_all(struct worker *worker, struct error *error)
{
    const struct program *program = worker->program;

    for (uint32_t i = 0; i < program->statement_count; i++) {
        const struct program_statement *statement = &program->statements[i];
        if (statement->mode != MODE_PREPARED)
            continue;
        for (uint32_t variant = 0; variant < statement->variants; variant++)
            if (prepare_variant(worker, statement, variant, error) &&
                !can_be_text(statement, error))
                return -1;
    }
    return 0;
}

static int start_session(struct worker *worker, struct error *error)
{
    const struct program *program = worker->program;
    struct reply reply;

    for (uint32_t i = 0; i < program->session_count; i++)
        if (connection_command(worker->connection, program->session[i],
                               strlen(program->session[i]), &reply, error))
            return -1;
    return 0;
}

/* Make the new connection known to worker_interrupt(), unless that came first. */
static int publish(struct worker *worker, struct connection *connection,
                   struct error *error)
{
    bool interrupted;

    pthread_mutex_lock(&worker->connection_lock);
    interrupted = worker->interrupted;
    worker->connection = connection;
    pthread_mutex_unlock(&worker->connection_lock);
    return interrupted ? error_set(error, ERROR_SYSTEM, "interrupted") : 0;
}

int worker_open(struct worker *worker, struct error *error)
{
    struct connection *connection = NULL;

    worker->since_connect = 0;
    if (!worker->endpoint) /* a program without statements needs no server */
        return 0;
    if (connection_open(worker->endpoint, &connection, error))
        return -1;
    if (publish(worker, connection, error) || start_session(worker, error) ||
        prepare_all(worker, error)) {
        worker_close(worker);
        return -1;
    }
    return 0;
}

bool worker_may_share(const struct worker *worker)
{
    const struct program *program = worker->program;

    if (!program->shareable || !connection_is_direct(worker->connection))
        return false;
    for (uint32_t i = 0; i < program->handle_count; i++)
        if (worker->handles[i] && !statement_is_direct(worker->handles[i]))
            return false;
    return true;
}

int worker_share(struct worker *worker)
{
    worker->shares_thread = true;
    worker->socket = connection_share(worker->connection);
    return worker->socket;
}

void worker_close(struct worker *worker)
{
    struct connection *connection;

    for (uint32_t i = 0; i < worker->program->handle_count; i++) {
        statement_free(worker->handles[i]);
        worker->handles[i] = NULL;
    }
    pthread_mutex_lock(&worker->connection_lock);
    connection = worker->connection;
    worker->connection = NULL;
    pthread_mutex_unlock(&worker->connection_lock);
    connection_close(connection);
}

void worker_wake(struct worker *worker)
{
    monitor_lock(&worker->pause);
    monitor_signal(&worker->pause);
    monitor_unlock(&worker->pause);
}

void worker_interrupt(struct worker *worker)
{
    pthread_mutex_lock(&worker->connection_lock);
    worker->interrupted = true;
    if (worker->connection)
        connection_interrupt(worker->connection);
    pthread_mutex_unlock(&worker->connection_lock);
}
