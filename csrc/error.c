/*
 * The error value. Formatting only; nothing here allocates.
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *error, enum error_kind kind, const char *format, ...)
{
    va_list arguments;

    memset(error, 0, sizeof *error);
    error->kind = kind;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return -1;
}

int error_set_database(struct error *error, unsigned int number, const char *sqlstate,
                       const char *message)
{
    error_set(error, ERROR_DATABASE, "%s", message);
    error->number = number;
    snprintf(error->sqlstate, sizeof error->sqlstate, "%s", sqlstate);
    return -1;
}

int error_set_memory(struct error *error)
{
    return error_set(error, ERROR_SYSTEM, "out of memory");
}
