//! What the arguments of a meta-tool name.

use super::incoming::{Call, Fault, is_but_for_case, read_text};
use super::{MetaRole, MetaTools};
use crate::json::{Error, Kind, Reader, Span, Str};

/// Where `params.arguments` stands, kept until the tool is known: members stand in any order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arguments {
    /// Where it is an object.
    object: Option<Span>,
    is_there: bool,
    /// It stands twice, or once more in another case.
    is_ambiguous: bool,
}

impl Arguments {
    /// They stand here, where they are an object.
    pub(super) fn note(&mut self, object: Option<Span>) {
        self.object = object;
        self.is_ambiguous |= self.is_there;
        self.is_there = true;
    }

    /// Another member of `params` has this name.
    pub(super) fn note_other(&mut self, key: Str<'_>) {
        self.is_ambiguous |= is_but_for_case(key, "arguments");
    }
}

impl<'a> Call<'a> {
    /// Reads what the call names beyond its own tool, if that is a meta-tool.
    pub(super) fn read_arguments(
        &mut self,
        arguments: Arguments,
        source: &'a [u8],
        meta_tools: &MetaTools,
    ) -> Result<(), Error> {
        let Some(tool) = self.name.as_deref().and_then(|name| meta_tools.find(name)) else { return Ok(()) };
        self.role = Some(tool.role);
        let Some(argument) = tool.argument.as_deref() else { return Ok(()) };
        if arguments.is_ambiguous {
            self.fault.get_or_insert(Fault::Target);
        }
        let Some(span) = arguments.object else { return Ok(()) };
        let (mut is_there, mut is_clear) = (false, true);
        let mut reader = Reader::within(source, span);
        reader.enter_object()?;
        while let Some(key) = reader.member()? {
            if !key.is(argument) {
                is_clear &= !is_but_for_case(key, argument);
                reader.skip()?;
                continue;
            }
            is_clear &= !is_there;
            is_there = true;
            let is_text = reader.peek()? == Kind::String;
            self.target = read_text(&mut reader)?;
            is_clear &= self.target.is_some() || !is_text;
        }
        if !is_clear {
            self.fault.get_or_insert(Fault::Target);
        }
        self.is_wrapped = tool.role == MetaRole::Call
            && self.target.as_deref().is_some_and(|target| meta_tools.find(target).is_some());
        Ok(())
    }
}
