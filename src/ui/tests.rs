use std::sync::atomic::{AtomicU32, Ordering};

use leptos::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::Element;

use super::{State, View, each, mount, view, when};

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

/// Owns the states of a test.
fn outer() -> Owner {
    Owner::new_root(None)
}

/// An element of the document with a view in it, until what it comes with is dropped.
fn show(make: impl Fn() -> View + Clone + 'static) -> (Element, impl Sized) {
    let body = document().body().unwrap();
    let fill = move |root: Element| mount(&root, make());
    let mounted = mount_to(body.clone(), move || leptos::view! { <div use:fill></div> });
    (body.last_element_child().unwrap(), mounted)
}

fn rows(root: &Element) -> Vec<Element> {
    let found = root.children();
    (0..found.length()).filter_map(|index| found.item(index)).collect()
}

fn words(root: &Element) -> Vec<String> {
    rows(root).iter().filter_map(|row| row.text_content()).collect()
}

#[wasm_bindgen_test]
async fn rows_keep_their_elements_and_their_order() {
    let letters = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
    let outer = outer();
    let list = outer.with(|| State::new(letters("abc")));
    let (root, _mounted) = show(move || each(move || list.get(), String::clone, |text| view! { <p>{text}</p> }));
    for order in ["abcd", "cd", "dxc", "abxcd", "dcxba", "", "ba"] {
        let before = rows(&root);
        let stay = words(&root);
        list.put(letters(order));
        leptos::task::tick().await;
        assert_eq!(words(&root), letters(order));
        for (element, word) in before.iter().zip(&stay).filter(|(_, word)| order.contains(word.as_str())) {
            assert!(rows(&root).contains(element), "{word} was drawn anew in {order}");
        }
    }
}

#[wasm_bindgen_test]
async fn what_is_derived_anew_keeps_its_elements() {
    let outer = outer();
    let n = outer.with(|| State::new(1_u64));
    let draw = move || {
        let n = n.get();
        let more = (n > 1).then(|| view! { <i>"more"</i> });
        view! { <b class={if n > 1 { "many" } else { "one" }} class:odd={n % 2 == 1}>{n}</b> {more} }
    };
    let (root, _mounted) = show(move || view! { {draw} <p>"end"</p> });
    let bold = rows(&root).remove(0);
    assert_eq!((bold.class_name().as_str(), words(&root).join(" ").as_str()), ("one odd", "1 end"));
    for (value, class, text) in [(2, "many", "2 more end"), (3, "many odd", "3 more end"), (1, "one odd", "1 end")] {
        n.put(value);
        leptos::task::tick().await;
        assert!(rows(&root).remove(0) == bold, "the element stays");
        assert_eq!((bold.class_name().as_str(), words(&root).join(" ").as_str()), (class, text));
    }
}

#[wasm_bindgen_test]
async fn what_a_condition_hides_is_cleaned_up() {
    let outer = outer();
    let (shown, alive) = outer.with(|| (State::new(true), State::new(0_u64)));
    let part = move || {
        alive.update(|n| *n += 1);
        on_cleanup(move || alive.update(|n| *n -= 1));
        view! { <p>"here"</p> }
    };
    let (root, mounted) = show(move || when(move || shown.get(), part));
    assert_eq!((alive.get_untracked(), rows(&root).len()), (1, 1));
    shown.put(false);
    leptos::task::tick().await;
    assert_eq!((alive.get_untracked(), rows(&root).len()), (0, 0));
    shown.put(true);
    leptos::task::tick().await;
    assert_eq!((alive.get_untracked(), rows(&root).len()), (1, 1));
    drop(mounted);
    assert_eq!(alive.get_untracked(), 0);
}

#[wasm_bindgen_test]
async fn what_is_gone_does_not_follow_what_changes_at_the_same_time() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let outer = outer();
    let (on, n) = outer.with(|| (State::new(true), State::new(1_u64)));
    let text = move || {
        RUNS.fetch_add(1, Ordering::Relaxed);
        n.get().to_string()
    };
    let inside = move || view! { <p class=text>"p"</p> };
    // What changes while the region is drawn reaches the inner effect after that.
    let condition = move || {
        let is_on = on.get();
        n.put(if is_on { 1 } else { 2 });
        is_on
    };
    let (root, _mounted) = show(move || when(condition, move || view! { {inside} }));
    assert_eq!((rows(&root).len(), RUNS.load(Ordering::Relaxed)), (1, 1));
    on.put(false);
    leptos::task::tick().await;
    leptos::task::tick().await;
    assert_eq!((rows(&root).len(), RUNS.load(Ordering::Relaxed)), (0, 1));
}

/// Else it would go on to hear keys beside what took its place.
#[wasm_bindgen_test]
async fn what_is_mounted_is_cleaned_up_with_it_lists_too() {
    static CLEANED: AtomicU32 = AtomicU32::new(0);
    let make = || {
        on_cleanup(|| {
            CLEANED.fetch_add(1, Ordering::Relaxed);
        });
        each(|| vec!["a".to_owned()], String::clone, |text| view! { <p>{text}</p> })
    };
    let (root, mounted) = show(make);
    assert_eq!(words(&root), ["a"]);
    drop(mounted);
    leptos::task::tick().await;
    assert_eq!(CLEANED.load(Ordering::Relaxed), 1);
}
