//! JSON with every member in its place, duplicates included.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

impl Tree {
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Every value of a member, since each is what some reader takes.
    pub(crate) fn all<'t>(&'t self, name: &str) -> impl Iterator<Item = &'t Tree> {
        let members = match self {
            Self::Object(members) => members.as_slice(),
            _ => &[],
        };
        members.iter().filter(move |(key, _)| key == name).map(|(_, value)| value)
    }

    /// Whether this is `whole`, or less: elements and members taken out, the order kept.
    pub(crate) fn is_within(&self, whole: &Self) -> bool {
        match (self, whole) {
            (Self::List(part), Self::List(whole)) => {
                is_subsequence(part.iter(), whole.iter(), |part, whole| part.is_within(whole))
            }
            (Self::Object(part), Self::Object(whole)) => {
                is_subsequence(part.iter(), whole.iter(), |part, whole| part.0 == whole.0 && part.1.is_within(&whole.1))
            }
            (part, whole) => part == whole,
        }
    }
}

fn is_subsequence<'t, T: 't>(
    part: impl Iterator<Item = &'t T>,
    mut whole: impl Iterator<Item = &'t T>,
    fits: impl Fn(&T, &T) -> bool,
) -> bool {
    part.into_iter().all(|part| whole.by_ref().any(|whole| fits(part, whole)))
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

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element()? {
            list.push(element);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Tree, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Tree::Object(object))
    }
}
