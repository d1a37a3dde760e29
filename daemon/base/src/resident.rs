//! Keeps the memory of the process small: few heaps while it works, and memory given back to the operating system while
//! nothing is done.

/// Makes all threads share two heaps. By default glibc gives up to eight times as many heaps as there are cores to the
/// threads, and each keeps what was freed in it. To be called before threads are started.
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
    // SAFETY: `malloc_trim` takes no pointer, may be called at any time from any thread (MT-Safe in glibc's manual),
    // and touches only memory that the allocator itself holds as free.
    unsafe { libc::malloc_trim(0) };
}

/// Does nothing: other allocators return freed memory on their own.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn trim_heap() {}

/// Releases the pages of the program's code and constants, most of which are not needed while nothing is done. What is
/// needed again is mapped from the page cache, or else read from the file.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn release_program() {
    let Ok(maps) = std::fs::read_to_string("/proc/self/smaps") else { return };
    for (start, length) in unchanged(&maps) {
        // SAFETY: the kernel has just named this range as a private mapping of a file that cannot be written and of
        // which no page was changed, so its pages are the same when they are mapped again. Program and libraries are
        // not unmapped while the daemon runs: none are loaded with `dlopen`.
        unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED) };
    }
}

/// Does nothing: only Linux tells what was changed.
#[cfg(not(target_os = "linux"))]
pub fn release_program() {}

/// Returns the ranges of `/proc/self/smaps` that are private mappings of files, cannot be written, and have no page
/// that was changed before that: addresses and lengths.
#[cfg(target_os = "linux")]
fn unchanged(maps: &str) -> Vec<(usize, usize)> {
    let (mut found, mut current) = (Vec::new(), None);
    for line in maps.lines() {
        match line.strip_prefix("Anonymous:") {
            Some(size) if size.trim() == "0 kB" => found.extend(current.take()),
            Some(_) => current = None,
            None if line.split(' ').next().is_some_and(|range| range.contains('-')) => current = read_only(line),
            None => {}
        }
    }
    found
}

/// Returns the range of the first line of a mapping, if that is a private one of a file that cannot be written.
#[cfg(target_os = "linux")]
fn read_only(line: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (range, access) = (fields.next()?, fields.next()?);
    // Offset, device, inode.
    let path = fields.nth(3)?;
    if !["r-xp", "r--p"].contains(&access) || !path.starts_with('/') {
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
    fn only_unchanged_mappings_of_files_are_released() {
        let of = |line: &str, anonymous: u32| {
            unchanged(&format!("{line}\nSize: 8 kB\nRss: 8 kB\nAnonymous: {anonymous} kB\nVmFlags: rd\n"))
        };
        assert_eq!(of("1000-3000 r-xp 00001000 fe:00 42 /usr/bin/afd", 0), vec![(0x1000, 0x2000)]);
        assert_eq!(of("1000-3000 r--p 00001000 fe:00 42 /usr/bin/afd", 0), vec![(0x1000, 0x2000)]);
        // Addresses were filled in at the start.
        assert_eq!(of("1000-3000 r--p 00001000 fe:00 42 /usr/bin/afd", 4), vec![]);
        for line in [
            "1000-3000 rw-p 0 fe:00 42 /usr/bin/afd",
            "1000-3000 r-xp 0 00:00 0 [vdso]",
            "1000-3000 r--s 0 fe:00 42 /tmp/shared",
            "",
        ] {
            assert_eq!(of(line, 0), vec![], "{line}");
        }
        let text = std::hint::black_box("constants are still there");
        release_program();
        trim_heap();
        assert_eq!((text.len(), std::hint::black_box(2) + 2), (25, 4));
    }
}
