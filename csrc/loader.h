/*
 * Filling tables: rows generated on the fly, streamed as multi-row INSERTs by several
 * threads, also into one table.
 *
 * A row depends on (seed, number of its table, number of the row) and on nothing else,
 * so the data are the same whatever the number of threads. With a generator of lines a
 * row becomes several: they share its number and its random stream. Whoever loads the
 * last rows of a table runs its finishing statements (CREATE INDEX).
 *
 * A table is loaded in parts, each in a transaction, that can be noted in that same
 * transaction: after an interruption, parts that are noted are there, and others are
 * not (in an engine with transactions), so that a later loader can go on.
 *
 * Controlled like a driver: the owner calls loader_wait() until it has ended.
 */
#ifndef BENCHKIT_LOADER_H
#define BENCHKIT_LOADER_H

#include <stdbool.h>
#include <stdint.h>

struct endpoint;
struct error;
struct generator;
struct loader;

struct load_table {
    const char *insert;              /* up to and including VALUES */
    const struct generator *columns; /* one for each column, in order */
    uint32_t column_count;
    uint64_t rows;
    const struct generator *lines; /* how many lines each row becomes, whose number from
                                      1 on comes before the columns; NULL: it is one */
    uint64_t part_rows;            /* rows of a part; 0 for parts of any size */
    const char *mark; /* INSERT that notes a part, up to its number, from 1 on, and how
                         many lines it has; NULL for none */
    const bool *done; /* for each part, whether it is there already; NULL: none is */
    const char *const *finish; /* statements */
    uint32_t finish_count;
};

enum loader_event {
    LOADER_RUNNING, /* time is up */
    LOADER_ENDED,   /* all is loaded */
    LOADER_FAILED   /* `error` is filled; the threads have ended */
};

/* What to load, where. Tables are numbered as they come. */
struct load_options {
    const struct endpoint *endpoint;
    const struct load_table *tables;
    uint32_t table_count;
    int64_t threads;
    uint64_t seed;
};

/* The number of parts of a table. */
uint64_t load_table_parts(const struct load_table *table);

/* A loader that does nothing yet. What the options point at must outlive it.
 * ERROR_INVALID (threads, lines that are not counts), ERROR_SYSTEM. */
int loader_new(const struct load_options *options, struct loader **result,
               struct error *error);

/* Start the threads. After ERROR_SYSTEM (too many) the loader can only be freed. */
int loader_start(struct loader *loader, struct error *error);

/* Wait for up to timeout_ns; call again until LOADER_ENDED or LOADER_FAILED. The first
 * error of a thread cuts off the others. */
enum loader_event loader_wait(struct loader *loader, int64_t timeout_ns,
                              struct error *error);

/* Rows that the server has taken so far; from any thread. */
uint64_t loader_rows(const struct loader *loader);

/* Cut off threads that are at work, wait for them, wait for the threads, free
 * everything. NULL is fine. */
void loader_free(struct loader *loader);

#endif
