/*
 * What is sent: commands, each in one packet. And preparing, which is not hot.
 */
#include "wire.h"

#include "error.h"
#include "value.h"
#include "wire_message.h"
#include "wire_row.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum command {
    COMMAND_QUERY = 0x03,
    COMMAND_PREPARE = 0x16,
    COMMAND_EXECUTE = 0x17,
    COMMAND_CLOSE = 0x19
};

/* The number that libmariadb gives when nothing can be sent. */
enum { SERVER_GONE = 2006, OUT_BYTES = 512 };

int wire_init(struct wire *wire, int socket, bool ends_with_ok, struct error *error)
{
    memset(wire, 0, sizeof *wire);
    wire->socket = socket;
    wire->blocks = true;
    wire->ends_with_ok = ends_with_ok;
    wire->out_capacity = OUT_BYTES;
    wire->out = malloc(wire->out_capacity);
    wire->in = malloc(WIRE_INPUT_BYTES);
    if (wire->out && wire->in)
        return 0;
    wire_fini(wire);
    return error_set_memory(error);
}

void wire_fini(struct wire *wire)
{
    free(wire->out);
    free(wire->in);
    memset(wire, 0, sizeof *wire);
}

static int reserve(struct wire *wire, size_t bytes, struct error *error)
{
    unsigned char *grown;

    if (bytes <= wire->out_capacity)
        return 0;
    grown = realloc(wire->out, bytes);
    if (!grown)
        return error_set_memory(error);
    wire->out = grown;
    wire->out_capacity = bytes;
    return 0;
}

int wire_send(struct wire *wire, const unsigned char *bytes, size_t length,
              struct error *error)
{
    while (length) {
        ssize_t sent = send(wire->socket, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return error_set_database(error, SERVER_GONE, "HY000",
                                      "Server has gone away");
        bytes += sent;
        length -= (size_t)sent;
    }
    return 0;
}

/* The header of a first packet with `length` bytes behind it. */
static void put_header(struct wire *wire, size_t length)
{
    wire->out[0] = (unsigned char)length;
    wire->out[1] = (unsigned char)(length >> 8);
    wire->out[2] = (unsigned char)(length >> 16);
    wire->out[3] = 0;
}

static unsigned char *put_32(unsigned char *out, uint32_t number)
{
    uint32_t little = htole32(number);

    memcpy(out, &little, sizeof little);
    return out + sizeof little;
}

static unsigned char *put_64(unsigned char *out, const void *number)
{
    uint64_t bits;

    memcpy(&bits, number, sizeof bits);
    bits = htole64(bits);
    memcpy(out, &bits, sizeof bits);
    return out + sizeof bits;
}

static unsigned char *put_text(unsigned char *out, const struct value *value)
{
    uint64_t length = value->length;

    if (length < 0xfb) {
        *out++ = (unsigned char)length;
    } else {
        *out++ = 0xfe;
        out = put_64(out, &length);
    }
    memcpy(out, value->text, length);
    return out + length;
}

static unsigned char *put_value(unsigned char *out, const struct value *value)
{
    if (value->is_null)
        return out;
    if (value->type == VALUE_TEXT)
        return put_text(out, value);
    return put_64(out, value->type == VALUE_INTEGER ? (const void *)&value->integer
                                                    : (const void *)&value->real);
}

static unsigned char *put_types(unsigned char *out, struct value *const *parameters,
                                unsigned int count)
{
    static const unsigned char types[] = {
        [VALUE_INTEGER] = 0x08, [VALUE_REAL] = 0x05, [VALUE_TEXT] = 0xfe};

    for (unsigned int i = 0; i < count; i++) {
        *out++ = types[parameters[i]->type];
        *out++ = 0; /* signed */
    }
    return out;
}

static unsigned char *put_parameters(unsigned char *out,
                                     struct value *const *parameters,
                                     unsigned int count, bool send_types)
{
    unsigned char *nulls = out;
    size_t null_bytes = (count + 7) / 8;

    memset(nulls, 0, null_bytes);
    out += null_bytes;
    *out++ = send_types;
    if (send_types)
        out = put_types(out, parameters, count);
    for (unsigned int i = 0; i < count; i++) {
        if (parameters[i]->is_null)
            nulls[i / 8] = (unsigned char)(nulls[i / 8] | 1u << i % 8);
        out = put_value(out, parameters[i]);
    }
    return out;
}

/* At most: what precedes the parameters; the type and length or number of each. */
enum { EXECUTE_BYTES = HEADER_BYTES + 16, VALUE_BYTES = 2 + 9 };

static size_t execute_limit(struct value *const *parameters, unsigned int count)
{
    size_t bytes = EXECUTE_BYTES + count / 8;

    for (unsigned int i = 0; i < count; i++)
        bytes += VALUE_BYTES +
                 (parameters[i]->type == VALUE_TEXT ? parameters[i]->length : 0);
    return bytes;
}

bool wire_can_send(struct value *const *parameters, unsigned int count)
{
    size_t bytes = EXECUTE_BYTES + count / 8;

    for (unsigned int i = 0; i < count; i++)
        bytes += VALUE_BYTES + parameters[i]->capacity;
    return bytes < PACKET_MAX;
}

int wire_send_execute(struct wire *wire, struct wire_statement *statement,
                      struct error *error)
{
    struct value *const *parameters = statement->parameters;
    unsigned int count = statement->count;
    unsigned char *out;

    if (reserve(wire, execute_limit(parameters, count), error))
        return -1;
    out = wire->out + HEADER_BYTES;
    *out++ = COMMAND_EXECUTE;
    out = put_32(out, statement->id);
    *out++ = 0; /* no cursor */
    out = put_32(out, 1);
    if (count)
        out = put_parameters(out, parameters, count, !statement->types_sent);
    statement->types_sent = true;
    put_header(wire, (size_t)(out - wire->out) - HEADER_BYTES);
    wire_expect_reply(wire);
    wire->row = statement->row;
    if (wire->row)
        wire_row_expect(wire->row);
    return wire_send(wire, wire->out, (size_t)(out - wire->out), error);
}

/* Send a command whose argument is a text. */
static int send_text(struct wire *wire, enum command command, const char *text,
                     size_t length, struct error *error)
{
    size_t whole = HEADER_BYTES + 1 + length;

    put_header(wire, 1 + length);
    wire->out[HEADER_BYTES] = (unsigned char)command;
    if (whole <= OUT_BYTES) {
        memcpy(wire->out + HEADER_BYTES + 1, text, length);
        return wire_send(wire, wire->out, whole, error);
    }
    if (wire_send(wire, wire->out, HEADER_BYTES + 1, error))
        return -1;
    return wire_send(wire, (const unsigned char *)text, length, error);
}

int wire_send_query(struct wire *wire, const char *sql, size_t length,
                    struct error *error)
{
    wire_expect_reply(wire);
    return send_text(wire, COMMAND_QUERY, sql, length, error);
}

/* Go past a list of descriptions and its EOF; an empty list has none. Those of columns
 * that are kept are told to `row`: the server may not send them again. */
static int read_descriptions(struct wire *wire, unsigned int count,
                             struct wire_row *row, struct error *error)
{
    unsigned int messages = count && !wire->ends_with_ok ? count + 1 : count;
    struct received message;

    for (unsigned int i = 0; i < messages; i++)
        if (wire_next_message(wire, &message, error) ||
            (row && i < count && wire_row_describe(row, &message, error)))
            return -1;
    return 0;
}

int wire_prepare(struct wire *wire, const char *sql, size_t length,
                 struct wire_statement *statement, struct error *error)
{
    enum { PREPARED_BYTES = 9 };
    struct received message;
    unsigned int columns;

    wire->row = statement->row;
    if (send_text(wire, COMMAND_PREPARE, sql, length, error) ||
        wire_next_message(wire, &message, error))
        return -1;
    if (message.head_length < PREPARED_BYTES || message.head[0] != MESSAGE_OK)
        return wire_malformed(error);
    statement->types_sent = false;
    statement->id = message.head[1] | (uint32_t)message.head[2] << 8 |
                    (uint32_t)message.head[3] << 16 | (uint32_t)message.head[4] << 24;
    columns = message.head[5] | (unsigned)message.head[6] << 8;
    statement->count = message.head[7] | (unsigned)message.head[8] << 8;
    if (read_descriptions(wire, statement->count, NULL, error) ||
        read_descriptions(wire, columns, statement->row, error))
        return -1;
    return wire_end_message(wire, error);
}

void wire_close(struct wire *wire, const struct wire_statement *statement)
{
    struct error ignored; /* the server forgets the statement with the connection */
    unsigned char *end;

    put_header(wire, 5);
    wire->out[HEADER_BYTES] = COMMAND_CLOSE;
    end = put_32(wire->out + HEADER_BYTES + 1, statement->id);
    wire_send(wire, wire->out, (size_t)(end - wire->out), &ignored);
}
