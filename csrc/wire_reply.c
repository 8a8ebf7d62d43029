/*
 * Replies, message by message. The first message of a result tells what it is; a result
 * set goes on with descriptions of its columns, perhaps an EOF, rows, and their end.
 */
#include "wire.h"

#include "error.h"
#include "reply.h"
#include "wire_message.h"
#include "wire_row.h"

#include <string.h>

enum {
    EOF_BYTES_MAX = 8, /* an EOF packet is shorter than any row that starts alike */
    STATUS_MORE_RESULTS = 0x0008,
    STATUS_OUT_PARAMETERS = 0x1000
};

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
        return wire_malformed(error);
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
        return wire_malformed(error);
    *status = message->head[3] | (unsigned)message->head[4] << 8;
    return 0;
}

/* What comes behind the columns. */
static enum wire_expected after_columns(const struct wire *wire)
{
    return wire->ends_with_ok ? EXPECT_ROW : EXPECT_COLUMNS_END;
}

/* Behind OUT parameters the end of the CALL always comes: MySQL says so before their
 * row, and has forgotten it behind. */
static void end_result(struct wire *wire, unsigned status)
{
    bool goes_on = status & STATUS_MORE_RESULTS || wire->gives_parameters;

    wire->expected = goes_on ? EXPECT_RESULT : EXPECT_NOTHING;
    wire->gives_parameters = false;
}

/* A result set starts with a count of columns and, perhaps, whether they follow. */
static int begin_result_set(struct wire *wire, const struct received *message,
                            struct error *error)
{
    const unsigned char *place = message->head;
    const unsigned char *end = place + message->head_length;
    uint64_t columns;

    if (take_integer(&place, end, &columns))
        return wire_malformed(error);
    wire->columns = place == end || *place ? columns : 0;
    if (wire->row && wire_row_begin(wire->row, columns, wire->columns, error))
        return -1;
    wire->expected = wire->columns ? EXPECT_COLUMN : after_columns(wire);
    wire->reply.has_result = true;
    return 0;
}

/* A request for a local file is answered with an empty one; the outcome follows. */
static int refuse_file(struct wire *wire, struct error *error)
{
    static const unsigned char empty[HEADER_BYTES] = {0, 0, 0, 2};

    return wire_send(wire, empty, sizeof empty, error);
}

static int read_result(struct wire *wire, const struct received *message,
                       struct error *error)
{
    uint64_t affected;
    unsigned status;

    if (!message->length)
        return wire_malformed(error);
    if (message->head[0] == MESSAGE_FILE)
        return refuse_file(wire, error);
    if (message->head[0] != MESSAGE_OK)
        return begin_result_set(wire, message, error);
    if (read_ok(message, &affected, &status, error))
        return -1;
    wire->reply.affected_rows += affected;
    wire->reply.found = wire->reply.found || affected;
    end_result(wire, status);
    return 0;
}

static int read_column(struct wire *wire, const struct received *message,
                       struct error *error)
{
    if (wire->row && wire_row_describe(wire->row, message, error))
        return -1;
    if (!--wire->columns)
        wire->expected = after_columns(wire);
    return 0;
}

static int read_columns_end(struct wire *wire, const struct received *message,
                            struct error *error)
{
    unsigned status;

    if (!is_end(wire, message))
        return 0;
    if (read_end(wire, message, &status, error))
        return -1;
    wire->gives_parameters = status & STATUS_OUT_PARAMETERS;
    wire->expected = EXPECT_ROW;
    return 0;
}

static int read_row(struct wire *wire, const struct received *message,
                    struct error *error)
{
    unsigned status;

    if (!is_end(wire, message)) {
        wire->reply.found = true;
        return wire->row ? wire_row_take(wire->row, message, error) : 0;
    }
    if (wire->row)
        wire_row_end(wire->row);
    if (read_end(wire, message, &status, error))
        return -1;
    end_result(wire, status);
    return 0;
}

static int read_expected(struct wire *wire, const struct received *message,
                         struct error *error)
{
    static int (*const readers[])(struct wire *, const struct received *,
                                  struct error *) = {[EXPECT_RESULT] = read_result,
                                                     [EXPECT_COLUMN] = read_column,
                                                     [EXPECT_COLUMNS_END] =
                                                         read_columns_end,
                                                     [EXPECT_ROW] = read_row};

    return readers[wire->expected](wire, message, error);
}

void wire_expect_reply(struct wire *wire)
{
    memset(&wire->reply, 0, sizeof wire->reply);
    wire->row = NULL;
    wire->gives_parameters = false;
    wire->expected = EXPECT_RESULT;
}

int wire_receive(struct wire *wire, struct reply *reply, struct error *error)
{
    while (wire->expected != EXPECT_NOTHING) {
        struct received message;
        int status = wire_next_message(wire, &message, error);
        if (!status)
            status = read_expected(wire, &message, error);
        if (status)
            return status;
    }
    /* The rest of the last message can stay where nobody waits for it. */
    if (wire_end_message(wire, error) < 0)
        return -1;
    *reply = wire->reply;
    if (reply->has_result)
        reply->affected_rows = 0;
    return 0;
}
