/*
 * The wire against a socket pair: what is sent, byte by byte, and what is made of
 * replies, whole, in pieces, and damaged. A reply is written before the request, so
 * one thread is enough.
 */
#include "check.h"

#include "error.h"
#include "reply.h"
#include "rng.h"
#include "value.h"
#include "wire.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENT, SERVER };

struct link {
    int ends[2];
    struct wire wire;
    struct reply reply;
    struct error error;
};

static void link_open(struct link *link, bool ends_with_ok)
{
    int large = 1 << 20;

    memset(link, 0, sizeof *link);
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, link->ends));
    setsockopt(link->ends[SERVER], SOL_SOCKET, SO_SNDBUF, &large, sizeof large);
    CHECK(!wire_init(&link->wire, link->ends[CLIENT], ends_with_ok, &link->error));
}

static void link_close(struct link *link)
{
    wire_fini(&link->wire);
    close(link->ends[CLIENT]);
    close(link->ends[SERVER]);
}

/* One packet, as the server would send it. */
static void answer(struct link *link, const char *payload, size_t length)
{
    unsigned char header[4] = {(unsigned char)length, (unsigned char)(length >> 8),
                               (unsigned char)(length >> 16), 1};

    CHECK(write(link->ends[SERVER], header, sizeof header) == sizeof header);
    CHECK(write(link->ends[SERVER], payload, length) == (ssize_t)length);
}

#define ANSWER(link, text) answer(link, text, sizeof(text) - 1)

static int query(struct link *link, const char *sql)
{
    if (wire_send_query(&link->wire, sql, strlen(sql), &link->error))
        return -1;
    return wire_receive(&link->wire, &link->reply, &link->error);
}

static int execute(struct link *link, struct wire_statement *statement)
{
    if (wire_send_execute(&link->wire, statement, &link->error))
        return -1;
    return wire_receive(&link->wire, &link->reply, &link->error);
}

static void test_query_is_one_packet_with_the_text(void)
{
    struct link link;
    char sent[32];

    link_open(&link, false);
    ANSWER(&link, "\0\0\0\2\0\0\0");
    CHECK(!query(&link, "BEGIN"));
    CHECK(read(link.ends[SERVER], sent, sizeof sent) == 10);
    CHECK(!memcmp(sent, "\6\0\0\0\3BEGIN", 10));
    CHECK(!link.reply.has_result && !link.reply.found);
    link_close(&link);
}

static void test_execute_sends_types_once_and_values_each_time(void)
{
    struct value number = {.type = VALUE_INTEGER, .integer = -2};
    struct value text = {.type = VALUE_TEXT, .text = (char[]){"abc"}, .length = 3};
    struct value none = {.type = VALUE_REAL, .is_null = 1};
    struct value *values[] = {&number, &text, &none};
    struct wire_statement statement = {.id = 7, .parameters = values, .count = 3};
    struct link link;
    char sent[64];

    link_open(&link, false);
    ANSWER(&link, "\0\3\0\2\0\0\0");
    CHECK(!execute(&link, &statement));
    CHECK(read(link.ends[SERVER], sent, sizeof sent) == 34);
    CHECK(!memcmp(sent,
                  "\36\0\0\0\27\7\0\0\0\0\1\0\0\0" /* head */
                  "\4\1"                           /* the third is NULL; types come */
                  "\10\0\376\0\5\0"
                  "\376\377\377\377\377\377\377\377\3abc",
                  34));
    CHECK(link.reply.affected_rows == 3 && link.reply.found);
    ANSWER(&link, "\0\0\0\2\0\0\0");
    CHECK(!execute(&link, &statement));
    CHECK(read(link.ends[SERVER], sent, sizeof sent) == 28);
    CHECK(!link.reply.found);
    link_close(&link);
}

static void test_prepare_reads_number_and_skips_descriptions(void)
{
    struct wire_statement statement = {0};
    struct link link;
    char sent[32];

    for (int ends_with_ok = 0; ends_with_ok < 2; ends_with_ok++) {
        link_open(&link, ends_with_ok);
        ANSWER(&link, "\0\2\1\0\0\1\0\2\0\0\0\0"); /* one column, two parameters */
        ANSWER(&link, "parameter");
        ANSWER(&link, "parameter");
        if (!ends_with_ok)
            ANSWER(&link, "\376\0\0\2\0");
        ANSWER(&link, "column");
        if (!ends_with_ok)
            ANSWER(&link, "\376\0\0\2\0");
        CHECK(!wire_prepare(&link.wire, "SELECT", 6, &statement, &link.error));
        CHECK(statement.id == 258 && statement.count == 2);
        CHECK(read(link.ends[SERVER], sent, sizeof sent) == 11);
        CHECK(!memcmp(sent, "\7\0\0\0\26SELECT", 11));
        ANSWER(&link, "\377\50\4#42000syntax");
        CHECK(wire_prepare(&link.wire, "SELEC", 5, &statement, &link.error));
        CHECK(link.error.number == 1064);
        link_close(&link);
    }
}

static void test_close_has_no_answer(void)
{
    struct wire_statement statement = {.id = 258};
    struct link link;
    char sent[16];

    link_open(&link, false);
    wire_close(&link.wire, &statement);
    CHECK(read(link.ends[SERVER], sent, sizeof sent) == 9);
    CHECK(!memcmp(sent, "\5\0\0\0\31\2\1\0\0", 9));
    link_close(&link);
}

static void test_rows_are_skipped_and_found(void)
{
    struct link link;

    link_open(&link, false);
    ANSWER(&link, "\1\1"); /* one column, described */
    ANSWER(&link, "column");
    ANSWER(&link, "\376\0\0\2\0");
    ANSWER(&link, "\3row");
    ANSWER(&link, "\376\0\0\2\0");
    CHECK(!query(&link, "SELECT 1"));
    CHECK(link.reply.has_result && link.reply.found);
    CHECK(link.reply.affected_rows == 0);
    link_close(&link);
}

static void test_result_without_descriptions_or_rows(void)
{
    struct link link;

    link_open(&link, false);
    ANSWER(&link, "\1\0");
    ANSWER(&link, "\376\0\0\2\0");
    ANSWER(&link, "\376\0\0\2\0");
    CHECK(!query(&link, "SELECT 1 FROM dual WHERE 0"));
    CHECK(link.reply.has_result && !link.reply.found);
    link_close(&link);
}

static void test_results_that_end_with_ok(void)
{
    struct link link;

    link_open(&link, true);
    ANSWER(&link, "\1");
    ANSWER(&link, "column");
    ANSWER(&link, "\3row");
    ANSWER(&link, "\376\0\0\2\0\0\0");
    CHECK(!query(&link, "SELECT 1"));
    CHECK(link.reply.has_result && link.reply.found);
    link_close(&link);
}

static void test_further_results_are_read(void)
{
    struct link link;

    link_open(&link, false);
    ANSWER(&link, "\1\0");
    ANSWER(&link, "\376\0\0\2\0");
    ANSWER(&link, "\376\0\0\12\0"); /* more results */
    ANSWER(&link, "\0\5\0\2\0\0\0");
    CHECK(!query(&link, "CALL p()"));
    CHECK(link.reply.has_result);
    ANSWER(&link, "\0\1\0\2\0\0\0");
    CHECK(!query(&link, "DELETE"));
    CHECK(link.reply.affected_rows == 1);
    link_close(&link);
}

/* MySQL says that a result goes on in front of OUT parameters and not behind them. */
static void test_end_of_a_call_is_read_behind_its_parameters(void)
{
    struct link link;

    link_open(&link, false);
    for (int again = 0; again < 2; again++) {
        ANSWER(&link, "\1");
        ANSWER(&link, "column");
        ANSWER(&link, "\376\0\0\12\20"); /* OUT parameters, more results */
        ANSWER(&link, "\3row");
        ANSWER(&link, "\376\0\0\2\0");
        ANSWER(&link, "\0\3\0\2\0\0\0");
        CHECK(!query(&link, "CALL p(?)"));
        CHECK(link.reply.has_result); /* the second time too: no end was left */
    }
    ANSWER(&link, "\1");
    ANSWER(&link, "column");
    ANSWER(&link, "\376\0\0\2\0");
    ANSWER(&link, "\376\0\0\2\0");
    ANSWER(&link, "\0\1\0\2\0\0\0");
    CHECK(!query(&link,
                 "SELECT 1")); /* is over with its rows: what follows is not read */
    CHECK(link.reply.affected_rows == 0);
    CHECK(!query(&link, "DELETE"));
    CHECK(link.reply.affected_rows == 1);
    link_close(&link);
}

static void test_error_has_number_state_and_text(void)
{
    struct link link;

    link_open(&link, false);
    ANSWER(&link, "\377\275\4#40001Deadlock found");
    CHECK(query(&link, "UPDATE"));
    CHECK(link.error.kind == ERROR_DATABASE && link.error.number == 1213);
    CHECK(!strcmp(link.error.sqlstate, "40001"));
    CHECK(!strcmp(link.error.message, "Deadlock found"));
    link_close(&link);
}

static void test_long_error_leaves_the_stream_in_order(void)
{
    struct link link;
    char message[2000] = "\377\275\4#40001";

    memset(message + 9, 'x', sizeof message - 9);
    link_open(&link, false);
    answer(&link, message, sizeof message);
    ANSWER(&link, "\0\1\0\2\0\0\0");
    CHECK(query(&link, "UPDATE"));
    CHECK(link.error.number == 1213);
    CHECK(!query(&link, "UPDATE"));
    link_close(&link);
}

static void test_error_among_rows_is_the_outcome(void)
{
    struct link link;

    link_open(&link, false);
    ANSWER(&link, "\1\0");
    ANSWER(&link, "\376\0\0\2\0");
    ANSWER(&link, "\3row");
    ANSWER(&link, "\377\45\5#70100killed");
    CHECK(query(&link, "SELECT"));
    CHECK(link.error.number == 1317);
    link_close(&link);
}

static void test_progress_is_not_an_error(void)
{
    struct link link;

    link_open(&link, false);
    ANSWER(&link, "\377\377\377\1\1\1\0\0\0\5stage");
    ANSWER(&link, "\0\0\0\2\0\0\0");
    CHECK(!query(&link, "ALTER TABLE t FORCE"));
    link_close(&link);
}

#define PROGRESS(link) ANSWER(link, "\377\377\377\1\1\1\0\0\0\5stage")

static void test_progress_may_come_between_any_messages(void)
{
    struct wire_statement statement = {0};
    struct link link;

    link_open(&link, false);
    PROGRESS(&link);
    PROGRESS(&link);
    ANSWER(&link, "\1\1");
    PROGRESS(&link);
    ANSWER(&link, "column");
    PROGRESS(&link);
    ANSWER(&link, "\376\0\0\2\0");
    PROGRESS(&link);
    ANSWER(&link, "\376\0\0\2\0");
    CHECK(!query(&link, "CHECK TABLE t"));
    CHECK(link.reply.has_result && !link.reply.found);
    PROGRESS(&link);
    ANSWER(&link, "\0\2\1\0\0\0\0\0\0\0\0\0");
    CHECK(!wire_prepare(&link.wire, "DO 1", 4, &statement, &link.error));
    CHECK(statement.id == 258);
    link_close(&link);
}

static void test_file_request_is_refused(void)
{
    struct link link;
    char sent[64];

    link_open(&link, false);
    ANSWER(&link, "\373/etc/passwd");
    ANSWER(&link, "\0\0\0\2\0\0\0");
    CHECK(!query(&link, "LOAD"));
    CHECK(read(link.ends[SERVER], sent, sizeof sent) == 13);
    CHECK(!memcmp(sent + 9, "\0\0\0\2", 4));
    link_close(&link);
}

static void test_rows_longer_than_the_input_buffer(void)
{
    static char row[3 * WIRE_INPUT_BYTES];
    struct link link;

    link_open(&link, false);
    ANSWER(&link, "\1\0");
    ANSWER(&link, "\376\0\0\2\0");
    for (int i = 0; i < 3; i++)
        answer(&link, row, sizeof row - (size_t)i);
    ANSWER(&link, "\376\0\0\2\0");
    CHECK(!query(&link, "SELECT"));
    CHECK(link.reply.found);
    ANSWER(&link, "\0\1\0\2\0\0\0");
    CHECK(!query(&link, "UPDATE"));
    link_close(&link);
}

static void test_closed_connection_is_a_loss(void)
{
    struct link link;

    link_open(&link, false);
    CHECK(write(link.ends[SERVER], "\7\0\0\1\0", 5) == 5);
    shutdown(link.ends[SERVER], SHUT_RDWR);
    CHECK(query(&link, "BEGIN"));
    CHECK(link.error.number == 2006 || link.error.number == 2013);
    link_close(&link);
}

/* Packets as they come in, one by one. */
static size_t put_packet(char *out, const char *payload, size_t length)
{
    out[0] = (char)length;
    out[1] = (char)(length >> 8);
    out[2] = (char)(length >> 16);
    out[3] = 1;
    memcpy(out + 4, payload, length);
    return 4 + length;
}

#define PUT(out, text) put_packet(out, text, sizeof(text) - 1)

/* Let `stream` come byte by byte: the reply must be there with the last one that
 * matters, at `end`, and not before. */
static int receive_in_pieces(struct link *link, const char *stream, size_t length,
                             size_t end)
{
    int status = REPLY_INCOMPLETE;

    link->wire.blocks = false;
    CHECK(!wire_send_query(&link->wire, "CALL p()", 8, &link->error));
    CHECK(wire_receive(&link->wire, &link->reply, &link->error) == REPLY_INCOMPLETE);
    for (size_t i = 0; i < length; i++) {
        CHECK(write(link->ends[SERVER], stream + i, 1) == 1);
        if (i >= end)
            continue;
        CHECK(status == REPLY_INCOMPLETE);
        status = wire_receive(&link->wire, &link->reply, &link->error);
    }
    return status;
}

static void test_reply_may_come_in_pieces_where_nobody_waits(void)
{
    static char stream[4096], row[700];
    struct link link;
    size_t length = PUT(stream, "\1\1");

    length += PUT(stream + length, "column");
    length += PUT(stream + length, "\376\0\0\2\0");
    length += put_packet(stream + length, row, sizeof row);
    length += PUT(stream + length, "\377\377\377\1\1\1\0\0\0\5stage");
    length += PUT(stream + length, "\376\0\0\12\0"); /* more results */
    length += PUT(stream + length, "\0\5\0\2\0\0\0");
    link_open(&link, false);
    CHECK(!receive_in_pieces(&link, stream, length, length));
    CHECK(link.reply.has_result && link.reply.found);
    link_close(&link);
}

static void test_error_may_come_in_pieces_where_nobody_waits(void)
{
    static char stream[4096], message[2000] = "\377\275\4#40001";
    struct link link;
    size_t length;

    memset(message + 9, 'x', sizeof message - 9);
    length = put_packet(stream, message, sizeof message);
    link_open(&link, false);
    /* With its head it is known; the rest is gone past before the next reply. */
    CHECK(receive_in_pieces(&link, stream, length, 4 + 512) == -1);
    CHECK(link.error.number == 1213);
    length = PUT(stream, "\0\1\0\2\0\0\0");
    CHECK(!receive_in_pieces(&link, stream, length, length));
    CHECK(link.reply.affected_rows == 1);
    link_close(&link);
}

/* A message of the full length goes on in further packets, until one is shorter. */
static void test_message_of_several_packets_is_one(void)
{
    static char full[4 + 0xffffff] = "\377\377\377";
    struct link link;
    size_t written = 0;

    link_open(&link, false);
    link.wire.blocks = false;
    CHECK(!wire_send_query(&link.wire, "SELECT", 6, &link.error));
    ANSWER(&link, "\1\0");
    ANSWER(&link, "\376\0\0\2\0");
    while (written < sizeof full) {
        ssize_t more = send(link.ends[SERVER], full + written, sizeof full - written,
                            MSG_DONTWAIT);
        if (more > 0)
            written += (size_t)more;
        CHECK(wire_receive(&link.wire, &link.reply, &link.error) == REPLY_INCOMPLETE);
    }
    ANSWER(&link, "");
    ANSWER(&link, "\376\0\0\2\0");
    CHECK(!wire_receive(&link.wire, &link.reply, &link.error));
    CHECK(link.reply.found);
    link_close(&link);
}

/* Whatever comes, the wire ends with a result or an error, and reads only its own
 * memory; the sanitizers watch. */
static void test_random_bytes_do_no_harm(void)
{
    const uint64_t seed = 20;
    struct rng rng;

    rng_seed(&rng, &seed, 1);
    for (int round = 0; round < 20000; round++) {
        unsigned char bytes[64];
        size_t length = 4 + rng_below(&rng, sizeof bytes - 4);
        struct link link;

        for (size_t i = 0; i < length; i++)
            bytes[i] = (unsigned char)rng_next(&rng);
        bytes[0] = (unsigned char)rng_below(&rng, 12); /* plausible lengths */
        bytes[1] = bytes[2] = 0;
        link_open(&link, round % 2);
        CHECK(write(link.ends[SERVER], bytes, length) == (ssize_t)length);
        shutdown(link.ends[SERVER], SHUT_WR);
        query(&link, "SELECT");
        link_close(&link);
    }
}

int main(void)
{
    RUN(test_query_is_one_packet_with_the_text);
    RUN(test_execute_sends_types_once_and_values_each_time);
    RUN(test_prepare_reads_number_and_skips_descriptions);
    RUN(test_close_has_no_answer);
    RUN(test_rows_are_skipped_and_found);
    RUN(test_result_without_descriptions_or_rows);
    RUN(test_results_that_end_with_ok);
    RUN(test_further_results_are_read);
    RUN(test_end_of_a_call_is_read_behind_its_parameters);
    RUN(test_error_has_number_state_and_text);
    RUN(test_long_error_leaves_the_stream_in_order);
    RUN(test_error_among_rows_is_the_outcome);
    RUN(test_progress_is_not_an_error);
    RUN(test_progress_may_come_between_any_messages);
    RUN(test_file_request_is_refused);
    RUN(test_rows_longer_than_the_input_buffer);
    RUN(test_closed_connection_is_a_loss);
    RUN(test_reply_may_come_in_pieces_where_nobody_waits);
    RUN(test_error_may_come_in_pieces_where_nobody_waits);
    RUN(test_message_of_several_packets_is_one);
    RUN(test_random_bytes_do_no_harm);
    return REPORT();
}
