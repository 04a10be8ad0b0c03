//! The four lists: all upstreams are asked, and their entries stand one after the other, byte for byte as they came.

use bytes::Bytes;
use http::{Response, StatusCode};
use tower_mcp_apps::json::{Object, Reader, Span, Value, write_string};
use tower_mcp_apps::message::Refusal;
use tower_mcp_apps::protocol::{Era, code};

use crate::answer::{Answer, Failure};
use crate::asked::Asked;
use crate::caching::Caching;
use crate::caller::Caller;
use crate::cursor::Cursor;
use crate::fan_out::{self, Question, Told};
use crate::gateway::Settings;
use crate::response::{self, Body, invalid_params, session_gone, unknown_method, upstream_failed};
use crate::unavailable::Unavailable;
use crate::upstreams::Scope;
use crate::versions::Versions;

/// The member of a list's result that has the entries; `None` where the method gives no list.
pub(crate) fn member(method: &str) -> Option<&'static str> {
    Some(match method {
        "tools/list" => "tools",
        "prompts/list" => "prompts",
        "resources/list" => "resources",
        "resources/templates/list" => "resourceTemplates",
        _ => return None,
    })
}

/// One page of the merged list.
///
/// An upstream that fails on the first page is left out and named in the result's `_meta`, and the result is not to be
/// kept; one that does not know the method has nothing to add, and one that does not know the version speaks for all. On a
/// later page there is no leaving out: whoever got the first page relies on the rest.
///
/// # Errors
///
/// The cursor is none of this list's, an upstream fails on a later page, or all of them do.
pub(crate) async fn list(
    settings: &Settings,
    scope: Scope<'_>,
    caller: &Caller,
    asked: &Asked,
    method: &str,
    member: &str,
) -> Result<Response<Body>, Refusal> {
    let cursor = match asked.params().get("cursor") {
        Some(cursor) if cursor.bytes() != b"null" => {
            let text = cursor.as_str().and_then(|text| Cursor::decode(method, &text));
            Some(text.ok_or_else(|| invalid_params("the cursor is none of this list's"))?)
        }
        _ => None,
    };
    let told = match &cursor {
        None => fan_out::ask_same(scope.upstreams(), caller, &asked.body, scope.spelling(), settings.patience).await,
        Some(cursor) => next_pages(settings, scope, caller, asked, cursor).await?,
    };
    if told.iter().any(|(_, outcome)| matches!(outcome, Err(Failure::SessionGone))) {
        return Err(session_gone());
    }

    let mut page = Page { member, entries: Vec::new(), next: Cursor::default(), caching: Caching::default() };
    // Whose app asks, a header says, of which shared caches know nothing.
    page.caching.private = settings.app_header.is_some() || cursor.as_ref().is_some_and(|cursor| cursor.private);
    let (mut unavailable, mut unknowing, mut versions) = (Unavailable::default(), 0, Versions::default());
    for (upstream, outcome) in &told {
        match outcome.as_ref().map(|answer| page.add(upstream.name(), answer)) {
            Ok(Some(())) => {}
            Ok(None) => {
                page.caching.private = true;
                let what = Failure::Unavailable(format!("its answer has no list of {member}"));
                unavailable.add(upstream.name(), &what);
            }
            Err(failure) if versions.add_refusal(failure) => {}
            Err(Failure::Error { code: code::METHOD_NOT_FOUND, .. }) => unknowing += 1,
            Err(Failure::Error { code: code::INVALID_PARAMS, message, .. }) if cursor.is_some() => {
                return Err(invalid_params(format!("{}: {message}", upstream.name())));
            }
            Err(failure) => {
                // It may fail for this caller alone, and the result says why.
                page.caching.private = true;
                unavailable.add(upstream.name(), failure);
            }
        }
    }
    if let Some(refused) = versions.refusal(asked) {
        return Ok(refused);
    }
    if unknowing == told.len() {
        return Err(unknown_method(asked.era, method));
    }
    let nobody = unavailable.count() + unknowing == told.len();
    if unavailable.count() > 0 && (nobody || cursor.is_some()) {
        return Err(upstream_failed(format!("the list cannot be had: {}", unavailable.text())));
    }
    let id = asked.id.as_deref().unwrap_or_default();
    page.render(id, asked.era, method, &unavailable)
        .map(|message| response::json(StatusCode::OK, message))
        .ok_or_else(|| upstream_failed("the cursors of the upstreams are too long together"))
}

/// Asks the upstreams that have more, each with its own cursor.
async fn next_pages(
    settings: &Settings,
    scope: Scope<'_>,
    caller: &Caller,
    asked: &Asked,
    cursor: &Cursor,
) -> Result<Vec<Told<Answer>>, Refusal> {
    let questions = cursor.next.iter().map(|(name, text)| {
        let upstream = scope.upstreams().iter().find(|upstream| upstream.name() == name);
        let upstream = upstream.ok_or_else(|| invalid_params("the cursor is of a server that is gone"))?;
        if !caller.can_ask(upstream) {
            return Err(session_gone());
        }
        let body = asked.with_params(|params| params.set("cursor", text));
        Ok(Question { request: caller.post(upstream, body), upstream: upstream.clone() })
    });
    let questions = questions.collect::<Result<Vec<_>, _>>()?;
    Ok(fan_out::ask(questions, scope.spelling(), settings.patience, caller.is_in_session()).await)
}

/// A page as it grows.
struct Page<'m> {
    member: &'m str,
    /// What stands between the brackets of the upstreams' lists.
    entries: Vec<Bytes>,
    next: Cursor,
    caching: Caching,
}

impl Page<'_> {
    /// Adds what an upstream has; `None` where that is no list.
    fn add(&mut self, upstream: &str, answer: &Answer) -> Option<()> {
        let result = answer.result();
        // Of two lists, some reader would take the other.
        let list = result.original(self.member).filter(|_| result.count(self.member) == 1).filter(Value::is_array)?;
        self.entries.extend(between_brackets(list).map(|entries| answer.slice(entries)));
        self.caching.add(&result);
        if let Some(next) = result.get("nextCursor").filter(|next| next.as_str().is_some()) {
            self.next.next.push((upstream.to_owned(), next.bytes().to_vec()));
        }
        Some(())
    }

    /// The whole answer; `None` where the cursors are too long.
    fn render(mut self, id: &[u8], era: Era, method: &str, unavailable: &Unavailable) -> Option<Vec<u8>> {
        let mut rest = Object::default();
        if !self.next.next.is_empty() {
            self.next.private = self.caching.private;
            let next = self.next.encode(method)?;
            rest.set_with("nextCursor", |out| write_string(&next, out));
        }
        if era == Era::Modern {
            rest.set("resultType", "\"complete\"");
            self.caching.write(unavailable.count() == 0, &mut rest);
        }
        unavailable.write(&mut rest);

        let length: usize = self.entries.iter().map(|entries| entries.len() + 1).sum();
        let mut out = Vec::with_capacity(length + id.len() + 512);
        for part in [br#"{"jsonrpc":"2.0","id":"#, id, br#","result":{""#, self.member.as_bytes(), br#"":["#] {
            out.extend_from_slice(part);
        }
        for (at, entries) in self.entries.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(entries);
        }
        out.push(b']');
        // All but its opening brace: that of the result stands already.
        let mut members = Vec::new();
        rest.render(&mut members);
        if !rest.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(members.get(1..).unwrap_or_default());
        out.push(b'}');
        Some(out)
    }
}

/// What an array has between its brackets, from its first element to its last; `None` where it is empty.
fn between_brackets(list: Value<'_>) -> Option<Span> {
    let start = list.span()?.start;
    let mut reader: Reader<'_> = list.reader();
    let mut elements: Option<Span> = None;
    reader.enter_array().ok()?;
    while reader.element().ok()? {
        let element = reader.skip().ok()?;
        elements = Some(Span::new(elements.map_or(element.start, |first| first.start), element.end));
    }
    elements.map(|span| Span::new(start + span.start, start + span.end))
}
