//! Edits, applied to spans and, slowly, to a tree.

use tower_mcp_apps::json::{Object, Reader, Splice};

use super::oracle::Node;

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Set(&'static str, String),
    Remove(&'static str),
    /// A new object as the value.
    Nest(&'static str, Vec<Edit>),
    /// Edits within the value, where it is an object that stands as it came.
    Within(&'static str, Vec<Edit>),
    /// The same, but written into the parent instead of emitted beside it.
    Rendered(&'static str, Vec<Edit>),
}

pub(crate) fn edit_tree(node: &mut Node, edits: &[Edit]) {
    for edit in edits {
        match edit {
            Edit::Set(key, raw) => node.set(key, raw.as_bytes()),
            Edit::Remove(key) => node.remove(key),
            Edit::Nest(key, edits) => {
                let mut child = Node::new_object();
                edit_tree(&mut child, edits);
                let mut raw = Vec::new();
                child.print(&mut raw);
                node.set(key, &raw);
            }
            Edit::Within(key, edits) => {
                if let Some(child) = node.untouched_child(key) {
                    edit_tree(child, edits);
                }
            }
            Edit::Rendered(key, edits) => {
                if let Some(mut child) = node.untouched_child(key).cloned() {
                    edit_tree(&mut child, edits);
                    let mut raw = Vec::new();
                    child.print(&mut raw);
                    node.set(key, &raw);
                }
            }
        }
    }
}

/// Gives what is to be emitted beside `object`.
pub(crate) fn edit_object<'a>(object: &mut Object<'a>, source: &'a [u8], edits: &[Edit]) -> Option<Object<'a>> {
    let mut beside = None;
    for edit in edits {
        match edit {
            Edit::Set(key, raw) => object.set(key, raw),
            Edit::Remove(key) => {
                let had = object.count(key) > 0;
                assert_eq!(object.remove(key), had);
            }
            Edit::Nest(key, edits) => {
                let mut child = Object::default();
                edit_object(&mut child, source, edits);
                object.set_with(key, |out| child.render(out));
            }
            Edit::Within(key, edits) | Edit::Rendered(key, edits) => {
                let span = object.original(key).and_then(|value| value.span());
                let Some(span) = span.filter(|_| object.is_untouched(key)) else {
                    continue;
                };
                let mut child = Object::default();
                if child.read(&mut Reader::within(source, span)).is_err() {
                    continue;
                }
                edit_object(&mut child, source, edits);
                match edit {
                    Edit::Within(..) => beside = Some(child),
                    _ => object.set_with(key, |out| child.render(out)),
                }
            }
        }
    }
    beside
}

pub(crate) fn emit(object: &Object<'_>, beside: Option<&Object<'_>>, splice: &mut Splice) {
    object.emit(splice);
    if let Some(child) = beside {
        child.emit(splice);
    }
}
