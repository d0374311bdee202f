# libreachability. The C library needs a C compiler, make, pkg-config and libmnl; the tool also needs Swift.
#
#   make              the C library                      make run        builds and runs `reachability watch`
#   make lib          the same                           make test       every test, with all that it needs
#   make tool         the tool, build/reachability       make bench      the benchmarks, and their thresholds
#   make install      PREFIX=/usr/local DESTDIR=         make uninstall  removes what install put there
#   make deps         what run needs, by apt             make deps-test  what test needs, by apt
#   make fuzz         SECONDS=60                           make clean
#   make test-consumers   each Swift product, in each way of depending on it and linking it
#   make test-vm      real Wi-Fi, cellular and ppp links, in an emulated machine with a kernel of its own
#
# Parts of `make test`: check-c (no Swift needed), checks, check-asan, check-tsan, check-valgrind, check-helgrind,
# check-clang, check-swift, check-swift-thread, check-swift-address. One test program:
# `make build/tests/test-link-table && build/tests/test-link-table`; one check: `Tests/checks/floors`.
#
# For packagers: CC AR CFLAGS CPPFLAGS LDFLAGS PREFIX LIBDIR INCLUDEDIR BINDIR DATADIR DESTDIR BUILD; WERROR= lets
# warnings pass.

CFLAGS     = -O2 -g
PREFIX     = /usr/local
BINDIR     = $(PREFIX)/bin
LIBDIR     = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
DATADIR    = $(PREFIX)/share
BUILD      = build
OBJCOPY    = objcopy
PKG_CONFIG = pkg-config
SWIFT      = swift
SECONDS    = 60
# What `make run` watches, and how: make run ARGS="example.com 192.0.2.1".
ARGS       =

VERSION   := $(shell sed -n 's/^\#define REACHABILITY_VERSION "\(.*\)"$$/\1/p' include/reachability/reachability.h)
SONAME     = libreachability.so.0
SHARED     = libreachability.so.$(VERSION)

WERROR     = -Werror
WARNINGS   = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
             -Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wformat=2 \
             -Wimplicit-fallthrough $(WERROR)
# Looked up when a recipe runs, as `make deps` may have brought them a moment ago.
MNL_CFLAGS = $(shell $(PKG_CONFIG) --cflags libmnl)
MNL_LIBS   = $(shell $(PKG_CONFIG) --libs libmnl)

# initial-exec: the few bytes per thread are reached without __tls_get_addr, for which the dynamic loader itself would be
# a dependency. no-plt: some of the calls that each answer makes.
ALL_CPPFLAGS = -Iinclude -ICSources -D_GNU_SOURCE $(CPPFLAGS)
ALL_CFLAGS   = -std=gnu11 -fPIC -fno-plt -fvisibility=hidden -ftls-model=initial-exec -pthread $(WARNINGS) $(MNL_CFLAGS) $(CFLAGS)
MAP          = CSources/libreachability.map
LIB_LDFLAGS  = -shared -Wl,-soname,$(SONAME) -Wl,--version-script,$(MAP) \
               -Wl,-z,defs -Wl,-z,nodelete -Wl,--as-needed

SOURCES  = $(sort $(wildcard CSources/*/*.c))
OBJECTS  = $(SOURCES:CSources/%.c=$(BUILD)/objects/%.o)
HEADERS  = $(sort $(wildcard include/reachability/*.h))
STATIC   = $(BUILD)/libreachability.a

# Test programs are Tests/C/FLOOR/test-NOUN.c; Tests/C/support is linked into all of them. They link the static library,
# in which hidden symbols can still be reached. Benchmarks are built in the same way, and share the tests' netlink writer
# and resolver.
TEST_SOURCES  = $(sort $(wildcard Tests/C/*/test-*.c))
TESTS         = $(addprefix $(BUILD)/tests/,$(notdir $(TEST_SOURCES:.c=)))
TEST_SHARED   = $(patsubst Tests/C/%.c,$(BUILD)/objects/tests/%.o,$(filter-out %/faults.c,$(sort $(wildcard Tests/C/support/*.c))))
# Programs about calls that fail link a copy of the library that calls faulty_NAME for each function in faults.c.
FAULT_TESTS   = $(filter $(BUILD)/tests/test-fault% $(BUILD)/tests/test-denied%,$(TESTS))
FAULTS        = $(BUILD)/objects/tests/support/faults.o
FAULTY        = $(BUILD)/objects/tests/faulty.a
BENCHMARKS    = $(patsubst Benchmarks/%.c,$(BUILD)/benchmarks/%,$(sort $(wildcard Benchmarks/benchmark-*.c)))
BENCH_SHARED  = $(patsubst Benchmarks/%.c,$(BUILD)/objects/benchmarks/%.o,$(filter-out Benchmarks/benchmark-%.c,$(sort $(wildcard Benchmarks/*.c)))) \
                $(BUILD)/objects/tests/support/writer.o $(BUILD)/objects/tests/support/resolver.o
TEST_CPPFLAGS = $(ALL_CPPFLAGS) -ITests/C
TEST_CFLAGS   = -std=gnu11 -pthread -Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wstrict-prototypes \
                -Wmissing-prototypes $(WERROR) $(MNL_CFLAGS) $(CFLAGS)
TEST_LIBS     = -lcmocka $(MNL_LIBS)
CHECKS        = $(filter-out %.sh %.py,$(sort $(wildcard Tests/checks/*)))

.PHONY: FORCE all lib tool deps deps-test test test-programs test-consumers test-vm vm-programs check-c checks check-asan check-tsan \
        check-valgrind check-helgrind check-clang check-swift check-swift-thread check-swift-address run fuzz bench \
        benchmarks install uninstall clean list-sources
.DELETE_ON_ERROR:
.SECONDARY:

all: lib

# ---- The library

lib: $(BUILD)/$(SHARED) $(STATIC)

$(BUILD)/objects/%.o: CSources/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/$(SHARED): $(OBJECTS) $(MAP)
	$(CC) $(CFLAGS) $(LDFLAGS) $(LIB_LDFLAGS) -pthread -o $@ $(OBJECTS) $(MNL_LIBS)
	ln -sf $(SHARED) $(BUILD)/$(SONAME)
	ln -sf $(SONAME) $(BUILD)/libreachability.so

$(STATIC): $(OBJECTS)
	rm -f $@
	$(AR) rcs $@ $(OBJECTS)

list-sources:
	@printf '%s\n' $(SOURCES)

# ---- The tool

# Without Swift's shared libraries, so that the installed file runs where there is no toolchain.
SWIFT_BUILD = $(SWIFT) build -c release --traits Tool --static-swift-stdlib

# Where the shells look, below their share folder and in ours.
BASH_COMPLETION = bash-completion/completions/reachability
ZSH_COMPLETION  = zsh/site-functions/_reachability
FISH_COMPLETION = fish/vendor_completions.d/reachability.fish
COMPLETIONS     = $(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION)

tool:
	@command -v $(SWIFT) >/dev/null || { echo "The tool is written in Swift 6.3 and there is no '$(SWIFT)' on the PATH:" \
	    "https://www.swift.org/install/linux" >&2; exit 1; }
	$(SWIFT_BUILD) --product reachability
	@mkdir -p $(BUILD)
	cp "$$($(SWIFT_BUILD) --show-bin-path)/reachability" $(BUILD)/reachability
	@mkdir -p $(dir $(addprefix $(BUILD)/,$(COMPLETIONS)))
	$(BUILD)/reachability --generate-completion-script bash > $(BUILD)/$(BASH_COMPLETION)
	$(BUILD)/reachability --generate-completion-script zsh > $(BUILD)/$(ZSH_COMPLETION)
	$(BUILD)/reachability --generate-completion-script fish > $(BUILD)/$(FISH_COMPLETION)

run: deps
	@$(MAKE) --no-print-directory tool
	$(BUILD)/reachability watch $(ARGS)

# ---- What is needed; quick and quiet where nothing is missing

deps:
	@CC="$(CC)" .ci/deps build

deps-test:
	@CC="$(CC)" .ci/deps build test

# ---- Tests

$(BUILD)/objects/tests/%.o: Tests/C/%.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CPPFLAGS) $(TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(FAULTY): $(STATIC) $(FAULTS)
	nm $(FAULTS) | sed -n 's/.* T faulty_\(.*\)/\1 faulty_\1/p' > $@.names
	$(OBJCOPY) --redefine-syms=$@.names $(STATIC) $@

define link_test
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) -pthread -o $@ $^ $(TEST_LIBS)
endef

# The object of a program comes first, and has a folder that the program has not.
$(foreach source,$(TEST_SOURCES),$(eval $(BUILD)/tests/$(notdir $(source:.c=)): $(source:Tests/C/%.c=$(BUILD)/objects/tests/%.o)))

$(filter-out $(FAULT_TESTS),$(TESTS)): $(TEST_SHARED) $(STATIC)
	$(link_test)

$(FAULT_TESTS): $(TEST_SHARED) $(FAULTS) $(FAULTY)
	$(link_test)

$(BUILD)/tests/test-wait: TEST_LDFLAGS = -Wl,--wrap=send -Wl,--wrap=ioctl
$(BUILD)/tests/test-link-type: TEST_LDFLAGS = -Wl,--wrap=open
$(BUILD)/tests/test-clock: TEST_LDFLAGS = -Wl,--wrap=send -Wl,--wrap=recvfrom -Wl,--wrap=clock_gettime \
                                       -Wl,--wrap=timerfd_settime
$(BUILD)/tests/test-lookup: TEST_LDFLAGS = -Wl,--wrap=getaddrinfo -Wl,--wrap=freeaddrinfo -Wl,--wrap=stat \
                                        -Wl,--wrap=pthread_create -Wl,--wrap=malloc -Wl,--wrap=calloc \
                                        -Wl,--wrap=poll
$(BUILD)/tests/test-refresh: TEST_LDFLAGS = -Wl,--wrap=clock_gettime -Wl,--wrap=timerfd_settime -Wl,--wrap=calloc \
                                         -Wl,--wrap=pthread_create -Wl,--wrap=inotify_init1 \
                                         -Wl,--wrap=inotify_add_watch -Wl,--wrap=poll -Wl,--wrap=open
$(BUILD)/tests/test-fork: TEST_LDFLAGS = -Wl,--wrap=realloc -Wl,--wrap=free

# This one loads the shared library at run time.
$(BUILD)/tests/test-dlopen: | $(BUILD)/$(SHARED)

test-programs: $(TESTS)

# What shows a race between two processors, or how long something waited, has the machine for itself. Those that boot an
# emulated one, of which there is one at a time, stand apart from each other.
MACHINE = Tests/VM/machine Tests/VM/test-
ALONE = $(BUILD)/tests/test-race $(BUILD)/tests/test-wait Tests/checks/benchmarks

test: deps-test
	@$(MAKE) --no-print-directory -j"$$(nproc)" lib test-programs vm-programs
	@Tests/run $(ALONE) -j3 "Tests/under valgrind" $(filter-out $(ALONE),$(TESTS)) "$(MACHINE)kernel" \
	    $(filter-out $(ALONE),$(CHECKS)) \
	    "Tests/under tsan" "Tests/under clang" "$(MACHINE)links" "Tests/under asan" "Tests/under helgrind" Tests/swift \
	    "$(MACHINE)takeover" "Tests/swift thread" "Tests/swift address"

check-c: deps-test
	@$(MAKE) --no-print-directory -j"$$(nproc)" lib test-programs
	@Tests/run $(TESTS)

checks: lib
	@Tests/run $(CHECKS)

check-asan check-tsan check-valgrind check-helgrind check-clang: check-%:
	@Tests/run "Tests/under $*"

check-swift:
	@Tests/run Tests/swift

check-swift-thread check-swift-address: check-swift-%:
	@Tests/run "Tests/swift $*"

# One script of links/: `Tests/VM/machine Tests/VM/test-links Tests/VM/links/wifi`.
VM_TESTS = "$(MACHINE)kernel" "$(MACHINE)links" "$(MACHINE)takeover"

$(BUILD)/vm/seen: Tests/VM/seen.c $(STATIC)
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(TEST_CFLAGS) $(LDFLAGS) -o $@ $^ $(MNL_LIBS)

# Where there is Swift.
$(BUILD)/vm/statuses: FORCE
	@mkdir -p $(@D)
	$(SWIFT) build --product vm-statuses
	cp "$$($(SWIFT) build --show-bin-path)/vm-statuses" $@

vm-programs: $(BUILD)/vm/seen $(if $(shell command -v $(SWIFT)),$(BUILD)/vm/statuses)

test-vm: deps-test
	@$(MAKE) --no-print-directory -j"$$(nproc)" test-programs vm-programs
	@Tests/run $(VM_TESTS)

# Swift programs that use each product in every way; `make test` builds those that differ most.
test-consumers:
	@Tests/run Tests/consumers/matrix

fuzz:
	@FUZZ_SECONDS=$(SECONDS) Tests/checks/fuzz

# ---- Benchmarks

$(BUILD)/objects/benchmarks/%.o: Benchmarks/%.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CPPFLAGS) $(TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/benchmarks/%: $(BUILD)/objects/benchmarks/%.o $(BENCH_SHARED) $(STATIC)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(BENCH_LDFLAGS) -pthread -o $@ $^ $(MNL_LIBS)

$(BUILD)/benchmarks/benchmark-names: BENCH_LDFLAGS = -Wl,--wrap=getaddrinfo -Wl,--wrap=freeaddrinfo

benchmarks: $(BENCHMARKS)

# The hops from callbacks to Swift code, where there is Swift.
$(BUILD)/benchmarks/benchmark-hops: FORCE
	@mkdir -p $(@D)
	$(SWIFT_BUILD) --product benchmark-hops
	cp "$$($(SWIFT_BUILD) --show-bin-path)/benchmark-hops" $@

SWIFT_BENCHMARKS = $(if $(shell command -v $(SWIFT)),$(BUILD)/benchmarks/benchmark-hops)

bench: benchmarks $(SWIFT_BENCHMARKS)
	@$(if $(SWIFT_BENCHMARKS),,echo "SKIP: no '$(SWIFT)' on the PATH: the hops to Swift code were not measured";) \
	status=0; for program in $(BENCHMARKS) $(SWIFT_BENCHMARKS); do $$program || status=1; done; exit $$status

# ---- Installing. The tool goes along when `make tool` has built it; nothing here needs Swift.

LIBRARY_FILES = $(LIBDIR)/$(SHARED) $(LIBDIR)/$(SONAME) $(LIBDIR)/libreachability.so $(LIBDIR)/libreachability.a \
                $(LIBDIR)/pkgconfig/libreachability.pc
HEADER_FILES  = $(patsubst include/%,$(INCLUDEDIR)/%,$(HEADERS))

install: lib
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(INCLUDEDIR)/reachability
	install -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)/reachability
	install -m 755 $(BUILD)/$(SHARED) $(DESTDIR)$(LIBDIR)
	ln -sf $(SHARED) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libreachability.so
	install -m 644 $(STATIC) $(DESTDIR)$(LIBDIR)
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	    -e 's|@VERSION@|$(VERSION)|' pkgconfig/libreachability.pc.in > $(DESTDIR)$(LIBDIR)/pkgconfig/libreachability.pc
	if [ -f $(BUILD)/reachability ]; then \
	    install -d $(DESTDIR)$(BINDIR) && install -m 755 $(BUILD)/reachability $(DESTDIR)$(BINDIR); fi
	for file in $(COMPLETIONS); do \
	    if [ -f $(BUILD)/$$file ]; then install -D -m 644 $(BUILD)/$$file $(DESTDIR)$(DATADIR)/$$file || exit; fi; done
	if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi

# Only folders that are ours alone are removed.
uninstall:
	rm -f $(addprefix $(DESTDIR),$(LIBRARY_FILES) $(HEADER_FILES) $(BINDIR)/reachability \
	    $(addprefix $(DATADIR)/,$(COMPLETIONS)))
	-if [ -d $(DESTDIR)$(INCLUDEDIR)/reachability ]; then rmdir $(DESTDIR)$(INCLUDEDIR)/reachability; fi

clean:
	rm -rf $(BUILD)
	if [ -d .build ]; then rm -rf .build; fi

-include $(OBJECTS:.o=.d) $(wildcard $(BUILD)/objects/tests/*/*.d $(BUILD)/objects/benchmarks/*.d)
