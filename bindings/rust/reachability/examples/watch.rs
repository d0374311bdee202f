// SPDX-License-Identifier: MIT
//! Prints the path to a host, and every change: `watch HOST [CHANGES]`. Ends after CHANGES changes.

use reachability::{Result, Target};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let host = arguments.get(1).map_or("example.com", String::as_str);
    let changes = arguments.get(2).and_then(|text| text.parse().ok()).unwrap_or(usize::MAX - 1);

    for path in Target::host(host).watch()?.take(changes + 1) {
        let path = path?;
        println!("{host}: 0x{:08x}  {path}", path.flags.bits());
    }
    Ok(())
}
