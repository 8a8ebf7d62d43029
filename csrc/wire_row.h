/*
 * The first row of a statement's result, decoded from the binary protocol into values.
 *
 * Columns are kept from the left; what is behind them is not looked at. A statement
 * owns one of these and uses it for each of its executions, one at a time. For wire*.c
 * and connection.c.
 */
#ifndef BENCHKIT_WIRE_ROW_H
#define BENCHKIT_WIRE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct received;
struct value;

enum { WIRE_ROW_BYTES = 16 * 1024 }; /* as much of a row as is looked into */

struct wire_column {
    unsigned char type; /* the protocol's number */
    bool is_unsigned;
};

struct wire_row {
    struct value *const *kept;   /* borrowed, with what they point at */
    unsigned int count;          /* of them */
    struct wire_column *columns; /* owned; the first `count` as they were last told */
    unsigned int described;      /* of those */
    uint64_t in_result;          /* columns of the result at hand, kept or not */
    bool is_over; /* the first row was taken, or the first result set has none */
};

/* True if rows whose first columns fill these values can be looked into. */
bool wire_row_fits(struct value *const *kept, unsigned int count);

/* ERROR_SYSTEM without memory. */
int wire_row_init(struct wire_row *row, struct value *const *kept, unsigned int count,
                  struct error *error);

/* Free what it owns; fine on a zeroed struct. */
void wire_row_fini(struct wire_row *row);

/* An execution has been sent: the values are NULL until a row comes. */
void wire_row_expect(struct wire_row *row);

/* A result set of so many columns begins; are they about to be described? ERROR_INVALID
 * when there are fewer than are to be kept. */
int wire_row_begin(struct wire_row *row, uint64_t columns, bool described,
                   struct error *error);

/* The description of the next column. */
int wire_row_describe(struct wire_row *row, const struct received *message,
                      struct error *error);

/* A row. ERROR_INVALID when a column does not fit its value. */
int wire_row_take(struct wire_row *row, const struct received *message,
                  struct error *error);

/* A result set is over: later ones are not kept. */
static inline void wire_row_end(struct wire_row *row)
{
    row->is_over = true;
}

#endif
