//! What goes out of the page: the moment as text and link, files, pictures.

use loopscope_engine::api::Kind;
use loopscope_engine::export::{MapPicture, chrome_trace, cluster_yaml, picture, trace_json};
use loopscope_engine::share::{Moment, write_journal_file, write_moment_file, write_scenario_file};
use loopscope_engine::view;
use loopscope_engine::world::Instant;

use super::Session;
use crate::platform;

/// What can be downloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Export {
    Moment,
    Scenario,
    Cluster,
    Journal,
    Trace,
    Perfetto,
    Svg,
    Png,
}

impl Export {
    pub const ALL: [(Export, &'static str, &'static str); 8] = [
        (Export::Moment, "Moment", "Everything: opens as you see it now"),
        (Export::Scenario, "Scenario", "How it began, as YAML to edit"),
        (Export::Cluster, "Cluster", "All objects as they are now, as kubectl prints them"),
        (Export::Journal, "Journal", "What you did, a command a line"),
        (Export::Trace, "Trace", "All kept events, as JSON"),
        (Export::Perfetto, "Trace for Perfetto", "Opens in ui.perfetto.dev"),
        (Export::Svg, "Picture, SVG", "The map, as large as you like"),
        (Export::Png, "Picture, PNG", "The map, as an image"),
    ];

    /// The end of a file's name, and what kind of file it is.
    fn kind(self) -> (&'static str, &'static str) {
        match self {
            Export::Moment => (".moment.txt", "text/plain"),
            Export::Scenario => (".scenario.yaml", "text/yaml"),
            Export::Cluster => (".cluster.yaml", "text/yaml"),
            Export::Journal => (".journal.txt", "text/plain"),
            Export::Trace => (".trace.json", "application/json"),
            Export::Perfetto => (".perfetto.json", "application/json"),
            Export::Svg => (".svg", "image/svg+xml"),
            Export::Png => (".png", "image/png"),
        }
    }
}

/// A name that every system takes for a file's.
fn file_name(scenario: &str, end: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = scenario.chars().take(40).map(letter).collect();
    let name = name.trim_matches('-');
    [if name.is_empty() { "loopscope" } else { name }, end].concat()
}

impl Session {
    /// The moment that is shown, or the beginning with all that was done still to come.
    pub fn moment(self, from_start: bool) -> Option<Moment> {
        self.with_core(|core| {
            let history = &core.history;
            let steps = history.branch(history.current())?.steps().to_vec();
            let selected = self.focus.selected.get_untracked();
            let scenario = core.sim().scenario().clone();
            let replay = from_start.then(|| history.way_to(history.current(), Instant::default())).flatten();
            let sim = replay.as_ref().map_or(core.sim(), |it| it.simulation());
            Some(Moment { scenario, steps, at: sim.instant(), selected, digest: sim.trace().digest() })
        })
        .flatten()
    }

    fn export_text(self, what: Export) -> Option<String> {
        let look = self.look();
        self.with_core(|core| {
            let sim = core.sim();
            let steps = core.history.branch(core.history.current())?.steps();
            Some(match what {
                Export::Moment => return None,
                Export::Scenario => write_scenario_file(sim.scenario()),
                Export::Cluster => cluster_yaml(sim),
                Export::Journal => write_journal_file(sim.scenario(), steps),
                Export::Trace => trace_json(sim),
                Export::Perfetto => chrome_trace(sim),
                Export::Svg | Export::Png => {
                    let (map, summary) = (view::map(sim, look), view::summary(sim));
                    let sprite = platform::sprite();
                    let is_dark = platform::theme_is_dark();
                    picture(&MapPicture { simulation: sim, map: &map, summary: &summary, sprite: &sprite, is_dark })
                }
            })
        })
        .flatten()
    }

    /// Lets the browser keep something as a file. Returns the file's name, or nothing where it could not be made.
    pub async fn export(self, what: Export) -> Option<String> {
        let text = match what {
            Export::Moment => write_moment_file(&self.moment(false)?),
            other => self.export_text(other)?,
        };
        let (end, kind) = what.kind();
        let name = file_name(&self.with_core(|core| core.sim().scenario().name.clone())?, end);
        let file = match what {
            Export::Png => platform::png(&text).await,
            _ => platform::text_file(&text, kind),
        };
        platform::download(&name, &file?).then_some(name)
    }

    /// The map as SVG, where there is something on it.
    pub fn picture_now(self) -> Option<String> {
        let has_nodes = self.with_core(|core| core.sim().api().objects().of_kind(Kind::Node).next().is_some());
        has_nodes.filter(|it| *it).and_then(|_| self.export_text(Export::Svg))
    }

    /// The scenario that is open.
    pub fn scenario_now(self) -> Option<loopscope_engine::world::Scenario> {
        self.with_core(|core| core.sim().scenario().clone())
    }
}
