//! An allocator that counts, for the thread that asks.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What one thread has asked of the allocator.
#[derive(Clone, Copy)]
struct Count {
    allocations: usize,
    /// Bytes that are in use. It wraps where a thread frees what another one made.
    live: usize,
}

thread_local! {
    // Without a destructor, so that it can be used as long as the thread allocates.
    static COUNT: Cell<Count> = const { Cell::new(Count { allocations: 0, live: 0 }) };
}

struct Counting;

impl Counting {
    fn note(new: usize, old: usize) {
        COUNT.with(|cell| {
            let Count { allocations, live } = cell.get();
            let allocations = allocations + usize::from(new > 0);
            cell.set(Count { allocations, live: live.wrapping_add(new).wrapping_sub(old) });
        });
    }
}

// SAFETY: everything is left to the system's allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::note(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::note(layout.size(), 0);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Self::note(0, layout.size());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::note(size, layout.size());
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What `work` gives, and how often it allocated; growing in place counts too.
pub(crate) fn allocations<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = COUNT.get().allocations;
    let done = work();
    (done, COUNT.get().allocations - before)
}

/// What `work` gives, and how many bytes of memory it left in use.
pub(crate) fn left_in_use<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = COUNT.get().live;
    let done = work();
    (done, COUNT.get().live.wrapping_sub(before))
}
