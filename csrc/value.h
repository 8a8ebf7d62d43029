/*
 * One value on its way between a generator, a register and a statement.
 *
 * A value keeps the type it was made with for its whole life; only its content
 * changes. connection.c binds statement parameters straight to these fields, so a
 * value that is bound must not move in memory.
 */
#ifndef BENCHKIT_VALUE_H
#define BENCHKIT_VALUE_H

#include <stddef.h>
#include <stdint.h>

struct error;

enum value_type {
    VALUE_INTEGER, /* in .integer */
    VALUE_REAL,    /* in .real */
    VALUE_TEXT     /* in .text, .length bytes, not terminated */
};

struct value {
    enum value_type type;
    char is_null;           /* 1: SQL NULL, the content is ignored */
    int64_t integer;        /* VALUE_INTEGER */
    double real;            /* VALUE_REAL */
    char *text;             /* VALUE_TEXT: buffer of `capacity` bytes, owned by whoever
                               made the value */
    unsigned long length;   /* VALUE_TEXT: bytes in use, <= capacity */
    unsigned long capacity; /* VALUE_TEXT: size of the buffer */
};

/* Make an empty value that is not NULL; a text gets a buffer of `capacity` bytes.
 * ERROR_SYSTEM without memory. */
int value_init(struct value *value, enum value_type type, size_t capacity,
               struct error *error);

/* Free the buffer; fine on a zeroed struct. */
void value_fini(struct value *value);

#endif
