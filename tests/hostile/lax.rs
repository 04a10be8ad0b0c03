//! JSON as the laxest reader takes it: whatever anybody could make of some bytes, as far as they go, with every double.

/// A value. What decides nothing is [`Other`](Self::Other).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lax {
    Other,
    /// Its text.
    Number(String),
    Text(String),
    List(Vec<Lax>),
    Object(Vec<(String, Lax)>),
}

/// Nobody reads on below this.
const MOST_DEPTH: usize = 1000;

/// Reads the first value in these bytes. Byte order marks and white space before it are passed over, invalid UTF-8 and lone
/// surrogates are replaced, what follows is ignored, and what breaks off is as it is until there.
pub(crate) fn read(text: &[u8]) -> Lax {
    let text: Vec<char> = String::from_utf8_lossy(text).chars().collect();
    Reader { text, at: 0 }.value(MOST_DEPTH)
}

struct Reader {
    text: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek();
        self.at += usize::from(letter.is_some());
        letter
    }

    fn skip(&mut self, also: &[char]) {
        let is_space = |letter: &char| letter.is_whitespace() || *letter == '\u{feff}' || also.contains(letter);
        while self.peek().is_some_and(|letter| is_space(&letter)) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Lax {
        self.skip(&[]);
        let Some(depth) = depth.checked_sub(1) else { return Lax::Other };
        match self.peek() {
            Some('{') => {
                self.at += 1;
                Lax::Object(self.members(depth))
            }
            Some('[') => {
                self.at += 1;
                let mut items = Vec::new();
                loop {
                    self.skip(&[',']);
                    match self.peek() {
                        None => break,
                        Some(']') => {
                            self.at += 1;
                            break;
                        }
                        Some(_) => items.push(self.value_or_letter(depth)),
                    }
                }
                Lax::List(items)
            }
            Some('"') => Lax::Text(self.string()),
            _ => self.word(),
        }
    }

    fn members(&mut self, depth: usize) -> Vec<(String, Lax)> {
        let mut members = Vec::new();
        loop {
            self.skip(&[',']);
            match self.peek() {
                None => return members,
                Some('}') => {
                    self.at += 1;
                    return members;
                }
                Some('"') => {
                    let key = self.string();
                    self.skip(&[':']);
                    members.push((key, self.value_or_letter(depth)));
                }
                Some(_) => self.at += 1,
            }
        }
    }

    /// A value; where none begins, a letter is passed over, so that reading comes to an end.
    fn value_or_letter(&mut self, depth: usize) -> Lax {
        let start = self.at;
        let value = self.value(depth);
        self.at += usize::from(self.at == start);
        value
    }

    fn word(&mut self) -> Lax {
        let start = self.at;
        while self.peek().is_some_and(|letter| !letter.is_whitespace() && !"{}[]\",:".contains(letter)) {
            self.at += 1;
        }
        let word: String = self.text[start..self.at].iter().collect();
        if word.parse::<f64>().is_ok() { Lax::Number(word) } else { Lax::Other }
    }

    fn string(&mut self) -> String {
        let mut units = Vec::new();
        self.at += 1;
        while let Some(letter) = self.next() {
            let letter = match letter {
                '"' => break,
                '\\' => match self.next() {
                    None => break,
                    Some('b') => '\u{8}',
                    Some('f') => '\u{c}',
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some('t') => '\t',
                    Some('u') => {
                        let end = self.text.len().min(self.at + 4);
                        let digits: String = self.text[self.at..end].iter().collect();
                        match u16::from_str_radix(&digits, 16) {
                            Ok(unit) => {
                                units.push(unit);
                                self.at = end;
                                continue;
                            }
                            Err(_) => 'u',
                        }
                    }
                    Some(other) => other,
                },
                other => other,
            };
            units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
        }
        String::from_utf16_lossy(&units)
    }
}

impl Lax {
    pub(crate) fn members(&self) -> &[(String, Lax)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    pub(crate) fn items(&self) -> &[Lax] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The values of all members of this name.
    pub(crate) fn all<'t>(&'t self, name: &'t str) -> impl Iterator<Item = &'t Lax> {
        self.members().iter().filter(move |(key, _)| key == name).map(|(_, value)| value)
    }

    /// The values of all members that some reader takes for this name: case is ignored, as Unicode folds it.
    pub(crate) fn all_folded<'t>(&'t self, name: &'t str) -> impl Iterator<Item = &'t Lax> {
        let folded = |key: &str| key.replace('\u{17f}', "s").replace(['\u{130}', '\u{131}'], "i").to_lowercase();
        self.members().iter().filter(move |(key, _)| folded(key) == name.to_lowercase()).map(|(_, value)| value)
    }
}
