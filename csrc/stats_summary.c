/*
 * GSL's statistics know no absent values, so those present are gathered first.
 */
#include "stats_summary.h"

#include "error.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

static size_t count_present(const double *values, size_t size)
{
    size_t count = 0;

    for (size_t i = 0; i < size; i++)
        if (!isnan(values[i]))
            count++;
    return count;
}

static double *copy_present(const double *values, size_t size, size_t count)
{
    double *present = malloc(count * sizeof *present);

    for (size_t i = 0, next = 0; present && i < size; i++)
        if (!isnan(values[i]))
            present[next++] = values[i];
    return present;
}

static void summarise(const double *values, size_t count, struct stats_summary *summary)
{
    summary->count = count;
    summary->mean = gsl_stats_mean(values, 1, count);
    summary->sd = gsl_stats_sd_with_fixed_mean(values, 1, count, summary->mean);
    gsl_stats_minmax(&summary->minimum, &summary->maximum, values, 1, count);
}

int stats_summary_compute(const double *values, size_t size,
                          struct stats_summary *summary, struct error *error)
{
    size_t count = count_present(values, size);
    double *present;

    if (count == 0) {
        *summary = (struct stats_summary){0, NAN, NAN, NAN, NAN};
        return 0;
    }
    if (count == size) {
        summarise(values, size, summary);
        return 0;
    }
    present = copy_present(values, size, count);
    if (!present)
        return error_set_memory(error);
    summarise(present, count, summary);
    free(present);
    return 0;
}
