//! JSON as a tree that keeps the order of members and their doubles, read by `serde_json`: another parser than ours.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::List(_))
    }

    pub(crate) fn members(&self) -> &[(String, Tree)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The value of a member; of doubles the last.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.members().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        match self {
            Self::Object(members) => members.iter_mut().rev().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Every value of a member, since each is what some reader takes.
    pub(crate) fn all<'t>(&'t self, key: &'t str) -> impl Iterator<Item = &'t Self> {
        self.members().iter().filter(move |(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn count(&self, key: &str) -> usize {
        self.all(key).count()
    }

    pub(crate) fn has_doubles(&self) -> bool {
        self.members().iter().any(|(name, _)| self.count(name) > 1)
    }

    /// Sets a member in its place, or behind the others.
    pub(crate) fn set(&mut self, key: &str, value: Self) {
        if let Some(there) = self.get_mut(key) {
            *there = value;
        } else if let Self::Object(members) = self {
            members.push((key.to_owned(), value));
        }
    }

    pub(crate) fn remove(&mut self, key: &str) {
        if let Self::Object(members) = self {
            members.retain(|(name, _)| name != key);
        }
    }

    /// Whether this is `whole`, or less: elements and members taken out, the order kept.
    pub(crate) fn is_within(&self, whole: &Self) -> bool {
        match (self, whole) {
            (Self::List(part), Self::List(whole)) => is_subsequence(part, whole, Self::is_within),
            (Self::Object(part), Self::Object(whole)) => {
                is_subsequence(part, whole, |part, whole| part.0 == whole.0 && part.1.is_within(&whole.1))
            }
            (part, whole) => part == whole,
        }
    }
}

fn is_subsequence<T>(part: &[T], whole: &[T], fits: impl Fn(&T, &T) -> bool) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|part| whole.any(|whole| fits(part, whole)))
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Number::from_f64(value).map_or(Tree::Null, Tree::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = entries.next_entry()? {
            members.push(member);
        }
        Ok(Tree::Object(members))
    }
}
