//! Functions that use features of Linux or glibc. On other systems, they do nothing or use features that every Unix
//! has. Only Linux is tested.

use std::path::PathBuf;

use rustix::process::Pid;

/// Returns the path by which the running program can be started again, even if an upgrade has replaced its file.
pub fn own_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        return PathBuf::from("/proc/self/exe");
    }
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("afd"))
}

/// Returns whether a process is running. A zombie, which has ended but has not been reaped by its parent, does not
/// count.
pub fn is_running(pid: Pid) -> bool {
    rustix::process::test_kill_process(pid).is_ok() && !is_zombie(pid)
}

/// Returns whether a process has ended but is still listed; `false` on systems that do not report this.
fn is_zombie(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// Makes all threads share two heaps. By default, glibc creates up to eight heaps per core, and each heap keeps its
/// freed memory. Call this before any thread is started.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
pub fn limit_heaps() {
    // SAFETY: `mallopt` takes no pointer and changes a parameter of the allocator; no other thread runs yet.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 2) };
}

/// Does nothing, because other allocators have no parameter for the number of heaps.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn limit_heaps() {}

/// Returns freed memory to the operating system. By default, glibc keeps the memory of many small allocations.
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

/// Releases the memory pages of the program's code and constants, most of which an idle daemon does not need. The
/// kernel maps a page again from the page cache, or reads it from the file, when it is needed.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn release_program() {
    let Ok(maps) = std::fs::read_to_string("/proc/self/smaps") else { return };
    for (start, length) in unchanged(&maps) {
        // SAFETY: the kernel has just listed this range as a private, read-only mapping of a file in which no page was
        // changed, so its pages have the same content when they are mapped again. The program and its libraries stay
        // mapped while the daemon runs, because none are loaded with `dlopen`.
        unsafe { libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED) };
    }
}

/// Does nothing, because only Linux reports which pages were changed.
#[cfg(not(target_os = "linux"))]
pub fn release_program() {}

/// Returns the address and length of each range of `/proc/self/smaps` that is a private, read-only mapping of a file
/// and has no page that was changed before it became read-only.
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

/// Parses the first line of a mapping. Returns its address and length if it is a private, read-only mapping of a file.
#[cfg(target_os = "linux")]
fn read_only(line: &str) -> Option<(usize, usize)> {
    let mut fields = line.split_ascii_whitespace();
    let (range, access) = (fields.next()?, fields.next()?);
    // Skip the offset, device and inode.
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
        // Addresses were written into this mapping at startup.
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
