use web_sys::HtmlDialogElement;

use crate::ui::{At, State, effect};

/// A modal dialog that follows a state.
pub fn sheet(open: State<bool>) -> At<HtmlDialogElement> {
    let dialog = At::<HtmlDialogElement>::new();
    effect(move || {
        if let Some(dialog) = dialog.get() {
            match open.get() {
                true if !dialog.open() => drop(dialog.show_modal()),
                true => {}
                false => dialog.close(),
            }
        }
    });
    dialog
}
