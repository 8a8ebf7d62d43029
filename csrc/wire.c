/*
 * Packets of the MariaDB/MySQL client protocol, as far as the hot path needs them.
 *
 * A packet is a length of three bytes, a number, and that many bytes; a longer message
 * goes on in further packets while the length is 0xffffff. Numbers are little-endian.
 */
#include "wire.h"

#include "error.h"
#include "reply.h"
#include "value.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    HEADER_BYTES = 4,
    PACKET_MAX = 0xffffff,
    EOF_BYTES_MAX = 8, /* an EOF packet is shorter than any row that starts alike */
    HEAD_BYTES = 512   /* as much of a message as is looked into */
};

enum command {
    COMMAND_QUERY = 0x03,
    COMMAND_PREPARE = 0x16,
    COMMAND_EXECUTE = 0x17,
    COMMAND_CLOSE = 0x19
};

/* First bytes of messages. */
enum message {
    MESSAGE_OK = 0x00,
    MESSAGE_FILE = 0xfb, /* the server asks for a local file */
    MESSAGE_EOF = 0xfe,
    MESSAGE_ERROR = 0xff
};

enum { STATUS_MORE_RESULTS = 0x0008 };

/* Numbers that libmariadb gives to a lost connection. */
enum { SERVER_GONE = 2006, SERVER_LOST = 2013, MALFORMED_PACKET = 2027 };

int wire_init(struct wire *wire, int socket, bool ends_with_ok, struct error *error)
{
    memset(wire, 0, sizeof *wire);
    wire->socket = socket;
    wire->ends_with_ok = ends_with_ok;
    wire->out_capacity = HEAD_BYTES;
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

/* Sending */

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

static int send_all(struct wire *wire, const unsigned char *bytes, size_t length,
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

static int send_execute(struct wire *wire, struct wire_statement *statement,
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
    return send_all(wire, wire->out, (size_t)(out - wire->out), error);
}

/* Receiving */

static int receive_more(struct wire *wire, struct error *error)
{
    ssize_t received;

    if (wire->in_begin == wire->in_end)
        wire->in_begin = wire->in_end = 0;
    do {
        received = recv(wire->socket, wire->in + wire->in_end,
                        WIRE_INPUT_BYTES - wire->in_end, 0);
    } while (received < 0 && errno == EINTR);
    if (received <= 0)
        return error_set_database(error, SERVER_LOST, "HY000",
                                  "Lost connection to server during query");
    wire->in_end += (size_t)received;
    return 0;
}

/* Make sure that `bytes` (few) are there to look at. */
static int require(struct wire *wire, size_t bytes, struct error *error)
{
    if (wire->in_begin + bytes > WIRE_INPUT_BYTES) {
        memmove(wire->in, wire->in + wire->in_begin, wire->in_end - wire->in_begin);
        wire->in_end -= wire->in_begin;
        wire->in_begin = 0;
    }
    while (wire->in_end - wire->in_begin < bytes)
        if (receive_more(wire, error))
            return -1;
    return 0;
}

static int skip_bytes(struct wire *wire, size_t bytes, struct error *error)
{
    for (;;) {
        size_t there = wire->in_end - wire->in_begin;
        if (bytes <= there) {
            wire->in_begin += bytes;
            return 0;
        }
        bytes -= there;
        wire->in_begin = wire->in_end;
        if (receive_more(wire, error))
            return -1;
    }
}

/* A message: its length, and its first bytes. */
struct received {
    size_t length;
    const unsigned char *head; /* valid until the next message is read */
    size_t head_length;        /* min(length, HEAD_BYTES) */
};

static size_t packet_length(const struct wire *wire)
{
    const unsigned char *header = wire->in + wire->in_begin;

    return header[0] | (size_t)header[1] << 8 | (size_t)header[2] << 16;
}

/* Skip the packets that go on with a message whose first had the full length. */
static int skip_continuation(struct wire *wire, struct error *error)
{
    size_t length;

    do {
        if (require(wire, HEADER_BYTES, error))
            return -1;
        length = packet_length(wire);
        if (skip_bytes(wire, HEADER_BYTES + length, error))
            return -1;
    } while (length == PACKET_MAX);
    return 0;
}

/* Look at the head of the next message, which stays valid, and go past it. */
static int read_head(struct wire *wire, struct received *message, struct error *error)
{
    if (require(wire, HEADER_BYTES, error))
        return -1;
    message->length = packet_length(wire);
    message->head_length = message->length < HEAD_BYTES ? message->length : HEAD_BYTES;
    if (require(wire, HEADER_BYTES + message->head_length, error))
        return -1;
    message->head = wire->in + wire->in_begin + HEADER_BYTES;
    wire->in_begin += HEADER_BYTES + message->head_length;
    return 0;
}

/* Go past the rest of a message that is longer than its head; the head is lost. */
static int end_message(struct wire *wire, const struct received *message,
                       struct error *error)
{
    if (message->length == message->head_length)
        return 0;
    if (skip_bytes(wire, message->length - message->head_length, error))
        return -1;
    return message->length == PACKET_MAX ? skip_continuation(wire, error) : 0;
}

/* Long operations report how far they are by errors with a number of their own, which
 * may come between any messages of the reply. */
static bool is_progress(const struct received *message)
{
    return message->head_length > 2 && message->head[0] == MESSAGE_ERROR &&
           message->head[1] == 0xff && message->head[2] == 0xff;
}

/* Read the next message up to its head; end_message() goes past the rest. */
static int read_message(struct wire *wire, struct received *message,
                        struct error *error)
{
    for (;;) {
        if (read_head(wire, message, error))
            return -1;
        if (!is_progress(message))
            return 0;
        if (end_message(wire, message, error))
            return -1;
    }
}

static int malformed(struct error *error)
{
    return error_set_database(error, MALFORMED_PACKET, "HY000", "Malformed packet");
}

/* Set `error` from the head of an error message: number, '#', SQLSTATE, text. */
static int set_error(const struct received *message, struct error *error)
{
    const unsigned char *head = message->head;
    size_t text = 3;
    char sqlstate[6] = "HY000";
    char words[sizeof error->message];
    size_t length;

    if (message->head_length < text)
        return malformed(error);
    if (message->head_length >= 9 && head[3] == '#') {
        memcpy(sqlstate, head + 4, 5);
        text = 9;
    }
    length = message->head_length - text;
    memcpy(words, head + text, length);
    words[length] = 0;
    return error_set_database(error, head[1] | (unsigned int)head[2] << 8, sqlstate,
                              words);
}

static int server_error(struct wire *wire, const struct received *message,
                        struct error *error)
{
    struct error lost;

    set_error(message, error);
    if (end_message(wire, message, &lost))
        *error = lost;
    return -1;
}

/* Read a length-encoded integer at *place, which moves behind it; at most `end`. */
static int take_integer(const unsigned char **place, const unsigned char *end,
                        uint64_t *number)
{
    static const unsigned char sizes[] = {[0] = 2, [1] = 3, [2] = 8};
    const unsigned char *from = *place;
    size_t bytes;

    if (from >= end)
        return -1;
    *number = *from++;
    if (*number >= 0xfc) {
        if (*number == 0xff)
            return -1;
        bytes = sizes[*number - 0xfc];
        if ((size_t)(end - from) < bytes)
            return -1;
        *number = 0;
        for (size_t i = 0; i < bytes; i++)
            *number |= (uint64_t)from[i] << 8 * i;
        from += bytes;
    }
    *place = from;
    return 0;
}

/* An OK message, or an EOF that has its layout: rows affected, and the status. */
static int read_ok(const struct received *message, uint64_t *affected, unsigned *status,
                   struct error *error)
{
    const unsigned char *place = message->head + 1;
    const unsigned char *end = message->head + message->head_length;
    uint64_t insert_id;

    if (take_integer(&place, end, affected) || take_integer(&place, end, &insert_id) ||
        end - place < 2)
        return malformed(error);
    *status = place[0] | (unsigned)place[1] << 8;
    return 0;
}

static bool is_end(const struct wire *wire, const struct received *message)
{
    if (!message->length || message->head[0] != MESSAGE_EOF)
        return false;
    return wire->ends_with_ok ? message->length < PACKET_MAX
                              : message->length <= EOF_BYTES_MAX;
}

/* The status flags in the message that ends a list of columns or rows. */
static int read_end(const struct wire *wire, const struct received *message,
                    unsigned *status, struct error *error)
{
    uint64_t affected;

    if (wire->ends_with_ok)
        return read_ok(message, &affected, status, error);
    if (message->length < 5)
        return malformed(error);
    *status = message->head[3] | (unsigned)message->head[4] << 8;
    return 0;
}

/* Skip messages up to the one that ends a list; tell whether there were any. */
static int skip_list(struct wire *wire, bool *any, unsigned *status,
                     struct error *error)
{
    struct received message;

    *any = false;
    for (;;) {
        if (read_message(wire, &message, error))
            return -1;
        if (is_end(wire, &message))
            return read_end(wire, &message, status, error);
        if (message.length && message.head[0] == MESSAGE_ERROR)
            return server_error(wire, &message, error);
        *any = true;
        if (end_message(wire, &message, error))
            return -1;
    }
}

/* Skip descriptions of parameters or columns, without the EOF that may end them. */
static int skip_descriptions(struct wire *wire, uint64_t count, struct error *error)
{
    for (uint64_t i = 0; i < count; i++) {
        struct received message;
        if (read_message(wire, &message, error))
            return -1;
        if (message.length && message.head[0] == MESSAGE_ERROR)
            return server_error(wire, &message, error);
        if (end_message(wire, &message, error))
            return -1;
    }
    return 0;
}

/* Skip a result set whose first message is `message`: a count of columns, perhaps
 * whether their descriptions follow, the descriptions, and rows. */
static int skip_result(struct wire *wire, const struct received *message,
                       struct reply *reply, unsigned *status, struct error *error)
{
    const unsigned char *place = message->head;
    const unsigned char *end = place + message->head_length;
    uint64_t columns;
    bool described, any;

    if (take_integer(&place, end, &columns))
        return malformed(error);
    described = place == end || *place;
    reply->has_result = true;
    if (skip_descriptions(wire, described ? columns : 0, error))
        return -1;
    if (!wire->ends_with_ok && skip_list(wire, &any, status, error))
        return -1;
    if (skip_list(wire, &any, status, error))
        return -1;
    reply->found = reply->found || any;
    return 0;
}

/* A request for a local file is answered with an empty one. */
static int refuse_file(struct wire *wire, struct error *error)
{
    static const unsigned char empty[HEADER_BYTES] = {0, 0, 0, 2};

    return send_all(wire, empty, sizeof empty, error);
}

static int read_result(struct wire *wire, struct reply *reply, unsigned *status,
                       struct error *error)
{
    struct received message;
    uint64_t affected;

    if (read_message(wire, &message, error))
        return -1;
    if (!message.length)
        return malformed(error);
    switch (message.head[0]) {
    case MESSAGE_OK:
        if (read_ok(&message, &affected, status, error))
            return -1;
        reply->affected_rows += affected;
        reply->found = reply->found || affected;
        return end_message(wire, &message, error);
    case MESSAGE_ERROR:
        return server_error(wire, &message, error);
    case MESSAGE_FILE:
        *status = STATUS_MORE_RESULTS; /* the outcome is still to come */
        return refuse_file(wire, error);
    default:
        return skip_result(wire, &message, reply, status, error);
    }
}

static int read_reply(struct wire *wire, struct reply *reply, struct error *error)
{
    unsigned status = 0;

    memset(reply, 0, sizeof *reply);
    do {
        if (read_result(wire, reply, &status, error))
            return -1;
    } while (status & STATUS_MORE_RESULTS);
    if (reply->has_result)
        reply->affected_rows = 0;
    return 0;
}

int wire_execute(struct wire *wire, struct wire_statement *statement,
                 struct reply *reply, struct error *error)
{
    if (send_execute(wire, statement, error))
        return -1;
    return read_reply(wire, reply, error);
}

/* Send a command whose argument is a text. */
static int send_text(struct wire *wire, enum command command, const char *text,
                     size_t length, struct error *error)
{
    size_t whole = HEADER_BYTES + 1 + length;

    put_header(wire, 1 + length);
    wire->out[HEADER_BYTES] = (unsigned char)command;
    if (whole <= HEAD_BYTES) {
        memcpy(wire->out + HEADER_BYTES + 1, text, length);
        return send_all(wire, wire->out, whole, error);
    }
    if (send_all(wire, wire->out, HEADER_BYTES + 1, error))
        return -1;
    return send_all(wire, (const unsigned char *)text, length, error);
}

int wire_query(struct wire *wire, const char *sql, size_t length, struct reply *reply,
               struct error *error)
{
    if (send_text(wire, COMMAND_QUERY, sql, length, error))
        return -1;
    return read_reply(wire, reply, error);
}

/* Skip a list of descriptions and its EOF; an empty list has none. */
static int skip_described(struct wire *wire, unsigned int count, struct error *error)
{
    unsigned status;
    bool any;

    if (!count)
        return 0;
    if (skip_descriptions(wire, count, error))
        return -1;
    return wire->ends_with_ok ? 0 : skip_list(wire, &any, &status, error);
}

int wire_prepare(struct wire *wire, const char *sql, size_t length,
                 struct wire_statement *statement, struct error *error)
{
    enum { PREPARED_BYTES = 9 };
    struct received message;
    unsigned int columns;

    if (send_text(wire, COMMAND_PREPARE, sql, length, error) ||
        read_message(wire, &message, error))
        return -1;
    if (message.length && message.head[0] == MESSAGE_ERROR)
        return server_error(wire, &message, error);
    if (message.head_length < PREPARED_BYTES || message.head[0] != MESSAGE_OK)
        return malformed(error);
    memset(statement, 0, sizeof *statement);
    statement->id = message.head[1] | (uint32_t)message.head[2] << 8 |
                    (uint32_t)message.head[3] << 16 | (uint32_t)message.head[4] << 24;
    columns = message.head[5] | (unsigned)message.head[6] << 8;
    statement->count = message.head[7] | (unsigned)message.head[8] << 8;
    if (end_message(wire, &message, error) ||
        skip_described(wire, statement->count, error))
        return -1;
    return skip_described(wire, columns, error);
}

void wire_close(struct wire *wire, const struct wire_statement *statement)
{
    struct error ignored; /* the server forgets the statement with the connection */
    unsigned char *end;

    put_header(wire, 5);
    wire->out[HEADER_BYTES] = COMMAND_CLOSE;
    end = put_32(wire->out + HEADER_BYTES + 1, statement->id);
    send_all(wire, wire->out, (size_t)(end - wire->out), &ignored);
}
