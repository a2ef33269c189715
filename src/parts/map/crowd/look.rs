//! The shapes of a crowd, drawn once for each theme and size.

use std::rc::Rc;

use leptos::prelude::document;
use loopscope_engine::view::{NodeClass, PodClass};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement, HtmlImageElement};

use super::grid::Sizes;
use crate::atoms::pod_tile;
use crate::platform;

/// The colours of the sheet's first row and of its second, as in `style/base.css`.
const PODS: [&str; 10] = [
    "--s-ready",
    "--s-completed",
    "--s-creating",
    "--s-notready",
    "--s-pending",
    "--s-terminating",
    "--s-unknown",
    "--s-bad",
    "--s-bad",
    "--s-bad",
];
const NODES: [&str; 4] = ["#node-ready", "#node-notready", "#node-unreachable", "#node-cordoned"];

/// What the sheet of styles says, for what no sheet can reach.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Colors {
    pods: [String; 10],
    pub ink: String,
    pub faint: String,
    pub rule: String,
    pub edge: String,
    pub family: String,
}

impl Colors {
    /// Reads them off an element that is not shown.
    pub fn read(probe: &HtmlElement) -> Option<Self> {
        let computed = web_sys::window()?.get_computed_style(probe).ok()??;
        let color = |token: &str| {
            let _ = probe.style().set_property("color", &["var(", token, ")"].concat());
            computed.get_property_value("color").unwrap_or_default()
        };
        Some(Self {
            pods: PODS.map(color),
            ink: color("--ink"),
            faint: color("--ink-2"),
            rule: color("--rule"),
            edge: color("--edge"),
            family: computed.get_property_value("font-family").unwrap_or_default(),
        })
    }
}

/// All shapes side by side: pods as large as a tile, below them pods and nodes as large as in a heading.
pub struct Sheet {
    canvas: HtmlCanvasElement,
    sizes: (i32, i32),
}

impl Sheet {
    /// Draws the sheet, and calls `done` once it is there.
    pub fn make(colors: &Colors, sizes: Sizes, done: Rc<dyn Fn(Sheet)>) -> Option<()> {
        let (tile, icon) = (sizes.tile, sizes.icon);
        let mut shapes = String::new();
        let mut add = |href: &str, color: &str, side: &str, column: usize, [x, y, size]: [i32; 3]| {
            let Some(symbol) = href.strip_prefix('#').and_then(|id| document().get_element_by_id(id)) else { return };
            let (x, y, size) = ((x + column as i32 * size).to_string(), y.to_string(), size.to_string());
            let inner = symbol.inner_html();
            shapes.push_str(
                &[
                    "<svg x='",
                    &x,
                    "' y='",
                    &y,
                    "' width='",
                    &size,
                    "' height='",
                    &size,
                    "' viewBox='0 0 ",
                    side,
                    " ",
                    side,
                    "' fill='none' color='",
                    color,
                    "'>",
                    &inner,
                    "</svg>",
                ]
                .concat(),
            );
        };
        for (column, class) in PodClass::ALL.into_iter().enumerate() {
            add(pod_tile(class), &colors.pods[column], "12", column, [0, 0, tile]);
            add(pod_tile(class), &colors.pods[column], "12", column, [0, tile, icon]);
        }
        for (column, href) in NODES.into_iter().enumerate() {
            add(href, &colors.ink, "24", column + PODS.len(), [0, tile, icon]);
        }
        let width = (PODS.len() as i32 * tile).max((PODS.len() + NODES.len()) as i32 * icon);
        let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.unchecked_into();
        canvas.set_width(width as u32);
        canvas.set_height((tile + icon) as u32);
        let (w, h) = (width.to_string(), (tile + icon).to_string());
        let text =
            ["<svg xmlns='http://www.w3.org/2000/svg' width='", &w, "' height='", &h, "'>", &shapes, "</svg>"].concat();
        let image = HtmlImageElement::new().ok()?;
        let loaded = {
            let image = image.clone();
            move || {
                if let Some(context) = platform::pen(&canvas) {
                    let _ = context.draw_image_with_html_image_element(&image, 0.0, 0.0);
                    done(Sheet { canvas, sizes: (tile, icon) });
                }
            }
        };
        image.set_onload(Some(Closure::once_into_js(loaded).unchecked_ref()));
        image.set_src(&["data:image/svg+xml,", &String::from(js_sys::encode_uri_component(&text))].concat());
        Some(())
    }

    /// Draws a pod's tile with its corner at a point.
    pub fn tile(&self, context: &CanvasRenderingContext2d, class: usize, x: i32, y: i32) {
        self.copy(context, class as i32 * self.sizes.0, 0, self.sizes.0, x, y);
    }

    /// Draws a pod's shape in a heading.
    pub fn icon(&self, context: &CanvasRenderingContext2d, class: PodClass, x: i32, y: i32) {
        self.copy(context, class as i32 * self.sizes.1, self.sizes.0, self.sizes.1, x, y);
    }

    /// Draws a node's shape in a heading.
    pub fn node(&self, context: &CanvasRenderingContext2d, class: NodeClass, x: i32, y: i32) {
        let column = PODS.len() as i32 + class as i32;
        self.copy(context, column * self.sizes.1, self.sizes.0, self.sizes.1, x, y);
    }

    fn copy(&self, context: &CanvasRenderingContext2d, from_x: i32, from_y: i32, size: i32, x: i32, y: i32) {
        let [from_x, from_y, size, x, y] = [from_x, from_y, size, x, y].map(f64::from);
        let _ = context.draw_image_with_html_canvas_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
            &self.canvas,
            from_x,
            from_y,
            size,
            size,
            x,
            y,
            size,
            size,
        );
    }
}
