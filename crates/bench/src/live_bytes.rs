//! How many bytes of memory are in use: the allocator of the `mainspring` binary with a count, which is off
//! unless asked for so that it does not slow down what is timed.
#![expect(unsafe_code, reason = "an allocator is an unsafe trait; this one only forwards")]

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

use mimalloc::MiMalloc;

static COUNTS: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicIsize = AtomicIsize::new(0);

/// The bytes that `work` left allocated more than before it, as they were asked for from the allocator.
pub(crate) fn growth_of(work: impl FnOnce()) -> isize {
    let before = LIVE.load(Ordering::Relaxed);
    COUNTS.store(true, Ordering::Relaxed);
    work();
    COUNTS.store(false, Ordering::Relaxed);
    LIVE.load(Ordering::Relaxed) - before
}

/// The allocator, counted.
#[derive(Debug)]
pub(crate) struct Counting;

fn count(bytes: isize) {
    if COUNTS.load(Ordering::Relaxed) {
        LIVE.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the allocator with the arguments it came with.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { MiMalloc.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { MiMalloc.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size as isize - layout.size() as isize);
        // SAFETY: as above.
        unsafe { MiMalloc.realloc(at, layout, new_size) }
    }
}
