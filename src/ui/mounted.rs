use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, Event, Node};

use super::value::{Place, Source, Value};
use super::view::{Handler, Item, Shape, Text, View};

const SVG: &str = "http://www.w3.org/2000/svg";

/// Puts a view into an element; it stays until the current owner is cleaned up.
pub fn mount(parent: &Element, view: View) {
    // Lists hold the owner of their rows. Were that the current one, which holds what is mounted, neither would ever go.
    let owner = Owner::current().map_or_else(Owner::new, |it| it.child());
    let mounted = owner.with(|| Spot { parent, next: None, svg: false }.build(view));
    StoredValue::new_local((mounted, owner));
}

/// Where to insert.
#[derive(Clone, Copy)]
struct Spot<'a> {
    parent: &'a Node,
    next: Option<&'a Node>,
    svg: bool,
}

/// A view on the page.
enum Mounted {
    Text(Node, Text),
    Element(Box<Drawn>),
    List(Vec<Mounted>),
    Live(Region<Option<Mounted>>),
    Each(Region<Vec<Row>>),
}

/// Draws into a spot what a region holds.
type Draw<T> = Box<dyn Fn(Spot, &RefCell<T>)>;

/// What an effect draws, up to a comment that marks its end.
struct Region<T: Default> {
    end: Node,
    content: Rc<RefCell<T>>,
    _effect: RenderEffect<()>,
}

/// The effect's task holds the content until its next turn: effects inside would run once more, without their signals.
impl<T: Default> Drop for Region<T> {
    fn drop(&mut self) {
        if let Ok(mut content) = self.content.try_borrow_mut() {
            drop(std::mem::take(&mut *content));
        }
    }
}

struct Row {
    key: String,
    mounted: Mounted,
    _owner: Owner,
}

struct Drawn {
    tag: &'static str,
    node: Element,
    svg: bool,
    values: Vec<(Place, State)>,
    handlers: Vec<(&'static str, Rc<RefCell<Handler>>)>,
    children: Vec<Mounted>,
}

enum State {
    Fixed(Value),
    Live(#[expect(dead_code, reason = "it lives as long as this")] RenderEffect<()>),
}

fn effect(run: Box<dyn Fn()>) -> RenderEffect<()> {
    RenderEffect::new(move |_: Option<()>| run())
}

impl Spot<'_> {
    fn insert(self, node: &Node) {
        let _ = self.parent.insert_before(node, self.next);
    }

    fn build(self, view: View) -> Mounted {
        match view {
            View::Text(text) => {
                let node = Node::from(document().create_text_node(&text));
                self.insert(&node);
                Mounted::Text(node, text)
            }
            View::Element(shape) => Mounted::Element(Box::new(self.build_element(*shape))),
            View::List(views) => Mounted::List(views.into_iter().map(|view| self.build(view)).collect()),
            View::Live(derive) => {
                let svg = self.svg;
                let draw = move |spot: Spot, content: &RefCell<Option<Mounted>>| {
                    let view = derive.derive();
                    let mut content = content.borrow_mut();
                    match content.as_mut() {
                        Some(mounted) => spot.patch(mounted, view),
                        None => *content = Some(spot.build(view)),
                    }
                };
                Mounted::Live(self.region(Box::new(draw), svg))
            }
            View::Each(items) => {
                let svg = self.svg;
                let owner = Owner::current().unwrap_or_default();
                let draw = move |spot: Spot, content: &RefCell<Vec<Row>>| {
                    let items = items.derive();
                    let mut rows = content.borrow_mut();
                    *rows = spot.arrange(std::mem::take(&mut *rows), items, &owner);
                };
                Mounted::Each(self.region(Box::new(draw), svg))
            }
        }
    }

    fn region<T: Default + 'static>(self, draw: Draw<T>, svg: bool) -> Region<T> {
        let end = Node::from(document().create_comment(""));
        self.insert(&end);
        let content = Rc::new(RefCell::new(T::default()));
        let effect = effect(Box::new({
            let (end, content) = (end.clone(), content.clone());
            move || {
                if let Some(parent) = end.parent_node() {
                    draw(Spot { parent: &parent, next: Some(&end), svg }, &content);
                }
            }
        }));
        Region { end, content, _effect: effect }
    }

    fn build_element(self, shape: Shape) -> Drawn {
        let Shape { tag, values, handlers, children, at } = shape;
        let svg = self.svg || tag == "svg";
        let created = match svg {
            true => document().create_element_ns(Some(SVG), tag),
            false => document().create_element(tag),
        };
        let node = created.expect("the tag is a name");
        let values = values.into_iter().map(|(place, source)| (place, set(&node, place, source))).collect();
        let handlers = handlers.into_iter().map(|(name, handler)| (name, listen(&node, name, handler))).collect();
        let inside = Spot { parent: &node, next: None, svg };
        let children = children.into_iter().map(|view| inside.build(view)).collect();
        self.insert(&node);
        if let Some(at) = at {
            at.try_set(Some(node.clone()));
        }
        Drawn { tag, node, svg, values, handlers, children }
    }

    /// Makes what is on the page show the view, with the elements that are there where they fit.
    fn patch(self, mounted: &mut Mounted, view: View) {
        match (mounted, view) {
            (Mounted::Text(node, old), View::Text(new)) => {
                if *old != new {
                    node.set_text_content(Some(&new));
                    *old = new;
                }
            }
            (Mounted::Element(drawn), View::Element(shape)) if drawn.fits(&shape) => drawn.patch(*shape),
            (Mounted::List(old), View::List(new)) => self.patch_all(old, new),
            (mounted, view) => {
                let first = mounted.first();
                let fresh = Spot { next: first.as_ref().or(self.next), ..self }.build(view);
                mounted.remove();
                *mounted = fresh;
            }
        }
    }

    fn patch_all(self, old: &mut Vec<Mounted>, new: Vec<View>) {
        for surplus in old.drain(new.len().min(old.len())..) {
            surplus.remove();
        }
        for (index, view) in new.into_iter().enumerate() {
            let following = old.get(index + 1..).and_then(|rest| rest.iter().find_map(Mounted::first));
            let spot = Spot { next: following.as_ref().or(self.next), ..self };
            match old.get_mut(index) {
                Some(mounted) => spot.patch(mounted, view),
                None => old.push(spot.build(view)),
            }
        }
    }

    /// Removes the rows whose keys are gone, makes the new ones, and moves what is not in its place.
    fn arrange(self, old: Vec<Row>, items: Vec<Item>, owner: &Owner) -> Vec<Row> {
        let mut old: Vec<Option<Row>> = old.into_iter().map(Some).collect();
        let (n_old, mut expected) = (old.len(), 0);
        // The first of the rows that stay, in the order on the page.
        let mut lowest = (n_old, None);
        let found: Vec<(Item, Option<Row>)> = items
            .into_iter()
            .map(|item| {
                let is_it = |row: &Option<Row>| row.as_ref().is_some_and(|row| row.key == item.key);
                let index = (expected..n_old).chain(0..expected).find(|index| is_it(&old[*index]));
                let row = index.and_then(|index| {
                    expected = index + 1;
                    let row = old[index].take()?;
                    if index < lowest.0 {
                        lowest = (index, row.mounted.first());
                    }
                    Some(row)
                });
                (item, row)
            })
            .collect();
        for gone in old.into_iter().flatten() {
            gone.mounted.remove();
        }
        let focused = document().active_element();
        let mut cursor = lowest.1.or_else(|| self.next.cloned());
        let rows = found
            .into_iter()
            .map(|(item, row)| {
                let spot = Spot { next: cursor.as_ref(), ..self };
                let Some(row) = row else {
                    let owner = owner.with(Owner::new);
                    let mounted = owner.with(|| spot.build(unobserved(item.make)));
                    return Row { key: item.key, mounted, _owner: owner };
                };
                if row.mounted.first() == cursor {
                    cursor = row.mounted.last().and_then(|node| node.next_sibling());
                } else {
                    row.mounted.visit(&mut |node| spot.insert(node));
                }
                row
            })
            .collect();
        if let Some(focused) =
            focused.filter(|it| it.is_connected() && document().active_element().as_ref() != Some(it))
        {
            crate::platform::focus(&focused);
        }
        rows
    }
}

/// A row's reads of signals are its own affair.
fn unobserved(make: Box<dyn FnOnce() -> View>) -> View {
    untrack(make)
}

fn set(node: &Element, place: Place, source: Source) -> State {
    match source {
        Source::Fixed(value) => {
            if value != Value::None {
                place.put(node, &value);
            }
            State::Fixed(value)
        }
        Source::Live(derive) => {
            let node = node.clone();
            let last = RefCell::new(None);
            State::Live(effect(Box::new(move || {
                let value = Some(derive.derive());
                let mut last = last.borrow_mut();
                if *last != value {
                    place.put(&node, value.as_ref().unwrap_or(&Value::None));
                    *last = value;
                }
            })))
        }
    }
}

fn listen(node: &Element, name: &str, handler: Handler) -> Rc<RefCell<Handler>> {
    let slot = Rc::new(RefCell::new(handler));
    let current = slot.clone();
    let call: Box<dyn Fn(Event)> = Box::new(move |event| {
        let handler = current.borrow().clone();
        handler.handle(event);
    });
    // The browser frees it together with the element.
    let _ = node.add_event_listener_with_callback(name, Closure::wrap(call).into_js_value().unchecked_ref());
    slot
}

impl Drawn {
    fn fits(&self, shape: &Shape) -> bool {
        self.tag == shape.tag
            && self.values.len() == shape.values.len()
            && self.values.iter().zip(&shape.values).all(|(old, new)| old.0 == new.0)
            && self.handlers.len() == shape.handlers.len()
            && self.handlers.iter().zip(&shape.handlers).all(|(old, new)| old.0 == new.0)
    }

    fn patch(&mut self, shape: Shape) {
        for ((place, state), (_, source)) in self.values.iter_mut().zip(shape.values) {
            match (&*state, source) {
                (State::Fixed(old), Source::Fixed(new)) => {
                    // A new list of classes has wiped out the single ones.
                    if *old != new || matches!(place, Place::Class(_)) {
                        place.put(&self.node, &new);
                    }
                    *state = State::Fixed(new);
                }
                (_, source) => *state = set(&self.node, *place, source),
            }
        }
        for ((_, slot), (_, handler)) in self.handlers.iter().zip(shape.handlers) {
            slot.replace(handler);
        }
        if let Some(at) = shape.at {
            at.try_set(Some(self.node.clone()));
        }
        Spot { parent: &self.node, next: None, svg: self.svg }.patch_all(&mut self.children, shape.children);
    }
}

impl Mounted {
    /// Calls `each` with every outermost node, in order.
    fn visit(&self, each: &mut dyn FnMut(&Node)) {
        match self {
            Mounted::Text(node, _) => each(node),
            Mounted::Element(drawn) => each(&drawn.node),
            Mounted::List(list) => list.iter().for_each(|it| it.visit(each)),
            Mounted::Live(region) => {
                region.content.borrow().iter().for_each(|it| it.visit(each));
                each(&region.end);
            }
            Mounted::Each(region) => {
                region.content.borrow().iter().for_each(|row| row.mounted.visit(each));
                each(&region.end);
            }
        }
    }

    fn first(&self) -> Option<Node> {
        let mut first = None;
        self.visit(&mut |node| {
            if first.is_none() {
                first = Some(node.clone());
            }
        });
        first
    }

    fn last(&self) -> Option<Node> {
        let mut last = None;
        self.visit(&mut |node| last = Some(node.clone()));
        last
    }

    fn remove(&self) {
        self.visit(&mut |node| {
            if let Some(parent) = node.parent_node() {
                let _ = parent.remove_child(node);
            }
        });
    }
}
