/* SPDX-License-Identifier: MIT */
#ifndef TESTS_WRAP_H
#define TESTS_WRAP_H

/* A function that -Wl,--wrap=close puts in the place of close: WRAP(int, close, int fd) { return __real_close(fd); } */
#define WRAP(type, name, ...) \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

#endif
