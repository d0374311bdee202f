// SPDX-License-Identifier: MIT
//! Finds the C library with pkg-config, or compiles it, with the feature `vendored`.

use std::env;
use std::process::{exit, Command};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "PKG_CONFIG_SYSROOT_DIR", "DOCS_RS"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if env::var_os("DOCS_RS").is_some() {
        return; // it makes documentation only, and has no libmnl
    }
    #[cfg(feature = "vendored")]
    {
        vendored::compile(&flags("--cflags", "libmnl"));
        link(&flags("--libs", "libmnl"), &[]);
    }
    #[cfg(not(feature = "vendored"))]
    if cfg!(feature = "static") {
        link(&flags("--static --libs", LIBRARY), &["reachability"]);
    } else {
        link(&flags("--libs", LIBRARY), &[]);
    }
}

#[cfg(not(feature = "vendored"))]
const LIBRARY: &str = "libreachability >= 0.1.0";

/// What pkg-config prints.
fn flags(options: &str, package: &str) -> Vec<String> {
    let program = pkg_config();
    let mut command = Command::new(&program);
    if cfg!(feature = "static") {
        command.env("PKG_CONFIG_ALLOW_SYSTEM_LIBS", "1"); // rustc looks for a static library in no folder of the system
    }
    let output = match command.args(options.split(' ')).arg(package).output() {
        Ok(output) if output.status.success() => output,
        Ok(output) => fail(&format!("{package} was not found: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => fail(&format!("{program}: {error}")),
    };
    String::from_utf8_lossy(&output.stdout).split_whitespace().map(String::from).collect()
}

/// For another machine, this machine's libraries are the wrong ones: its pkg-config must have been named or led elsewhere, or
/// there must be one with the other machine's prefix.
fn pkg_config() -> String {
    if let Ok(program) = env::var("PKG_CONFIG") {
        return program;
    }
    let (host, target) = (env::var("HOST").unwrap_or_default(), env::var("TARGET").unwrap_or_default());
    let is_led = |name| env::var_os(name).is_some();
    if host == target || is_led("PKG_CONFIG_SYSROOT_DIR") || is_led("PKG_CONFIG_LIBDIR") {
        return "pkg-config".into();
    }
    // armv7-unknown-linux-gnueabihf: arm-linux-gnueabihf-pkg-config
    let machine = match target.split('-').next() {
        Some(name) if name.starts_with("arm") || name.starts_with("thumb") => "arm",
        Some("riscv64gc") => "riscv64",
        Some(name) => name,
        None => "",
    };
    format!("{machine}-linux-{}-pkg-config", target.rsplit('-').next().unwrap_or("gnu"))
}

fn link(words: &[String], statically: &[&str]) {
    for word in words {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(name) = word.strip_prefix("-l") {
            let kind = if statically.contains(&name) { "static=" } else { "" };
            println!("cargo:rustc-link-lib={kind}{name}");
        }
    }
}

fn fail(reason: &str) -> ! {
    eprintln!("{reason}");
    exit(1)
}

#[cfg(feature = "vendored")]
mod vendored {
    use std::env;
    use std::path::{Path, PathBuf};

    /// Compiles the sources in this crate to a static library.
    pub fn compile(mnl: &[String]) {
        let mut build = cc::Build::new();
        build.include("include").include("CSources").define("_GNU_SOURCE", None).pic(true).warnings(false);
        for flag in ["-std=gnu11", "-pthread", "-fvisibility=hidden"] {
            build.flag(flag);
        }
        if env::var("CARGO_CFG_TARGET_POINTER_WIDTH").as_deref() == Ok("32") {
            build.define("_FILE_OFFSET_BITS", "64").define("_TIME_BITS", "64"); // large inodes, dates after 2038
        }
        for flag in mnl {
            build.flag(flag);
        }
        let files = sources(Path::new("CSources"));
        println!("cargo:rerun-if-changed=CSources");
        println!("cargo:rerun-if-changed=include");
        build.files(&files).compile("reachability");
    }

    fn sources(folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for entry in folder.read_dir().expect("the crate has the C sources") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                found.append(&mut sources(&path));
            } else if path.extension().map_or(false, |extension| extension == "c") {
                found.push(path);
            }
        }
        found.sort();
        found
    }
}
