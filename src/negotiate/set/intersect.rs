//! What of one side's settings the other side said, too.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

use super::read::reader;
use super::same::{below, list, spelling};
use super::unite::{Name, elements, identity, members};
use super::{Extension, Said};
use crate::json::Kind;

/// What each server of `these` says that some server of `those` says, too.
pub(super) fn intersect(these: &Extension, those: &Extension) -> Vec<Said> {
    let others: Vec<_> = those.said.iter().map(|said| &*said.settings).collect();
    let common = |said: &Said| {
        let settings = common(&these.identifier, "", &said.settings, &others)?;
        Some(Said { server: said.server.clone(), settings: Bytes::from(settings) })
    };
    these.said.iter().filter_map(common).collect()
}

fn common(extension: &str, pointer: &str, value: &[u8], others: &[&[u8]]) -> Option<Vec<u8>> {
    let own = spelling(value);
    if others.iter().any(|other| spelling(other) == own) {
        return Some(value.to_vec());
    }
    let kind = reader(value).peek().ok()?;
    let alike = others.iter().copied().filter(|other| reader(other).peek().is_ok_and(|its| its == kind));
    let mut out = Vec::new();
    match kind {
        Kind::Array => {
            let identity = identity(extension, pointer);
            let mut alike = alike.peekable();
            alike.peek()?;
            let others: HashSet<_> = alike.flat_map(elements).map(identity).collect();
            let both = elements(value).into_iter().filter(|element| others.contains(&identity(element)));
            list(&mut out, b'[', b']', both, |element, out| out.extend_from_slice(element));
        }
        Kind::Object => {
            let (mut said, mut is_said) = (HashMap::<_, Vec<_>>::new(), false);
            for other in alike {
                is_said = true;
                for (name, value) in members(other)? {
                    said.entry(name.text).or_default().push(value);
                }
            }
            if !is_said {
                return None;
            }
            let member = |(name, value): (Name, &[u8])| {
                let value = common(extension, &below(pointer, &name.text), value, said.get(&name.text)?)?;
                Some((name.raw, value))
            };
            let both = members(value)?.into_iter().filter_map(member);
            list(&mut out, b'{', b'}', both, |(name, value), out| {
                out.extend_from_slice(&name);
                out.push(b':');
                out.extend_from_slice(&value);
            });
        }
        _ => return None,
    }
    Some(out)
}
