/*
 * Loading in parallel.
 *
 * The monitor guards the hand-out of work and the end of the load. A thread takes a
 * part of the table that has the fewest threads at work, so that threads keep to tables
 * of their own while there are enough, and share the last ones.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS_MAX = 1024,
    PART_ROWS = 10000,        /* where a table does not say */
    MARK_BYTES = 64,          /* "number,lines)" behind a mark */
    LINES_MAX = 1000000,      /* of one row */
    PACKET_BYTES = 128 * 1024 /* measured: larger ones leave the server's caches */
};

struct table_state {
    uint64_t next_row; /* first one not handed out, from 0 */
    uint32_t threads;  /* at work on a part */
};

struct part {
    uint32_t table;
    uint64_t number;    /* from 0 */
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

static uint64_t part_rows(const struct load_table *table)
{
    return table->part_rows ? table->part_rows : PART_ROWS;
}

uint64_t load_table_parts(const struct load_table *table)
{
    uint64_t rows = part_rows(table);

    return table->rows / rows + (table->rows % rows != 0);
}

static int check_lines(const struct load_options *options, struct error *error)
{
    for (uint32_t i = 0; i < options->table_count; i++) {
        const struct generator *lines = options->tables[i].lines;
        if (lines && !(lines->bounded && lines->low >= 0 && lines->high <= LINES_MAX))
            return error_set(error, ERROR_INVALID,
                             "lines must be integers of 0 to %d: %s", LINES_MAX,
                             options->tables[i].insert);
    }
    return 0;
}

int loader_new(const struct load_options *options, struct loader **result,
               struct error *error)
{
    struct loader *loader;

    if (check_lines(options, error))
        return -1;
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

static bool is_done(const struct load_table *table, uint64_t row)
{
    return table->done && table->done[row / part_rows(table)];
}

/* Move on to a part that is still to be loaded; monitor held. */
static void skip_done(struct loader *loader, uint32_t index)
{
    const struct load_table *table = &loader->options.tables[index];
    struct table_state *state = &loader->states[index];

    while (has_rows_left(loader, index) && is_done(table, state->next_row))
        state->next_row += part_rows(table);
}

/* The table to take a part of; table_count if none has rows left. Monitor held. */
static uint32_t find_table(struct loader *loader)
{
    uint32_t count = loader->options.table_count;
    uint32_t best = count;

    for (uint32_t i = 0; i < count; i++) {
        skip_done(loader, i);
        if (has_rows_left(loader, i) &&
            (best == count || loader->states[i].threads < loader->states[best].threads))
            best = i;
    }
    return best;
}

/* Take the next part; false when there is none left. */
static bool take_part(struct loader *loader, struct part *part)
{
    uint32_t table;
    bool found;

    monitor_lock(&loader->monitor);
    table = find_table(loader);
    found = table < loader->options.table_count;
    if (found) {
        struct table_state *state = &loader->states[table];
        uint64_t left = loader->options.tables[table].rows - state->next_row;
        uint64_t most = part_rows(&loader->options.tables[table]);
        part->table = table;
        part->number = state->next_row / most;
        part->first_row = state->next_row;
        part->rows = left < most ? left : most;
        state->next_row += part->rows;
        state->threads++;
    }
    monitor_unlock(&loader->monitor);
    return found;
}

/* Give the part back as done; true if it was the last of its table. */
static bool end_part(struct loader *loader, const struct part *part)
{
    bool last;

    monitor_lock(&loader->monitor);
    skip_done(loader, part->table);
    last =
        !--loader->states[part->table].threads && !has_rows_left(loader, part->table);
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

static int set_stopped(struct error *error)
{
    return error_set(error, ERROR_SYSTEM, "loading was stopped");
}

/* Values to generate into: an array, and pointers to its elements. */
struct row_buffer {
    struct value *values;
    struct value **pointers;
    uint32_t count;
    struct value
        *columns; /* those of the generators, behind the line's number if any */
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
    uint32_t first = table->lines != NULL;

    row->count = first + table->column_count;
    row->values = array_zeroed(row->count, sizeof *row->values);
    row->pointers = array_zeroed(row->count, sizeof *row->pointers);
    if (!row->values || !row->pointers)
        return error_set_memory(error);
    row->columns = row->values + first;
    for (uint32_t i = 0; i < row->count; i++)
        row->pointers[i] = &row->values[i];
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct generator *column = &table->columns[i];
        if (value_init(&row->columns[i], column->result, column->capacity, error))
            return -1;
    }
    return first ? value_init(&row->values[0], VALUE_INTEGER, 0, error) : 0;
}

/* A part on its way to the server. */
struct stream {
    struct load_thread *thread;
    const struct load_table *table;
    uint32_t number; /* of the table */
    struct row_buffer row;
    struct batch batch;
    uint64_t lines; /* generated so far */
};

static void stream_fini(struct stream *stream)
{
    batch_fini(&stream->batch);
    row_buffer_fini(&stream->row);
}

static int stream_init(struct stream *stream, struct load_thread *thread,
                       const struct part *part, struct error *error)
{
    const struct load_table *table = &thread->loader->options.tables[part->table];

    stream->thread = thread;
    stream->table = table;
    stream->number = part->table;
    if (row_buffer_init(&stream->row, table, error))
        return -1;
    return batch_init(&stream->batch, table->insert, stream->row.pointers,
                      stream->row.count, PACKET_BYTES, error);
}

static int send_rows(struct stream *stream, struct error *error)
{
    struct load_thread *thread = stream->thread;
    struct batch *batch = &stream->batch;

    if (!batch->rows)
        return 0;
    if (command(thread->connection, batch->text, batch_statement_length(batch), error))
        return -1;
    atomic_fetch_add_explicit(&thread->loader->loaded, batch->rows,
                              memory_order_relaxed);
    batch_empty(batch);
    return 0;
}

static int64_t draw_lines(const struct load_table *table, struct rng *rng, uint64_t row)
{
    struct value count = {.type = VALUE_INTEGER, .integer = 1};

    if (table->lines)
        generator_draw(table->lines, rng, row, &count);
    return count.integer;
}

/* Generate the lines of a row, and send where the packet is full. */
static int stream_row(struct stream *stream, uint64_t row, struct error *error)
{
    const struct load_table *table = stream->table;
    const uint64_t words[] = {stream->thread->loader->options.seed, stream->number,
                              row};
    struct rng rng;
    int64_t lines;

    rng_seed(&rng, words, sizeof words / sizeof *words);
    lines = draw_lines(table, &rng, row);
    for (int64_t line = 1; line <= lines; line++) {
        if (batch_is_full(&stream->batch) && send_rows(stream, error))
            return -1;
        if (table->lines)
            stream->row.values[0].integer = line;
        for (uint32_t i = 0; i < table->column_count; i++)
            generator_draw(&table->columns[i], &rng, row, &stream->row.columns[i]);
        batch_append(&stream->batch, stream->row.pointers, stream->row.count);
        stream->lines++;
    }
    return 0;
}

static int stream_rows(struct stream *stream, const struct part *part,
                       struct error *error)
{
    for (uint64_t i = 0; i < part->rows; i++) {
        if (is_stopped(stream->thread->loader))
            return set_stopped(error);
        if (stream_row(stream, part->first_row + i, error))
            return -1;
    }
    return send_rows(stream, error);
}

/* Note the part in its own transaction. */
static int mark_part(const struct stream *stream, const struct part *part,
                     struct error *error)
{
    const char *mark = stream->table->mark;
    size_t size;
    char *text;
    int length, status;

    if (!mark)
        return 0;
    size = strlen(mark) + MARK_BYTES;
    text = malloc(size);
    if (!text)
        return error_set_memory(error);
    length = snprintf(text, size, "%s %llu, %llu)", mark,
                      (unsigned long long)part->number + 1,
                      (unsigned long long)stream->lines);
    status = command(stream->thread->connection, text, (size_t)length, error);
    free(text);
    return status;
}

static int load_part(struct load_thread *thread, const struct part *part,
                     struct error *error)
{
    struct stream stream = {0};
    int status = stream_init(&stream, thread, part, error);

    if (!status)
        status = stream_rows(&stream, part, error);
    if (!status)
        status = mark_part(&stream, part, error);
    if (!status)
        status = commit(thread, error);
    stream_fini(&stream);
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

/* Tables without rows have no part whose end would finish them. */
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
    struct part part = {0};

    if (finish_empty_tables(thread, error))
        return -1;
    while (!is_stopped(thread->loader) && take_part(thread->loader, &part)) {
        if (load_part(thread, &part, error))
            return -1;
        if (end_part(thread->loader, &part) && finish_table(thread, part.table, error))
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
