use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// A value that is copied only when it is changed: until then copies share it.
#[derive(Debug)]
pub struct OnWrite<T>(Rc<T>);

impl<T> OnWrite<T> {
    pub fn new(value: T) -> Self {
        Self(Rc::new(value))
    }
}

/// What is shared to be changed: copied where anybody else holds it. As `Rc::make_mut`, for where nobody mostly does.
#[inline(always)]
pub(super) fn own<T: Clone>(shared: &mut Rc<T>) -> &mut T {
    if Rc::strong_count(shared) != 1 {
        part(shared);
    }
    Rc::get_mut(shared).expect("nobody else holds it")
}

#[cold]
#[inline(never)]
fn part<T: Clone>(shared: &mut Rc<T>) {
    *shared = Rc::new(T::clone(shared));
}

impl<T: Clone> OnWrite<T> {
    /// Where no copy shares it yet: lets go of room for more than there is, which copies would hold on to.
    pub fn settle(&mut self) {
        if Rc::strong_count(&self.0) == 1 {
            self.0 = Rc::new(T::clone(&self.0));
        }
    }
}

impl<T> Clone for OnWrite<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T: Default> Default for OnWrite<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: PartialEq> PartialEq for OnWrite<T> {
    fn eq(&self, other: &Self) -> bool {
        *self.0 == *other.0
    }
}

impl<T> Deref for OnWrite<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for OnWrite<T> {
    fn deref_mut(&mut self) -> &mut T {
        own(&mut self.0)
    }
}
