/*
 * Filling tables: rows generated on the fly, streamed as multi-row INSERTs by several
 * threads, also into one table.
 *
 * A row depends on (seed, number of its table, number of the row) and on nothing else,
 * so the data are the same whatever the number of threads. Whoever loads the last rows
 * of a table runs its finishing statements (CREATE INDEX).
 *
 * Controlled like a driver: the owner calls loader_wait() until it has ended.
 */
#ifndef BENCHKIT_LOADER_H
#define BENCHKIT_LOADER_H

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
    const char *const *finish; /* statements */
    uint32_t finish_count;
};

enum loader_event {
    LOADER_RUNNING, /* time is up */
    LOADER_ENDED,   /* all is loaded */
    LOADER_FAILED   /* `error` is filled; the threads have ended */
};

/* A loader for tables that are numbered as they come in `tables`. What the tables and
 * the endpoint point at must outlive the loader. ERROR_INVALID, ERROR_SYSTEM. */
int loader_new(const struct endpoint *endpoint, const struct load_table *tables,
               uint32_t table_count, uint32_t threads, uint64_t seed,
               struct loader **result, struct error *error);

int loader_start(struct loader *loader, struct error *error);

/* Wait for up to timeout_ns; call again until LOADER_ENDED or LOADER_FAILED. */
enum loader_event loader_wait(struct loader *loader, int64_t timeout_ns,
                              struct error *error);

/* Rows that the server has taken so far; from any thread. */
uint64_t loader_rows(const struct loader *loader);

/* Stop soon, cutting off blocked threads; loader_wait() then says LOADER_FAILED. */
void loader_stop(struct loader *loader);

/* Stop if running, wait for the threads, free everything. NULL is fine. */
void loader_free(struct loader *loader);

#endif
