use std::borrow::Cow;
use std::marker::PhantomData;
use std::rc::Rc;

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::Event;

use super::state::{Derived, memo};
use super::value::{Derive, Derives, IntoSource, Place, Source};

pub type Text = Cow<'static, str>;
pub type Handler = Rc<dyn Handle>;

/// What is done about an event.
pub trait Handle {
    fn handle(&self, event: Event);
}

impl<F: Fn(Event)> Handle for F {
    fn handle(&self, event: Event) {
        self(event);
    }
}

/// What a part shows.
pub enum View {
    Text(Text),
    Element(Box<Shape>),
    List(Vec<View>),
    /// Derived anew, and patched, when a signal that it reads changes.
    Live(Box<dyn Derive<View>>),
    /// Rows that keep their elements while their keys stay.
    Each(Box<dyn Derive<Vec<Item>>>),
}

/// An element to be.
#[derive(Default)]
pub struct Shape {
    pub tag: &'static str,
    pub values: Vec<(Place, Source)>,
    pub handlers: Vec<(&'static str, Handler)>,
    pub children: Vec<View>,
    pub at: Option<Slot>,
}

pub struct Item {
    pub key: String,
    pub make: Box<dyn FnOnce() -> View>,
}

/// Puts together what is fixed of a view and what fills its holes.
///
/// The fixed part is one text: 1 opens an element, its tag follows; 2 is an attribute, `name=value`; 3 is text; 4 closes
/// the element; 5 is a hole, for which there is a call.
pub struct Builder {
    fixed: &'static str,
    open: Vec<Shape>,
    done: Vec<View>,
}

impl Builder {
    pub fn new(fixed: &'static str) -> Self {
        Self { fixed, open: Vec::new(), done: Vec::new() }
    }

    /// Reads the fixed part up to the next hole.
    fn read(&mut self) {
        loop {
            let mut marks = self.fixed.chars();
            let Some(mark) = marks.next() else { return };
            let rest = marks.as_str();
            let (text, rest) = rest.split_at(rest.find(|it| it <= '\x05').unwrap_or(rest.len()));
            self.fixed = rest;
            match mark {
                '\x01' => self.open.push(Shape { tag: text, ..Shape::default() }),
                '\x02' => {
                    if let (Some(shape), Some((name, value))) = (self.open.last_mut(), text.split_once('=')) {
                        shape.values.push((Place::Attribute(name), Source::Fixed(value.into())));
                    }
                }
                '\x03' => self.push(View::Text(Cow::Borrowed(text))),
                '\x04' => {
                    if let Some(shape) = self.open.pop() {
                        self.push(View::Element(Box::new(shape)));
                    }
                }
                _ => return,
            }
        }
    }

    fn push(&mut self, view: View) {
        match self.open.last_mut() {
            Some(shape) => shape.children.push(view),
            None => self.done.push(view),
        }
    }

    fn fill(&mut self, view: View) {
        self.read();
        self.push(view);
    }

    fn fill_value(&mut self, place: Place, source: Source) {
        self.read();
        if let Some(shape) = self.open.last_mut() {
            shape.values.push((place, source));
        }
    }

    fn fill_handler(&mut self, name: &'static str, handler: Handler) {
        self.read();
        if let Some(shape) = self.open.last_mut() {
            shape.handlers.push((name, handler));
        }
    }

    fn fill_at(&mut self, slot: Slot) {
        self.read();
        if let Some(shape) = self.open.last_mut() {
            shape.at = Some(slot);
        }
    }

    pub fn child<M>(&mut self, content: impl Content<M>) {
        self.fill(content.content());
    }

    pub fn set<M>(&mut self, place: Place, value: impl IntoSource<M>) {
        self.fill_value(place, value.source());
    }

    pub fn on(&mut self, name: &'static str, handler: impl Fn(Event) + 'static) {
        self.fill_handler(name, Rc::new(handler));
    }

    pub fn at<E>(&mut self, at: At<E>) {
        self.fill_at(at.0);
    }

    pub fn done(mut self) -> View {
        self.read();
        if self.done.len() == 1 { self.done.remove(0) } else { View::List(self.done) }
    }
}

/// What can stand between tags.
pub trait Content<Mark> {
    fn content(self) -> View;
}

impl Content<()> for View {
    fn content(self) -> View {
        self
    }
}

impl Content<()> for &'static str {
    fn content(self) -> View {
        View::Text(Cow::Borrowed(self))
    }
}

impl Content<()> for String {
    fn content(self) -> View {
        View::Text(Cow::Owned(self))
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Content<()> for $number {
            fn content(self) -> View {
                self.to_string().content()
            }
        }
    )*};
}

numbers!(u32 u64 usize);

impl<T: Content<()>> Content<()> for Option<T> {
    fn content(self) -> View {
        self.map_or_else(|| View::List(Vec::new()), Content::content)
    }
}

impl<T: Content<()>, const N: usize> Content<()> for [T; N] {
    fn content(self) -> View {
        self.into_iter().map(Content::content).collect()
    }
}

impl<F: Fn() -> T + 'static, T: Content<()>> Content<Derives> for F {
    fn content(self) -> View {
        View::Live(Box::new(move || self().content()))
    }
}

impl FromIterator<View> for View {
    fn from_iter<I: IntoIterator<Item = View>>(views: I) -> Self {
        View::List(views.into_iter().collect())
    }
}

/// A row for each item, in their order. A row whose key stays is left as it is.
pub fn each<T: 'static>(
    items: impl Fn() -> Vec<T> + 'static,
    key: impl Fn(&T) -> String + 'static,
    row: impl Fn(T) -> View + 'static,
) -> View {
    let row = Rc::new(row);
    View::Each(Box::new(move || {
        let item = |item: T| {
            let (key, row) = (key(&item), row.clone());
            Item { key, make: Box::new(move || row(item)) }
        };
        items().into_iter().map(item).collect()
    }))
}

/// Shown while the condition holds.
pub fn when(condition: impl Fn() -> bool + Send + Sync + 'static, then: impl Fn() -> View + 'static) -> View {
    let holds = memo(condition);
    when_it(holds, Box::new(then))
}

fn when_it(holds: Derived<bool>, then: Box<dyn Derive<View>>) -> View {
    View::Live(Box::new(move || if holds.get() { unobserved(&*then) } else { View::List(Vec::new()) }))
}

/// Makes a view whose reads of signals are its own affair.
pub fn unobserved(make: &dyn Derive<View>) -> View {
    untrack(|| make.derive())
}

type Slot = RwSignal<Option<web_sys::Element>, LocalStorage>;

/// Where an element is once it is on the page.
pub struct At<E>(pub Slot, PhantomData<fn() -> E>);

impl<E> Clone for At<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for At<E> {}

impl<E: JsCast> At<E> {
    pub fn new() -> Self {
        Self(RwSignal::new_local(None), PhantomData)
    }

    pub fn get(&self) -> Option<E> {
        self.0.try_get().flatten().map(JsCast::unchecked_into)
    }

    pub fn get_untracked(&self) -> Option<E> {
        self.0.try_get_untracked().flatten().map(JsCast::unchecked_into)
    }
}
