# SPDX-License-Identifier: MIT
"""python3 -m reachability TARGET [CHANGES]: the path, and every change. Ends after CHANGES changes, or on Ctrl-C."""

from __future__ import annotations

import itertools
import sys

from . import watch


def main(arguments: list[str]) -> int:
    if len(arguments) > 2 or arguments[1:] and not arguments[1].isdecimal():
        print(__doc__, file=sys.stderr)
        return 64
    host = arguments[0] if arguments else None
    last = int(arguments[1]) + 1 if arguments[1:] else None
    with watch(host) as paths:
        for path in itertools.islice(paths, last):
            print(f"{host or 'the default path'}: 0x{path.flags.value:08x}  {path}", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
