use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

type OnFrame = Closure<dyn FnMut(f64)>;

struct Loop {
    request: Cell<Option<i32>>,
    closure: RefCell<Option<OnFrame>>,
}

impl Loop {
    fn request(&self) {
        let closure = self.closure.borrow();
        if let (Some(window), Some(closure)) = (web_sys::window(), closure.as_ref()) {
            self.request.set(window.request_animation_frame(closure.as_ref().unchecked_ref()).ok());
        }
    }

    fn cancel(&self) {
        if let (Some(id), Some(window)) = (self.request.take(), web_sys::window()) {
            let _ = window.cancel_animation_frame(id);
        }
    }
}

/// A loop of animation frames that can be stopped; stopped at first, and for good when dropped.
pub struct Raf(Rc<Loop>);

impl Raf {
    /// `on_frame` is given the wall time in milliseconds, and says whether it wants another frame.
    pub fn new(mut on_frame: impl FnMut(f64) -> bool + 'static) -> Self {
        let inner = Rc::new(Loop { request: Cell::new(None), closure: RefCell::new(None) });
        let weak = Rc::downgrade(&inner);
        let closure = Closure::new(move |wall: f64| {
            let Some(inner) = weak.upgrade() else { return };
            inner.request.set(None);
            if on_frame(wall) && inner.request.get().is_none() {
                inner.request();
            }
        });
        inner.closure.replace(Some(closure));
        Self(inner)
    }

    pub fn start(&self) {
        if self.0.request.get().is_none() {
            self.0.request();
        }
    }

    pub fn stop(&self) {
        self.0.cancel();
    }
}

impl Drop for Raf {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
