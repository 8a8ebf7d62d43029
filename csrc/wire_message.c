/*
 * Messages out of a stream of bytes. What a message has beyond its head is gone past
 * when the next one is asked for.
 */
#include "wire_message.h"

#include "error.h"
#include "reply.h"
#include "wire.h"
#include "wire_row.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

enum { HEAD_BYTES = 512 };

/* Numbers that libmariadb gives to these. */
enum { SERVER_LOST = 2013, MALFORMED_PACKET = 2027 };

/* A blocking recv() on a Unix socket is woken up also when the server has taken the
 * request; poll() is not. */
static void wait_for_more(const struct wire *wire)
{
    struct pollfd readable = {.fd = wire->socket, .events = POLLIN};

    if (wire->blocks)
        poll(&readable, 1, -1);
}

static int receive_more(struct wire *wire, struct error *error)
{
    ssize_t received;

    if (wire->in_begin == wire->in_end)
        wire->in_begin = wire->in_end = 0;
    wait_for_more(wire);
    do {
        received =
            recv(wire->socket, wire->in + wire->in_end, WIRE_INPUT_BYTES - wire->in_end,
                 wire->blocks ? 0 : MSG_DONTWAIT);
    } while (received < 0 && errno == EINTR);
    if (received < 0 && !wire->blocks && errno == EAGAIN)
        return REPLY_INCOMPLETE;
    if (received <= 0)
        return error_set_database(error, SERVER_LOST, "HY000",
                                  "Lost connection to server during query");
    wire->in_end += (size_t)received;
    return 0;
}

/* Make sure that `bytes` (few) are there to look at. */
static int require(struct wire *wire, size_t bytes, struct error *error)
{
    int status = 0;

    if (wire->in_begin + bytes > WIRE_INPUT_BYTES) {
        memmove(wire->in, wire->in + wire->in_begin, wire->in_end - wire->in_begin);
        wire->in_end -= wire->in_begin;
        wire->in_begin = 0;
    }
    while (!status && wire->in_end - wire->in_begin < bytes)
        status = receive_more(wire, error);
    return status;
}

/* Go past the bytes that are known to be of no interest. */
static int skip(struct wire *wire, struct error *error)
{
    for (;;) {
        size_t there = wire->in_end - wire->in_begin;
        size_t skipped = wire->to_skip < there ? wire->to_skip : there;
        int status;
        wire->in_begin += skipped;
        wire->to_skip -= skipped;
        if (!wire->to_skip)
            return 0;
        status = receive_more(wire, error);
        if (status)
            return status;
    }
}

/* Look at the length of the packet that comes next. */
static int peek_length(struct wire *wire, size_t *length, struct error *error)
{
    const unsigned char *header;
    int status = require(wire, HEADER_BYTES, error);

    if (status)
        return status;
    header = wire->in + wire->in_begin;
    *length = header[0] | (size_t)header[1] << 8 | (size_t)header[2] << 16;
    return 0;
}

int wire_end_message(struct wire *wire, struct error *error)
{
    for (;;) {
        size_t length;
        int status = skip(wire, error);
        if (!status && wire->continues)
            status = peek_length(wire, &length, error);
        if (status || !wire->continues)
            return status;
        wire->to_skip = HEADER_BYTES + length;
        wire->continues = length == PACKET_MAX;
    }
}

/* Look at the head of the next message, which stays valid, and go past it. */
static int read_head(struct wire *wire, struct received *message, struct error *error)
{
    size_t wanted = wire->row ? WIRE_ROW_BYTES : HEAD_BYTES;
    int status = wire_end_message(wire, error);

    if (!status)
        status = peek_length(wire, &message->length, error);
    if (status)
        return status;
    message->head_length = message->length < wanted ? message->length : wanted;
    status = require(wire, HEADER_BYTES + message->head_length, error);
    if (status)
        return status;
    message->head = wire->in + wire->in_begin + HEADER_BYTES;
    wire->in_begin += HEADER_BYTES + message->head_length;
    wire->to_skip = message->length - message->head_length;
    wire->continues = message->length == PACKET_MAX;
    return 0;
}

/* Long operations report how far they are by errors with a number of their own, which
 * may come between any messages of the reply. */
static bool is_progress(const struct received *message)
{
    return message->head_length > 2 && message->head[0] == MESSAGE_ERROR &&
           message->head[1] == 0xff && message->head[2] == 0xff;
}

int wire_malformed(struct error *error)
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
        return wire_malformed(error);
    if (message->head_length >= 9 && head[3] == '#') {
        memcpy(sqlstate, head + 4, 5);
        text = 9;
    }
    length = message->head_length - text;
    if (length >= sizeof words)
        length = sizeof words - 1;
    memcpy(words, head + text, length);
    words[length] = 0;
    return error_set_database(error, head[1] | (unsigned int)head[2] << 8, sqlstate,
                              words);
}

/* The rest of the message can stay where nobody waits for it: nobody else reads then.
 */
static int server_error(struct wire *wire, const struct received *message,
                        struct error *error)
{
    struct error lost;

    set_error(message, error);
    if (wire_end_message(wire, &lost) < 0)
        *error = lost;
    return -1;
}

int wire_next_message(struct wire *wire, struct received *message, struct error *error)
{
    int status;

    do {
        status = read_head(wire, message, error);
    } while (!status && is_progress(message));
    if (!status && message->length && message->head[0] == MESSAGE_ERROR)
        return server_error(wire, message, error);
    return status;
}
