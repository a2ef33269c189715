//! What programs read that make an embed from a link: a description of each world, and a picture of it.

use std::fs;
use std::path::Path;

use loopscope_engine::export::{MapPicture, picture};
use loopscope_engine::lesson::{self, Lesson};
use loopscope_engine::sim::Time;
use loopscope_engine::view::{self, MapLook};
use loopscope_engine::world::{Scenario, Simulation};
use serde_json::{Value, json};

/// Stands for the address of the site, which the build puts in its place.
const SITE: &str = "https://loopscope.example/";
/// Size of the frame that is proposed, in CSS pixels.
const FRAME: (u32, u32) = (720, 640);
/// By then a world has something to show.
const SEEN_AT: Time = Time(30_000);

/// A world that an embed can show.
pub struct World {
    id: String,
    title: String,
    simulation: Simulation,
}

impl World {
    /// Those that need no file, and the lessons of a folder.
    pub fn all(lessons: &[(String, Lesson)]) -> Result<Vec<Self>, String> {
        let own = Scenario::CATALOG
            .iter()
            .map(|it| Ok(Self { id: it.id.into(), title: it.name.into(), simulation: Simulation::new((it.begin)()) }));
        let others = lessons.iter().filter(|(id, _)| Scenario::called(id).is_none()).map(|(id, lesson)| {
            Ok(Self { id: id.clone(), title: lesson.title.clone(), simulation: lesson::open(lesson)? })
        });
        own.chain(others).collect()
    }
}

/// Writes `<id>.json` and, where there are nodes to draw, `<id>.svg`. `sprite` has the page's symbols.
pub fn write(worlds: Vec<World>, sprite: &str, folder: &Path) -> Result<(), String> {
    for World { id, title, mut simulation } in worlds {
        simulation.run_until(SEEN_AT.max(simulation.now()), usize::MAX);
        let svg = still(&simulation, sprite);
        let description = describe(&id, &title, svg.as_deref());
        put(&folder.join(format!("{id}.json")), &format!("{description:#}\n"))?;
        if let Some(svg) = svg {
            put(&folder.join(format!("{id}.svg")), &svg)?;
        }
    }
    Ok(())
}

fn put(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

fn still(simulation: &Simulation, sprite: &str) -> Option<String> {
    let map = view::map(simulation, MapLook::default());
    if map.nodes.is_empty() {
        return None;
    }
    let summary = view::summary(simulation);
    Some(picture(&MapPicture { simulation, map: &map, summary: &summary, sprite, is_dark: false }))
}

fn describe(id: &str, title: &str, svg: Option<&str>) -> Value {
    let title = format!("Loopscope: {title}");
    let (width, height) = FRAME;
    let view = if svg.is_some() { "loop,map" } else { "loop" };
    let html = format!(
        "<iframe src=\"{SITE}?embed=1&amp;s={id}&amp;view={view}\" title=\"{title}\" width=\"{width}\" height=\"{height}\" \
         loading=\"lazy\" sandbox=\"allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox \
         allow-downloads\" allow=\"clipboard-write; fullscreen\" referrerpolicy=\"strict-origin-when-cross-origin\"></iframe>",
    );
    let mut all = json!({
        "version": "1.0", "type": "rich", "title": title, "provider_name": "Loopscope", "provider_url": SITE,
        "width": width, "height": height, "html": html,
    });
    if let Some((width, height)) = svg.and_then(size) {
        all["thumbnail_url"] = format!("{SITE}oembed/{id}.svg").into();
        all["thumbnail_width"] = width.into();
        all["thumbnail_height"] = height.into();
    }
    all
}

/// Width and height as the picture itself says them.
fn size(svg: &str) -> Option<(u32, u32)> {
    let number = |name: &str| svg.split_once(&format!(" {name}=\""))?.1.split('"').next()?.parse().ok();
    Some((number("width")?, number("height")?))
}
