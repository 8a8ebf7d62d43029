/*
 * The buffer behind a text value.
 */
#include "value.h"

#include "error.h"

#include <stdlib.h>
#include <string.h>

int value_init(struct value *value, enum value_type type, size_t capacity,
               struct error *error)
{
    char *text = NULL;

    /* One byte more, so that a text of no length has a buffer too. */
    if (type == VALUE_TEXT && !(text = malloc(capacity + 1)))
        return error_set_memory(error);
    memset(value, 0, sizeof *value);
    value->type = type;
    value->text = text;
    value->capacity = type == VALUE_TEXT ? (unsigned long)capacity : 0;
    return 0;
}

void value_fini(struct value *value)
{
    free(value->text);
    value->text = NULL;
}
