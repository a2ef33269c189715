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

fn order_of(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|a, b| compare(*a, *b));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_keep_their_order() {
        let mut items = vec![("b", 1), ("a", 2), ("b", 3), ("a", 4)];
        sort_by(&mut items, |x, y| x.0.cmp(y.0));
        assert_eq!(items, [("a", 2), ("a", 4), ("b", 1), ("b", 3)]);
    }
}
