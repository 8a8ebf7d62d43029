/*
 * Messages of the MariaDB/MySQL client protocol, one after the other from a socket; for
 * wire*.c only.
 *
 * A packet is a length of three bytes, a number, and that many bytes; a longer message
 * goes on in further packets while the length is 0xffffff. Numbers are little-endian.
 * Where receiving does not block, every call may return REPLY_INCOMPLETE and be made
 * again later: nothing is lost.
 */
#ifndef BENCHKIT_WIRE_MESSAGE_H
#define BENCHKIT_WIRE_MESSAGE_H

#include <stddef.h>

struct error;
struct wire;

enum { HEADER_BYTES = 4, PACKET_MAX = 0xffffff };

/* First bytes of messages. */
enum message {
    MESSAGE_OK = 0x00,
    MESSAGE_FILE = 0xfb, /* the server asks for a local file */
    MESSAGE_EOF = 0xfe,
    MESSAGE_ERROR = 0xff
};

/* A message: its length, and its first bytes. */
struct received {
    size_t length;
    const unsigned char *head; /* valid until the next message is asked for */
    size_t head_length;        /* of what is looked into: at most 512, or
                                  WIRE_ROW_BYTES where a row is kept */
};

/* Go to the next message that is no report of progress. 0; REPLY_INCOMPLETE; -1 when
 * the connection is lost or the message is an error: then that error, and the message
 * is over. */
int wire_next_message(struct wire *wire, struct received *message, struct error *error);

/* Go past what is left of the last message, so that others can use the socket. */
int wire_end_message(struct wire *wire, struct error *error);

/* ERROR_DATABASE 2027, as libmariadb has it. */
int wire_malformed(struct error *error);

/* Before a request is sent that wire_receive() is to read the reply of. */
void wire_expect_reply(struct wire *wire);

/* Send all of it. ERROR_DATABASE 2006 if the server does not take it. */
int wire_send(struct wire *wire, const unsigned char *bytes, size_t length,
              struct error *error);

#endif
