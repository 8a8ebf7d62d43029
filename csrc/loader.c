/*
 * Loading in parallel.
 *
 * The monitor guards the hand-out of work and the end of the load. A thread takes a
 * chunk of the table that has the fewest threads at work, so that threads keep to
 * tables of their own while there are enough, and share the last ones.
 */
#include "loader.h"

#include "array.h"
#include "batch.h"
#include "clock.h"
#include "connection.h"
#include "error.h"
#include "generator.h"
#include "reply.h"
#include "rng.h"
#include "thread.h"
#include "value.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS_MAX = 1024,
    CHUNK_ROWS = 10000,       /* a transaction */
    PACKET_BYTES = 128 * 1024 /* measured: larger ones leave the server's caches */
};

struct table_state {
    uint64_t next_row; /* first one not handed out, from 0 */
    uint32_t threads;  /* at work on a chunk */
};

struct chunk {
    uint32_t table;
    uint64_t first_row; /* from 0 */
    uint64_t rows;
};

struct load_thread {
    pthread_t thread;
    struct loader *loader;
    struct connection *connection; /* guarded by the monitor */
};

struct loader {
    struct load_options options;
    struct load_thread *threads;
    uint32_t started;

    struct monitor monitor; /* tells who waits; guards all below */
    struct table_state *states;
    uint32_t ended;
    bool failed;
    struct error error;      /* of the first thread that failed */
    _Atomic bool stop;       /* relaxed: seen soon is enough */
    _Atomic uint64_t loaded; /* rows; relaxed, for people to watch */
};

int loader_new(const struct load_options *options, struct loader **result,
               struct error *error)
{
    struct loader *loader;

    if (options->threads < 1 || options->threads > THREADS_MAX)
        return error_set(error, ERROR_INVALID,
                         "loader threads must be 1 to %d, not %lld", THREADS_MAX,
                         (long long)options->threads);
    loader = array_zeroed(1, sizeof *loader);
    if (!loader)
        return error_set_memory(error);
    loader->options = *options;
    monitor_init(&loader->monitor);
    loader->states = array_zeroed(options->table_count, sizeof *loader->states);
    loader->threads = array_zeroed((uint32_t)options->threads, sizeof *loader->threads);
    if (!loader->states || !loader->threads) {
        loader_free(loader);
        return error_set_memory(error);
    }
    *result = loader;
    return 0;
}

static bool is_stopped(const struct loader *loader)
{
    return atomic_load_explicit(&loader->stop, memory_order_relaxed);
}

static bool has_rows_left(const struct loader *loader, uint32_t table)
{
    return loader->states[table].next_row < loader->options.tables[table].rows;
}

/* The table to take a chunk of; table_count if none has rows left. Monitor held. */
static uint32_t find_table(const struct loader *loader)
{
    uint32_t count = loader->options.table_count;
    uint32_t best = count;

    for (uint32_t i = 0; i < count; i++)
        if (has_rows_left(loader, i) &&
            (best == count || loader->states[i].threads < loader->states[best].threads))
            best = i;
    return best;
}

/* Take the next chunk; false when there is none left. */
static bool take_chunk(struct loader *loader, struct chunk *chunk)
{
    uint32_t table;
    bool found;

    monitor_lock(&loader->monitor);
    table = find_table(loader);
    found = table < loader->options.table_count;
    if (found) {
        struct table_state *state = &loader->states[table];
        uint64_t left = loader->options.tables[table].rows - state->next_row;
        chunk->table = table;
        chunk->first_row = state->next_row;
        chunk->rows = left < CHUNK_ROWS ? left : CHUNK_ROWS;
        state->next_row += chunk->rows;
        state->threads++;
    }
    monitor_unlock(&loader->monitor);
    return found;
}

/* Give the chunk back as done; true if it was the last of its table. */
static bool end_chunk(struct loader *loader, const struct chunk *chunk)
{
    bool last;

    monitor_lock(&loader->monitor);
    last =
        !--loader->states[chunk->table].threads && !has_rows_left(loader, chunk->table);
    monitor_unlock(&loader->monitor);
    return last;
}

static int command(struct connection *connection, const char *sql, size_t length,
                   struct error *error)
{
    struct reply reply;

    return connection_command(connection, sql, length, &reply, error);
}

static int commit(struct load_thread *thread, struct error *error)
{
    static const char sql[] = "COMMIT";

    return command(thread->connection, sql, sizeof sql - 1, error);
}

static int send_rows(struct load_thread *thread, struct batch *batch,
                     struct error *error)
{
    if (!batch->rows)
        return 0;
    if (command(thread->connection, batch->text, batch_statement_length(batch), error))
        return -1;
    atomic_fetch_add_explicit(&thread->loader->loaded, batch->rows,
                              memory_order_relaxed);
    batch_empty(batch);
    return 0;
}

static void generate_row(const struct loader *loader, uint32_t table, uint64_t row,
                         struct value *const *values)
{
    const struct load_table *what = &loader->options.tables[table];
    const uint64_t words[] = {loader->options.seed, table, row};
    struct rng rng;

    rng_seed(&rng, words, sizeof words / sizeof *words);
    for (uint32_t i = 0; i < what->column_count; i++)
        generator_draw(&what->columns[i], &rng, row, values[i]);
}

static int set_stopped(struct error *error)
{
    return error_set(error, ERROR_SYSTEM, "loading was stopped");
}

static int stream_rows(struct load_thread *thread, const struct chunk *chunk,
                       struct value *const *values, struct batch *batch,
                       struct error *error)
{
    const struct loader *loader = thread->loader;
    uint32_t columns = loader->options.tables[chunk->table].column_count;

    for (uint64_t i = 0; i < chunk->rows; i++) {
        if (batch_is_full(batch) && send_rows(thread, batch, error))
            return -1;
        if (is_stopped(loader))
            return set_stopped(error);
        generate_row(loader, chunk->table, chunk->first_row + i, values);
        batch_append(batch, values, columns);
    }
    return send_rows(thread, batch, error);
}

/* Values to generate into: an array, and pointers to its elements. */
struct row_buffer {
    struct value *values;
    struct value **pointers;
    uint32_t count;
};

static void row_buffer_fini(struct row_buffer *row)
{
    for (uint32_t i = 0; row->values && i < row->count; i++)
        value_fini(&row->values[i]);
    free(row->values);
    free(row->pointers);
}

static int row_buffer_init(struct row_buffer *row, const struct load_table *table,
                           struct error *error)
{
    row->count = table->column_count;
    row->values = array_zeroed(row->count, sizeof *row->values);
    row->pointers = array_zeroed(row->count, sizeof *row->pointers);
    if (!row->values || !row->pointers)
        return error_set_memory(error);
    for (uint32_t i = 0; i < row->count; i++) {
        const struct generator *column = &table->columns[i];
        if (value_init(&row->values[i], column->result, column->capacity, error))
            return -1;
        row->pointers[i] = &row->values[i];
    }
    return 0;
}

static int load_chunk(struct load_thread *thread, const struct chunk *chunk,
                      struct error *error)
{
    const struct load_table *table = &thread->loader->options.tables[chunk->table];
    struct row_buffer row = {0};
    struct batch batch = {0};
    int status = row_buffer_init(&row, table, error);

    if (!status)
        status = batch_init(&batch, table->insert, row.pointers, row.count,
                            PACKET_BYTES, error);
    if (!status)
        status = stream_rows(thread, chunk, row.pointers, &batch, error);
    if (!status)
        status = commit(thread, error);
    batch_fini(&batch);
    row_buffer_fini(&row);
    return status;
}

static int finish_table(struct load_thread *thread, uint32_t index, struct error *error)
{
    const struct load_table *table = &thread->loader->options.tables[index];

    for (uint32_t i = 0; i < table->finish_count; i++)
        if (command(thread->connection, table->finish[i], strlen(table->finish[i]),
                    error))
            return -1;
    return commit(thread, error);
}

/* Tables without rows have no chunk that would finish them. */
static int finish_empty_tables(struct load_thread *thread, struct error *error)
{
    const struct loader *loader = thread->loader;

    if (thread != &loader->threads[0])
        return 0;
    for (uint32_t i = 0; i < loader->options.table_count; i++)
        if (!loader->options.tables[i].rows && finish_table(thread, i, error))
            return -1;
    return 0;
}

static int work(struct load_thread *thread, struct error *error)
{
    struct chunk chunk = {0};

    if (finish_empty_tables(thread, error))
        return -1;
    while (!is_stopped(thread->loader) && take_chunk(thread->loader, &chunk)) {
        if (load_chunk(thread, &chunk, error))
            return -1;
        if (end_chunk(thread->loader, &chunk) &&
            finish_table(thread, chunk.table, error))
            return -1;
    }
    return 0;
}

/* Make the connection known to cut_off(), unless that came first. */
static int publish(struct load_thread *thread, struct connection *connection,
                   struct error *error)
{
    struct loader *loader = thread->loader;

    monitor_lock(&loader->monitor);
    thread->connection = connection;
    monitor_unlock(&loader->monitor);
    return is_stopped(loader) ? set_stopped(error) : 0;
}

static int connect_thread(struct load_thread *thread, struct error *error)
{
    /* Strict: a value that does not fit is an error. */
    static const char session[] =
        "SET SESSION sql_mode = 'STRICT_TRANS_TABLES', autocommit = 0";
    struct connection *connection = NULL;

    if (connection_open(thread->loader->options.endpoint, &connection, error) ||
        publish(thread, connection, error))
        return -1;
    return command(connection, session, sizeof session - 1, error);
}

static void close_thread(struct load_thread *thread)
{
    struct connection *connection;

    monitor_lock(&thread->loader->monitor);
    connection = thread->connection;
    thread->connection = NULL;
    monitor_unlock(&thread->loader->monitor);
    connection_close(connection);
    connection_thread_end();
}

/* Stop all threads, also those that are blocked in the server; monitor held. */
static void cut_off(struct loader *loader)
{
    atomic_store_explicit(&loader->stop, true, memory_order_relaxed);
    for (uint32_t i = 0; i < loader->started; i++)
        if (loader->threads[i].connection)
            connection_interrupt(loader->threads[i].connection);
}

static void report_end(struct loader *loader, int status, const struct error *error)
{
    monitor_lock(&loader->monitor);
    loader->ended++;
    if (status && !is_stopped(loader)) {
        loader->failed = true;
        loader->error = *error;
        cut_off(loader);
    }
    monitor_signal(&loader->monitor);
    monitor_unlock(&loader->monitor);
}

static void *run_thread(void *argument)
{
    struct load_thread *thread = argument;
    struct error error = {0};
    int status = connect_thread(thread, &error);

    if (!status)
        status = work(thread, &error);
    close_thread(thread);
    report_end(thread->loader, status, &error);
    return NULL;
}

int loader_start(struct loader *loader, struct error *error)
{
    uint32_t count = (uint32_t)loader->options.threads;

    for (uint32_t i = 0; i < count; i++) {
        struct load_thread *thread = &loader->threads[i];
        thread->loader = loader;
        if (thread_start(&thread->thread, run_thread, thread))
            return error_set(error, ERROR_SYSTEM,
                             "only %u of %u threads could be started (see ulimit -u)",
                             i, count);
        monitor_lock(&loader->monitor);
        loader->started++;
        monitor_unlock(&loader->monitor);
    }
    return 0;
}

static void join_threads(struct loader *loader)
{
    for (uint32_t i = 0; i < loader->started; i++)
        pthread_join(loader->threads[i].thread, NULL);
    loader->started = 0;
    loader->ended = 0;
}

enum loader_event loader_wait(struct loader *loader, int64_t timeout_ns,
                              struct error *error)
{
    int64_t deadline_ns = clock_now_ns() + timeout_ns;
    bool ended;

    monitor_lock(&loader->monitor);
    while (loader->ended < loader->started && clock_now_ns() < deadline_ns)
        monitor_wait(&loader->monitor, deadline_ns);
    ended = loader->ended == loader->started;
    monitor_unlock(&loader->monitor);
    if (!ended)
        return LOADER_RUNNING;
    join_threads(loader);
    if (!loader->failed)
        return LOADER_ENDED;
    *error = loader->error;
    return LOADER_FAILED;
}

uint64_t loader_rows(const struct loader *loader)
{
    return atomic_load_explicit(&loader->loaded, memory_order_relaxed);
}

void loader_free(struct loader *loader)
{
    if (!loader)
        return;
    monitor_lock(&loader->monitor);
    cut_off(loader);
    monitor_unlock(&loader->monitor);
    join_threads(loader);
    free(loader->states);
    free(loader->threads);
    monitor_fini(&loader->monitor);
    free(loader);
}
