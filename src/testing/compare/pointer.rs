//! Places in a text that may differ.

/// The places that may differ, and which of them did.
pub(super) struct Allowed(Vec<Pointer>);

struct Pointer {
    text: String,
    names: Vec<String>,
    is_hit: bool,
}

impl Allowed {
    /// Reads JSON pointers (RFC 6901), in which `*` stands for every element of a list.
    pub(super) fn parse(pointers: &[&str]) -> Result<Self, String> {
        let parse = |text: &&str| {
            let mut names = text.split('/');
            if names.next() != Some("") {
                return Err(format!("{text:?} is no JSON pointer: it does not start with /"));
            }
            let names = names.map(|name| name.replace("~1", "/").replace("~0", "~")).collect();
            Ok(Pointer { text: (*text).to_owned(), names, is_hit: false })
        };
        pointers.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// Whether this very place may differ. Where it does, this is noted.
    pub(super) fn allows(&self, path: &Path) -> bool {
        self.0.iter().any(|pointer| pointer.is(path))
    }

    /// Notes that it does.
    pub(super) fn hit(&mut self, path: &Path) {
        self.0.iter_mut().filter(|pointer| pointer.is(path)).for_each(|pointer| pointer.is_hit = true);
    }

    /// The pointers to places that do not differ.
    pub(super) fn unused(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|pointer| !pointer.is_hit).map(|pointer| &*pointer.text)
    }
}

impl Pointer {
    fn is(&self, path: &Path) -> bool {
        let fits = |(name, step): (&String, &Step)| match step {
            Step::Member(member) => name == member,
            Step::Element(index) => name == "*" || *name == index.to_string(),
            Step::End => name == "-",
        };
        self.names.len() == path.0.len() && self.names.iter().zip(&path.0).all(fits)
    }
}

/// Where a value stands.
#[derive(Clone, Default)]
pub(super) struct Path(Vec<Step>);

#[derive(Clone)]
pub(super) enum Step {
    Member(String),
    Element(usize),
    /// Behind the last element.
    End,
}

impl Path {
    pub(super) fn then(&self, step: Step) -> Self {
        let mut path = self.clone();
        path.0.push(step);
        path
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the whole");
        }
        self.0.iter().try_for_each(|step| match step {
            Step::Member(name) => write!(f, "/{}", name.replace('~', "~0").replace('/', "~1")),
            Step::Element(index) => write!(f, "/{index}"),
            Step::End => f.write_str("/-"),
        })
    }
}
