//! The slow twin: a recursive parser of RFC 8259 that keeps every byte in a tree, edits of the tree, and its printing.

/// A value with its text, no white space around it.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Leaf(Vec<u8>),
    Array(Vec<Item>, Tail),
    Object(Vec<Member>, Tail),
}

/// White space before the closing bracket.
pub(crate) type Tail = Vec<u8>;

#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// From the end of the item before, or from the opening bracket.
    pub(crate) gap: Vec<u8>,
    pub(crate) node: Node,
    pub(crate) removed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    gap: Vec<u8>,
    /// With quotes.
    key: Vec<u8>,
    colon: Vec<u8>,
    node: Node,
    removed: bool,
    added: bool,
    touched: bool,
}

pub(crate) fn parse(text: &[u8], depth: usize) -> Option<(Vec<u8>, Node, Vec<u8>)> {
    let mut parser = Parser { text, at: 0 };
    let before = parser.space();
    let node = parser.value(depth)?;
    let after = parser.space();
    (parser.at == text.len()).then_some((before, node, after))
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek() == Some(byte)).then(|| self.at += 1)
    }

    fn space(&mut self) -> Vec<u8> {
        let start = self.at;
        while self.peek().is_some_and(|byte| b" \t\r\n".contains(&byte)) {
            self.at += 1;
        }
        self.text[start..self.at].to_vec()
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        match self.peek()? {
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                let tail = self.list(depth, b']', |parser, gap, depth| {
                    let node = parser.value(depth)?;
                    items.push(Item { gap, node, removed: false });
                    Some(())
                })?;
                Some(Node::Array(items, tail))
            }
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                let tail = self.list(depth, b'}', |parser, gap, depth| {
                    let key = parser.string()?;
                    let mut colon = parser.space();
                    parser.eat(b':')?;
                    colon.push(b':');
                    colon.extend(parser.space());
                    let node = parser.value(depth)?;
                    let (removed, added, touched) = (false, false, false);
                    members.push(Member { gap, key, colon, node, removed, added, touched });
                    Some(())
                })?;
                Some(Node::Object(members, tail))
            }
            b'"' => self.string().map(Node::Leaf),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn list(
        &mut self,
        depth: usize,
        closing: u8,
        mut read: impl FnMut(&mut Self, Vec<u8>, usize) -> Option<()>,
    ) -> Option<Tail> {
        let depth = depth.checked_sub(1)?;
        let mut gap = self.space();
        if self.eat(closing).is_some() {
            return Some(gap);
        }
        loop {
            read(self, gap, depth)?;
            gap = self.space();
            if self.eat(closing).is_some() {
                return Some(gap);
            }
            self.eat(b',')?;
            gap.push(b',');
            gap.extend(self.space());
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<Node> {
        word.iter().try_for_each(|byte| self.eat(*byte))?;
        Some(Node::Leaf(word.to_vec()))
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn number(&mut self) -> Option<Node> {
        let start = self.at;
        let _ = self.eat(b'-');
        if self.eat(b'0').is_none() {
            self.digits()?;
        }
        if self.eat(b'.').is_some() {
            self.digits()?;
        }
        if self.eat(b'e').or_else(|| self.eat(b'E')).is_some() {
            let _ = self.eat(b'+').or_else(|| self.eat(b'-'));
            self.digits()?;
        }
        Some(Node::Leaf(self.text[start..self.at].to_vec()))
    }

    fn string(&mut self) -> Option<Vec<u8>> {
        let start = self.at;
        self.eat(b'"')?;
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'"' => break,
                0..0x20 => return None,
                b'\\' => {
                    let escape = self.peek()?;
                    self.at += 1;
                    if escape == b'u' {
                        for _ in 0..4 {
                            self.peek().filter(u8::is_ascii_hexdigit)?;
                            self.at += 1;
                        }
                    } else if !b"\"\\/bfnrt".contains(&escape) {
                        return None;
                    }
                }
                _ => {}
            }
        }
        let literal = &self.text[start..self.at];
        std::str::from_utf8(literal).ok()?;
        Some(literal.to_vec())
    }
}

/// The UTF-16 code units that a string literal stands for.
pub(crate) fn units(literal: &[u8]) -> Vec<u16> {
    let text = std::str::from_utf8(literal).unwrap();
    let mut characters = text[1..text.len() - 1].chars();
    let mut units = Vec::new();
    while let Some(character) = characters.next() {
        if character != '\\' {
            units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
            continue;
        }
        units.push(match characters.next().unwrap() {
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'u' => {
                let digits: String = characters.by_ref().take(4).collect();
                u16::from_str_radix(&digits, 16).unwrap()
            }
            other => other as u16,
        });
    }
    units
}

pub(crate) fn literal(text: &str) -> Vec<u8> {
    serde_json::to_vec(text).unwrap()
}

impl Node {
    /// An object that was in no text.
    pub(crate) fn new_object() -> Self {
        Self::Object(Vec::new(), Vec::new())
    }

    pub(crate) fn print(&self, out: &mut Vec<u8>) {
        match self {
            Self::Leaf(text) => out.extend(text),
            Self::Array(items, tail) => {
                out.push(b'[');
                out.extend(items.first().map(|item| &item.gap[..]).unwrap_or_default());
                for (place, item) in items.iter().filter(|item| !item.removed).enumerate() {
                    if place > 0 {
                        out.extend(&item.gap);
                    }
                    item.node.print(out);
                }
                out.extend(tail);
                out.push(b']');
            }
            Self::Object(members, tail) => {
                out.push(b'{');
                let first = members.first().filter(|member| !member.added);
                out.extend(first.map(|member| &member.gap[..]).unwrap_or_default());
                for (place, member) in members.iter().filter(|m| !m.removed).enumerate() {
                    if place > 0 {
                        out.extend(&member.gap);
                    }
                    out.extend(&member.key);
                    out.extend(&member.colon);
                    member.node.print(out);
                }
                out.extend(tail);
                out.push(b'}');
            }
        }
    }

    fn members(&mut self) -> &mut Vec<Member> {
        match self {
            Self::Object(members, _) => members,
            _ => panic!("no object"),
        }
    }

    pub(crate) fn set(&mut self, key: &str, raw: &[u8]) {
        let node = Node::Leaf(raw.to_vec());
        let mut found = false;
        for member in self.members().iter_mut().rev() {
            if !member.has_key(key) {
                continue;
            }
            member.removed = found;
            if !found {
                let (mut old, mut new) = (Vec::new(), Vec::new());
                member.node.print(&mut old);
                node.print(&mut new);
                if old != new {
                    member.node = node.clone();
                    member.touched = true;
                }
            }
            found = true;
        }
        if !found {
            self.members().push(Member {
                gap: b",".to_vec(),
                key: literal(key),
                colon: b":".to_vec(),
                node,
                removed: false,
                added: true,
                touched: true,
            });
        }
    }

    pub(crate) fn remove(&mut self, key: &str) {
        for member in self.members().iter_mut() {
            member.removed |= member.has_key(key);
        }
    }

    /// The member's value, where it is an object that stands as it came.
    pub(crate) fn untouched_child(&mut self, key: &str) -> Option<&mut Node> {
        let last = self.members().iter_mut().rev().find(|m| m.has_key(key))?;
        let untouched = !last.removed && !last.touched && matches!(last.node, Node::Object(..));
        untouched.then_some(&mut last.node)
    }

    /// Key and text of what is there.
    pub(crate) fn live(&mut self) -> Vec<(Vec<u16>, Vec<u8>)> {
        let live = self.members().iter().filter(|member| !member.removed);
        live.map(|member| {
            let mut text = Vec::new();
            member.node.print(&mut text);
            (units(&member.key), text)
        })
        .collect()
    }
}

impl Member {
    fn has_key(&self, key: &str) -> bool {
        units(&self.key) == key.encode_utf16().collect::<Vec<_>>()
    }
}
