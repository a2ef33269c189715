use leptos::task::{spawn_local, tick};
use loopscope_engine::api::Uid;
use loopscope_engine::view::MapView;

use super::{Pace, Session};
use crate::platform::{self, Spot};

/// When time passes faster than so many times real time, pods are simply there.
const FASTEST: f64 = 4.0;

/// Pods that have been bound since the map was last drawn, and where each of them stood without a node.
pub struct Moves(Vec<(String, Spot)>);

impl Moves {
    /// To be asked for before the map is drawn anew.
    pub fn begin(session: Session, map: &MapView) -> Self {
        let board = session.board;
        let is_fast = matches!(session.pace(), Pace::Times(factor) if factor > FASTEST);
        let is_list = board.table.get_untracked() || session.look().by_owner;
        if is_fast || is_list || map.is_crowd || board.unscheduled.with_untracked(Vec::is_empty) {
            return Self(Vec::new());
        }
        let waiting = board.unscheduled.get_untracked();
        let is_placed = |uid: Uid| map.nodes.iter().any(|node| node.pods.iter().any(|pod| pod.uid == uid));
        let moving = waiting.iter().filter(|pod| is_placed(pod.uid)).filter_map(|pod| {
            let selector = ["#map [data-uid='", pod.uid.to_string().as_str(), "']"].concat();
            Some((selector.clone(), platform::spot(&selector)?))
        });
        Self(moving.collect())
    }

    /// Lets each come from there, once it is drawn at its node.
    pub fn play(self) {
        if self.0.is_empty() || platform::wants_less_motion() {
            return;
        }
        spawn_local(async move {
            tick().await;
            self.0.iter().for_each(|(selector, from)| platform::slide(selector, *from));
        });
    }
}
