//! What can be compared byte for byte.

use bytes::Bytes;

use crate::testing::{Answer, Received};

/// What [`assert_unchanged`](super::assert_unchanged) and [`assert_only_changed`](super::assert_only_changed) compare: a
/// text, or an answer with its head.
pub trait Wire: sealed::Sealed {
    /// The bytes.
    fn wire_bytes(&self) -> &[u8];

    /// The answer that it is, where it is one.
    fn as_answer(&self) -> Option<&Answer> {
        None
    }
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! wire {
    ($($of:ty: |$this:ident| $bytes:expr;)*) => {$(
        impl sealed::Sealed for $of {}
        impl Wire for $of {
            fn wire_bytes(&self) -> &[u8] {
                let $this = self;
                $bytes
            }
        }
    )*};
}

wire! {
    [u8]: |this| this;
    Vec<u8>: |this| this;
    str: |this| this.as_bytes();
    String: |this| this.as_bytes();
    Bytes: |this| this;
    Received: |this| this.bytes();
}

impl sealed::Sealed for Answer {}

impl Wire for Answer {
    fn wire_bytes(&self) -> &[u8] {
        self.bytes()
    }

    fn as_answer(&self) -> Option<&Answer> {
        Some(self)
    }
}

impl<T: Wire + ?Sized> sealed::Sealed for &T {}

impl<T: Wire + ?Sized> Wire for &T {
    fn wire_bytes(&self) -> &[u8] {
        (**self).wire_bytes()
    }

    fn as_answer(&self) -> Option<&Answer> {
        (**self).as_answer()
    }
}
