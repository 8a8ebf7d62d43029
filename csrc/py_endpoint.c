/*
 * Keyword arguments to struct endpoint.
 */
#include "py_endpoint.h"

#include "connection.h"

#include <string.h>

enum { DEFAULT_CONNECT_TIMEOUT_S = 10, CONNECT_TIMEOUT_MAX_S = 3600, PORT_MAX = 65535 };

static int check_range(int value, int highest, const char *name)
{
    if (value >= 0 && value <= highest)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s must be 0 to %d, not %d", name, highest, value);
    return -1;
}

int endpoint_from_keywords(PyObject *keywords, struct endpoint *endpoint)
{
    static char *names[] = {
        "host", "port", "socket", "user", "password", "database", "connect_timeout_s",
        "tls",  NULL};
    PyObject *empty = PyTuple_New(0);
    int port = 0;
    int timeout_s = DEFAULT_CONNECT_TIMEOUT_S;
    int tls = 0;
    int known;

    memset(endpoint, 0, sizeof *endpoint);
    if (!empty)
        return -1;
    known = PyArg_ParseTupleAndKeywords(empty, keywords, "|$zizzzzip:endpoint", names,
                                        &endpoint->host, &port, &endpoint->socket,
                                        &endpoint->user, &endpoint->password,
                                        &endpoint->database, &timeout_s, &tls);
    Py_DECREF(empty);
    if (!known || check_range(port, PORT_MAX, "port") ||
        check_range(timeout_s, CONNECT_TIMEOUT_MAX_S, "connect_timeout_s"))
        return -1;
    endpoint->port = (unsigned int)port;
    endpoint->connect_timeout_s = (unsigned int)timeout_s;
    endpoint->tls = tls;
    return 0;
}
