/*
 * Selection: put the values of some ranks in their places without sorting the rest.
 */
#ifndef BENCHKIT_STATS_ORDER_H
#define BENCHKIT_STATS_ORDER_H

#include <stddef.h>

/* Reorder values[0..size-1], none of them NaN, so that at each of the ranks there is
 * the value that sorting would put there, with no larger one before it and no smaller
 * one behind it. The ranks are 0-based, ascending (equal ones allowed), below `size`.
 * About 2 * size steps for a few ranks, never more than sorting takes. */
void stats_order(double *values, size_t size, const size_t *ranks, size_t count);

#endif
