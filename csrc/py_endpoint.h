/*
 * Keyword arguments to struct endpoint, for all that connects.
 */
#ifndef BENCHKIT_PY_ENDPOINT_H
#define BENCHKIT_PY_ENDPOINT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

struct endpoint;

/* Read host, port, socket, user, password, database, connect_timeout_s, tls from
 * `keywords` (a dict or NULL). The strings are borrowed from it. 0, or -1 with
 * TypeError or ValueError set. */
int endpoint_from_keywords(PyObject *keywords, struct endpoint *endpoint);

#endif
