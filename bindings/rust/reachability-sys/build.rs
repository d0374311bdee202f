// SPDX-License-Identifier: MIT
//! Finds the library with pkg-config.

use std::process::{exit, Command};

fn main() {
    for name in ["PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_SYSROOT_DIR"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let program = std::env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let output = match Command::new(&program).args(["--libs", "libreachability >= 0.1.0"]).output() {
        Ok(output) if output.status.success() => output,
        Ok(output) => fail(&String::from_utf8_lossy(&output.stderr)),
        Err(error) => fail(&format!("{program}: {error}")),
    };
    for word in String::from_utf8_lossy(&output.stdout).split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(name) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={name}");
        }
    }
}

fn fail(reason: &str) -> ! {
    eprintln!("libreachability was not found: {reason}");
    exit(1)
}
