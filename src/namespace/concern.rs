//! What is renamed in an answer, and what is named in a request.

use http::{HeaderMap, HeaderValue, StatusCode};

use crate::concern::{Concern, Incoming, sealed::Sealed};
use crate::exchange::{Exchange, McpContext};
use crate::json::{Str, Value};
use crate::message::{Answer, Call, Entry, EntryKind, Meta, Named, Payload, Reason, Refusal, Wants};
use crate::protocol::{Era, Method, Namespace, UI_SCHEME, code, decode_mirrored, encode_mirrored, header, meta};

impl Sealed for Namespace {}

impl Concern for Namespace {
    const REWRITES: bool = true;

    fn rewrites(&self) -> bool {
        true
    }

    fn incoming(&self, context: &McpContext, incoming: &mut Incoming<'_>) -> Result<(), Refusal> {
        let Ok(payload) = incoming.payload() else { return Ok(()) };
        let is_batch = matches!(payload, Payload::Batch(_));
        let whole = |refusal: Refusal| if is_batch { refusal.of_batch() } else { refusal };
        let asked = payload.calls().iter().filter(|call| !call.is_response);
        if let Some(fault) = asked.into_iter().find_map(|call| call.fault) {
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, fault.to_string());
            return Err(whole(refusal.because(Reason::Ambiguous)));
        }
        let named = match &payload {
            Payload::Single(call) => mirrored(call),
            Payload::Batch(_) => None,
        };
        let mut foreign = None;
        let mut strip = |_: &Call<'_>, named, text: Option<Str<'_>>| {
            let own = text.and_then(|text| self.strip_raw(named, text));
            if own.is_none() {
                let text = text.and_then(|text| text.decode().ok());
                foreign.get_or_insert_with(|| unknown(named, text.as_deref(), context.era()));
            }
            own
        };
        let edited = incoming.edit(&mut strip);
        // Only now meta-tools are called as they were declared. What their arguments name was named by their results.
        if let Some(fault) = incoming.target_fault() {
            let refusal = Refusal::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, fault.to_string());
            return Err(whole(refusal.because(Reason::Ambiguous)));
        }
        let edited = edited.and_then(|()| incoming.edit_targets(&mut strip));
        debug_assert!(edited.is_ok(), "what was read can be read again");
        if let Some(refusal) = foreign {
            return Err(whole(refusal));
        }
        named.map_or(Ok(()), |named| self.strip_header(named, incoming.headers()))
    }

    fn wants(&self, _: &Exchange, answer: Answer) -> Wants {
        let lists = Wants::TOOLS | Wants::PROMPTS | Wants::RESOURCES | Wants::TEMPLATES | Wants::CONTENTS;
        let wants = match answer {
            Answer::To(Method::ToolsList) => Wants::TOOLS | Wants::LINKS,
            Answer::To(Method::PromptsList) => Wants::PROMPTS | Wants::LINKS,
            Answer::To(Method::ResourcesList) => Wants::RESOURCES | Wants::LINKS,
            Answer::To(Method::TemplatesList) => Wants::TEMPLATES | Wants::LINKS,
            Answer::To(Method::ResourcesRead) => Wants::CONTENTS | Wants::LINKS,
            Answer::To(
                Method::ToolsCall
                | Method::PromptsGet
                | Method::TasksGet
                | Method::TasksResult
                | Method::ResourcesSubscribe
                | Method::ResourcesUnsubscribe
                | Method::Complete,
            ) => Wants::LINKS,
            Answer::To(_) => Wants::NOTHING,
            Answer::Unknown => lists | Wants::LINKS,
        };
        // Whatever is asked, notifications may come before the answer.
        wants | Wants::UPDATES
    }

    fn edits_alike(&self) -> bool {
        true
    }

    fn entry(&self, _: &Exchange, entry: &mut Entry<'_>) {
        self.add_to_entry(entry);
    }

    fn link(&self, _: &Exchange, link: &mut Entry<'_>) {
        self.add_to_entry(link);
    }

    fn meta(&self, _: &Exchange, meta: &mut Meta<'_>) {
        self.add_to_meta(meta);
    }

    fn uri(&self, uri: Str<'_>) -> Option<Vec<u8>> {
        Some(self.add_to_raw_uri(uri))
    }
}

impl Namespace {
    fn add_to_entry(&self, entry: &mut Entry<'_>) {
        match entry.kind() {
            EntryKind::Tool | EntryKind::Prompt => entry.rename(|name| Some(quoted([self.name_prefix(), name.raw()]))),
            _ => {
                entry.relocate(|uri| Some(self.add_to_raw_uri(uri)));
                // Some servers call a page by its URI.
                entry.rename(|name| name.starts_with(UI_SCHEME).then(|| self.add_to_raw_uri(name)));
            }
        }
        self.add_to_meta(entry.meta_mut());
    }

    fn add_to_meta(&self, meta: &mut Meta<'_>) {
        let link = |value: Value<'_>| {
            let uri = value.string().filter(|uri| uri.starts_with(UI_SCHEME))?;
            Some(self.add_to_raw_uri(uri))
        };
        meta.ui_change(meta::RESOURCE_URI, link);
        meta.change(meta::FLAT_RESOURCE_URI, link);
        meta.change(meta::OUTPUT_TEMPLATE, link);
    }

    /// The JSON text of a URI with the prefix.
    fn add_to_raw_uri(&self, uri: Str<'_>) -> Vec<u8> {
        let raw = uri.raw();
        match uri.raw_behind(UI_SCHEME) {
            Some(rest) => quoted([&raw[..raw.len() - rest.len()], self.ui_prefix(), rest]),
            None => quoted([self.uri_prefix(), raw]),
        }
    }

    /// The JSON text of a name or URI without the prefix, if it has it.
    fn strip_raw(&self, named: Named, text: Str<'_>) -> Option<Vec<u8>> {
        match named {
            Named::Tool | Named::Prompt => text.raw_behind(self.name_prefix()).map(|name| quoted([name])),
            Named::Resource => match text.raw_behind(UI_SCHEME) {
                Some(behind) => {
                    let raw = text.raw();
                    let rest = text.raw_behind(self.ui_start())?;
                    Some(quoted([&raw[..raw.len() - behind.len()], rest]))
                }
                None => text.raw_behind(self.uri_prefix()).map(|uri| quoted([uri])),
            },
        }
    }

    /// Takes the prefix off the header that mirrors what the body names. Whether both say the same is for others to judge.
    fn strip_header(&self, named: Named, headers: &mut HeaderMap) -> Result<(), Refusal> {
        let strip = |value: &HeaderValue| {
            let value = decode_mirrored(value.as_bytes()).ok()?;
            Some(match named {
                Named::Tool | Named::Prompt => encode_mirrored(self.strip_name(&value)?),
                Named::Resource => encode_mirrored(&self.strip_uri(&value)?),
            })
        };
        let http::header::Entry::Occupied(mut values) = headers.entry(header::NAME) else { return Ok(()) };
        for value in values.iter_mut() {
            let Some(own) = strip(value) else {
                let message =
                    format!("header mismatch: {} does not begin with the prefix {}", header::NAME, self.name());
                let refusal = Refusal::new(StatusCode::BAD_REQUEST, code::HEADER_MISMATCH, message);
                return Err(refusal.because(Reason::HeaderMismatch));
            };
            *value = own;
        }
        Ok(())
    }
}

/// What `Mcp-Name` names beside this message (MCP 2026-07-28, "Standard Request Headers").
fn mirrored(call: &Call<'_>) -> Option<Named> {
    match call.method()? {
        Method::ToolsCall => Some(Named::Tool),
        Method::PromptsGet => Some(Named::Prompt),
        Method::ResourcesRead | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => Some(Named::Resource),
        _ => None,
    }
}

/// The answer to what is another server's: that to what does not exist (MCP 2026-07-28, "Tools" and "Prompts", Error
/// Handling; "Resources", Error Handling, whose code changed with the era).
fn unknown(named: Named, text: Option<&str>, era: Era) -> Refusal {
    let code = if named == Named::Resource { code::resource_not_found(era) } else { code::INVALID_PARAMS };
    Refusal::unknown(named, text, code).because(Reason::Foreign)
}

/// A JSON string of texts whose escapes stand there already.
fn quoted<const N: usize>(texts: [&str; N]) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 + texts.iter().map(|text| text.len()).sum::<usize>());
    out.push(b'"');
    texts.iter().for_each(|text| out.extend_from_slice(text.as_bytes()));
    out.push(b'"');
    out
}
