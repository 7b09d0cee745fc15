//! Layers against a sorted map.

use std::collections::BTreeMap;

use proptest::prelude::*;
use store::Limits;

use super::*;
use crate::blocks::encode_runs;
use crate::strand::{Rules, StrandOptions};

type Plain = BTreeMap<i64, u64>;

fn points(plain: &Plain) -> Points {
    let mut points = Points::default();
    plain.iter().for_each(|(time, value)| points.push(*time, f64::from_bits(*value), 3));
    points
}

fn plain(points: &Points) -> Plain {
    assert!(points.times.is_sorted_by(|left, right| left < right));
    points.times.iter().copied().zip(points.values.iter().map(|value| value.to_bits())).collect()
}

fn some_points() -> impl Strategy<Value = Points> {
    prop::collection::btree_map(0..80_i64, any::<u32>().prop_map(u64::from), 0..40)
        .prop_map(|map| points(&map))
}

fn layer() -> impl Strategy<Value = Layer> {
    let clear = (-10..80_i64, 1..30_i64).prop_map(|(from, len)| TimeRange { from, to: from + len });
    (prop::collection::vec(clear, 0..4), some_points())
        .prop_map(|(clears, points)| Layer { clears: union(clears), points })
}

fn lay(below: &mut Plain, layer: &Layer) {
    below.retain(|time, _| !layer.clears.iter().any(|clear| clear.contains(*time)));
    below.extend(plain(&layer.points));
}

proptest! {
    #[test]
    fn layers_over_layers_are_one_layer(below in some_points(), layers in prop::collection::vec(layer(), 0..6)) {
        let mut expected = plain(&below);
        layers.iter().for_each(|layer| lay(&mut expected, layer));
        let mut out = Points::default();
        let one = compose(&layers);
        prop_assert!(one.clears.is_sorted_by(|left, right| left.to < right.from));
        merge_into(&below, &one, TimeRange::ALL, &mut out);
        prop_assert_eq!(plain(&out), expected);
        // However they are put together.
        let (old, new) = layers.split_at(layers.len() / 2);
        prop_assert_eq!(compose(&[compose(old), compose(new)]), one);
    }

    #[test]
    fn a_merge_keeps_to_its_range(below in some_points(), over in layer(), from in -10..90_i64, len in 0..90_i64) {
        let mut expected = plain(&below);
        lay(&mut expected, &over);
        let range = TimeRange { from, to: from + len };
        expected.retain(|time, _| range.contains(*time));
        let mut out = Points::default();
        merge_into(&below, &over, range, &mut out);
        prop_assert_eq!(plain(&out), expected);
    }

    #[test]
    fn encoded_layers_come_back(over in layer(), max in 1..9_usize, from in -10..90_i64, len in 1..90_i64) {
        let bytes = encode_layer(&over.clears, &over.points, Encoding::Hot, max);
        let encoded = EncodedLayer::parse(&bytes).unwrap();
        prop_assert_eq!(&encoded.decode(TimeRange::ALL).unwrap(), &over);
        let bounds = encoded.outline(7).map(|it| (it.first, it.last));
        prop_assert_eq!(bounds, over.bounds());
        prop_assert_eq!(encoded.outline(7).map_or(0, |it| it.points), over.points.len() as u64);
        let range = TimeRange { from, to: from + len };
        let part = encoded.decode(range).unwrap();
        let mut expected = plain(&over.points);
        expected.retain(|time, _| range.contains(*time));
        prop_assert_eq!(plain(&part.points), expected);
        prop_assert!(encoded.meets(range) || part == Layer::default());
        prop_assert!((0..bytes.len()).all(|len| EncodedLayer::parse(&bytes[..len]).is_err()));
    }

    #[test]
    fn touching_and_clearing_are_told(over in layer(), first in -10..90_i64, len in 0..30_i64) {
        let last = first + len;
        let is_in = |time: &i64| (first..=last).contains(time);
        let cleared = |time: i64| over.clears.iter().any(|clear| clear.contains(time));
        let touches = over.points.times.iter().any(is_in) || (first..=last).any(cleared);
        prop_assert_eq!(over.touches(first, last), touches);
        prop_assert_eq!(over.clears_all(first, last), (first..=last).all(cleared));
    }

    #[test]
    fn layers_that_name_their_points_come_back(over in layer(), from in -10..90_i64, len in 1..90_i64) {
        let rules = Rules::new(StrandOptions { block_points_max: 3, ..StrandOptions::recommended() }, Limits::PORTABLE);
        let blocks = encode_runs(&[(&over.points, 0..over.points.len())], 7, Encoding::Hot, &rules).unwrap();
        let parts: Vec<Entry> = blocks.iter().map(|(entry, _)| *entry).collect();
        let (named, whole) = (name_layer(&over.clears, &parts), encode_layer(&over.clears, &over.points, Encoding::Hot, 3));
        let [named_layer, whole] = [&named, &whole].map(|bytes| EncodedLayer::parse(bytes).unwrap());
        prop_assert_eq!(&named_layer.spilled, &parts);
        let spilled = !parts.is_empty();
        prop_assert_eq!(named_layer.outline(7), whole.outline(7).map(|it| Overlays { spilled, ..it }));
        let range = TimeRange { from, to: from + len };
        prop_assert_eq!(named_layer.meets(range), whole.meets(range));
        prop_assert!((0..named.len()).all(|len| EncodedLayer::parse(&named[..len]).is_err()));
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut bytes: Vec<u8>, format in FORMAT..=FORMAT_SPILLED) {
        if let Some(first) = bytes.first_mut() {
            *first = format;
        }
        let _ = EncodedLayer::parse(&bytes);
    }
}
