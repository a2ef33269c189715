//! Files that come with the page, from its own origin.

use js_sys::{Function, Promise, Reflect};
use leptos::prelude::{document, window};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Url;

/// Why a file did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The server has none of this name.
    NotThere,
    /// The server answered with this status.
    Status(u16),
    NoNetwork,
    TooLarge,
}

/// The text of a file, given by its place beside the page; nothing from another origin, and no more than so many bytes.
pub async fn read_beside(place: &str, most: usize) -> Result<String, Missing> {
    let base = document().base_uri().ok().flatten().unwrap_or_default();
    let url = match (Url::new_with_base(place, &base), Url::new(&base)) {
        (Ok(url), Ok(here)) if url.origin() == here.origin() => url,
        _ => return Err(Missing::NotThere),
    };
    let answer = JsFuture::from(window().fetch_with_str(&url.href())).await.map_err(|_| Missing::NoNetwork)?;
    let status = part(&answer, "status").as_f64().unwrap_or(0.0) as u16;
    match status {
        200 => {}
        404 | 410 => return Err(Missing::NotThere),
        other => return Err(Missing::Status(other)),
    }
    let read: Function = part(&answer, "text").dyn_into().map_err(|_| Missing::NoNetwork)?;
    let promise: Promise = read.call0(&answer).and_then(JsCast::dyn_into).map_err(|_| Missing::NoNetwork)?;
    let text = JsFuture::from(promise).await.ok().and_then(|it| it.as_string()).ok_or(Missing::NoNetwork)?;
    if text.len() > most { Err(Missing::TooLarge) } else { Ok(text) }
}

fn part(of: &JsValue, name: &str) -> JsValue {
    Reflect::get(of, &name.into()).unwrap_or_default()
}
