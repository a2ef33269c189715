use std::cmp::Ordering;

/// Sorts by a comparison, stably.
///
/// The standard library's sorts compile to several kilobytes for each type of element and each closure; here positions
/// are sorted through one `dyn` comparison, so that all callers share that code.
pub fn sort_by<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    let order = {
        let items = &*items;
        order_of(items.len(), &|a, b| compare(&items[a], &items[b]))
    };
    let mut moved: Vec<Option<T>> = std::mem::take(items).into_iter().map(Some).collect();
    items.extend(order.into_iter().filter_map(|position| moved.get_mut(position)?.take()));
}

/// The positions in order of what is there: runs of one, merged into runs of two, of four and so on.
fn order_of(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    let mut merged = Vec::with_capacity(len);
    let mut width = 1;
    while width < len {
        for pair in order.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some((a, lefts)), Some((b, rights))) = (left.split_first(), right.split_first()) {
                if compare(*a, *b) == Ordering::Greater {
                    merged.push(*b);
                    right = rights;
                } else {
                    merged.push(*a);
                    left = lefts;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(&mut order, &mut merged);
        merged.clear();
        width *= 2;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equal_items_keep_their_order() {
        let mut items = vec![("b", 1), ("a", 2), ("b", 3), ("a", 4)];
        sort_by(&mut items, |x, y| x.0.cmp(y.0));
        assert_eq!(items, [("a", 2), ("a", 4), ("b", 1), ("b", 3)]);
    }

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(mut items in prop::collection::vec((0..9_u8, any::<u8>()), 0..70)) {
            let mut model = items.clone();
            model.sort_by_key(|item| item.0);
            sort_by(&mut items, |a, b| a.0.cmp(&b.0));
            prop_assert_eq!(items, model);
        }
    }
}
