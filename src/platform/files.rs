//! Files and links: what goes out of the page, what comes in, and the browser's own compression.

use js_sys::{Array, Function, Promise, Reflect, Uint8Array};
use leptos::prelude::{document, window};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    Blob, BlobPropertyBag, HtmlAnchorElement, HtmlCanvasElement, HtmlImageElement, ReadableStream,
    ReadableStreamDefaultReader, Url, WritableStream,
};

use super::dom::{address, pen};

/// Pixels of a picture for one of its own.
const SCALE: f64 = 2.0;

/// What follows the address's `#`.
pub fn hash() -> String {
    let hash = window().location().hash().unwrap_or_default();
    hash.strip_prefix('#').map_or_else(String::new, str::to_owned)
}

/// The address without what follows its `#`.
pub fn address_of_page() -> String {
    let href = address().map_or_else(String::new, |url| url.href());
    href.split('#').next().unwrap_or_default().to_owned()
}

/// Takes what follows the address's `#` away.
pub fn forget_hash() {
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address_of_page()));
    }
}

fn blob(parts: &JsValue, kind: &str) -> Option<Blob> {
    let options = BlobPropertyBag::new();
    options.set_type(kind);
    Blob::new_with_str_sequence_and_options(&Array::of1(parts), &options).ok()
}

/// A text as a file of this kind.
pub fn text_file(text: &str, kind: &str) -> Option<Blob> {
    blob(&text.into(), kind)
}

/// Lets the browser keep a file. Says whether it was asked to.
pub fn download(name: &str, file: &Blob) -> bool {
    let Ok(url) = Url::create_object_url_with_blob(file) else { return false };
    let link = document().create_element("a").ok().and_then(|it| it.dyn_into::<HtmlAnchorElement>().ok());
    let is_asked = link.is_some_and(|link| {
        link.set_href(&url);
        link.set_download(name);
        link.click();
        true
    });
    // The browser has read it by then.
    gloo_timers::callback::Timeout::new(10_000, move || drop(Url::revoke_object_url(&url))).forget();
    is_asked
}

/// A picture as a bitmap, which another page can show whatever its policy says of images.
pub async fn bitmap(svg: &str) -> Option<JsValue> {
    let canvas = draw(svg).await?;
    let promise = window().create_image_bitmap_with_html_canvas_element(&canvas).ok()?;
    JsFuture::from(promise).await.ok()
}

/// A picture as PNG.
pub async fn png(svg: &str) -> Option<Blob> {
    let canvas = draw(svg).await?;
    let promise = Promise::new(&mut |resolve: Function, _| drop(canvas.to_blob(&resolve)));
    JsFuture::from(promise).await.ok()?.dyn_into().ok()
}

async fn draw(svg: &str) -> Option<HtmlCanvasElement> {
    let file = text_file(svg, "image/svg+xml")?;
    let url = Url::create_object_url_with_blob(&file).ok()?;
    let image = HtmlImageElement::new().ok()?;
    image.set_src(&url);
    let decoded = JsFuture::from(image.decode()).await;
    let _ = Url::revoke_object_url(&url);
    decoded.ok()?;
    let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.dyn_into().ok()?;
    let size = (f64::from(image.natural_width()) * SCALE, f64::from(image.natural_height()) * SCALE);
    canvas.set_width(size.0 as u32);
    canvas.set_height(size.1 as u32);
    pen(&canvas)?.draw_image_with_html_image_element_and_dw_and_dh(&image, 0.0, 0.0, size.0, size.1).ok()?;
    Some(canvas)
}

/// Compressed as raw deflate; nothing where the browser cannot.
pub async fn deflate(text: &str) -> Option<Vec<u8>> {
    through("CompressionStream", text.as_bytes(), usize::MAX).await
}

/// The other way; reads no further than `most` and a little. Nothing where it is not deflated.
pub async fn inflate(bytes: &[u8], most: usize) -> Option<Vec<u8>> {
    through("DecompressionStream", bytes, most).await
}

/// Through one of the browser's streams, which web-sys counts among what may yet change.
async fn through(class: &str, bytes: &[u8], most: usize) -> Option<Vec<u8>> {
    let class: Function = Reflect::get(&window(), &class.into()).ok()?.dyn_into().ok()?;
    let stream = Reflect::construct(&class, &Array::of1(&"deflate-raw".into())).ok()?;
    let end = |name: &str| Reflect::get(&stream, &name.into()).ok();
    let writable: WritableStream = end("writable")?.dyn_into().ok()?;
    let readable: ReadableStream = end("readable")?.dyn_into().ok()?;
    let writer = writable.get_writer().ok()?;
    let chunk = Uint8Array::from(bytes);
    ignore(writer.write_with_chunk(&chunk).into());
    ignore(writer.close().into());
    let reader: ReadableStreamDefaultReader = readable.get_reader().unchecked_into();
    let mut out = Vec::new();
    loop {
        let step: JsValue = JsFuture::from(reader.read()).await.ok()?;
        if Reflect::get(&step, &"done".into()).ok()?.is_truthy() {
            return Some(out);
        }
        let piece: Uint8Array = Reflect::get(&step, &"value".into()).ok()?.dyn_into().ok()?;
        out.extend(piece.to_vec());
        if out.len() > most {
            ignore(reader.cancel().into());
            return Some(out);
        }
    }
}

/// What went wrong shows where it is read.
fn ignore(promise: JsValue) {
    let promise: Promise = promise.unchecked_into();
    spawn_local(async move {
        let _ = JsFuture::from(promise).await;
    });
}
