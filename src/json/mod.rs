//! JSON as it stands on the wire: found, checked and edited without being rebuilt.
//!
//! Nothing here makes a tree of values. A [`Reader`] checks a text and says where its values stand ([`Span`], [`Str`],
//! [`Value`]), an [`Object`] and [`Removals`] turn wishes into edits, and a [`Splice`] makes all of them at once. So
//! what no edit is about keeps every byte: the digits of numbers, the order of members, duplicates, white space.
//!
//! # What is valid
//! Exactly RFC 8259: strings must be UTF-8, a byte order mark is refused, nesting is bounded by a [`Depth`]. Duplicate
//! names are valid and seen. Nothing recurses.
//!
//! # Speed
//! A text is read once, strings in words and blocks, without an allocation for each value; strings with other than ASCII
//! are checked twice, the second time for UTF-8. `cargo bench --bench engine` measures it beside other readers.
//!
//! # Example
//! ```
//! # use tower_mcp_apps::json::{Error, Object, Reader, Removals, Splice};
//! use bytes::Bytes;
//!
//! # fn main() -> Result<(), Error> {
//! // Takes out every tool without a name and notes the rest as seen.
//! let body = Bytes::from_static(br#"[{"name": "a", "size": 1.0}, {"size": 2}]"#);
//! let mut tool = Object::default();
//! let (mut removals, mut splice) = (Removals::default(), Splice::default());
//! let mut reader = Reader::new(&body);
//! reader.enter_array()?;
//! while reader.element()? {
//!     let span = tool.read(&mut reader)?;
//!     if tool.get("name").is_some() {
//!         removals.keep(span, &mut splice);
//!         tool.set("seen", "true");
//!         tool.emit(&mut splice);
//!     } else {
//!         removals.drop(span, &mut splice);
//!     }
//! }
//! reader.end()?;
//! removals.finish(&mut splice);
//!
//! let frames: Vec<Bytes> = splice.apply(&body).collect();
//! assert_eq!(frames, [r#"[{"name": "a", "size": 1.0,"seen":true}]"#]);
//! # Ok(())
//! # }
//! ```

mod depth;
mod error;
mod inner;
mod list;
mod object;
mod reader;
mod scan;
mod span;
mod splice;
mod string;
#[cfg(test)]
mod tests;
mod value;

pub use crate::frames::{FRAME, Frames};
pub use depth::{Depth, DepthOutOfRange};
pub use error::{Error, ErrorKind};
pub use inner::InnerText;
pub use list::Removals;
pub use object::{Key, Object};
pub use reader::{Checkpoint, Kind, Reader};
pub use span::Span;
pub use splice::{Mark, Splice};
pub use string::{LoneSurrogate, Str, write_string};
pub use value::Value;
