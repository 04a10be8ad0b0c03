//! URIs that a person takes for the same.

/// A URI without case and percent-encoding. What has the same meaning may still be two URIs.
pub(super) fn meaning(uri: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        match (first, behind) {
            (b'%', [high, low, behind @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.push(hex(*high) << 4 | hex(*low));
                rest = behind;
            }
            _ => {
                out.push(*first);
                rest = behind;
            }
        }
    }
    match String::from_utf8(out) {
        Ok(text) => text.to_lowercase().into_bytes(),
        Err(error) => error.into_bytes().to_ascii_lowercase(),
    }
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        digit => (digit | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::meaning;

    #[test]
    fn case_and_encoding_do_not_count() {
        for other in ["ui://S/größe x", "ui://s/gr%C3%B6%c3%9Fe%20x", "UI://s/GRÖßE%20X", "ui://s%2Fgr%c3%b6ße x"]
        {
            assert_eq!(meaning(other), meaning("ui://s/größe x"), "{other}");
        }
        for other in ["ui://s/grosse x", "ui://s/größe%2", "ui://s/größe%zz", "ui://s/größe+x", "ui://s/größe x/"]
        {
            assert_ne!(meaning(other), meaning("ui://s/größe x"), "{other}");
        }
        assert_eq!(meaning("%FFa%"), b"\xffa%");
    }
}
