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

/// Collects elements as they are written.
#[derive(Default)]
pub struct Builder {
    open: Vec<Shape>,
    done: Vec<View>,
}

impl Builder {
    pub fn open(&mut self, tag: &'static str) {
        self.open.push(Shape { tag, ..Shape::default() });
    }

    pub fn close(&mut self) {
        if let Some(shape) = self.open.pop() {
            self.push(View::Element(Box::new(shape)));
        }
    }

    fn push(&mut self, view: View) {
        match self.open.last_mut() {
            Some(shape) => shape.children.push(view),
            None => self.done.push(view),
        }
    }

    fn push_value(&mut self, place: Place, source: Source) {
        if let Some(shape) = self.open.last_mut() {
            shape.values.push((place, source));
        }
    }

    fn push_handler(&mut self, name: &'static str, handler: Handler) {
        if let Some(shape) = self.open.last_mut() {
            shape.handlers.push((name, handler));
        }
    }

    pub fn text(&mut self, text: &'static str) {
        self.push(View::Text(Cow::Borrowed(text)));
    }

    pub fn child<M>(&mut self, content: impl Content<M>) {
        self.push(content.content());
    }

    /// An attribute as one text, `name=value`.
    pub fn fixed(&mut self, attribute: &'static str) {
        if let Some((name, value)) = attribute.split_once('=') {
            self.push_value(Place::Attribute(name), Source::Fixed(value.into()));
        }
    }

    pub fn set<M>(&mut self, place: Place, value: impl IntoSource<M>) {
        self.push_value(place, value.source());
    }

    pub fn on(&mut self, name: &'static str, handler: impl Fn(Event) + 'static) {
        self.push_handler(name, Rc::new(handler));
    }

    pub fn at<E>(&mut self, at: At<E>) {
        if let Some(shape) = self.open.last_mut() {
            shape.at = Some(at.0);
        }
    }

    pub fn done(mut self) -> View {
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
