/*
 * The only state of GSL that the process shares.
 */
#include "stats_init.h"

#include <gsl/gsl_errno.h>

void stats_init(void)
{
    gsl_set_error_handler_off();
}
