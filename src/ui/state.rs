use std::any::Any;
use std::marker::PhantomData;

use leptos::prelude::*;

use super::value::Derive;

/// A value of any type: what signals hold, so that their code is there once and not for each type of value.
struct Held(Box<dyn Comparable>);

trait Comparable: Any + Send + Sync {
    fn is(&self, other: &dyn Comparable) -> bool;
}

impl<T: PartialEq + Send + Sync + 'static> Comparable for T {
    fn is(&self, other: &dyn Comparable) -> bool {
        (other as &dyn Any).downcast_ref::<T>().is_some_and(|other| self == other)
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(&*other.0)
    }
}

impl Held {
    fn new<T: PartialEq + Send + Sync + 'static>(value: T) -> Self {
        Self(Box::new(value))
    }
}

fn value<T: 'static>(held: &dyn Comparable) -> &T {
    (held as &dyn Any).downcast_ref().expect("the handle knows the type")
}

fn value_mut<T: 'static>(held: &mut dyn Comparable) -> &mut T {
    (held as &mut dyn Any).downcast_mut().expect("the handle knows the type")
}

/// What is done with the value that is looked at. As with [`Derive`], less code than a `dyn FnMut`.
trait See {
    fn see(&mut self, held: &dyn Comparable);
}

impl<F: FnMut(&dyn Comparable)> See for F {
    fn see(&mut self, held: &dyn Comparable) {
        self(held);
    }
}

/// What is done to a value; says whether to tell those who have read it.
trait Edit {
    fn edit(&mut self, held: &mut dyn Comparable) -> bool;
}

impl<F: FnMut(&mut dyn Comparable) -> bool> Edit for F {
    fn edit(&mut self, held: &mut dyn Comparable) -> bool {
        self(held)
    }
}

/// How a signal is looked at: the value is not there when the owner of the signal has been cleaned up.
trait Look {
    fn look(&self, tracked: bool, see: &mut dyn See);
}

impl Look for RwSignal<Held> {
    fn look(&self, tracked: bool, see: &mut dyn See) {
        let mut see = |held: &Held| see.see(&*held.0);
        let see: &mut dyn FnMut(&Held) = &mut see;
        if tracked {
            self.try_with(see)
        } else {
            self.try_with_untracked(see)
        };
    }
}

impl Look for ArcRwSignal<Held> {
    fn look(&self, _: bool, see: &mut dyn See) {
        self.with_untracked(|held| see.see(&*held.0));
    }
}

impl Look for Memo<Held> {
    fn look(&self, tracked: bool, see: &mut dyn See) {
        let mut see = |held: &Held| see.see(&*held.0);
        let see: &mut dyn FnMut(&Held) = &mut see;
        if tracked {
            self.try_with(see)
        } else {
            self.try_with_untracked(see)
        };
    }
}

fn try_look<T: 'static, U>(signal: &dyn Look, tracked: bool, read: impl FnOnce(&T) -> U) -> Option<U> {
    let (mut read, mut seen) = (Some(read), None);
    signal.look(tracked, &mut |held: &dyn Comparable| seen = read.take().map(|read| read(value(held))));
    seen
}

fn look<T: 'static, U>(signal: &dyn Look, tracked: bool, read: impl FnOnce(&T) -> U) -> U {
    try_look(signal, tracked, read).expect("the signal is there as long as its owner")
}

fn change(signal: RwSignal<Held>, edit: &mut dyn Edit) {
    signal.try_maybe_update(|held| (edit.edit(&mut *held.0), ()));
}

fn change_shared(signal: &ArcRwSignal<Held>, edit: &mut dyn Edit) {
    signal.try_maybe_update(|held| (edit.edit(&mut *held.0), ()));
}

/// Puts the value in; says whether it differs from the old one.
fn replace<T: PartialEq + 'static>(held: &mut dyn Comparable, new: &mut Option<T>) -> bool {
    let old = value_mut::<T>(held);
    match new.take() {
        Some(new) if *old != new => {
            *old = new;
            true
        }
        _ => false,
    }
}

/// A value that views follow.
pub struct State<T>(RwSignal<Held>, PhantomData<fn() -> T>);

/// The same, with as many owners as there are clones.
pub struct SharedState<T>(ArcRwSignal<Held>, PhantomData<fn() -> T>);

/// A value that follows from others.
pub struct Derived<T>(Memo<Held>, PhantomData<fn() -> T>);

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for State<T> {}

impl<T> Clone for Derived<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Derived<T> {}

impl<T> Clone for SharedState<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

fn new_signal(held: Held) -> RwSignal<Held> {
    RwSignal::new(held)
}

impl<T: PartialEq + Send + Sync + 'static> State<T> {
    pub fn new(value: T) -> Self {
        Self(new_signal(Held::new(value)), PhantomData)
    }

    pub fn with<U>(&self, read: impl FnOnce(&T) -> U) -> U {
        look(&self.0, true, read)
    }

    pub fn with_untracked<U>(&self, read: impl FnOnce(&T) -> U) -> U {
        look(&self.0, false, read)
    }

    pub fn track(&self) {
        self.0.track();
    }

    /// Tells everybody, even when the value is the same.
    pub fn set(&self, value: T) {
        self.update(|old| *old = value);
    }

    /// Tells only when the value differs, so that nothing is drawn twice.
    pub fn put(&self, value: T) {
        let mut value = Some(value);
        change(self.0, &mut |held: &mut dyn Comparable| replace(held, &mut value));
    }

    /// Changes the value in its place, if it is still there.
    pub fn update(&self, edit: impl FnOnce(&mut T)) {
        let mut edit = Some(edit);
        change(self.0, &mut |held: &mut dyn Comparable| {
            if let Some(edit) = edit.take() {
                edit(value_mut(held));
            }
            true
        });
    }
}

impl<T: Clone + PartialEq + Send + Sync + 'static> State<T> {
    pub fn get(&self) -> T {
        self.with(T::clone)
    }

    pub fn get_untracked(&self) -> T {
        self.with_untracked(T::clone)
    }

    pub fn try_get_untracked(&self) -> Option<T> {
        try_look(&self.0, false, T::clone)
    }
}

impl<T: PartialEq + Send + Sync + 'static> SharedState<T> {
    pub fn new(value: T) -> Self {
        Self(ArcRwSignal::new(Held::new(value)), PhantomData)
    }

    pub fn with_untracked<U>(&self, read: impl FnOnce(&T) -> U) -> U {
        look(&self.0, false, read)
    }

    pub fn put(&self, value: T) {
        let mut value = Some(value);
        change_shared(&self.0, &mut |held: &mut dyn Comparable| replace(held, &mut value));
    }
}

impl<T> From<SharedState<T>> for State<T> {
    fn from(shared: SharedState<T>) -> Self {
        Self(shared.0.into(), PhantomData)
    }
}

impl<T: PartialEq + Send + Sync + 'static> Derived<T> {
    pub fn with<U>(&self, read: impl FnOnce(&T) -> U) -> U {
        look(&self.0, true, read)
    }
}

impl<T: Clone + PartialEq + Send + Sync + 'static> Derived<T> {
    pub fn get(&self) -> T {
        self.with(T::clone)
    }

    pub fn get_untracked(&self) -> T {
        look(&self.0, false, T::clone)
    }
}

/// Runs at once, and again when a signal that it reads has changed.
pub fn effect(run: impl Fn() + 'static) {
    effect_of(Box::new(run));
}

fn effect_of(run: Box<dyn Derive<()>>) {
    Effect::new(move |_| run.derive());
}

/// A value that is derived anew when what it reads changes, and tells only when it differs then.
pub fn memo<T: PartialEq + Send + Sync + 'static>(derive: impl Fn() -> T + Send + Sync + 'static) -> Derived<T> {
    Derived(memo_of(Box::new(move || Held::new(derive()))), PhantomData)
}

fn memo_of(derive: Box<dyn Derive<Held> + Send + Sync>) -> Memo<Held> {
    Memo::new(move |_| derive.derive())
}
