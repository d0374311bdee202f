# SPDX-License-Identifier: MIT
"""Everything is in pyproject.toml, except this: a wheel that carries the C library (packaging/wheel) is for one platform; and
the licence, which setuptools before version 77 takes there only as a table, and later versions as an expression (PEP 639)."""

import pathlib

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel

CARRIES_THE_LIBRARY = (pathlib.Path(__file__).parent / "reachability/libreachability.so.0").exists()


class Package(Distribution):
    def has_ext_modules(self):
        return CARRIES_THE_LIBRARY


class Wheel(bdist_wheel):
    def get_tag(self):
        *_, platform = super().get_tag()
        return "py3", "none", platform  # ctypes: any interpreter


setup(distclass=Package, cmdclass={"bdist_wheel": Wheel}, license="MIT", license_expression="MIT")
