/*
 * libmariadb behind connection.h.
 *
 * A result set is never stored: a wanted first row is fetched into bound buffers and
 * mysql_stmt_free_result() reads the rest off the wire. The metadata of a result is
 * cached by libmariadb where the server offers MARIADB_CLIENT_CACHE_METADATA.
 */
#include "connection.h"

#include "error.h"
#include "value.h"
#include "wire.h"
#include "wire_row.h"

#include <errmsg.h>
#include <mysql.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { DEPRECATE_EOF = 1 << 24 }; /* a client flag that older headers lack */

struct connection {
    MYSQL *mysql;
    struct wire wire;
    bool direct;      /* the wire may be used: no TLS */
    bool sent_direct; /* it was, for the last text */
    /* -1: not connected (any more). Relaxed: the number itself is all that is shared.
     * libmariadb closes the socket when the connection is lost; it must be forgotten
     * then, or another one with the same number would be cut off. */
    _Atomic int socket;
};

struct statement {
    struct connection *connection;
    MYSQL_STMT *handle;
    struct wire *wire;     /* NULL: libmariadb's, through `handle` */
    struct value **values; /* the parameters; owned array of borrowed values */
    unsigned int value_count;
    struct wire_statement direct; /* for the wire */
    struct wire_row row;          /* for the wire; in use if columns are kept */
    MYSQL_BIND *parameters;
    MYSQL_BIND *columns; /* column_count of them; those not kept are skipped */
    struct value **kept; /* registers for the first columns; as values */
    unsigned int kept_count;
    unsigned int column_count;
    bool is_call;
    bool look_for_row;
};

int connection_library_init(struct error *error)
{
    if (mysql_library_init(0, NULL, NULL))
        return error_set(error, ERROR_SYSTEM, "libmariadb could not be initialised");
    return 0;
}

void connection_thread_end(void)
{
    mysql_thread_end();
}

static void set_socket(struct connection *connection, int socket)
{
    atomic_store_explicit(&connection->socket, socket, memory_order_relaxed);
}

static int set_connection_error(struct connection *connection, struct error *error)
{
    error_set_database(error, mysql_errno(connection->mysql),
                       mysql_sqlstate(connection->mysql),
                       mysql_error(connection->mysql));
    if (connection_error_is_loss(error->number))
        set_socket(connection, -1);
    return -1;
}

static int set_statement_error(const struct statement *statement, struct error *error)
{
    MYSQL_STMT *handle = statement->handle;

    error_set_database(error, mysql_stmt_errno(handle), mysql_stmt_sqlstate(handle),
                       mysql_stmt_error(handle));
    if (connection_error_is_loss(error->number))
        set_socket(statement->connection, -1);
    return -1;
}

static void set_options(MYSQL *mysql, const struct endpoint *endpoint)
{
    my_bool off = 0, on = 1;

    mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    mysql_options(mysql, MYSQL_OPT_RECONNECT, &off);
    mysql_options(mysql, MYSQL_REPORT_DATA_TRUNCATION, &on);
    if (endpoint->connect_timeout_s)
        mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &endpoint->connect_timeout_s);
    if (endpoint->tls) {
        mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &on);
        mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &off);
    }
}

/* Both sides must have offered it. */
static bool ends_with_ok(const MYSQL *mysql)
{
    return mysql->client_flag & mysql->server_capabilities & DEPRECATE_EOF;
}

int connection_open(const struct endpoint *endpoint, struct connection **result,
                    struct error *error)
{
    struct connection *connection = calloc(1, sizeof *connection);
    const char *host = endpoint->socket ? NULL : endpoint->host;
    int socket;

    if (!connection)
        return error_set_memory(error);
    set_socket(connection, -1);
    connection->mysql = mysql_init(NULL);
    if (!connection->mysql) {
        connection_close(connection);
        return error_set_memory(error);
    }
    set_options(connection->mysql, endpoint);
    if (!mysql_real_connect(connection->mysql, host, endpoint->user, endpoint->password,
                            endpoint->database, endpoint->port, endpoint->socket, 0)) {
        set_connection_error(connection, error);
        connection_close(connection);
        return -1;
    }
    socket = (int)mysql_get_socket(connection->mysql);
    set_socket(connection, socket);
    connection->direct = !mysql_get_ssl_cipher(connection->mysql);
    /* The library goes on without where the server has no TLS to offer. */
    if (endpoint->tls && connection->direct) {
        connection_close(connection);
        error_set_database(error, CR_SSL_CONNECTION_ERROR, "08001",
                           "TLS was asked for, but the server does not offer it");
        return -1;
    }
    if (wire_init(&connection->wire, socket, ends_with_ok(connection->mysql), error)) {
        connection_close(connection);
        return -1;
    }
    *result = connection;
    return 0;
}

void connection_close(struct connection *connection)
{
    if (!connection)
        return;
    wire_fini(&connection->wire);
    if (connection->mysql)
        mysql_close(connection->mysql);
    free(connection);
}

bool connection_is_direct(const struct connection *connection)
{
    return connection->direct;
}

int connection_share(struct connection *connection)
{
    connection->wire.blocks = false;
    return connection->wire.socket;
}

void connection_interrupt(struct connection *connection)
{
    int socket = atomic_load_explicit(&connection->socket, memory_order_relaxed);

    if (socket >= 0)
        shutdown(socket, SHUT_RDWR);
}

/* Read all that one text statement returned, without keeping it. */
static int skip_results(struct connection *connection, struct reply *reply,
                        struct error *error)
{
    MYSQL *mysql = connection->mysql;
    int more = 0;

    while (more == 0) {
        MYSQL_RES *rows = mysql_use_result(mysql);
        if (rows) {
            reply->has_result = true;
            mysql_free_result(rows);
        } else if (!mysql_errno(mysql) && !mysql_field_count(mysql)) {
            reply->affected_rows += mysql_affected_rows(mysql);
        }
        if (mysql_errno(mysql))
            return set_connection_error(connection, error);
        more = mysql_next_result(mysql);
    }
    return more > 0 ? set_connection_error(connection, error) : 0;
}

int connection_send(struct connection *connection, const char *sql, size_t length,
                    struct error *error)
{
    connection->sent_direct = connection->direct && length <= WIRE_TEXT_MAX;
    if (connection->sent_direct)
        return wire_send_query(&connection->wire, sql, length, error);
    if (mysql_send_query(connection->mysql, sql, (unsigned long)length))
        return set_connection_error(connection, error);
    return 0;
}

int connection_receive(struct connection *connection, struct reply *reply,
                       struct error *error)
{
    if (connection->sent_direct)
        return wire_receive(&connection->wire, reply, error);
    memset(reply, 0, sizeof *reply);
    if (mysql_read_query_result(connection->mysql))
        return set_connection_error(connection, error);
    return skip_results(connection, reply, error);
}

int connection_command(struct connection *connection, const char *sql, size_t length,
                       struct reply *reply, struct error *error)
{
    if (connection_send(connection, sql, length, error))
        return -1;
    return connection_receive(connection, reply, error);
}

static int send_columns(MYSQL_RES *rows, const struct row_sink *sink,
                        struct error *error)
{
    unsigned int count = mysql_num_fields(rows);
    const MYSQL_FIELD *fields = mysql_fetch_fields(rows);
    const char **names = calloc(count ? count : 1, sizeof *names);
    int status;

    if (!names)
        return error_set_memory(error);
    for (unsigned int i = 0; i < count; i++)
        names[i] = fields[i].name;
    status = sink->columns(sink->context, names, count, error);
    free(names);
    return status;
}

static int send_rows(struct connection *connection, MYSQL_RES *rows,
                     const struct row_sink *sink, struct error *error)
{
    unsigned int count = mysql_num_fields(rows);
    MYSQL_ROW row;

    while ((row = mysql_fetch_row(rows))) {
        const unsigned long *lengths = mysql_fetch_lengths(rows);
        if (sink->row(sink->context, (const char *const *)row, lengths, count, error))
            return -1;
    }
    return mysql_errno(connection->mysql) ? set_connection_error(connection, error) : 0;
}

int connection_query(struct connection *connection, const char *sql, size_t length,
                     const struct row_sink *sink, struct error *error)
{
    MYSQL *mysql = connection->mysql;
    struct reply rest = {0};
    MYSQL_RES *rows;
    int status;

    if (mysql_real_query(mysql, sql, (unsigned long)length))
        return set_connection_error(connection, error);
    rows = mysql_store_result(mysql);
    if (!rows && mysql_errno(mysql))
        return set_connection_error(connection, error);
    if (rows) {
        status = send_columns(rows, sink, error);
        if (!status)
            status = send_rows(connection, rows, sink, error);
        mysql_free_result(rows);
        if (status)
            return -1;
    }
    if (!mysql_more_results(mysql))
        return 0;
    if (mysql_next_result(mysql) > 0)
        return set_connection_error(connection, error);
    return skip_results(connection, &rest, error);
}

static void bind_value(MYSQL_BIND *bind, struct value *value)
{
    static const enum enum_field_types types[] = {[VALUE_INTEGER] = MYSQL_TYPE_LONGLONG,
                                                  [VALUE_REAL] = MYSQL_TYPE_DOUBLE,
                                                  [VALUE_TEXT] = MYSQL_TYPE_STRING};
    void *buffers[] = {[VALUE_INTEGER] = &value->integer,
                       [VALUE_REAL] = &value->real,
                       [VALUE_TEXT] = value->text};

    memset(bind, 0, sizeof *bind);
    bind->buffer_type = types[value->type];
    bind->buffer = buffers[value->type];
    bind->buffer_length = value->capacity;
    bind->length = &value->length;
    bind->is_null = &value->is_null;
}

static int copy_pointers(struct value *const *from, unsigned int count,
                         struct value ***to, struct error *error)
{
    *to = calloc(count ? count : 1, sizeof **to);
    if (!*to)
        return error_set_memory(error);
    for (unsigned int i = 0; i < count; i++)
        (*to)[i] = from[i];
    return 0;
}

/* The caller's arrays are borrowed for the call only. */
static int copy_values(const struct statement_text *text, struct statement *statement,
                       struct error *error)
{
    unsigned long wanted = statement->wire ? statement->direct.count
                                           : mysql_stmt_param_count(statement->handle);

    if (wanted != text->parameter_count)
        return error_set(error, ERROR_INVALID,
                         "statement has %lu parameter marks but %u values: %.*s",
                         wanted, text->parameter_count, (int)text->length, text->sql);
    statement->value_count = text->parameter_count;
    return copy_pointers(text->parameters, text->parameter_count, &statement->values,
                         error);
}

/* For libmariadb; the wire reads the values itself. */
static int bind_parameters(struct statement *statement, struct error *error)
{
    unsigned int count = statement->value_count;

    if (statement->wire || !count)
        return 0;
    statement->parameters = calloc(count, sizeof *statement->parameters);
    if (!statement->parameters)
        return error_set_memory(error);
    for (unsigned int i = 0; i < count; i++)
        bind_value(&statement->parameters[i], statement->values[i]);
    if (mysql_stmt_bind_param(statement->handle, statement->parameters))
        return set_statement_error(statement, error);
    return 0;
}

static int prepare_direct(struct statement *statement,
                          const struct statement_text *text, struct error *error)
{
    if (statement->kept_count) {
        if (wire_row_init(&statement->row, statement->kept, statement->kept_count,
                          error))
            return -1;
        statement->direct.row = &statement->row;
    }
    return wire_prepare(statement->wire, text->sql, text->length, &statement->direct,
                        error);
}

static int prepare(struct statement *statement, const struct statement_text *text,
                   struct error *error)
{
    if (statement->wire)
        return prepare_direct(statement, text, error);
    statement->handle = mysql_stmt_init(statement->connection->mysql);
    if (!statement->handle)
        return error_set_memory(error);
    if (mysql_stmt_prepare(statement->handle, text->sql, text->length))
        return set_statement_error(statement, error);
    return 0;
}

/* What is longer than a packet needs splitting, and a row that is long before its kept
 * columns end more room. */
static bool can_be_direct(const struct statement_text *text)
{
    return wire_row_fits(text->kept, text->kept_count) &&
           text->length <= WIRE_TEXT_MAX &&
           wire_can_send(text->parameters, text->parameter_count);
}

int connection_prepare(struct connection *connection, const struct statement_text *text,
                       struct statement **result, struct error *error)
{
    struct statement *statement = calloc(1, sizeof *statement);

    if (!statement)
        return error_set_memory(error);
    statement->connection = connection;
    statement->is_call = text->is_call;
    statement->look_for_row = text->look_for_row || text->kept_count;
    if (connection->direct && can_be_direct(text))
        statement->wire = &connection->wire;
    statement->kept_count = text->kept_count;
    if (copy_pointers(text->kept, text->kept_count, &statement->kept, error) ||
        prepare(statement, text, error) || copy_values(text, statement, error) ||
        bind_parameters(statement, error)) {
        statement_free(statement);
        return -1;
    }
    statement->direct.parameters = statement->values;
    *result = statement;
    return 0;
}

/* As many columns as the result at hand has. */
static int resize_columns(struct statement *statement, struct error *error)
{
    unsigned int count = mysql_stmt_field_count(statement->handle);

    if (count < statement->kept_count)
        return error_set(error, ERROR_INVALID,
                         "%u columns are to be kept but the result has %u",
                         statement->kept_count, count);
    if (count == statement->column_count)
        return 0;
    free(statement->columns);
    statement->column_count = 0;
    statement->columns = calloc(count, sizeof *statement->columns);
    if (!statement->columns)
        return error_set_memory(error);
    statement->column_count = count;
    for (unsigned int i = statement->kept_count; i < count; i++)
        statement->columns[i].buffer_type = MYSQL_TYPE_NULL;
    return 0;
}

/* The columns of a CALL may be others at each execution, and libmariadb then forgets
 * what was bound to them: they are bound each time, not at prepare. */
static int bind_columns(struct statement *statement, struct error *error)
{
    if (resize_columns(statement, error))
        return -1;
    for (unsigned int i = 0; i < statement->kept_count; i++) {
        MYSQL_BIND *column = &statement->columns[i];
        bind_value(column, statement->kept[i]);
        column->error = &column->error_value;
    }
    if (mysql_stmt_bind_result(statement->handle, statement->columns))
        return set_statement_error(statement, error);
    return 0;
}

static int check_kept(const struct statement *statement, struct error *error)
{
    for (unsigned int i = 0; i < statement->kept_count; i++) {
        const struct value *value = statement->kept[i];
        if (value->is_null)
            continue;
        if (value->type == VALUE_TEXT && value->length > value->capacity)
            return error_set(error, ERROR_INVALID,
                             "kept column %u has %lu bytes, its register holds %lu",
                             i + 1, value->length, value->capacity);
        if (value->type != VALUE_TEXT && statement->columns[i].error_value)
            return error_set(
                error, ERROR_INVALID,
                "kept column %u does not fit its register, which is for %s", i + 1,
                value->type == VALUE_INTEGER ? "integers" : "reals");
    }
    return 0;
}

static void clear_kept(const struct statement *statement)
{
    for (unsigned int i = 0; i < statement->kept_count; i++)
        statement->kept[i]->is_null = 1;
}

static int fetch_first(struct statement *statement, struct reply *reply,
                       struct error *error)
{
    int status;

    if (statement->kept_count && bind_columns(statement, error))
        return -1;
    status = mysql_stmt_fetch(statement->handle);
    if (status == 1)
        return set_statement_error(statement, error);
    reply->found = status != MYSQL_NO_DATA;
    if (reply->found)
        return check_kept(statement, error);
    clear_kept(statement);
    return 0;
}

/* Read what is left of this result and of any that follow it (CALL sends several). An
 * error that comes instead of a row, such as a deadlock of SELECT ... FOR UPDATE, is
 * left at the connection: mysql_stmt_free_result() does not tell. */
static int skip_rest(const struct statement *statement, struct error *error)
{
    MYSQL_STMT *handle = statement->handle;
    int more;

    do {
        if (mysql_stmt_field_count(handle)) {
            if (mysql_stmt_free_result(handle))
                return set_statement_error(statement, error);
            if (mysql_errno(statement->connection->mysql))
                return set_connection_error(statement->connection, error);
        }
        more = mysql_stmt_more_results(handle) ? mysql_stmt_next_result(handle) : -1;
    } while (more == 0);
    return more > 0 ? set_statement_error(statement, error) : 0;
}

/* After a CALL the server takes a parameter for what an OUT parameter left in it: it
 * must be told the types again, or reads the next execution's values as others. */
static int forget_types(struct statement *statement, struct error *error)
{
    statement->direct.types_sent = false;
    if (!statement->wire && statement->value_count &&
        mysql_stmt_bind_param(statement->handle, statement->parameters))
        return set_statement_error(statement, error);
    return 0;
}

/* Through libmariadb, which sends and receives in one. */
static int execute(struct statement *statement, struct reply *reply,
                   struct error *error)
{
    MYSQL_STMT *handle = statement->handle;

    memset(reply, 0, sizeof *reply);
    if (mysql_stmt_execute(handle))
        return set_statement_error(statement, error);
    if (!mysql_stmt_field_count(handle)) {
        reply->affected_rows = mysql_stmt_affected_rows(handle);
        reply->found = reply->affected_rows > 0;
        clear_kept(statement);
        return 0;
    }
    reply->has_result = true;
    if (statement->look_for_row && fetch_first(statement, reply, error)) {
        struct error ignored;
        skip_rest(statement, &ignored);
        return -1;
    }
    return skip_rest(statement, error);
}

bool statement_is_direct(const struct statement *statement)
{
    return statement->wire;
}

int statement_send(struct statement *statement, struct error *error)
{
    if (statement->is_call && forget_types(statement, error))
        return -1;
    if (!statement->wire)
        return 0;
    return wire_send_execute(statement->wire, &statement->direct, error);
}

int statement_receive(struct statement *statement, struct reply *reply,
                      struct error *error)
{
    return statement->wire ? wire_receive(statement->wire, reply, error)
                           : execute(statement, reply, error);
}

void statement_free(struct statement *statement)
{
    if (!statement)
        return;
    if (statement->handle)
        mysql_stmt_close(statement->handle);
    if (statement->direct.id)
        wire_close(statement->wire, &statement->direct);
    free(statement->values);
    free(statement->kept);
    free(statement->parameters);
    free(statement->columns);
    wire_row_fini(&statement->row);
    free(statement);
}

bool connection_error_is_loss(unsigned int number)
{
    static const unsigned int losses[] = {CR_SERVER_GONE_ERROR,
                                          CR_SERVER_LOST,
                                          CR_SERVER_LOST_EXTENDED,
                                          CR_TCP_CONNECTION,
                                          CR_CONNECTION_ERROR,
                                          CR_CONN_HOST_ERROR,
                                          1053 /* server shutdown in progress */,
                                          1927 /* connection was killed */,
                                          1152 /* aborted connection */};

    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        if (losses[i] == number)
            return true;
    return false;
}

const char *connection_server_version(const struct connection *connection)
{
    return mysql_get_server_info(connection->mysql);
}
