//! However a body is cut into frames, the same bytes come out; and what is not edited comes out in the frames it came in, unless it
//! was read and said how long it is: then its frames are joined.

use bytes::Bytes;
use proptest::prelude::*;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::{Fixed, Limits};
use tower_mcp_apps::json::Depth;
use tower_mcp_apps::testing::Body;

use super::run::{Given, cut, exchange};
use super::stacks::given;
use super::{audience, kit, requests, texts};

fn limits() -> impl Strategy<Value = Limits> {
    let depth = Depth::try_from(4).expect("within the most");
    prop_oneof![4 => Just(Limits::new()), 1 => Just(Limits::new().response_bytes(300)), 1 => Just(Limits::new().depth(depth))]
}

fn pointers(frames: &[Bytes]) -> Vec<(*const u8, usize)> {
    frames.iter().filter(|frame| !frame.is_empty()).map(|frame| (frame.as_ptr(), frame.len())).collect()
}

proptest! {
    #[test]
    fn of_an_answer(
        requests in requests(),
        given in given(),
        cuts in texts::cuts(),
        audience in audience(),
        limits in limits(),
        knows_length in any::<bool>(),
    ) {
        let layer = AppsLayer::new().audience(Fixed(audience)).limits(limits);
        let (whole, _) = exchange(&layer, kit::post(requests.body.clone()), &given);
        let pieces = Given { knows_length, ..given }.cut(&cuts);
        let (cut, _) = exchange(&layer, kit::post(requests.body), &pieces);
        prop_assert_eq!(whole.bytes(), cut.bytes());
        prop_assert_eq!((whole.status, whole.error), (cut.status, cut.error));
        // What is taken for a stream, whatever it says it is, comes out event by event.
        let is_json = pieces.content_type != Some("text/event-stream")
            && matches!(cut.bytes().trim_ascii_start().first(), Some(b'{' | b'['));
        if is_json && cut.bytes() == pieces.frames.concat() && cut.frames.len() == pointers(&pieces.frames).len() {
            prop_assert_eq!(pointers(&cut.frames), pointers(&pieces.frames));
        }
    }

    #[test]
    fn untouched_json_comes_out_in_the_frames_it_came_in(
        requests in requests(),
        answer in texts::answer(),
        cuts in texts::cuts(),
        audience in audience(),
    ) {
        let layer = AppsLayer::new().audience(Fixed(audience));
        let given = Given::json(answer.clone()).cut(&cuts);
        let (got, _) = exchange(&layer, kit::post(requests.body), &given);
        if got.bytes() == answer {
            prop_assert_eq!(pointers(&got.frames), pointers(&given.frames));
        }
    }

    #[test]
    fn untouched_events_come_out_as_slices_of_what_came(
        requests in requests(),
        stream in texts::stream(prop::collection::vec(texts::answer(), 0..4)),
        cuts in texts::cuts(),
        audience in audience(),
    ) {
        let layer = AppsLayer::new().audience(Fixed(audience));
        let given = Given::events(stream.clone()).cut(&cuts);
        let (got, _) = exchange(&layer, kit::post(requests.body), &given);
        if got.bytes() == stream {
            let came: Vec<_> = given.frames.iter().map(|frame| frame.as_ptr_range()).collect();
            for frame in &got.frames {
                let is_slice = came.iter().any(|range| range.contains(&frame.as_ptr()));
                prop_assert!(is_slice, "{:?}", frame);
            }
        }
    }

    #[test]
    fn of_a_request(
        body in prop_oneof![requests().prop_map(|requests| requests.body), texts::message("1")],
        damage in texts::damage(),
        cuts in texts::cuts(),
        audience in audience(),
    ) {
        let layer = AppsLayer::new().audience(Fixed(audience));
        let body = Bytes::from(texts::damaged(&body, &damage));
        let given = Given::json(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#);
        let (whole, arrived) = exchange(&layer, kit::post(body.clone()), &given);
        let frames = cut(&body, &cuts);
        let request = kit::post("").map(|_| Body::frames(frames.iter().filter(|frame| !frame.is_empty()).cloned()));
        let (got, arrived_cut) = exchange(&layer, request, &given);
        prop_assert_eq!((whole.status, whole.bytes()), (got.status, got.bytes()));
        prop_assert_eq!(arrived.len(), arrived_cut.len());
        for (one, other) in arrived.iter().zip(&arrived_cut) {
            prop_assert_eq!(one.bytes(), other.bytes());
        }
        // The last to arrive is the request itself; what is looked up comes before.
        if let Some(last) = arrived_cut.last() {
            prop_assert_eq!(pointers(&last.frames), pointers(&frames));
        }
    }
}
