/*
 * One connection to a MariaDB or MySQL server; the only user of mysql.h.
 *
 * A connection belongs to one thread at a time. Only connection_interrupt() may be
 * called from another, which must see to it that the connection is not closed
 * meanwhile. Statements run over the binary protocol, prepared once, with
 * their parameters and kept columns bound to `struct value`s that must neither
 * move nor go away before the statement does. Results are skipped, not stored.
 *
 * On a connection without TLS the statements themselves go through wire.h, the rest
 * through libmariadb. Errors have the statement's own number and SQLSTATE.
 */
#ifndef BENCHKIT_CONNECTION_H
#define BENCHKIT_CONNECTION_H

#include "reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection;
struct error;
struct statement;
struct value;

/* Where a server is and as whom to log in. Strings are borrowed for the call that
 * takes the endpoint; NULL means "not given". */
struct endpoint {
    const char *host; /* used when socket is NULL */
    const char *socket;
    const char *user;
    const char *password;
    const char *database;
    unsigned int port;
    unsigned int connect_timeout_s; /* 0: the library's default */
    bool tls; /* encrypt, or fail; whose certificate it is is not asked */
};

/* What to prepare. Text and arrays are borrowed for the call, the values themselves
 * for the life of the statement. */
struct statement_text {
    const char *sql;
    size_t length;
    struct value *const *parameters;
    unsigned int parameter_count;
    struct value *const *kept; /* columns of the first row go here, from the left;
                                  all NULL where there is no row or no result */
    unsigned int kept_count;
    bool is_call;      /* a CALL, which may write to its parameters at the server */
    bool look_for_row; /* fetch the first row even if no column is kept */
};

/* Who takes a text query's result. Both return 0 to go on, -1 to stop with `error`
 * filled. */
struct row_sink {
    /* The names of the columns, before any row. */
    int (*columns)(void *context, const char *const *names, unsigned int count,
                   struct error *error);
    /* A row of `count` fields, NULL for SQL NULL. */
    int (*row)(void *context, const char *const *fields, const unsigned long *lengths,
               unsigned int count, struct error *error);
    void *context;
};

/* Once per process, before any thread opens a connection. 0, or -1 (ERROR_SYSTEM). */
int connection_library_init(struct error *error);

/* Free what the library keeps for the calling thread; before a thread ends. */
void connection_thread_end(void);

/* Connect and log in; autocommit is the server's default. On success *result is owned
 * by the caller. ERROR_DATABASE if refused or not reached. */
int connection_open(const struct endpoint *endpoint, struct connection **result,
                    struct error *error);

/* Close; NULL is fine. Statements of the connection must be freed before. */
void connection_close(struct connection *connection);

/* Make a blocked call of the owning thread fail soon, from any thread. The connection
 * is of no use afterwards. */
void connection_interrupt(struct connection *connection);

/* True where texts of up to 16 MB are sent and received apart, without libmariadb. */
bool connection_is_direct(const struct connection *connection);

/* From now on nothing that is received is waited for: one thread can serve several
 * connections. Only for a direct connection, whose statements all are, too: they are
 * sent and received by the four functions below, and no other is called but to close.
 * Returns the socket, to be polled for. */
int connection_share(struct connection *connection);

/* Send one text statement. The reply must be received before anything else is sent. */
int connection_send(struct connection *connection, const char *sql, size_t length,
                    struct error *error);

/* Read and skip what the text sent last returns. 0, -1, or on a shared connection
 * REPLY_INCOMPLETE: call again when the socket is readable. */
int connection_receive(struct connection *connection, struct reply *reply,
                       struct error *error);

/* Send one text statement and receive its reply. */
int connection_command(struct connection *connection, const char *sql, size_t length,
                       struct reply *reply, struct error *error);

/* Run one text statement and hand every row to `sink`. A statement without a result
 * set calls nothing. */
int connection_query(struct connection *connection, const char *sql, size_t length,
                     const struct row_sink *sink, struct error *error);

/* Prepare `text` and bind its values. ERROR_INVALID when the numbers of parameters or
 * columns do not fit. */
int connection_prepare(struct connection *connection, const struct statement_text *text,
                       struct statement **result, struct error *error);

/* True for a statement that is sent and received apart; libmariadb does both when the
 * reply is asked for. */
bool statement_is_direct(const struct statement *statement);

/* Send for execution, with the content that the bound values have until the reply is
 * received. */
int statement_send(struct statement *statement, struct error *error);

/* Receive the reply to it, as connection_receive() does. A kept text longer than its
 * value's capacity, or a kept number that libmariadb cannot convert, is
 * ERROR_INVALID. */
int statement_receive(struct statement *statement, struct reply *reply,
                      struct error *error);

/* Close on the server and free; NULL is fine. */
void statement_free(struct statement *statement);

/* True for the error numbers that mean the connection is gone. */
bool connection_error_is_loss(unsigned int number);

/* The server's version text, such as "11.8.6-MariaDB"; valid while it is open. */
const char *connection_server_version(const struct connection *connection);

#endif
