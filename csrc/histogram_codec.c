/*
 * The HdrHistogram V2 counts payload: zigzag LEB128 numbers of at most 9 bytes, a count
 * each, or a negative number for a run of zeros; it ends after the last count that is
 * not zero. Cookie, header and compression are Python's (benchkit/hlog.py).
 */
#include "histogram.h"

#include "error.h"

enum {
    NUMBER_BYTES_MAX = 9, /* eight groups of 7 bits and a last one of 8 */
    GROUP_BITS = 7,
    MORE = 0x80
};

size_t histogram_encoded_limit(const struct histogram *histogram)
{
    return (size_t)histogram->count_size * NUMBER_BYTES_MAX;
}

static size_t put_number(int64_t number, unsigned char *out)
{
    uint64_t rest = (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
    size_t length = 0;

    while (rest >= MORE && length < NUMBER_BYTES_MAX - 1) {
        out[length++] = (unsigned char)(rest | MORE);
        rest >>= GROUP_BITS;
    }
    out[length++] = (unsigned char)rest;
    return length;
}

size_t histogram_encode(const struct histogram *histogram, unsigned char *out)
{
    struct histogram_span span = histogram_span(histogram);
    size_t length = 0;
    int64_t zeros = span.first;

    for (uint32_t i = span.first; i <= span.last; i++) {
        int64_t count = (int64_t)histogram_count(histogram, i);
        if (!count) {
            zeros++;
            continue;
        }
        if (zeros)
            length += put_number(zeros == 1 ? 0 : -zeros, out + length);
        length += put_number(count, out + length);
        zeros = 0;
    }
    return length;
}

/* Read one number at *place; false if the payload ends inside it. */
static bool get_number(const unsigned char **place, const unsigned char *end,
                       int64_t *number)
{
    uint64_t bits = 0;

    for (int i = 0; i < NUMBER_BYTES_MAX; i++) {
        unsigned char byte;
        bool is_last = i == NUMBER_BYTES_MAX - 1;
        if (*place == end)
            return false;
        byte = *(*place)++;
        bits |= (uint64_t)(is_last ? byte : byte & (MORE - 1)) << (GROUP_BITS * i);
        if (is_last || !(byte & MORE))
            break;
    }
    *number = (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
    return true;
}

/* Walk over the payload, adding to `target` unless that is NULL. */
static int walk(const struct histogram *layout, struct histogram *target,
                const unsigned char *payload, size_t length, struct error *error)
{
    const unsigned char *place = payload;
    uint64_t index = 0;
    int64_t number;

    while (place < payload + length) {
        if (!get_number(&place, payload + length, &number))
            return error_set(error, ERROR_INVALID,
                             "the histogram's counts end in the middle of a number");
        if (number == INT64_MIN || index >= layout->count_size ||
            (number < 0 && (uint64_t)-number > layout->count_size - index))
            return error_set(error, ERROR_INVALID,
                             "the histogram's counts do not fit into %u buckets",
                             layout->count_size);
        if (number > 0 && target)
            histogram_add(target, (uint32_t)index, (uint64_t)number);
        index += number < 0 ? (uint64_t)-number : 1;
    }
    return 0;
}

int histogram_decode(struct histogram *histogram, const unsigned char *payload,
                     size_t length, struct error *error)
{
    if (walk(histogram, NULL, payload, length, error))
        return -1;
    return walk(histogram, histogram, payload, length, error);
}
