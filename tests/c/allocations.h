/*
 * Counts what the core allocates, and lets the n-th allocation fail. Every test program
 * is linked so that the core's calls come here (see the Makefile).
 */
#ifndef BENCHKIT_ALLOCATIONS_H
#define BENCHKIT_ALLOCATIONS_H

/* Allocations since the program started, failed ones included. */
long allocations_made(void);

/* Let the n-th allocation from now on fail, once; 0: none. */
void allocations_fail(long n);

#endif
