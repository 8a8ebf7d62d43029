/*
 * Keyword arguments to struct endpoint.
 */
#include "py_endpoint.h"

#include "connection.h"

#include <string.h>

enum { DEFAULT_CONNECT_TIMEOUT_S = 10 };

int endpoint_from_keywords(PyObject *keywords, struct endpoint *endpoint)
{
    static char *names[] = {
        "host", "port", "socket", "user", "password", "database", "connect_timeout_s",
        NULL};
    PyObject *empty = PyTuple_New(0);
    int known;

    memset(endpoint, 0, sizeof *endpoint);
    endpoint->connect_timeout_s = DEFAULT_CONNECT_TIMEOUT_S;
    if (!empty)
        return -1;
    known = PyArg_ParseTupleAndKeywords(
        empty, keywords, "|$zIzzzzI:endpoint", names, &endpoint->host, &endpoint->port,
        &endpoint->socket, &endpoint->user, &endpoint->password, &endpoint->database,
        &endpoint->connect_timeout_s);
    Py_DECREF(empty);
    return known ? 0 : -1;
}
