//! Strings decode and compare as serde_json and UTF-16 do.

use std::borrow::Cow;

use proptest::prelude::*;
use tower_mcp_apps::json::{Reader, Str, write_string};

use crate::{oracle, texts};

fn read(literal: &str) -> Str<'_> {
    Reader::new(literal.as_bytes()).string().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn decoding_is_that_of_serde_json(literal in texts::string()) {
        let text = read(&literal);
        prop_assert_eq!(text.span().len(), literal.len());
        prop_assert_eq!(text.raw(), &literal[1..literal.len() - 1]);
        let decoded = text.decode();
        prop_assert_eq!(decoded.clone().ok(), serde_json::from_str::<String>(&literal).ok().map(Cow::Owned));
        match decoded {
            Ok(decoded) => {
                let longer = format!("{decoded}x");
                prop_assert_eq!(matches!(decoded, Cow::Borrowed(_)), !literal.contains('\\'));
                prop_assert!(text.is(&decoded));
                prop_assert!(!text.is(&longer));
                prop_assert!(text.is_ignoring_ascii_case(&decoded.to_ascii_uppercase()));
                for (end, _) in decoded.char_indices() {
                    prop_assert!(text.starts_with(&decoded[..end]));
                    prop_assert!(!text.is(&decoded[..end]));
                }
                prop_assert!(text.starts_with(&decoded) && !text.starts_with(&longer));
            }
            Err(lone) => {
                let escape = &literal[lone.offset()..][..3];
                prop_assert!(escape.eq_ignore_ascii_case("\\ud"), "{}", escape);
                prop_assert!(!text.is(&String::from_utf16_lossy(&oracle::units(literal.as_bytes()))));
            }
        }
    }

    #[test]
    fn sameness_is_that_of_code_units(one in texts::key(), other in texts::key(), tail in texts::string()) {
        let join = |key: &str| format!("{}{}", &key[..key.len() - 1], &tail[1..]);
        for (one, other) in [(one.to_owned(), other.to_owned()), (join(one), join(other))] {
            let right = oracle::units(one.as_bytes()) == oracle::units(other.as_bytes());
            prop_assert_eq!(read(&one).same(&read(&other)), right);
        }
    }

    #[test]
    fn writing_is_that_of_serde_json(text in any::<String>()) {
        let mut out = Vec::new();
        write_string(&text, &mut out);
        prop_assert_eq!(out, serde_json::to_vec(&text).unwrap());
    }
}
