//! What the client's message asks.

use bytes::Bytes;
use tower_mcp_apps::json::{Depth, Object, Reader, Splice};
use tower_mcp_apps::message::{Call, Payload, Refusal};
use tower_mcp_apps::protocol::Era;

use crate::response::{self, invalid_request};

/// One message of a client, with the bytes that it came in.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) body: Bytes,
    pub(crate) era: Era,
    /// `None` for the client's answer to a request of the server's, which none ever gets here.
    pub(crate) method: Option<String>,
    /// The JSON text of the id; a notification has none, and that of a response is not the client's.
    pub(crate) id: Option<Bytes>,
    /// `params.name`.
    pub(crate) name: Option<String>,
    /// `params.uri`.
    pub(crate) uri: Option<String>,
}

impl Asked {
    /// Reads the body of a POST.
    ///
    /// # Errors
    ///
    /// It is no JSON-RPC message, two readers may understand it differently, or it is a batch, whose answers would have to be
    /// gathered from several servers and which only 2025-03-26 has.
    pub(crate) fn read(body: Bytes) -> Result<Self, (Refusal, Option<Bytes>)> {
        let payload = Payload::read(&body, Depth::default());
        let call = match &payload {
            Ok(Payload::Single(call)) => call,
            Ok(Payload::Batch(_)) => return Err((invalid_request("the gateway takes no batches"), None)),
            Err(error) => return Err((response::unreadable(*error), None)),
        };
        // The id of a response is of a request of the server's: an answer with it would be taken for one to another request.
        let id = call.id.filter(|_| !call.is_response).map(|id| body.slice_ref(id));
        if let Some(fault) = call.fault {
            return Err((invalid_request(fault.to_string()), id));
        }
        let Call { method, name, uri, .. } = call;
        let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
        Ok(Self { era: call.era(), method: text(method), id, name: text(name), uri: text(uri), body: body.clone() })
    }

    /// The members of `params`; none where there is no such object.
    pub(crate) fn params(&self) -> Object<'_> {
        let mut message = Object::default();
        let mut params = Object::default();
        let is_object = message.read(&mut Reader::new(&self.body)).is_ok();
        if let Some(span) = is_object.then(|| message.original("params")?.span()).flatten()
            && params.read(&mut Reader::within(&self.body, span)).is_err()
        {
            params.start_empty();
        }
        params
    }

    /// The body with these changes to `params`; every other byte stays.
    pub(crate) fn with_params(&self, edit: impl FnOnce(&mut Object<'_>)) -> Bytes {
        let mut params = self.params();
        edit(&mut params);
        let mut splice = Splice::default();
        params.emit(&mut splice);
        splice.apply(&self.body).to_bytes()
    }
}
