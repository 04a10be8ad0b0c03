//! Where a client's messages name what a server has: tools, prompts and resources.

use super::{Call, EntryKind, MetaRole, MetaTools, Payload};
use crate::json::{Depth, Error, Kind, Reader, Splice, Str};
use crate::protocol::Method;

/// What a client's message names at some place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// A tool: `params.name` of `tools/call`, and what the arguments of a [meta-tool](super::MetaTools) name.
    Tool,
    /// A prompt: `params.name` of `prompts/get`, `params.ref.name` of `completion/complete`.
    Prompt,
    /// A resource or a template: `params.uri` of `resources/read`, `resources/subscribe` and `resources/unsubscribe`,
    /// `params.ref.uri` of `completion/complete`, `params.notifications.resourceSubscriptions` of
    /// `subscriptions/listen`, and what the arguments of a meta-tool name.
    Resource,
}

/// Shows all places of a body's messages where something is [named](Named), and collects the edits asked for: the JSON
/// texts that take their places. What stands in a place and is no string is shown as `None`, and cannot be edited.
/// `payload` is what the source says.
///
/// # Errors
///
/// Where the source is not JSON, or nests deeper than `depth`. A source that `payload` was read from is neither.
///
/// ```
/// use tower_mcp_apps::json::{Depth, Splice};
/// use tower_mcp_apps::message::{Payload, walk_places};
///
/// # fn main() -> Result<(), tower_mcp_apps::message::Unreadable> {
/// let body = br#"{"id":1,"method":"tools/call","params":{"name":"a__f","arguments":{"name":"x"}}}"#;
/// let payload = Payload::read(body, Depth::default())?;
/// let mut splice = Splice::default();
/// walk_places(body, Depth::default(), &payload, &mut splice, |_, _, _| Some(br#""f""#.to_vec()))?;
/// let mut edited = Vec::new();
/// splice.apply_into(body, &mut edited);
/// assert_eq!(edited, br#"{"id":1,"method":"tools/call","params":{"name":"f","arguments":{"name":"x"}}}"#);
/// # Ok(())
/// # }
/// ```
pub fn walk_places(
    source: &[u8],
    depth: Depth,
    payload: &Payload<'_>,
    splice: &mut Splice,
    visit: impl FnMut(&Call<'_>, Named, Option<Str<'_>>) -> Option<Vec<u8>>,
) -> Result<(), Error> {
    let mut walk = Walk { reader: Reader::with_depth(source, depth), splice, visit };
    match payload {
        Payload::Single(call) => walk.message(call)?,
        Payload::Batch(calls) => {
            walk.reader.enter_array()?;
            for call in calls {
                if !walk.reader.element()? {
                    break;
                }
                walk.message(call)?;
            }
        }
    }
    Ok(())
}

/// The same of the places in the arguments of these meta-tools, in a source that says what they are called by themselves.
///
/// # Errors
///
/// As of [`walk_places`].
pub(crate) fn walk_targets(
    source: &[u8],
    depth: Depth,
    payload: &Payload<'_>,
    meta_tools: &MetaTools,
    splice: &mut Splice,
    visit: impl FnMut(&Call<'_>, Named, Option<Str<'_>>) -> Option<Vec<u8>>,
) -> Result<(), Error> {
    let mut walk = Walk { reader: Reader::with_depth(source, depth), splice, visit };
    if let Payload::Batch(_) = payload {
        walk.reader.enter_array()?;
    }
    for call in payload.calls() {
        if matches!(payload, Payload::Batch(_)) {
            walk.reader.element()?;
        }
        let tool = call.name.as_deref().filter(|_| call.role.is_some()).and_then(|name| meta_tools.find(name));
        let Some((tool, argument)) = tool.and_then(|tool| Some((tool, tool.argument.as_deref()?))) else {
            walk.reader.skip()?;
            continue;
        };
        let named = match tool.role {
            MetaRole::Call | MetaRole::Describe(EntryKind::Tool) => Named::Tool,
            _ => Named::Resource,
        };
        walk.within("params", |walk| walk.within("arguments", |walk| walk.member(call, argument, named)))?;
    }
    Ok(())
}

struct Walk<'a, 's, V> {
    reader: Reader<'a>,
    splice: &'s mut Splice,
    visit: V,
}

impl<V> Walk<'_, '_, V>
where
    V: FnMut(&Call<'_>, Named, Option<Str<'_>>) -> Option<Vec<u8>>,
{
    fn message(&mut self, call: &Call<'_>) -> Result<(), Error> {
        let find: fn(&mut Self, &Call<'_>) -> Result<(), Error> = match call.method() {
            Some(Method::ToolsCall) => |walk, call| walk.member(call, "name", Named::Tool),
            Some(Method::PromptsGet) => |walk, call| walk.member(call, "name", Named::Prompt),
            Some(Method::ResourcesRead | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe) => {
                |walk, call| walk.member(call, "uri", Named::Resource)
            }
            Some(Method::Complete) => |walk, call| walk.within("ref", |walk| walk.reference(call)),
            Some(Method::SubscriptionsListen) => {
                |walk, call| walk.within("notifications", |walk| walk.subscriptions(call))
            }
            _ => return self.reader.skip().map(drop),
        };
        self.within("params", |walk| find(walk, call))
    }

    /// Goes into each member of this name, of the next value, that is an object.
    fn within(&mut self, name: &str, mut find: impl FnMut(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            if key.is(name) && self.reader.peek()? == Kind::Object {
                find(self)?;
            } else {
                self.reader.skip()?;
            }
        }
        Ok(())
    }

    fn member(&mut self, call: &Call<'_>, name: &str, named: Named) -> Result<(), Error> {
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            if key.is(name) {
                self.place(call, named)?;
            } else {
                self.reader.skip()?;
            }
        }
        Ok(())
    }

    /// What a completion is for has either: which one tells its `type`, and a server that looks at the other is wrong.
    fn reference(&mut self, call: &Call<'_>) -> Result<(), Error> {
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            if key.is("name") {
                self.place(call, Named::Prompt)?;
            } else if key.is("uri") {
                self.place(call, Named::Resource)?;
            } else {
                self.reader.skip()?;
            }
        }
        Ok(())
    }

    fn subscriptions(&mut self, call: &Call<'_>) -> Result<(), Error> {
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            if !key.is("resourceSubscriptions") || self.reader.peek()? != Kind::Array {
                self.reader.skip()?;
                continue;
            }
            self.reader.enter_array()?;
            while self.reader.element()? {
                self.place(call, Named::Resource)?;
            }
        }
        Ok(())
    }

    fn place(&mut self, call: &Call<'_>, named: Named) -> Result<(), Error> {
        if self.reader.peek()? != Kind::String {
            self.reader.skip()?;
            drop((self.visit)(call, named, None));
            return Ok(());
        }
        let text = self.reader.string()?;
        if let Some(new) = (self.visit)(call, named, Some(text)) {
            self.splice.replace(text.span(), &new);
        }
        Ok(())
    }
}
