// SPDX-License-Identifier: MIT
//! Errors, and texts of the library.

use std::ffi::CStr;
use std::os::raw::{c_char, c_int};
use std::{fmt, io};

use reachability_sys as sys;

/// A call of the library failed.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Error {
    code: c_int,
    detail: &'static str,
}

const ECHILD: c_int = 10; // on each architecture
const INVALID: c_int = 1002; // kSCStatusInvalidArgument

/// The result of a call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) const INVALID_ARGUMENT: Error = Error { code: INVALID, detail: "a name has a NUL" };
    pub(crate) const IN_CHILD: Error =
        Error { code: ECHILD, detail: "the watch was made before fork(2), in the parent process" };

    pub(crate) fn of_system(error: &io::Error) -> Error {
        Error { code: error.raw_os_error().unwrap_or(INVALID), detail: "" }
    }

    /// The error of the call that this thread made last. A safe function cannot change its thread between the two calls.
    pub(crate) fn of_last_call() -> Error {
        let code = unsafe { sys::SCError() };
        let detail = unsafe { CStr::from_ptr(sys::SCErrorDetail()) }; // static
        Error { code, detail: detail.to_str().unwrap_or_default() }
    }

    /// The value of `SCError()`: an errno below 1000, or a `kSCStatus...` constant.
    #[must_use]
    pub fn code(&self) -> i32 {
        self.code
    }

    /// The errno, if the code is one.
    #[must_use]
    pub fn raw_os_error(&self) -> Option<i32> {
        (self.code < 1000).then_some(self.code)
    }
}

impl Error {
    /// Which argument is wrong, and why: in English, for logs. It can be empty.
    #[must_use]
    pub fn detail(&self) -> &'static str {
        self.detail
    }

    fn text(self) -> String {
        static_text(unsafe { sys::SCErrorString(self.code) })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text())?;
        if self.detail.is_empty() {
            return Ok(());
        }
        write!(formatter, ": {}", self.detail)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Error").field("code", &self.code).field("text", &self.text()).field("detail", &self.detail).finish()
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        match error.raw_os_error() {
            Some(errno) => io::Error::from_raw_os_error(errno),
            None if error.code == INVALID => io::Error::new(io::ErrorKind::InvalidInput, error),
            None => io::Error::new(io::ErrorKind::Other, error),
        }
    }
}

/// The version of the loaded library: "0.1.0".
#[must_use]
pub fn library_version() -> String {
    static_text(unsafe { sys::SCNetworkReachabilityGetVersion() })
}

/// A text that the library never frees.
pub(crate) fn static_text(text: *const c_char) -> String {
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The text of a call that writes as snprintf(3) does.
pub(crate) fn text_of(write: impl Fn(*mut c_char, usize) -> usize) -> String {
    let mut buffer = vec![0u8; 256];
    loop {
        let size = write(buffer.as_mut_ptr().cast(), buffer.len());
        if size < buffer.len() {
            buffer.truncate(size);
            return String::from_utf8_lossy(&buffer).into_owned();
        }
        buffer = vec![0; size + 1];
    }
}
