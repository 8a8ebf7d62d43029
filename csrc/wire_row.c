/*
 * Columns of binary rows, by their type: numbers in so many bytes, times in fields, and
 * everything else as a text with its length, decimals included.
 */
#include "wire_row.h"

#include "array.h"
#include "error.h"
#include "value.h"
#include "wire_message.h"

#include <errno.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column_type {
    TYPE_TINY = 1,
    TYPE_SHORT = 2,
    TYPE_LONG = 3,
    TYPE_FLOAT = 4,
    TYPE_DOUBLE = 5,
    TYPE_NULL = 6,
    TYPE_TIMESTAMP = 7,
    TYPE_LONGLONG = 8,
    TYPE_INT24 = 9,
    TYPE_DATE = 10,
    TYPE_TIME = 11,
    TYPE_DATETIME = 12,
    TYPE_YEAR = 13
};

enum {
    LENGTH_BYTES = 9,  /* of a text, at most */
    NUMBER_BYTES = 64, /* of a number or time as text */
    UNSIGNED_FLAG = 32
};

bool wire_row_fits(struct value *const *kept, unsigned int count)
{
    size_t bytes = 2 + count / 8;

    for (unsigned int i = 0; i < count; i++)
        bytes += LENGTH_BYTES + kept[i]->capacity;
    return bytes < WIRE_ROW_BYTES / 2; /* and the bits of other columns */
}

int wire_row_init(struct wire_row *row, struct value *const *kept, unsigned int count,
                  struct error *error)
{
    memset(row, 0, sizeof *row);
    row->kept = kept;
    row->count = count;
    row->columns = array_zeroed(count, sizeof *row->columns);
    return row->columns ? 0 : error_set_memory(error);
}

void wire_row_fini(struct wire_row *row)
{
    free(row->columns);
    row->columns = NULL;
}

void wire_row_expect(struct wire_row *row)
{
    row->is_over = false;
    for (unsigned int i = 0; i < row->count; i++)
        row->kept[i]->is_null = 1;
}

int wire_row_begin(struct wire_row *row, uint64_t columns, bool described,
                   struct error *error)
{
    if (row->is_over)
        return 0;
    row->in_result = columns;
    if (columns < row->count)
        return error_set(error, ERROR_INVALID,
                         "%u columns are to be kept but the result has %llu",
                         row->count, (unsigned long long)columns);
    if (described)
        row->described = 0;
    else if (row->described < row->count)
        return wire_malformed(error);
    return 0;
}

/* A description ends with its fixed part: how long that is, character set, length,
 * type, flags, decimals, and two bytes of nothing. */
int wire_row_describe(struct wire_row *row, const struct received *message,
                      struct error *error)
{
    enum { FROM_TYPE = 6, FROM_FLAGS = 5 };
    const unsigned char *end = message->head + message->head_length;

    if (row->is_over || row->described >= row->count)
        return 0;
    if (message->head_length < message->length || message->length < FROM_TYPE)
        return wire_malformed(error);
    row->columns[row->described++] = (struct wire_column){
        .type = end[-FROM_TYPE], .is_unsigned = end[-FROM_FLAGS] & UNSIGNED_FLAG};
    return 0;
}

/* What is left of a row that is being decoded. */
struct rest {
    const unsigned char *place;
    const unsigned char *end;
};

/* The bytes of a column, without the length in front of them. */
struct field {
    const unsigned char *bytes;
    size_t length;
};

static uint64_t little_endian(const unsigned char *bytes, size_t count)
{
    uint64_t number = 0;

    for (size_t i = 0; i < count; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

static size_t fixed_length(unsigned char type)
{
    static const unsigned char lengths[] = {
        [TYPE_TINY] = 1,   [TYPE_SHORT] = 2,    [TYPE_LONG] = 4,  [TYPE_FLOAT] = 4,
        [TYPE_DOUBLE] = 8, [TYPE_LONGLONG] = 8, [TYPE_INT24] = 4, [TYPE_YEAR] = 2};

    return type < sizeof lengths ? lengths[type] : 0;
}

/* The length in front of a text; what it is may reach beyond what is there to see. */
static int take_length(struct rest *rest, size_t *length)
{
    static const unsigned char sizes[] = {2, 3, 8}; /* behind 0xfc, 0xfd, 0xfe */
    unsigned char first;
    size_t bytes;

    if (rest->place == rest->end)
        return -1;
    first = *rest->place++;
    *length = first;
    if (first < 0xfb)
        return 0;
    if (first < 0xfc || first > 0xfe)
        return -1;
    bytes = sizes[first - 0xfc];
    if ((size_t)(rest->end - rest->place) < bytes)
        return -1;
    *length = little_endian(rest->place, bytes);
    rest->place += bytes;
    return 0;
}

static int take_field(struct rest *rest, unsigned char type, struct field *field)
{
    field->length = fixed_length(type);
    if (!field->length && take_length(rest, &field->length))
        return -1;
    field->bytes = rest->place;
    if (field->length <= (size_t)(rest->end - rest->place))
        rest->place += field->length;
    else
        rest->place = rest->end; /* too long for any value: that is found out next */
    return 0;
}

static bool is_integer(unsigned char type)
{
    return fixed_length(type) && type != TYPE_FLOAT && type != TYPE_DOUBLE;
}

static int64_t integer_of(const struct wire_column *column, const struct field *field)
{
    uint64_t number = little_endian(field->bytes, field->length);
    unsigned int unused = 64 - 8 * (unsigned int)field->length;

    /* Shifted up and down again, so that the sign goes all the way. */
    return column->is_unsigned ? (int64_t)number
                               : (int64_t)(number << unused) >> unused;
}

static double real_of(const struct wire_column *column, const struct field *field)
{
    uint64_t bits = little_endian(field->bytes, field->length);
    uint32_t half = (uint32_t)bits;
    float single;
    double number;

    if (column->type == TYPE_FLOAT) {
        memcpy(&single, &half, sizeof single);
        return (double)single;
    }
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* `YYYY-MM-DD hh:mm:ss.uuuuuu`, as far as the fields go. */
static int write_date(char *text, const struct wire_column *column,
                      const struct field *field)
{
    unsigned char parts[11] = {0};
    int length;

    memcpy(parts, field->bytes, field->length < 11 ? field->length : 11);
    length = snprintf(text, NUMBER_BYTES, "%04u-%02u-%02u",
                      parts[0] | (unsigned)parts[1] << 8, parts[2], parts[3]);
    if (column->type == TYPE_DATE)
        return length;
    length += snprintf(text + length, NUMBER_BYTES - (size_t)length, " %02u:%02u:%02u",
                       parts[4], parts[5], parts[6]);
    if (field->length < 11)
        return length;
    return length + snprintf(text + length, NUMBER_BYTES - (size_t)length, ".%06u",
                             (unsigned)little_endian(parts + 7, 4));
}

/* `-hhh:mm:ss.uuuuuu`; days count as hours. */
static int write_time(char *text, const struct field *field)
{
    unsigned char parts[12] = {0};
    int length;

    memcpy(parts, field->bytes, field->length < 12 ? field->length : 12);
    length = snprintf(text, NUMBER_BYTES, "%s%02llu:%02u:%02u", parts[0] ? "-" : "",
                      (unsigned long long)little_endian(parts + 1, 4) * 24 + parts[5],
                      parts[6], parts[7]);
    if (field->length < 12)
        return length;
    return length + snprintf(text + length, NUMBER_BYTES - (size_t)length, ".%06u",
                             (unsigned)little_endian(parts + 8, 4));
}

/* A number or time as text; false when the column is a text already. */
static bool write_text(char *text, const struct wire_column *column,
                       struct field *field)
{
    int length;

    if (column->type == TYPE_DATE || column->type == TYPE_DATETIME ||
        column->type == TYPE_TIMESTAMP)
        length = write_date(text, column, field);
    else if (column->type == TYPE_TIME)
        length = write_time(text, field);
    else if (!fixed_length(column->type))
        return false;
    else if (!is_integer(column->type))
        length =
            snprintf(text, NUMBER_BYTES, column->type == TYPE_FLOAT ? "%.9g" : "%.17g",
                     real_of(column, field));
    else if (column->is_unsigned)
        length = snprintf(text, NUMBER_BYTES, "%llu",
                          (unsigned long long)integer_of(column, field));
    else
        length =
            snprintf(text, NUMBER_BYTES, "%lld", (long long)integer_of(column, field));
    *field = (struct field){(const unsigned char *)text, (size_t)length};
    return true;
}

static int keep_text(const struct wire_column *column, struct field field,
                     unsigned int place, struct value *value, struct error *error)
{
    char text[NUMBER_BYTES];

    write_text(text, column, &field);
    if (field.length > value->capacity)
        return error_set(error, ERROR_INVALID,
                         "kept column %u has %zu bytes, its register holds %lu",
                         place + 1, field.length, value->capacity);
    memcpy(value->text, field.bytes, field.length);
    value->length = (unsigned long)field.length;
    return 0;
}

/* A text as a C string; false when it is too long for a number. */
static bool copy_number(char *text, const struct field *field)
{
    if (!field->length || field->length >= NUMBER_BYTES)
        return false;
    memcpy(text, field->bytes, field->length);
    text[field->length] = 0;
    return true;
}

/* A text that is an integer, or a decimal whose fraction is zero. */
static bool parse_integer(const struct field *field, int64_t *number)
{
    char text[NUMBER_BYTES];
    char *end;

    if (!copy_number(text, field))
        return false;
    errno = 0;
    *number = strtoll(text, &end, 10);
    if (*end == '.')
        end += 1 + strspn(end + 1, "0");
    return end > text && !*end && errno != ERANGE;
}

static bool read_integer(const struct wire_column *column, const struct field *field,
                         int64_t *number)
{
    double real;

    if (is_integer(column->type)) {
        *number = integer_of(column, field);
        return !column->is_unsigned || *number >= 0;
    }
    if (!fixed_length(column->type))
        return parse_integer(field, number);
    real = real_of(column, field);
    if (!(real > -9e18 && real < 9e18))
        return false;
    *number = (int64_t)real;
    return (double)*number == real;
}

static bool read_real(const struct wire_column *column, const struct field *field,
                      double *number)
{
    char text[NUMBER_BYTES];
    char *end;

    if (is_integer(column->type)) {
        int64_t integer = integer_of(column, field);
        *number = column->is_unsigned ? (double)(uint64_t)integer : (double)integer;
        return true;
    }
    if (fixed_length(column->type)) {
        *number = real_of(column, field);
        return true;
    }
    if (!copy_number(text, field))
        return false;
    *number = strtod(text, &end);
    return !*end;
}

static bool is_time(unsigned char type)
{
    return type == TYPE_DATE || type == TYPE_TIME || type == TYPE_DATETIME ||
           type == TYPE_TIMESTAMP;
}

static int keep(const struct wire_column *column, const struct field *field,
                unsigned int place, struct value *value, struct error *error)
{
    bool fits = !is_time(column->type);

    value->is_null = 0;
    if (value->type == VALUE_TEXT)
        return keep_text(column, *field, place, value, error);
    if (fits)
        fits = value->type == VALUE_INTEGER
                   ? read_integer(column, field, &value->integer)
                   : read_real(column, field, &value->real);
    return fits ? 0
                : error_set(error, ERROR_INVALID,
                            "kept column %u does not fit its register, which is for %s",
                            place + 1,
                            value->type == VALUE_INTEGER ? "integers" : "reals");
}

int wire_row_take(struct wire_row *row, const struct received *message,
                  struct error *error)
{
    enum { BITS_BEFORE = 2 }; /* of the bits that tell NULLs, unused */
    const unsigned char *nulls = message->head + 1;
    struct rest rest = {.end = message->head + message->head_length};
    size_t null_bytes;

    if (row->is_over)
        return 0;
    row->is_over = true;
    null_bytes = (row->in_result + 7 + BITS_BEFORE) / 8;
    if (message->head_length < 1 + null_bytes)
        return wire_malformed(error);
    rest.place = nulls + null_bytes;
    for (unsigned int i = 0; i < row->count; i++) {
        struct field field;
        unsigned int bit = i + BITS_BEFORE;
        if (nulls[bit / 8] & 1u << bit % 8)
            continue;
        if (take_field(&rest, row->columns[i].type, &field))
            return wire_malformed(error);
        if (keep(&row->columns[i], &field, i, row->kept[i], error))
            return -1;
    }
    return 0;
}
