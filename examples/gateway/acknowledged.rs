//! What a `subscriptions/listen` stream will tell: which part of it each upstream is asked for, and what all of them agreed to.

use bytes::Bytes;
use tower_mcp_apps::json::{Object, Reader, Value};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const FLAGS: [&str; 3] = ["promptsListChanged", "resourcesListChanged", "toolsListChanged"];
const RESOURCES: &str = "resourceSubscriptions";
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// A filter of notifications (MCP 2026-07-28, "Subscriptions", Notification Filter).
#[derive(Clone, Debug, Default)]
pub(crate) struct Acknowledged {
    flags: [bool; FLAGS.len()],
    /// The JSON strings of the URIs.
    resources: Vec<Bytes>,
}

impl Acknowledged {
    /// The filter of this object.
    pub(crate) fn of(notifications: &Object<'_>) -> Self {
        let is_set = |flag: &str| notifications.get(flag).is_some_and(|value| value.bytes() == b"true");
        let mut resources = Vec::new();
        if let Some(mut reader) = notifications.get(RESOURCES).map(|list| list.reader())
            && reader.enter_array().is_ok()
        {
            while let Ok(true) = reader.element() {
                let Ok(uri) = reader.value() else { break };
                resources.push(Bytes::copy_from_slice(uri.bytes()));
            }
        }
        Self { flags: FLAGS.map(is_set), resources }
    }

    /// What a message says that an upstream will tell; `None` for any other message.
    pub(crate) fn read(message: &[u8]) -> Option<Self> {
        let mut members = Object::default();
        members.read(&mut Reader::new(message)).ok()?;
        if members.get("method")?.as_str()? != ACKNOWLEDGED {
            return None;
        }
        let notifications = within(within(members.original("params"))?.original("notifications"));
        Some(notifications.map(|notifications| Self::of(&notifications)).unwrap_or_default())
    }

    /// All that one or another will tell.
    pub(crate) fn united<'a>(parts: impl Iterator<Item = &'a Self>) -> Self {
        parts.fold(Self::default(), |mut united, part| {
            united.flags.iter_mut().zip(part.flags).for_each(|(united, flag)| *united |= flag);
            united.resources.extend(part.resources.iter().cloned());
            united
        })
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.resources.is_empty() && !self.flags.contains(&true)
    }

    /// What of it is for the upstream with these names: every flag, and its own resources.
    pub(crate) fn part_of(&self, is_its: impl Fn(&str) -> bool) -> Self {
        let is_its =
            |uri: &&Bytes| Reader::new(uri).value().is_ok_and(|uri| uri.as_str().is_some_and(|uri| is_its(&uri)));
        let resources = self.resources.iter().filter(is_its);
        Self { flags: self.flags, resources: resources.cloned().collect() }
    }

    /// The JSON text of the filter.
    pub(crate) fn render(&self, out: &mut Vec<u8>) {
        let mut notifications = Object::default();
        for (flag, is_set) in FLAGS.into_iter().zip(self.flags) {
            if is_set {
                notifications.set(flag, "true");
            }
        }
        if !self.resources.is_empty() {
            notifications.set(RESOURCES, [&b"["[..], &self.resources.join(&b","[..]), b"]"].concat());
        }
        notifications.render(out);
    }

    /// The message that opens the stream of the `subscriptions/listen` with this id.
    pub(crate) fn to_message(&self, id: &[u8]) -> Bytes {
        let mut params = Object::default();
        params.set_with("_meta", |out| subscription(id).render(out));
        params.set_with("notifications", |out| self.render(out));
        let mut message = Object::default();
        message.set("jsonrpc", "\"2.0\"");
        message.set("method", format!("\"{ACKNOWLEDGED}\""));
        message.set_with("params", |out| params.render(out));
        rendered(&message)
    }

    /// The message that ends that stream in good order.
    pub(crate) fn end(id: &[u8]) -> Bytes {
        let mut result = Object::default();
        result.set("resultType", "\"complete\"");
        result.set_with("_meta", |out| subscription(id).render(out));
        let mut message = Object::default();
        message.set("jsonrpc", "\"2.0\"");
        message.set("id", id);
        message.set_with("result", |out| result.render(out));
        rendered(&message)
    }
}

fn subscription(id: &[u8]) -> Object<'static> {
    let mut meta = Object::default();
    meta.set(SUBSCRIPTION_ID, id);
    meta
}

fn rendered(message: &Object<'_>) -> Bytes {
    let mut text = Vec::new();
    message.render(&mut text);
    text.into()
}

fn within(value: Option<Value<'_>>) -> Option<Object<'_>> {
    let mut object = Object::default();
    object.read(&mut value?.reader()).ok()?;
    Some(object)
}
