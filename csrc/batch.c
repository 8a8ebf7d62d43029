/*
 * Text of multi-row INSERTs. Numbers are formatted by hand: the loader spends most of
 * its own time here.
 */
#include "batch.h"

#include "error.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INTEGER_BYTES = 20, /* -9223372036854775808 */
    REAL_BYTES = 32
};

#define HEXADECIMAL "_utf8mb4 x'" /* the charset of every connection */

static size_t value_limit(const struct value *value)
{
    static const size_t numbers[] = {
        [VALUE_INTEGER] = INTEGER_BYTES, [VALUE_REAL] = REAL_BYTES};

    if (value->type != VALUE_TEXT)
        return numbers[value->type];
    return 2 * value->capacity + sizeof HEXADECIMAL; /* and the last quote */
}

int batch_init(struct batch *batch, const char *insert, struct value *const *row,
               uint32_t count, size_t packet_bytes, struct error *error)
{
    size_t row_limit = sizeof "(),";
    size_t prefix = strlen(insert) + 1;
    size_t capacity = packet_bytes;

    for (uint32_t i = 0; i < count; i++)
        row_limit += value_limit(row[i]) + 1;
    if (capacity < prefix + row_limit)
        capacity = prefix + row_limit;
    batch->text = malloc(capacity);
    if (!batch->text)
        return error_set_memory(error);
    memcpy(batch->text, insert, prefix - 1);
    batch->text[prefix - 1] = ' ';
    batch->prefix = prefix;
    batch->capacity = capacity;
    batch->row_limit = row_limit;
    batch_empty(batch);
    return 0;
}

void batch_fini(struct batch *batch)
{
    free(batch->text);
    batch->text = NULL;
}

void batch_empty(struct batch *batch)
{
    batch->length = batch->prefix;
    batch->rows = 0;
}

static char *write_integer(char *out, int64_t number)
{
    char digits[INTEGER_BYTES];
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    int count = 0;

    if (number < 0)
        *out++ = '-';
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    while (count)
        *out++ = digits[--count];
    return out;
}

static char *write_hexadecimal(char *out, const struct value *value)
{
    static const char digits[] = "0123456789abcdef";

    memcpy(out, HEXADECIMAL, sizeof HEXADECIMAL - 1);
    out += sizeof HEXADECIMAL - 1;
    for (unsigned long i = 0; i < value->length; i++) {
        unsigned char byte = (unsigned char)value->text[i];
        *out++ = digits[byte >> 4];
        *out++ = digits[byte & 15];
    }
    *out++ = '\'';
    return out;
}

/* In a form that means the same in every sql_mode: a backslash escapes in some only, a
 * doubled quote is a quote in all. */
static char *write_text(char *out, const struct value *value)
{
    if (value->length && memchr(value->text, '\\', value->length))
        return write_hexadecimal(out, value);
    *out++ = '\'';
    for (unsigned long i = 0; i < value->length; i++) {
        char byte = value->text[i];
        if (byte == '\'')
            *out++ = '\'';
        *out++ = byte;
    }
    *out++ = '\'';
    return out;
}

/* snprintf() writes the decimal point of the locale. */
static char *write_real(char *out, double number)
{
    int length = snprintf(out, REAL_BYTES, "%.17g", number);
    char *comma = memchr(out, ',', (size_t)length);

    if (comma)
        *comma = '.';
    return out + length;
}

static char *write_value(char *out, const struct value *value)
{
    if (value->is_null) {
        memcpy(out, "NULL", 4);
        return out + 4;
    }
    if (value->type == VALUE_INTEGER)
        return write_integer(out, value->integer);
    if (value->type == VALUE_TEXT)
        return write_text(out, value);
    return write_real(out, value->real);
}

void batch_append(struct batch *batch, struct value *const *row, uint32_t count)
{
    char *out = batch->text + batch->length;

    *out++ = '(';
    for (uint32_t i = 0; i < count; i++) {
        out = write_value(out, row[i]);
        *out++ = ',';
    }
    out[-1] = ')';
    *out++ = ',';
    batch->length = (size_t)(out - batch->text);
    batch->rows++;
}
