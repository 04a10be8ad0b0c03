//! What a deployer may choose about what is not remembered.

/// What becomes of a tool of an upstream of which nothing is remembered: its metadata is lost, and with it for whom it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// It is left out, and a [`visibility`](crate::visibility) outside refuses calls of it: it may be for apps alone. A list that
    /// cannot be read is an error.
    #[default]
    Hide,
    /// It passes as it is, and is for everybody.
    Pass,
}
