#!/usr/bin/env python3
"""The links of an installed page, and of the pages that it leads to, lead to files and folders beside it. There are no sources
for docc: Tests/world/follow-links.py FOLDER/README.md
"""
import os
import pathlib
import re
import sys

LINK = re.compile(r"\[[^]]*\]\(([^)\s#]+)[^)\s]*\)")
first = pathlib.Path(sys.argv[1]).absolute()
waiting, seen, broken = [first], {first}, []
while waiting:
    page = waiting.pop()
    for link in LINK.findall(re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)):
        if re.match(r"\w+:", link):
            continue
        target = pathlib.Path(os.path.normpath(page.parent / link))  # not resolve: the header is a symbolic link
        if first.parent not in target.parents or not target.exists():
            broken.append(f"{page.relative_to(first.parent)}: there is no {link}")
        elif target not in seen:
            seen.add(target)
            waiting += [target] if target.suffix == ".md" else []
if len(seen) < 30:
    broken.append(f"only {len(seen)} files found: this test cannot read the pages any more")
broken += [f"{catalog.relative_to(first.parent)}: sources for docc" for catalog in first.parent.rglob("*.docc")]
print("\n".join(broken))
sys.exit(bool(broken))
