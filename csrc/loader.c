/*
 * Loading in parallel.
 *
 * `lock` guards the hand-out of work and the end of the load. A thread takes a chunk
 * of the table that has the fewest threads at work, so that threads keep to tables of
 * their own while there are enough, and share the last ones.
 */
#include "loader.h"

#include "array.h"
#include "batch.h"
#include "clock.h"
#include "connection.h"
#include "error.h"
#include "generator.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024, CHUNK_ROWS = 10000, STACK_BYTES = 512 * 1024 };

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
    struct connection *connection; /* guarded by the loader's lock */
};

struct loader {
    const struct endpoint *endpoint;
    const struct load_table *tables;
    struct table_state *states;
    uint32_t table_count;
    uint64_t seed;
    struct load_thread *threads;
    uint32_t thread_count;
    uint32_t started;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t ended;
    bool failed;
    struct error error;      /* of the first thread that failed */
    _Atomic bool stop;       /* relaxed: seen soon is enough */
    _Atomic uint64_t loaded; /* rows; relaxed, for people to watch */
};

int loader_new(const struct endpoint *endpoint, const struct load_table *tables,
               uint32_t table_count, uint32_t threads, uint64_t seed,
               struct loader **result, struct error *error)
{
    struct loader *loader;
    pthread_condattr_t attributes;

    if (threads < 1 || threads > THREADS_MAX)
        return error_set(error, ERROR_INVALID, "loader threads must be 1 to %d, not %u",
                         THREADS_MAX, threads);
    loader = array_zeroed(1, sizeof *loader);
    if (!loader)
        return error_set_memory(error);
    loader->endpoint = endpoint;
    loader->tables = tables;
    loader->table_count = table_count;
    loader->thread_count = threads;
    loader->seed = seed;
    pthread_mutex_init(&loader->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&loader->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    loader->states = array_zeroed(table_count, sizeof *loader->states);
    loader->threads = array_zeroed(threads, sizeof *loader->threads);
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

/* Take the next chunk; false when there is none left. */
static bool take_chunk(struct loader *loader, struct chunk *chunk)
{
    uint32_t best = loader->table_count;

    pthread_mutex_lock(&loader->lock);
    for (uint32_t i = 0; i < loader->table_count; i++) {
        const struct table_state *state = &loader->states[i];
        if (state->next_row < loader->tables[i].rows &&
            (best == loader->table_count ||
             state->threads < loader->states[best].threads))
            best = i;
    }
    if (best < loader->table_count) {
        uint64_t left = loader->tables[best].rows - loader->states[best].next_row;
        chunk->table = best;
        chunk->first_row = loader->states[best].next_row;
        chunk->rows = left < CHUNK_ROWS ? left : CHUNK_ROWS;
        loader->states[best].next_row += chunk->rows;
        loader->states[best].threads++;
    }
    pthread_mutex_unlock(&loader->lock);
    return best < loader->table_count;
}

/* Give the chunk back as done; true if it was the last of its table. */
static bool end_chunk(struct loader *loader, const struct chunk *chunk)
{
    struct table_state *state = &loader->states[chunk->table];
    bool last;

    pthread_mutex_lock(&loader->lock);
    state->threads--;
    last = !state->threads && state->next_row == loader->tables[chunk->table].rows;
    pthread_mutex_unlock(&loader->lock);
    return last;
}

static int command(struct connection *connection, const char *sql, size_t length,
                   struct error *error)
{
    struct reply reply;

    return connection_command(connection, sql, length, &reply, error);
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
    const struct load_table *what = &loader->tables[table];
    const uint64_t words[] = {loader->seed, table, row};
    struct rng rng;

    rng_seed(&rng, words, sizeof words / sizeof *words);
    for (uint32_t i = 0; i < what->column_count; i++)
        generator_draw(&what->columns[i], &rng, row, values[i]);
}

static int stream_rows(struct load_thread *thread, const struct chunk *chunk,
                       struct value *const *values, struct batch *batch,
                       struct error *error)
{
    const struct loader *loader = thread->loader;
    uint32_t columns = loader->tables[chunk->table].column_count;

    for (uint64_t i = 0; i < chunk->rows; i++) {
        if (batch_is_full(batch) && send_rows(thread, batch, error))
            return -1;
        if (is_stopped(loader))
            return error_set(error, ERROR_SYSTEM, "loading was stopped");
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
    const struct load_table *table = &thread->loader->tables[chunk->table];
    struct row_buffer row = {0};
    struct batch batch = {0};
    int status = row_buffer_init(&row, table, error);

    if (!status)
        status = batch_init(&batch, table->insert, row.pointers, row.count, error);
    if (!status)
        status = stream_rows(thread, chunk, row.pointers, &batch, error);
    batch_fini(&batch);
    row_buffer_fini(&row);
    return status;
}

static int finish_table(struct load_thread *thread, uint32_t index, struct error *error)
{
    const struct load_table *table = &thread->loader->tables[index];

    for (uint32_t i = 0; i < table->finish_count; i++)
        if (command(thread->connection, table->finish[i], strlen(table->finish[i]),
                    error))
            return -1;
    return 0;
}

/* Tables without rows have no chunk that would finish them. */
static int finish_empty_tables(struct load_thread *thread, struct error *error)
{
    const struct loader *loader = thread->loader;

    if (thread != loader->threads)
        return 0;
    for (uint32_t i = 0; i < loader->table_count; i++)
        if (!loader->tables[i].rows && finish_table(thread, i, error))
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

static int connect_thread(struct load_thread *thread, struct error *error)
{
    static const char session[] = "SET SESSION sql_mode = 'STRICT_TRANS_TABLES'";
    struct connection *connection = NULL;

    if (connection_open(thread->loader->endpoint, &connection, error))
        return -1;
    pthread_mutex_lock(&thread->loader->lock);
    thread->connection = connection;
    pthread_mutex_unlock(&thread->loader->lock);
    return command(connection, session, sizeof session - 1, error);
}

static void end_thread(struct load_thread *thread, int status,
                       const struct error *error)
{
    struct loader *loader = thread->loader;
    struct connection *connection;

    pthread_mutex_lock(&loader->lock);
    connection = thread->connection;
    thread->connection = NULL;
    if (status && !loader->failed) {
        loader->failed = true;
        loader->error = *error;
        atomic_store_explicit(&loader->stop, true, memory_order_relaxed);
    }
    pthread_mutex_unlock(&loader->lock);
    connection_close(connection);
    connection_thread_end();
    pthread_mutex_lock(&loader->lock);
    loader->ended++;
    pthread_cond_broadcast(&loader->changed);
    pthread_mutex_unlock(&loader->lock);
}

static void *run_thread(void *argument)
{
    struct load_thread *thread = argument;
    struct error error = {0};
    int status = connect_thread(thread, &error);

    if (!status)
        status = work(thread, &error);
    end_thread(thread, status, &error);
    return NULL;
}

int loader_start(struct loader *loader, struct error *error)
{
    pthread_attr_t attributes;
    sigset_t all, before;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* Threads inherit a full mask: Ctrl-C is for the interpreter's thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t i = 0; i < loader->thread_count; i++) {
        struct load_thread *thread = &loader->threads[i];
        thread->loader = loader;
        if (pthread_create(&thread->thread, &attributes, run_thread, thread))
            break;
        loader->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (loader->started < loader->thread_count)
        return error_set(error, ERROR_SYSTEM, "only %u of %u threads could be started",
                         loader->started, loader->thread_count);
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
    struct timespec until = {.tv_sec = deadline_ns / CLOCK_NS_PER_S,
                             .tv_nsec = deadline_ns % CLOCK_NS_PER_S};
    bool ended;

    pthread_mutex_lock(&loader->lock);
    while (loader->ended < loader->started && clock_now_ns() < deadline_ns)
        pthread_cond_timedwait(&loader->changed, &loader->lock, &until);
    ended = loader->ended == loader->started;
    pthread_mutex_unlock(&loader->lock);
    if (!ended)
        return LOADER_RUNNING;
    join_threads(loader);
    if (!loader->failed && !is_stopped(loader))
        return LOADER_ENDED;
    if (loader->failed)
        *error = loader->error;
    else
        error_set(error, ERROR_SYSTEM, "loading was stopped");
    return LOADER_FAILED;
}

uint64_t loader_rows(const struct loader *loader)
{
    return atomic_load_explicit(&loader->loaded, memory_order_relaxed);
}

void loader_stop(struct loader *loader)
{
    atomic_store_explicit(&loader->stop, true, memory_order_relaxed);
    pthread_mutex_lock(&loader->lock);
    for (uint32_t i = 0; i < loader->thread_count; i++)
        if (loader->threads[i].connection)
            connection_interrupt(loader->threads[i].connection);
    pthread_mutex_unlock(&loader->lock);
}

void loader_free(struct loader *loader)
{
    if (!loader)
        return;
    if (loader->started) {
        loader_stop(loader);
        join_threads(loader);
    }
    free(loader->states);
    free(loader->threads);
    pthread_cond_destroy(&loader->changed);
    pthread_mutex_destroy(&loader->lock);
    free(loader);
}
