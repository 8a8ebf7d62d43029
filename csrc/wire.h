/*
 * The hot path of the client protocol: prepare statements, execute them, or a text,
 * and skip what comes back but for a first row, with one send and, for short results,
 * one receive. Sending and receiving are apart, so that one thread can serve several
 * wires.
 *
 * libmariadb connects and logs in; on a plain connection that is idle, this file may
 * then speak on its socket. It spends a tenth of the library's instructions and of its
 * memory, as it keeps no metadata. No TLS, no compression.
 *
 * A wire is used by the thread that uses the connection. Failures are ERROR_DATABASE
 * with the server's number, SQLSTATE and text, or 2006/2013 when the connection is
 * lost.
 */
#ifndef BENCHKIT_WIRE_H
#define BENCHKIT_WIRE_H

#include "reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct value;
struct wire_row;

enum {
    WIRE_INPUT_BYTES = 32 * 1024,
    WIRE_TEXT_MAX = 0xffffff - 1 /* longer texts would need several packets */
};

/* The message that comes next in a reply. */
enum wire_expected {
    EXPECT_NOTHING,
    EXPECT_RESULT,
    EXPECT_COLUMN,
    EXPECT_COLUMNS_END,
    EXPECT_ROW
};

struct wire {
    int socket;         /* borrowed */
    bool ends_with_ok;  /* CLIENT_DEPRECATE_EOF was agreed on */
    unsigned char *out; /* owned; the packet being built */
    size_t out_capacity;
    unsigned char *in; /* owned; WIRE_INPUT_BYTES */
    size_t in_begin;   /* bytes in..in_end are received and not yet read */
    size_t in_end;
    bool blocks; /* receiving waits for what is not there yet; so it is made */

    size_t to_skip; /* bytes of the last message that are still to be gone past */
    bool continues; /* and further packets of it */
    enum wire_expected expected;
    uint64_t columns;      /* descriptions still to come */
    struct wire_row *row;  /* takes the first row; NULL: rows are skipped; borrowed */
    bool gives_parameters; /* the result set at hand is a CALL's OUT parameters */
    struct reply reply;
};

/* A prepared statement. Its owner sets `row` before it is prepared, and `parameters`
 * before it is executed. */
struct wire_statement {
    uint32_t id;
    struct value *const *parameters; /* borrowed, with what they point at */
    unsigned int count;              /* of them */
    bool types_sent;                 /* false until the first execution */
    struct wire_row *row;            /* what is kept; NULL: nothing; borrowed */
};

/* ERROR_SYSTEM without memory. */
int wire_init(struct wire *wire, int socket, bool ends_with_ok, struct error *error);

/* Free the buffers; fine on a zeroed struct. */
void wire_fini(struct wire *wire);

/* Prepare a text of up to WIRE_TEXT_MAX bytes: fills id and count. The wire must block.
 */
int wire_prepare(struct wire *wire, const char *sql, size_t length,
                 struct wire_statement *statement, struct error *error);

/* Tell the server to forget a statement. */
void wire_close(struct wire *wire, const struct wire_statement *statement);

/* True if these parameters fit into one packet whatever they come to hold. */
bool wire_can_send(struct value *const *parameters, unsigned int count);

/* Send a statement with the present content of its parameters. */
int wire_send_execute(struct wire *wire, struct wire_statement *statement,
                      struct error *error);

/* Send one text of up to WIRE_TEXT_MAX bytes. */
int wire_send_query(struct wire *wire, const char *sql, size_t length,
                    struct error *error);

/* Read the reply to what was sent. Where the wire does not block, REPLY_INCOMPLETE
 * means to call again when the socket is readable. reply->found tells whether a row
 * came or was affected. */
int wire_receive(struct wire *wire, struct reply *reply, struct error *error);

#endif
