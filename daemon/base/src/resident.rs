//! Keeps the memory of the process small: few heaps while it works, and memory given back to the operating system while nothing is done.

/// Makes all threads share two heaps. By default glibc gives up to eight times as many heaps as there are cores to the threads, and each
/// keeps what was freed in it. To be called before threads are started.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub fn limit_heaps() {
    // SAFETY: `mallopt` takes no pointer and changes a parameter of the allocator; no other thread runs yet.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 2) };
}

/// Does nothing: other allocators have no such parameter.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn limit_heaps() {}

/// Returns freed memory: glibc would keep that of many small allocations.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub fn trim_heap() {
    // SAFETY: `malloc_trim` takes no pointer, may be called at any time from any thread (MT-Safe in glibc's manual), and touches
    // only memory that the allocator itself holds as free.
    unsafe { libc::malloc_trim(0) };
}

/// Does nothing: other allocators return freed memory on their own.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn trim_heap() {}

/// Releases the pages of the program's code, most of which is not needed while nothing is done. What is needed again is mapped from the page
/// cache, or else read from the file.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn release_code() {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return };
    for (start, length) in maps.lines().filter_map(code) {
        // SAFETY: the kernel has just named this range as a private mapping of a file that can be executed and not written. Code is
        // position-independent, so its pages are never changed after they were mapped, and are the same when they are mapped again. Program
        // and libraries are not unmapped while the daemon runs: none are loaded with `dlopen`.
        unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED) };
    }
}

/// Does nothing: only Linux tells where the code is.
#[cfg(not(target_os = "linux"))]
pub fn release_code() {}

/// Returns the range of a line of `/proc/self/maps`, if it is a private mapping of the code of a file: its address and its length.
#[cfg(target_os = "linux")]
fn code(line: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (range, access) = (fields.next()?, fields.next()?);
    // Offset, device, inode.
    let path = fields.nth(3)?;
    if access != "r-xp" || !path.starts_with('/') {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    let address = |text: &str| usize::from_str_radix(text, 16).ok();
    let start = address(start)?;
    Some((start, address(end)?.checked_sub(start)?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_code_of_files_is_released() {
        assert_eq!(code("1000-3000 r-xp 00001000 fe:00 42 /usr/bin/afd"), Some((0x1000, 0x2000)));
        for line in [
            "1000-3000 r--p 00001000 fe:00 42 /usr/bin/afd",
            "1000-3000 rwxp 0 fe:00 42 /usr/bin/afd",
            "1000-3000 r-xp 0 00:00 0 [vdso]",
            "",
        ] {
            assert_eq!(code(line), None, "{line}");
        }
        release_code();
        trim_heap();
        assert_eq!(2 + 2, std::hint::black_box(4), "the code is still there");
    }
}
