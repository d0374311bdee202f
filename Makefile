# libreachability. The C library needs a C compiler, make, pkg-config and libmnl; the tool also needs Swift.
#
#   make                the C library                      make run            builds and runs `reachability watch`
#   make lib            the same                           make test           tests the code
#   make tool           the tool, build/reachability       make test-world     tests packages, manuals, other languages
#   make install        PREFIX=/usr/local DESTDIR=         make uninstall      removes what install put there
#   make install-strip  the same, without symbols          make help           prints this
#   make try            builds and runs an example in C    make docs           the Swift modules' manuals, as HTML
#   make check          the quick tests, in seconds        make check-c        the C tests, without Swift
#   make bench          the benchmarks, and their limits   make performance    the same, as a table and a chart
#   make fuzz           SECONDS=60                         make storm          ROUNDS=200000
#   make soak           random changes for long            make calls          random calls, CALLS=1000000
#   make dist           the source archive                 make deb            Debian packages
#   make deps           installs what `make run` needs     make deps-test      installs what `make test` needs
#   make deps-world     ... what `make test-world` needs   make deps-deb       ... what `make deb` needs
#   make format         formats the C and Swift sources    make manuals        writes man/ from the header, docs/tool.md
#   make test-consumers one program in each language       make mutants        breaks rules; tests must fail
#   make test-gio       the module for GLib programs       make test-desktop   desktop programs with it
#   make coverage       what the C tests execute           make version        NEXT=0.2.0, everywhere
#   make home           URL= CONTACT= of the project, everywhere
#   make abi-baseline   the ABI that later versions keep   make release        dist, if all is ready
#   make clean
#
# Parts of them: checks, check-asan, check-tsan, check-valgrind, check-helgrind, check-clang, check-swift,
# check-swift-thread, check-swift-address, test-vm (real Wi-Fi, cellular and ppp links, in an emulated machine). One test
# program: `make build/tests/test-path && build/tests/test-path`; one check: `Tests/checks/floors`. A test program that
# passed runs again only after it has changed, or with FRESH=1. `make test-products` builds programs with each Swift
# product, with each kind of dependency and linking.
#
# For packagers: CC AR STRIP CFLAGS CPPFLAGS LDFLAGS PREFIX LIBDIR INCLUDEDIR BINDIR DATADIR MANDIR DOCDIR UNITDIR
# DESTDIR BUILD. V=1 shows the commands. WERROR=-Werror makes warnings errors; the tests set it. `make -f
# elsewhere/Makefile` builds in the folder where it is called, and writes nothing elsewhere.

HERE := $(realpath $(dir $(lastword $(MAKEFILE_LIST))))
ifneq ($(HERE),$(realpath .))

GOALS = $(or $(MAKECMDGOALS),all)
.PHONY: $(GOALS)
$(GOALS) &:
	@$(MAKE) --no-print-directory -C $(HERE) BUILD=$(abspath $(or $(BUILD),build)) \
	    $(if $(DESTDIR),DESTDIR=$(abspath $(DESTDIR))) $(GOALS)

else

CFLAGS    ?= -O2 -g
PREFIX     = /usr/local
BINDIR     = $(PREFIX)/bin
LIBDIR     = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
DATADIR    = $(PREFIX)/share
UNITDIR    = $(PREFIX)/lib/systemd/system
MANDIR     = $(DATADIR)/man
DOCDIR     = $(DATADIR)/doc/libreachability
BUILD      = build
STRIP      = strip
PKG_CONFIG = pkg-config
SWIFT      = swift
SECONDS    = 60
FUZZ       = *
# Arguments of `reachability watch` for `make run`: make run ARGS="example.com 192.0.2.1".
ARGS       =
# As many jobs as there are processors, if make was not given a number.
JOBS       = $(if $(filter -j%,$(MAKEFLAGS)),,-j"$$(nproc)")
# Commands are shown by what they make, with V=1 whole, with -s not at all.
V          =
show       = $(if $(V),,@$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,echo "  $(1) $@";))

VERSION   := $(shell sed -n 's/^\#define REACHABILITY_VERSION *"\(.*\)"$$/\1/p' include/reachability/reachability.h)
$(if $(VERSION),,$(error include/reachability/reachability.h has no REACHABILITY_VERSION))
SONAME     = libreachability.so.0
SHARED     = libreachability.so.$(VERSION)

WERROR    ?=
WARNINGS   = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes \
             -Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wformat=2 \
             -Wimplicit-fallthrough -Wno-psabi $(WERROR)
# Evaluated when a recipe runs: `make deps` may just have installed libmnl.
MNL_CFLAGS = $(shell $(PKG_CONFIG) --cflags libmnl)
MNL_LIBS   = $(shell $(PKG_CONFIG) --libs libmnl)

# Machines of 32 bits: files with large inode numbers, and dates after 2038.
POINTERS = $(shell echo | $(CC) -dM -E - | sed -n 's/.*__SIZEOF_POINTER__ //p')
LARGE    = $(eval LARGE := $(if $(filter 4,$(POINTERS)),-D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64))$(LARGE)

# initial-exec: variables of a thread need no __tls_get_addr, and so no dependency on the dynamic loader itself.
# no-plt: calls to libc are faster; an evaluation makes several.
ALL_CPPFLAGS = -Iinclude -ICSources -D_GNU_SOURCE $(LARGE) $(CPPFLAGS)
ALL_CFLAGS   = -std=gnu11 -fPIC -fno-plt -fvisibility=hidden -ftls-model=initial-exec -pthread $(WARNINGS) $(MNL_CFLAGS) $(CFLAGS)
MAP          = CSources/libreachability.map
LIB_LDFLAGS  = -shared -Wl,-soname,$(SONAME) -Wl,--version-script,$(MAP) \
               -Wl,-z,defs -Wl,-z,nodelete -Wl,--as-needed

SOURCES  = $(sort $(wildcard CSources/*/*.c))
OBJECTS  = $(SOURCES:CSources/%.c=$(BUILD)/objects/%.o)
HEADERS  = $(sort $(wildcard include/reachability/*.h))
# Apple's headers. Installed, they are in reachability/apple: only programs that ask for them have them on their path.
APPLE    = $(patsubst include/apple/%,%,$(sort $(wildcard include/apple/*.h include/apple/*/*.h)))
PROBES   = $(wildcard /usr/include/sys/sdt.h /usr/include/*/sys/sdt.h)
# How other builds find the library: pkg-config and CMake. Their paths are relative to a folder, so that it can be moved.
PC_FILES = $(patsubst pkgconfig/%.in,%,$(wildcard pkgconfig/*.pc.in))
CMAKE    = $(patsubst pkgconfig/%.in,%,$(wildcard pkgconfig/*.cmake.in))
FINDERS  = $(PC_FILES:%=$(LIBDIR)/pkgconfig/%) $(CMAKE:%=$(LIBDIR)/cmake/libreachability/%)
STATIC   = $(BUILD)/libreachability.a

# Test programs are Tests/C/FLOOR/test-NOUN.c. The pure ones link a part of Tests/C/support (PURE_SHARED), the others all of it,
# but for faults.c, socket_faults.c, one_thread.c and simulated_kernel.c. All link the static library.
# Benchmarks do, too, and share the tests' netlink writer and resolver.
TEST_SOURCES  = $(sort $(wildcard Tests/C/*/test-*.c))
TESTS         = $(addprefix $(BUILD)/tests/,$(notdir $(TEST_SOURCES:.c=)))
# Linked into test-soak only.
SOAK          = $(patsubst Tests/C/%.c,$(BUILD)/objects/tests/%.o,$(filter-out %/test-soak.c,$(sort $(wildcard Tests/C/soak/*.c))))
# Linked into test-flow-soak only.
FLOW_SOAK     = $(patsubst Tests/C/%.c,$(BUILD)/objects/tests/%.o,$(filter-out %/test-flow-soak.c,$(sort $(wildcard Tests/C/flows/*.c))))
# For programs whose calls on sockets fail.
SOCKET_FAULTS = $(BUILD)/objects/tests/support/socket_faults.o
SOCKET_WRAPS  = -Wl,--wrap=socket -Wl,--wrap=bind -Wl,--wrap=connect
# For programs whose monitor has a simulated kernel.
SIMULATION    = $(BUILD)/objects/tests/support/simulated_kernel.o
COMMA         = ,
SIMULATION_WRAPS = $(addprefix -Wl$(COMMA)--wrap=,calloc clock_gettime timerfd_settime reach_rtnetlink_drain reach_rtnetlink_query \
                     reach_rtnetlink_set_barrier reach_rtnetlink_begin_batch reach_rtnetlink_end_batch reach_rtnetlink_read_links \
                     reach_rtnetlink_open reach_netlink_attach_filter reach_netlink_detach_filter reach_netlink_join reach_route_filter_build \
                     reach_route_filter_build_open reach_full_path_evaluate reach_netconf_read reach_nexthops_read reach_rules_read \
                     reach_default_table_is_empty reach_source_routes_find \
                     reach_neighbours_any_failed reach_neighbours_query reach_shared_socket_lend_devices)
PURE_TESTS    = $(addprefix $(BUILD)/tests/,$(notdir $(patsubst %.c,%,$(wildcard Tests/C/pure/test-*.c))))
TEST_SHARED   = $(patsubst Tests/C/%.c,$(BUILD)/objects/tests/%.o,$(filter-out %/faults.c %/socket_faults.c %/one_thread.c %/simulated_kernel.c,$(sort $(wildcard Tests/C/support/*.c))))
# Programs with one thread: the thread sanitizer would find nothing. one_thread.c ends a program that starts another thread.
ONE_THREAD    = $(addprefix test-, \
                  address address-tree answers answers-random bound-pair clock conffile connections escape first-routes \
                  flags flow flow-soak foreign-source heap lifetimes link-changes link-table \
                  link-type linkinfo local-wifi lookup-queue message neighbours next-hop next-hops path \
                  name-servers policy question refused route-ends route-filter scope shares sharing sock-diag socket \
                  source-routes sources sweeps tunnel vrf wireguard wireguard-path)
WRAP_THREADS  = -Wl,--wrap=pthread_create
# What the pure tests use of Tests/C/support. Packages run these tests, and need not compile the rest.
PURE_SHARED   = $(addprefix $(BUILD)/objects/tests/support/,$(addsuffix .o,denial etc expect idle namespace namespace_users \
                outside program unit watcher))
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
CHECKS        = $(sort $(wildcard Tests/checks/*))
# Tests/world/systemd boots the emulated machine, see VM_WORLD.
WORLD         = $(filter-out %.sh %.py %/systemd,$(sort $(wildcard Tests/world/*)))
# All use scene.py.
DESKTOP       = $(sort $(filter-out %.py %/__pycache__,$(wildcard Tests/desktop/*)))
CONSUMERS     = $(sort $(wildcard Tests/consumers/languages/*))

.PHONY: FORCE all help lib toolchain tool run try manuals docs deps deps-deb deps-check deps-check-c deps-test deps-world check check-c checks \
        test test-world build-tests test-programs pure-tests test-consumers test-gio test-desktop deps-desktop test-products test-vm test-kernels vm-programs \
        programs-asan programs-tsan programs-valgrind programs-clang check-asan check-tsan check-valgrind check-helgrind check-clang \
        check-swift check-swift-thread check-swift-address calls fuzz mutants coverage soak soak-flows soak-denied storm bench benchmarks \
        performance format install install-tool install-strip uninstall dist deb version home release abi-baseline clean \
        list-sources
.DELETE_ON_ERROR:
.SECONDARY:

all: lib

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

# ---- The library

lib: $(BUILD)/$(SHARED) $(STATIC)

# The library has static probes if there is sys/sdt.h: see CSources/base/probes.h. If this header was installed after the last
# build, the objects are built again.
$(BUILD)/objects/probes: FORCE
	@mkdir -p $(@D)
	@echo '$(PROBES)' | cmp -s - $@ || echo '$(PROBES)' >$@

$(BUILD)/objects/%.o: CSources/%.c $(BUILD)/objects/probes
	@mkdir -p $(@D)
	$(call show,CC)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/$(SHARED): $(OBJECTS) $(MAP)
	$(call show,LD)$(CC) $(CFLAGS) $(LDFLAGS) $(LIB_LDFLAGS) -pthread -o $@ $(OBJECTS) $(MNL_LIBS)
	@ln -sf $(SHARED) $(BUILD)/$(SONAME)
	@ln -sf $(SONAME) $(BUILD)/libreachability.so

$(STATIC): $(OBJECTS)
	@rm -f $@
	$(call show,AR)$(AR) rcsD $@ $(OBJECTS)

list-sources:
	@printf '%s\n' $(SOURCES)

# ---- The tool

# Swift's libraries are linked statically: the tool runs on machines without a Swift toolchain.
SWIFT_FLAGS =
# What is linked in place of the toolchain's and the system's, so that the tool is small, starts fast, and runs on glibc 2.34:
# the part of FoundationEssentials that it uses (see JSONEncoder.swift), a few functions of glibc, the static libstdc++. Empty:
# nothing is replaced. The 10.6 MB of the tool are Swift's standard library (5.6; a program of one line has it, too), its
# concurrency and regular expressions (1.8), the argument parser (0.8), the tool and the library (0.9). Swift's metadata keeps
# all types of a static library, so the linker cannot drop what is not used. The toolchain's FoundationEssentials takes 5 MB
# more. libstdc++'s 1,600 symbols are not looked up at the start. Not taken: lld with --icf=all (0.2 MB less, not faster);
# -no-pie (0.7 MB less, 0.3 ms faster, but always at the same address); relative relocations in a table (0.7 MB less, needs
# glibc 2.36); a prelinked program (Debian has no prelink).
ESSENTIALS       = $(BUILD)/essentials
ESSENTIALS_SWIFT = $(sort $(wildcard packaging/essentials/*.swift))
ESSENTIALS_FILES = $(addprefix $(ESSENTIALS)/,libstdc++.a glibc.o libToolEssentials.a)
ESSENTIALS_FLAGS = -Xswiftc -I$(abspath $(ESSENTIALS)) -Xlinker -L$(abspath $(ESSENTIALS)) \
                   -Xlinker $(abspath $(ESSENTIALS)/glibc.o)

$(BUILD)/essentials/libToolEssentials.a: $(ESSENTIALS_SWIFT)
	@mkdir -p $(@D)
	$(SWIFT)c -swift-version 6 -O -wmo -static -parse-as-library -emit-library -emit-module \
	    -emit-module-path $(@D)/FoundationEssentials.swiftmodule -module-name FoundationEssentials \
	    -module-link-name ToolEssentials -o $@ $^

$(BUILD)/essentials/glibc.o: packaging/essentials/glibc.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -fPIC -O2 -fno-math-errno -ffunction-sections $(WARNINGS) -c -o $@ $<

$(BUILD)/essentials/libstdc++.a:
	@mkdir -p $(@D)
	@file=$$(g++ -print-file-name=libstdc++.a 2>/dev/null || $(CC) -print-file-name=libstdc++.a); \
	case $$file in /*) ln -sf "$$file" $@ ;; *) \
	    echo "The tool needs the static libstdc++, which is not here: 'make deps' installs it (Debian: g++)" >&2; exit 1;; esac

# --disable-local-rpath: else the tool would load a libmnl.so.0 that somebody put beside it. -z now: distributions want the table
# of functions to be read-only.
SWIFT_BUILD = $(SWIFT) build --scratch-path .build/tool -c release --traits Tool --static-swift-stdlib --disable-local-rpath \
              -Xlinker -z -Xlinker now $(if $(ESSENTIALS),$(ESSENTIALS_FLAGS)) $(SWIFT_FLAGS)

# Paths in which the shells search, below a share folder.
BASH_COMPLETION = bash-completion/completions/reachability
ZSH_COMPLETION  = zsh/site-functions/_reachability
FISH_COMPLETION = fish/vendor_completions.d/reachability.fish
COMPLETIONS     = $(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION)
# They run the tool.
UNITS           = reachability-wait@.service

toolchain:
	@# OpenStack's client is named swift, too. A toolchain whose libraries are missing says which.
	@said=$$($(SWIFT) --version 2>&1); case $$said in *"Swift version"*) ;; *) \
	    printf '%s\n' "The tool needs Swift 6.3: https://www.swift.org/install/linux" \
	        "'$(SWIFT) --version' does not print a version of Swift, but: $$said" >&2; exit 1;; esac

tool: toolchain
	$(if $(ESSENTIALS),@$(MAKE) --no-print-directory $(ESSENTIALS_FILES))
	$(SWIFT_BUILD) --product reachability
	@mkdir -p $(BUILD)
	@# Not cp: it cannot write to a program that runs.
	install -m 755 "$$($(SWIFT_BUILD) --show-bin-path)/reachability" $(BUILD)/reachability
	@mkdir -p $(dir $(addprefix $(BUILD)/,$(COMPLETIONS)))
	$(BUILD)/reachability --generate-completion-script bash > $(BUILD)/$(BASH_COMPLETION)
	sed -i '1{/^#!/d}' $(BUILD)/$(BASH_COMPLETION)
	$(BUILD)/reachability --generate-completion-script zsh > $(BUILD)/$(ZSH_COMPLETION)
	$(BUILD)/reachability --generate-completion-script fish > $(BUILD)/$(FISH_COMPLETION)

# Without optimization and without an index for editors, the tool takes half the processor time to build.
RUN_BUILD = $(SWIFT) build --scratch-path .build/run --disable-index-store --traits Tool

run: deps toolchain
	$(RUN_BUILD) --product reachability
	"$$($(RUN_BUILD) --show-bin-path)/reachability" watch $(ARGS)

# The quickest start in C: builds and runs an example.
try: deps
	@$(MAKE) --no-print-directory $(JOBS) $(BUILD)/examples/watch
	@echo "For 10 seconds, a line for each change:"
	$(BUILD)/examples/watch $(ARGS)

$(BUILD)/examples/%: Examples/%.c $(STATIC)
	@mkdir -p $(@D)
	$(call show,CC)$(CC) -Iinclude $(CFLAGS) $(LDFLAGS) -pthread -o $@ $< $(STATIC) $(MNL_LIBS)

# ---- Packages that the build and the tests need. Quick and silent if none is missing.

deps:
	@CC="$(CC)" .ci/deps build

deps-deb:
	@CC="$(CC)" .ci/deps build deb

deps-check:
	@CC="$(CC)" .ci/deps build check

deps-check-c:
	@CC="$(CC)" .ci/deps build check-c

deps-test:
	@CC="$(CC)" .ci/deps build check check-c test

deps-world:
	@CC="$(CC)" .ci/deps build deb check check-c test world languages manuals browser

# ---- Tests

$(BUILD)/objects/tests/%.o: Tests/C/%.c
	@mkdir -p $(@D)
	$(call show,CC)$(CC) $(TEST_CPPFLAGS) $(TEST_CFLAGS) $(TEST_OPTIMIZATION) -MMD -MP -c -o $@ $<

$(FAULTY): $(STATIC) $(FAULTS)
	@nm $(FAULTS) | sed -n 's/.* T faulty_\(.*\)/\1 faulty_\1/p' > $@.names
	$(call show,OBJCOPY)objcopy --redefine-syms=$@.names $(STATIC) $@

define link_test
	@mkdir -p $(@D)
	$(call show,LD)$(CC) $(CFLAGS) $(LDFLAGS) $(TEST_LDFLAGS) $(if $(filter $(ONE_THREAD),$(@F)),$(WRAP_THREADS)) -pthread -o $@ $(filter %.o,$^) $(filter %.a,$^) $(TEST_LIBS)
endef

# The object of a program has a folder that the program has not.
$(foreach source,$(TEST_SOURCES),$(eval $(BUILD)/tests/$(notdir $(source:.c=)): $(source:Tests/C/%.c=$(BUILD)/objects/tests/%.o)))

$(PURE_TESTS): $(PURE_SHARED) $(STATIC)
	$(link_test)

$(filter-out $(FAULT_TESTS) $(PURE_TESTS),$(TESTS)): $(TEST_SHARED) $(STATIC)
	$(link_test)

$(FAULT_TESTS): $(TEST_SHARED) $(FAULTS) $(FAULTY)
	$(link_test)

$(addprefix $(BUILD)/tests/,$(ONE_THREAD)): $(BUILD)/objects/tests/support/one_thread.o

$(BUILD)/tests/test-soak: $(SOAK)

$(BUILD)/tests/test-flow-soak: $(FLOW_SOAK)

$(BUILD)/tests/test-bound-pair $(BUILD)/tests/test-source-routes: $(SOCKET_FAULTS)

$(BUILD)/tests/test-answers-random $(BUILD)/tests/test-sweeps: $(SIMULATION)

$(BUILD)/tests/test-wait: TEST_LDFLAGS = -Wl,--wrap=send -Wl,--wrap=ioctl
$(BUILD)/tests/test-neighbours: TEST_LDFLAGS = -Wl,--wrap=reach_rtnetlink_query
$(BUILD)/tests/test-recheck: TEST_LDFLAGS = -Wl,--wrap=reach_rtnetlink_set_barrier -Wl,--wrap=reach_rtnetlink_query
$(BUILD)/tests/test-wait-changed: TEST_LDFLAGS = -Wl,--wrap=epoll_create1
$(BUILD)/tests/test-event-filter: TEST_LDFLAGS = -Wl,--wrap=setsockopt -Wl,--wrap=send
$(BUILD)/tests/test-bound-pair: TEST_LDFLAGS = $(SOCKET_WRAPS)
$(BUILD)/tests/test-source-routes: TEST_LDFLAGS = $(SOCKET_WRAPS) -Wl,--wrap=recvfrom -Wl,--wrap=reach_budget_next
$(BUILD)/tests/test-answers-random $(BUILD)/tests/test-sweeps: TEST_LDFLAGS = $(SIMULATION_WRAPS)
$(BUILD)/tests/test-answers: TEST_LDFLAGS = -Wl,--wrap=calloc -Wl,--wrap=clock_gettime
$(BUILD)/tests/test-shares: TEST_LDFLAGS = $(addprefix -Wl$(COMMA)--wrap=,clock_gettime reach_rtnetlink_query reach_source_routes_find \
                                           reach_neighbours_any_failed reach_neighbours_query reach_rules_read reach_default_table_is_empty)
$(BUILD)/tests/test-next-hops: TEST_LDFLAGS = -Wl,--wrap=calloc
$(BUILD)/tests/test-forged: TEST_LDFLAGS = -Wl,--wrap=recvfrom
$(BUILD)/tests/test-link-type: TEST_LDFLAGS = -Wl,--wrap=open
$(BUILD)/tests/test-wireguard-path: TEST_LDFLAGS = -Wl,--wrap=reach_genetlink_open -Wl,--wrap=reach_genetlink_query \
                                                -Wl,--wrap=reach_genetlink_close -Wl,--wrap=reach_link_is_wireguard \
                                                -Wl,--wrap=reach_sock_diag_udp_send_buffer -Wl,--wrap=geteuid \
                                                -Wl,--wrap=clock_gettime
$(BUILD)/tests/test-vrf: TEST_LDFLAGS = -Wl,--wrap=reach_rtnetlink_query \
                               -Wl,--wrap=reach_rtnetlink_link_index -Wl,--wrap=reach_udp_route_choose_source \
                               -Wl,--wrap=reach_udp_route_find
$(BUILD)/tests/test-sharing $(BUILD)/tests/test-link-changes: TEST_LDFLAGS = -Wl,--wrap=reach_rtnetlink_query -Wl,--wrap=reach_budget_next
$(BUILD)/tests/test-clock: TEST_LDFLAGS = -Wl,--wrap=reach_budget_next -Wl,--wrap=send -Wl,--wrap=recvfrom -Wl,--wrap=clock_gettime \
                                       -Wl,--wrap=timerfd_settime
$(BUILD)/tests/test-refused: TEST_LDFLAGS = $(addprefix -Wl$(COMMA)--wrap=,socket bind setsockopt send recvfrom \
                                           clock_gettime timerfd_settime)
$(BUILD)/tests/test-lookup: TEST_LDFLAGS = -Wl,--wrap=getaddrinfo -Wl,--wrap=freeaddrinfo -Wl,--wrap=open \
                                        -Wl,--wrap=pthread_create -Wl,--wrap=malloc -Wl,--wrap=calloc \
                                        -Wl,--wrap=poll -Wl,--wrap=strcmp -Wl,--wrap=clock_gettime
$(BUILD)/tests/test-refresh: TEST_LDFLAGS = -Wl,--wrap=clock_gettime -Wl,--wrap=timerfd_settime -Wl,--wrap=calloc \
                                         -Wl,--wrap=pthread_create -Wl,--wrap=inotify_init1 \
                                         -Wl,--wrap=inotify_add_watch -Wl,--wrap=open
$(BUILD)/tests/test-descriptor: TEST_LDFLAGS = -Wl,--wrap=open -Wl,--wrap=read -Wl,--wrap=close -Wl,--wrap=getaddrinfo \
                                            -Wl,--wrap=freeaddrinfo
$(BUILD)/tests/test-fork: TEST_LDFLAGS = -Wl,--wrap=realloc -Wl,--wrap=free

# It loads the shared library at run time.
$(BUILD)/tests/test-dlopen: | $(BUILD)/$(SHARED)

test-programs: $(TESTS)

# The tests that run wherever a program runs, also in an emulator.
pure-tests: $(PURE_TESTS)

# How the programs are built for each tool. helgrind runs the programs for valgrind. The optimizer takes half of the time in
# which the files of the tests are compiled for the sanitizers; its warnings come from the build without. (-Wrestrict without
# it warns of fields of one structure.)
FOR_asan     = WERROR=-Werror CC=gcc TEST_OPTIMIZATION="-O0 -Wno-restrict" CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
FOR_tsan     = WERROR=-Werror CC=gcc TEST_OPTIMIZATION="-O0 -Wno-restrict" CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=thread"
# Under valgrind the programs are those that clang compiles, if it is there. valgrind 3.19 reads DWARF 4, and helgrind.supp
# names functions that must be on the stack.
FOR_valgrind = WERROR=-Werror $(if $(shell command -v clang),CC=clang CFLAGS="-O1 -gdwarf-4 -fno-inline -fno-optimize-sibling-calls",CC=gcc CFLAGS="-O1 -g")
FOR_clang    = WERROR=-Werror CC=clang
TOOLS        = asan tsan

# All that the tool runs, or those that PROGRAMS names: make programs-asan PROGRAMS=test-path
programs-asan programs-tsan programs-valgrind programs-clang: programs-%:
	@$(MAKE) --no-print-directory $(FOR_$*) BUILD=$(BUILD)/$* $(patsubst %,$(BUILD)/$*/tests/%,$(or $(PROGRAMS),$(NAMES_$*),$(NAMES)))

# helgrind runs programs in which several threads call the library. Others race on purpose, or have one thread. HELGRIND reaches
# each call of a lock, a condition or a thread that HELGRIND_MORE reaches. HELGRIND_MORE takes 60 % of the time of both. The
# tools run neither test-costs nor test-system-calls: they have their own allocators, and make system calls of their own.
NAMES     = $(filter-out test-costs test-system-calls,$(notdir $(TESTS)))
under     = $(foreach name,$(2),"Tests/under $(1) $(name)")
ASAN      = $(call under,asan,$(NAMES))
NAMES_tsan = $(filter-out $(ONE_THREAD),$(NAMES))
TSAN      = $(call under,tsan,$(NAMES_tsan))
# Without these, which take a third of the time, the programs reach all functions of CSources, and all lines but three, that
# all programs reach (Tests/coverage). `make check-valgrind` runs all.
VALGRIND_MORE = $(addprefix test-,callback event-filter flow-soak foreign-files hostile-server link-changes namespaces overrun race \
                  rounds scheduler scheduler-work storm threads)
VALGRIND  = $(call under,valgrind,$(filter-out $(VALGRIND_MORE),$(NAMES)))
HELGRIND  = $(call under,helgrind,$(addprefix test-,callback calls delivery library-thread scheduler))
HELGRIND_MORE = $(call under,helgrind,$(addprefix test-,scheduler-work storm threads))

# They boot an emulated machine. Only one can run at a time. `make test` boots once, which takes 8 seconds.
MACHINE   = Tests/VM/machine Tests/VM/test-
VM_TESTS  = "--one-of=machine:$(MACHINE)all $(KERNEL_NAMES)"
# What depends on the kernel's version, or needs a kind of link that few kernels have.
KERNEL_NAMES = lifetimes link-type soak sock-diag watch uplink-type
# Programs whose tests any kernel can run: test-world has them.
VM_WORLD  = "--one-of=machine:$(MACHINE)kernel $(WORLD_NAMES)" --one-of=machine:Tests/world/systemd
WORLD_NAMES = flags callback local-wifi name namespaces scope tunnel

# Debian's kernels, from 5.10 to its newest, on two processors each. `own` is the kernel of this machine's release.
KERNELS   = bullseye own bookworm-backports trixie-backports
KERNEL_TESTS = $(foreach suite,$(KERNELS),$(foreach test,kernel race,\
                "--one-of=machine:env VM_KERNEL=$(suite) VM_PROCESSORS=2 VM_LIMIT=3600 $(MACHINE)$(test)"))

# They need a quiet machine: two show a race between two processors, the last measures waits.
ALONE     = $(addprefix $(BUILD)/tests/test-,race recheck wait)

build-tests:
	@$(MAKE) --no-print-directory lib test-programs vm-programs $(TOOLS:%=programs-%)

test: export WERROR = -Werror
test: deps-test
	@$(MAKE) --no-print-directory $(JOBS) build-tests
	@Tests/run $(filter-out $(ALONE),$(TESTS)) $(ASAN) $(TSAN) $(VM_TESTS) $(CHECKS) \
	    "Tests/swift address" --alone $(ALONE)

# Tests of what surrounds the code: installation, packages, manuals, other languages, the README. And slow tests of the code:
# most C programs under valgrind, some under helgrind; the Swift tests under the thread sanitizer; WORLD_NAMES and systemd in the
# emulated machine. `make test` runs all Swift tests, under the address sanitizer; `make check-swift` runs them without one.
test-world: deps-world
	@$(MAKE) --no-print-directory $(JOBS) lib $(WORLD_NAMES:%=$(BUILD)/tests/test-%)
	@$(MAKE) --no-print-directory $(JOBS) programs-valgrind
	@Tests/run $(VALGRIND) $(HELGRIND) "Tests/swift thread" $(VM_WORLD) $(WORLD) $(CONSUMERS)

# The tests that take seconds: the pure files, the folders, the format of the sources.
check: export WERROR = -Werror
check: deps-check
	@$(MAKE) --no-print-directory $(JOBS) lib $(PURE_TESTS)
	@Tests/run $(PURE_TESTS) $(addprefix Tests/checks/,floors pure symbols silent tidy c-format swift-format)

check-c: deps-check-c
	@$(MAKE) --no-print-directory $(JOBS) lib test-programs
	@Tests/run $(filter-out $(ALONE),$(TESTS)) --alone $(ALONE)

checks: lib
	@Tests/run $(CHECKS)

check-asan check-tsan check-valgrind check-clang: check-%: programs-%
	@Tests/run $(call under,$*,$(or $(NAMES_$*),$(NAMES)))

check-helgrind: programs-valgrind
	@Tests/run $(HELGRIND) $(HELGRIND_MORE)

check-swift:
	@Tests/run Tests/swift

check-swift-thread check-swift-address: check-swift-%:
	@Tests/run "Tests/swift $*"

# One script of links/: `Tests/VM/machine Tests/VM/test-links Tests/VM/links/wifi`.
$(BUILD)/vm/seen: Tests/VM/seen.c $(STATIC)
	@mkdir -p $(@D)
	$(call show,LD)$(CC) $(ALL_CPPFLAGS) $(TEST_CFLAGS) $(LDFLAGS) -o $@ $^ $(MNL_LIBS)

# Needs Swift. This is a separate package with a build folder of its own.
STATUSES_BUILD = $(SWIFT) build --package-path Tests/VM/statuses --scratch-path .build/statuses

$(BUILD)/vm/statuses: FORCE
	@mkdir -p $(@D)
	$(STATUSES_BUILD)
	cp "$$($(STATUSES_BUILD) --show-bin-path)/vm-statuses" $@

vm-programs: $(BUILD)/vm/seen $(if $(shell command -v $(SWIFT)),$(BUILD)/vm/statuses)

test-vm: deps-test
	@$(MAKE) --no-print-directory $(JOBS) test-programs vm-programs
	@Tests/run $(VM_TESTS) $(VM_WORLD)

# The tests that query the kernel, the race between a change and its message, and the soak, on each of Debian's kernels.
test-kernels: export TEST_TIME_LIMIT = 3700
test-kernels: deps-test
	@$(MAKE) --no-print-directory $(JOBS) test-programs
	@Tests/run $(KERNEL_TESTS)

# In each language: the tests of the binding, if there is one, and a program in a network namespace where a route changes. The
# table has one row for each: language, how the library was found, the flags, the exit status. Part of `make test-world`.
test-consumers: deps-languages
	@$(MAKE) --no-print-directory $(JOBS) lib
	@Tests/run $(CONSUMERS) Tests/world/apple-sources Tests/world/swift-servers

# The GIO module: what `make test-world` tests of it, and the same under valgrind and the thread sanitizer.
test-gio: deps-world
	@$(MAKE) --no-print-directory $(JOBS) lib
	@Tests/run Tests/world/gio "Tests/gio valgrind" "Tests/gio thread"

# Desktop programs that exist, unchanged, with the GIO module: Qt, WebKit, the desktop portal, PyGObject. It takes minutes.
test-desktop: deps-desktop
	@$(MAKE) --no-print-directory $(JOBS) lib
	@$(MAKE) --no-print-directory $(JOBS) -C bindings/gio BUILD=$(CURDIR)/$(BUILD)/gio LIBRARY=$(CURDIR)/$(BUILD)
	@Tests/run $(DESKTOP)

deps-desktop: deps-test
	@.ci/deps desktop

# Swift programs that use each product, with each kind of dependency and linking. `make test-world` builds fewer.
test-products:
	@Tests/run Tests/consumers/matrix Tests/consumers/unchanged-imports

# The random storms for as long as it takes: make storm ROUNDS=1000000
ROUNDS = 200000

storm: test-programs programs-tsan
	TEST_STORM_ROUNDS=$(ROUNDS) TEST_TIME_LIMIT=86400 FRESH=1 Tests/run $(BUILD)/tests/test-storm $(BUILD)/tests/test-lookup \
	    "Tests/under tsan test-storm"

# Random changes of the network under many targets: make soak SEED=1 STEPS=1000000 MINUTES=60 TARGETS=5000. It prints
# the seed, and how to repeat a failure. make soak FLOODS=1000: floods of messages, which the kernel drops.
SEED       =
STEPS      = 100000
MINUTES    = 0
TARGETS    = 2000
FLOODS     = 0

soak: $(BUILD)/tests/test-soak
	SOAK_SEED=$(SEED) SOAK_STEPS=$(STEPS) SOAK_MINUTES=$(MINUTES) SOAK_TARGETS=$(TARGETS) SOAK_FLOODS=$(FLOODS) $<

# Random changes under exact flows, address pairs and sockets: make soak-flows SEED=1 STEPS=200000 MINUTES=60.
soak-flows: $(BUILD)/tests/test-flow-soak
	SOAK_SEED=$(SEED) SOAK_STEPS=$(STEPS) SOAK_MINUTES=$(MINUTES) $<

# The same in each kind of sandbox, one after the other: make soak-denied STEPS=100. In most of them the library evaluates
# every 2 seconds, so a step takes as long.
# device-gone is left out: there the library finds no interface, but the oracle finds all.
DENIALS    = $(filter-out device-gone,\
               $(shell sed -n 's/.*\[DENIAL_[A-Z0-9_]*\] = { "\([^"]*\)".*/\1/p' Tests/C/support/denial.c))

soak-denied: $(BUILD)/tests/test-soak
	@status=0; for denial in $(DENIALS); do echo "# $$denial"; \
	    TEST_DENIED=$$denial SOAK_SEED=$(SEED) SOAK_STEPS=$(STEPS) SOAK_TARGETS=$(TARGETS) $< || status=1; done; exit $$status

# Random calls from eight threads, by hand under the thread sanitizer and helgrind: make calls CALLS=10000000
CALLS = 1000000

calls: PROGRAMS = test-calls
calls: $(BUILD)/tests/test-calls programs-tsan programs-asan programs-valgrind
	TEST_CALLS=$(CALLS) TEST_TIME_LIMIT=86400 FRESH=1 Tests/run $(BUILD)/tests/test-calls "Tests/under tsan test-calls" \
	    "Tests/under asan test-calls"
	TEST_CALLS=$$(($(CALLS) / 100)) TEST_TIME_LIMIT=86400 FRESH=1 Tests/run "Tests/under helgrind test-calls"

# Breaks one rule at a time; a test must fail. Some: make mutants MUTANTS="barrier sender" JOBS_OF_MUTANTS=2
mutants:
	@JOBS=$(or $(JOBS_OF_MUTANTS),1) Tests/mutants/run $(MUTANTS)

# The lines and branches of CSources that the C tests execute; of some: make coverage PROGRAMS="test-path test-watch"
coverage:
	Tests/coverage $(PROGRAMS)

fuzz:
	@FUZZ_COVERAGE=1 FUZZ_SECONDS=$(SECONDS) FUZZ="$(FUZZ)" Tests/checks/fuzz

# ---- Formatting

format:
	clang-format -i $$(git ls-files '*.c' '*.h' '*.cpp')
	if SWIFT="$(SWIFT)" Tests/need-swift >/dev/null; then $(SWIFT) format --in-place --recursive Package.swift Sources Tests Benchmarks packaging; fi

# ---- Benchmarks

$(BUILD)/objects/benchmarks/%.o: Benchmarks/%.c
	@mkdir -p $(@D)
	$(call show,CC)$(CC) $(TEST_CPPFLAGS) $(TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/benchmarks/%: $(BUILD)/objects/benchmarks/%.o $(BENCH_SHARED) $(STATIC)
	@mkdir -p $(@D)
	$(call show,LD)$(CC) $(CFLAGS) $(LDFLAGS) $(BENCH_LDFLAGS) -pthread -o $@ $^ $(MNL_LIBS)

$(BUILD)/benchmarks/benchmark-names $(BUILD)/benchmarks/benchmark-many-names: BENCH_LDFLAGS = -Wl,--wrap=getaddrinfo -Wl,--wrap=freeaddrinfo
$(BUILD)/benchmarks/benchmark-many-names: BENCH_LDFLAGS += -Wl,--wrap=clock_gettime

benchmarks: $(BENCHMARKS)

# Measures the hops from callbacks to Swift code. Needs Swift. This is a separate package with a build folder of its own.
# It is compiled with the library's package name, which SwiftPM takes from the folder, and so sees `package` declarations.
PACKAGE    = $(shell basename '$(CURDIR)' .git | tr 'A-Z' 'a-z' | tr -c 'a-z0-9\n' _)
HOPS_BUILD = $(SWIFT) build -c release --static-swift-stdlib --package-path Benchmarks/hops --scratch-path .build/hops \
             -Xswiftc -package-name -Xswiftc $(PACKAGE)

$(BUILD)/benchmarks/benchmark-hops: FORCE
	@mkdir -p $(@D)
	$(HOPS_BUILD)
	cp "$$($(HOPS_BUILD) --show-bin-path)/benchmark-hops" $@

SWIFT_BENCHMARKS = $(if $(shell command -v $(SWIFT)),$(BUILD)/benchmarks/benchmark-hops)

bench: benchmarks $(SWIFT_BENCHMARKS) $(if $(SWIFT_BENCHMARKS),tool)
	@$(if $(SWIFT_BENCHMARKS),,echo "SKIP: no '$(SWIFT)' on the PATH: the tool and the hops to Swift code were not measured";) \
	status=0; for program in $(BENCHMARKS) $(SWIFT_BENCHMARKS); do $$program || status=1; done; exit $$status

# Writes the table and the chart of docs/performance.md. Ratios over their thresholds are in them, too.
performance: benchmarks $(SWIFT_BENCHMARKS) $(if $(SWIFT_BENCHMARKS),tool)
	@$(MAKE) --no-print-directory bench | tee $(BUILD)/bench.txt
	Benchmarks/performance $(BUILD)/bench.txt

# ---- Manuals

manuals:
	man/generate

# The manuals of the Swift modules, as HTML in build/docs. BASE is the path below which a web server has them.
BASE = /

docs:
	docs/html $(BUILD)/docs $(BASE)

# ---- Installing. Installs the tool, too, if `make tool` has built it. Nothing here needs Swift.

LIBRARY_FILES = $(LIBDIR)/$(SHARED) $(LIBDIR)/$(SONAME) $(LIBDIR)/libreachability.so $(LIBDIR)/libreachability.a \
                $(FINDERS)
HEADER_FILES  = $(patsubst include/%,$(INCLUDEDIR)/%,$(HEADERS)) $(APPLE:%=$(INCLUDEDIR)/reachability/apple/%)
HEADER_FOLDERS = $(sort $(dir $(filter $(INCLUDEDIR)/reachability/%,$(HEADER_FILES))))
# Manual pages: man/NAME.3 are about the library, man/reachability.1 is about the tool.
MANUALS       = $(sort $(wildcard man/*.[1-8]))
manual_file   = $(MANDIR)/man$(patsubst .%,%,$(suffix $(1)))/$(notdir $(1))
# Each has the path that it has in the tree: so the links of README.md, and of the pages that it leads to, work below DOCDIR.
# The articles of the Swift modules are sources for docc, and stay in the tree: the installed pages have no links to them.
EXAMPLES      = $(sort $(shell find Examples -type f ! -path '*/.build/*'))
DOCUMENTS     = README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE $(sort $(wildcard docs/*.md docs/*.svg docs/*.json)) $(EXAMPLES) \
                $(sort $(wildcard bindings/*/README.md)) bindings/go/examples/watch/main.go \
                bindings/node/index.d.ts bindings/rust/reachability/examples/watch.rs
# README.md's link to the header leads to the installed one.
HEADER_LINK   = include/reachability/reachability.h
DOCUMENT_FILES = $(addprefix $(DOCDIR)/,$(DOCUMENTS) $(HEADER_LINK))
# Empty for a package whose tools separate the symbols.
STRIP_TOOL    = $(STRIP)

install: lib
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(LIBDIR)/cmake/libreachability $(DESTDIR)$(INCLUDEDIR)/reachability
	install -m 644 $(HEADERS) $(DESTDIR)$(INCLUDEDIR)/reachability
	install -m 755 $(BUILD)/$(SHARED) $(DESTDIR)$(LIBDIR)
	ln -sf $(SHARED) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libreachability.so
	install -m 644 $(STATIC) $(DESTDIR)$(LIBDIR)
	for file in $(FINDERS); do \
	    sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|' \
	        -e 's|@INCLUDEDIR@|$(INCLUDEDIR:$(PREFIX)/%=$${prefix}/%)|' -e 's|@VERSION@|$(VERSION)|' \
	        -e 's|@MAJOR@|$(firstword $(subst ., ,$(VERSION)))|' -e 's|@SHARED@|$(SHARED)|' -e 's|@SONAME@|$(SONAME)|' \
	        -e 's|@POINTER@|$(POINTERS)|' \
	        -e 's|@INCLUDEDIR_FROM_LIBDIR@|$(shell realpath -m --relative-to=$(LIBDIR) $(INCLUDEDIR))|' \
	        pkgconfig/$${file##*/}.in > $(DESTDIR)$$file || exit; done
	for file in $(APPLE); do \
	    install -D -m 644 include/apple/$$file $(DESTDIR)$(INCLUDEDIR)/reachability/apple/$$file || exit; done
	for file in $(DOCUMENTS); do install -D -m 644 $$file $(DESTDIR)$(DOCDIR)/$$file || exit; done
	sed -i -E 's|\[([^]]*)\]\([^)]*\.docc/[^)]*\)|\1|g' $(addprefix $(DESTDIR)$(DOCDIR)/,$(filter docs/%.md,$(DOCUMENTS)))
	install -d $(dir $(DESTDIR)$(DOCDIR)/$(HEADER_LINK))
	ln -srf $(DESTDIR)$(INCLUDEDIR)/reachability/reachability.h $(DESTDIR)$(DOCDIR)/$(HEADER_LINK)
	install -d $(DESTDIR)$(MANDIR)/man3
	for file in $(filter %.3,$(MANUALS)); do \
	    if [ -h $$file ]; then ln -sf "$$(readlink $$file)" $(DESTDIR)$(MANDIR)/man3/$${file#man/}; \
	    else install -m 644 $$file $(DESTDIR)$(MANDIR)/man3; fi || exit; done
	if [ -f $(BUILD)/reachability ]; then $(MAKE) --no-print-directory install-tool; fi
	if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi

# The tool contains Swift's libraries: 20 MB with their symbols, 10.6 without.
install-tool:
	install -D -m 755 $(if $(STRIP_TOOL),-s --strip-program=$(STRIP_TOOL)) $(BUILD)/reachability $(DESTDIR)$(BINDIR)/reachability
	for file in $(COMPLETIONS); do \
	    if [ -f $(BUILD)/$$file ]; then install -D -m 644 $(BUILD)/$$file $(DESTDIR)$(DATADIR)/$$file || exit; fi; done
	for unit in $(UNITS); do \
	    install -d $(DESTDIR)$(UNITDIR) && \
	    sed 's|@BINDIR@|$(BINDIR)|' packaging/systemd/$$unit.in > $(DESTDIR)$(UNITDIR)/$$unit || exit; done
	$(foreach file,$(filter %.1,$(MANUALS)),install -D -m 644 $(file) $(DESTDIR)$(call manual_file,$(file)) &&) true

install-strip: install
	$(STRIP) --strip-unneeded $(DESTDIR)$(LIBDIR)/$(SHARED)
	$(STRIP) --strip-debug $(DESTDIR)$(LIBDIR)/libreachability.a

# Removes only folders that no other package can have.
uninstall:
	rm -f $(addprefix $(DESTDIR),$(LIBRARY_FILES) $(HEADER_FILES) $(DOCUMENT_FILES) $(BINDIR)/reachability \
	    $(addprefix $(DATADIR)/,$(COMPLETIONS)) $(addprefix $(UNITDIR)/,$(UNITS)) \
	    $(foreach file,$(MANUALS),$(call manual_file,$(file))))
	-printf '%s\n' $(HEADER_FOLDERS:%=$(DESTDIR)%) | sort -r | \
	    while read -r folder; do if [ -d $$folder ]; then rmdir $$folder; fi; done
	-rmdir $(DESTDIR)$(LIBDIR)/cmake/libreachability
	-if [ -d $(DESTDIR)$(DOCDIR) ]; then find $(DESTDIR)$(DOCDIR) -depth -type d -empty -delete; fi

# ---- Releases. The same commit gives the same bytes.

DIST = $(BUILD)/libreachability-$(VERSION).tar.gz

dist:
	@mkdir -p $(BUILD)
	packaging/dist $(VERSION) $(BUILD)

# The check comes first: what is missing can be what `make dist` needs.
deb:
	@packaging/deb
	@$(MAKE) --no-print-directory dist
	SWIFT="$(SWIFT)" packaging/deb $(DIST) $(BUILD)/deb

# The number of the next version, in the header and the bindings. The manual pages have its date: make version NEXT=0.2.0
version:
	packaging/version $(NEXT)
	$(if $(NEXT),man/generate)

# The project's URL and the address of its people, wherever they stand.
home:
	packaging/home $(URL) $(CONTACT)

# The source archive of a version, if all is ready.
release:
	@packaging/ready $(VERSION)
	$(MAKE) --no-print-directory dist

abi-baseline: lib
	Tests/abi/write $(VERSION) $(BUILD)/libreachability.so

clean:
	rm -rf $(BUILD)
	if [ -d .build ]; then rm -rf .build; fi

-include $(OBJECTS:.o=.d) $(wildcard $(BUILD)/objects/tests/*/*.d $(BUILD)/objects/benchmarks/*.d)

endif # of: make was not called elsewhere
