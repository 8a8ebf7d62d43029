/*
 * A multi-row INSERT under construction: `INSERT ... VALUES (1,'a'),(2,'b')`.
 *
 * The text grows up to a fixed packet size; rows are appended from values. Who owns
 * the batch sends it and then empties it. Used by the loader and by steps that insert
 * in bulk.
 */
#ifndef BENCHKIT_BATCH_H
#define BENCHKIT_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct value;

struct batch {
    char *text;    /* owned */
    size_t length; /* bytes in use, separators included */
    size_t prefix; /* bytes of text that every packet starts with */
    size_t capacity;
    uint32_t rows;    /* rows in the packet */
    size_t row_limit; /* the most bytes one row can take */
};

/* Make an empty batch that starts with `insert` (up to and including VALUES) for rows
 * of these values; packets grow up to packet_bytes, or to one row. Fails without memory
 * (ERROR_SYSTEM). */
int batch_init(struct batch *batch, const char *insert, struct value *const *row,
               uint32_t count, size_t packet_bytes, struct error *error);

/* Free the text; fine on a zeroed struct. */
void batch_fini(struct batch *batch);

/* True when one more row might not fit: send and empty it first. */
static inline bool batch_is_full(const struct batch *batch)
{
    return batch->length + batch->row_limit > batch->capacity;
}

/* Append one row. The batch must not be full. */
void batch_append(struct batch *batch, struct value *const *row, uint32_t count);

/* The statement to send: `batch->text`, this many bytes; rows must be > 0. */
static inline size_t batch_statement_length(const struct batch *batch)
{
    return batch->length - 1; /* without the last comma */
}

/* Forget the rows. */
void batch_empty(struct batch *batch);

#endif
