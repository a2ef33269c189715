//! Any command at all.
#![allow(dead_code)]

use loopscope_engine::api::{Kind, Labels};
use loopscope_engine::apiserver::{PatchType, Propagation};
use loopscope_engine::environment::{Behavior, Load, Shape};
use loopscope_engine::gitops::{Edit, Ignored, Preset, Settings};
use loopscope_engine::world::{
    Ask, Command, GitDeed, IacDeed, Mishap, NodeSetup, RoomSetting, Server, Subject, Switch, Target, Type,
};
use proptest::prelude::*;
use serde_json::Value;

/// The longest span that a command may name.
const LONGEST_MS: u64 = 100 * 365 * 24 * 3_600_000;

fn name() -> impl Strategy<Value = String> {
    "[a-z0-9]([-a-z0-9.]{0,12}[a-z0-9])?"
}

/// Anything at all, with what is special to a shell and to here-documents among it.
pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ -~\\n\\t]{0,40}",
        Just("---\nkind: Pod\nEOF\n---\n".to_string()),
        Just("--it's \"so\" \\ $HOME `x` <<EOF | -n".to_string()),
        Just(String::new()),
    ]
}

fn subject_target() -> impl Strategy<Value = Target> {
    (prop::sample::select(Kind::ALL.to_vec()), name(), name(), any::<bool>()).prop_map(|(kind, place, name, usual)| {
        let namespace = match kind.is_namespaced() {
            true if usual => "default".into(),
            true => place,
            false => String::new(),
        };
        Target { kind, namespace, name }
    })
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..4).prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

fn behavior() -> impl Strategy<Value = Behavior> {
    let times = (0..LONGEST_MS, 0..100_000_u64, prop::option::of(0..100_000_u64), 0..100_000_u64, 0..100_000_u64);
    let ends = (
        prop::option::of((0..1_000_000_u64, any::<i32>())),
        prop::option::of((0..9_000_u64, 0..9_000_u64)),
        prop::option::of(0..9_000_u64),
    );
    (times, ends, any::<[bool; 5]>()).prop_map(|((pull_ms, start_ms, serve_ms, stop_ms, hook_ms), ends, switches)| {
        let (exit, lapse, hang_ms) = ends;
        let [is_missing, exits_once, is_oom, ignores_term, tells_ready] = switches;
        Behavior {
            pull_ms,
            start_ms,
            serve_ms,
            stop_ms,
            hook_ms,
            exit,
            lapse,
            hang_ms,
            is_missing,
            exits_once,
            is_oom,
            ignores_term,
            tells_ready,
        }
    })
}

fn load() -> impl Strategy<Value = Load> {
    let amount = || 0..Load::MOST;
    let ms = || 0..Load::LONGEST_MS;
    let shape = prop_oneof![
        amount().prop_map(|amount| Shape::Steady { amount }),
        (amount(), amount(), ms()).prop_map(|(from, to, over_ms)| Shape::Ramp { from, to, over_ms }),
        (amount(), amount(), ms()).prop_map(|(low, high, period_ms)| Shape::Wave { low, high, period_ms }),
        prop::collection::vec((ms(), amount()), 1..9).prop_map(|points| Shape::Drawn { points }),
    ];
    let capacity = prop::option::of(amount());
    (shape, 0..Load::MOST_COST, capacity).prop_map(|(shape, cost_micro, capacity)| Load { shape, cost_micro, capacity })
}

fn subject() -> impl Strategy<Value = Subject> {
    prop_oneof![
        text().prop_map(Subject::Image),
        (name(), name()).prop_map(|(namespace, name)| Subject::Pod { namespace, name }),
        name().prop_map(|name| Subject::Pod { namespace: String::new(), name }),
    ]
}

fn node() -> impl Strategy<Value = NodeSetup> {
    let labels = prop::collection::vec((name(), name()), 0..3);
    let ready_ms = prop::option::of(0..100_000_u64);
    (name(), text(), text(), any::<u32>(), labels, ready_ms).prop_map(|(name, cpu, memory, pods, labels, ready_ms)| {
        let labels: Labels = labels.into_iter().collect();
        NodeSetup { name, cpu, memory, pods, labels, ready_ms }
    })
}

/// A request that has no command of its own.
fn ask() -> impl Strategy<Value = Ask> {
    let types = prop::sample::select(vec![PatchType::Merge, PatchType::Strategic, PatchType::Json]);
    let grace = || prop::option::of(any::<i64>());
    prop_oneof![
        json().prop_map(|object| Ask::Create { object }),
        json().prop_map(|object| Ask::Update { object }),
        (subject_target(), any::<i32>()).prop_map(|(target, replicas)| Ask::Scale { target, replicas }),
        (subject_target(), types, json()).prop_map(|(target, kind, patch)| Ask::Patch { target, kind, patch }),
        (name(), json()).prop_map(|(namespace, object)| Ask::Apply { namespace, object }),
        (name(), json(), any::<bool>()).prop_map(|(namespace, object, force)| Ask::ServerSideApply {
            namespace,
            object,
            force
        }),
        (subject_target(), propagation(), grace()).prop_map(|(target, propagation, grace)| Ask::Delete {
            target,
            propagation,
            grace
        }),
        (subject_target(), grace()).prop_map(|(target, grace)| Ask::Evict { target, grace }),
    ]
}

fn request() -> impl Strategy<Value = Command> {
    let types = prop::sample::select(vec![PatchType::Merge, PatchType::Strategic, PatchType::Json]);
    let on = any::<bool>;
    prop_oneof![
        text().prop_map(|manifest| Command::Apply { manifest }),
        text().prop_map(|manifest| Command::Replace { manifest }),
        (subject_target(), any::<i32>()).prop_map(|(target, replicas)| Command::Scale { target, replicas }),
        (subject_target(), name(), text()).prop_map(|(target, container, image)| Command::SetImage {
            target,
            container,
            image
        }),
        (subject_target(), any::<i64>()).prop_map(|(target, to_revision)| Command::Rollback { target, to_revision }),
        (subject_target(), on()).prop_map(|(target, on)| Command::Pause { target, on }),
        subject_target().prop_map(|target| Command::Restart { target }),
        (subject_target(), types, json()).prop_map(|(target, kind, patch)| Command::Patch { target, kind, patch }),
        (subject_target(), propagation(), prop::option::of(any::<i64>()))
            .prop_map(|(target, propagation, grace)| Command::Delete { target, propagation, grace }),
        (text(), ask()).prop_map(|(manager, ask)| Command::Request { manager, ask }),
        subject_target().prop_map(|target| Command::Evict { target }),
        git().prop_map(|deed| Command::Git { deed }),
        iac().prop_map(|deed| Command::Iac { deed }),
        (name(), on()).prop_map(|(node, on)| Command::Cordon { node, on }),
    ]
}

fn git() -> impl Strategy<Value = GitDeed> {
    let edit = (name(), prop::option::of(text())).prop_map(|(path, text)| Edit { path, text });
    let ignored = (name(), name()).prop_map(|(kind, pointer)| Ignored { kind, pointer: format!("/{pointer}") });
    let settings = (any::<[bool; 7]>(), 1_000..LONGEST_MS, prop::collection::vec(ignored, 0..3));
    prop_oneof![
        (text(), text(), prop::collection::vec(edit, 0..4)).prop_map(|(author, message, edits)| GitDeed::Commit {
            author,
            message,
            edits
        }),
        (text(), text()).prop_map(|(author, commit)| GitDeed::Revert { author, commit }),
        settings.prop_map(
            |([is_flux, automated, prune, self_heal, allow_empty, webhook, respect_ignored], interval_ms, ignored)| {
                let preset = Preset::ALL[usize::from(is_flux)];
                GitDeed::Set {
                    settings: Settings {
                        preset,
                        automated,
                        prune,
                        self_heal,
                        allow_empty,
                        webhook,
                        interval_ms,
                        ignored,
                        respect_ignored,
                    },
                }
            }
        ),
        Just(GitDeed::Refresh),
        any::<bool>().prop_map(|prune| GitDeed::Sync { prune }),
        text().prop_map(|commit| GitDeed::Rollback { commit }),
    ]
}

fn iac() -> impl Strategy<Value = IacDeed> {
    let pairs = || prop::collection::vec(("[a-z_]{1,9}", text()), 0..3);
    prop_oneof![
        text().prop_map(|text| IacDeed::Write { text }),
        any::<bool>().prop_map(|refresh_only| IacDeed::Plan { refresh_only }),
        (any::<bool>(), any::<bool>(), text()).prop_map(|(refresh_only, approved, who)| IacDeed::Apply {
            refresh_only,
            approved,
            who
        }),
        any::<bool>().prop_map(|yes| IacDeed::Answer { yes }),
        (text(), text()).prop_map(|(address, id)| IacDeed::Import { address, id }),
        text().prop_map(|id| IacDeed::ForceUnlock { id }),
        (text(), pairs()).prop_map(|(kind, attributes)| IacDeed::CloudCreate { kind, attributes }),
        (text(), pairs()).prop_map(|(id, attributes)| IacDeed::CloudSet { id, attributes }),
        text().prop_map(|id| IacDeed::CloudDelete { id }),
        (0..LONGEST_MS, any::<bool>()).prop_map(|(every_ms, applies)| IacDeed::Schedule { every_ms, applies }),
        Just(IacDeed::Unschedule),
        (text(), any::<[i64; 3]>()).prop_map(|(id, [min, max, want])| IacDeed::CloudAutoscale { id, min, max, want }),
        (text(), any::<u64>()).prop_map(|(kind, most)| IacDeed::CloudQuota { kind, most }),
    ]
}

fn fault() -> impl Strategy<Value = Command> {
    let place = || prop_oneof![Just("default".to_string()), Just(String::new()), name()];
    prop_oneof![
        name().prop_map(|node| Command::StopNode { node }),
        name().prop_map(|node| Command::StartNode { node }),
        name().prop_map(|node| Command::CutNode { node }),
        name().prop_map(|node| Command::BreakNode { node }),
        name().prop_map(|node| Command::MendNode { node }),
        name().prop_map(|node| Command::HealNode { node }),
        node().prop_map(|node| Command::AddNode { node }),
        name().prop_map(|node| Command::RemoveNode { node }),
        (subject(), behavior()).prop_map(|(subject, behavior)| Command::SetBehavior { subject, behavior }),
        subject().prop_map(|subject| Command::RestoreBehavior { subject }),
        (place(), name(), any::<bool>()).prop_map(|(namespace, pod, ready)| Command::SetReady {
            namespace,
            pod,
            ready
        }),
        (place(), name(), name(), any::<i32>()).prop_map(|(namespace, pod, container, code)| {
            Command::CrashContainer { namespace, pod, container, code }
        }),
        (subject_target(), load()).prop_map(|(target, load)| Command::SetLoad { target, load }),
        subject_target().prop_map(|target| Command::StopLoad { target }),
        name().prop_map(|process| Command::StopController { process }),
        name().prop_map(|process| Command::StartController { process }),
        name().prop_map(|process| Command::CrashController { process }),
        (name(), any::<bool>()).prop_map(|(process, on)| Command::SetExpectations { process, on }),
    ]
}

/// What can be switched at programs.
fn switch() -> impl Strategy<Value = Command> {
    let switches =
        vec![Switch::EdgeTriggered, Switch::Relists, Switch::RetriesConflicts, Switch::Paused, Switch::WatchStalled];
    let mishaps = prop::sample::select(vec![Mishap::Drop, Mishap::Duplicate, Mishap::Reorder]);
    let of = prop::option::of(prop::sample::select(vec![Type::Added, Type::Modified, Type::Deleted]));
    let servers = prop_oneof![
        Just(Server::Up),
        Just(Server::Down),
        Just(Server::Refusing),
        (1..9_001_u64).prop_map(Server::Slow)
    ];
    let degrees = || -100_000..100_001_i32;
    let room = prop_oneof![
        degrees().prop_map(RoomSetting::Desired),
        (0..100_001_i32).prop_map(RoomSetting::Hysteresis),
        (1..101_u8).prop_map(RoomSetting::Step),
        any::<bool>().prop_map(RoomSetting::Window),
        degrees().prop_map(RoomSetting::Outside),
        (0..120_001_u64).prop_map(RoomSetting::Lag),
    ];
    prop_oneof![
        (name(), prop::sample::select(switches), any::<bool>()).prop_map(|(process, switch, on)| Command::SetSwitch {
            process,
            switch,
            on
        }),
        (name(), mishaps, any::<u32>(), of).prop_map(|(process, mishap, next, of)| Command::DisturbWatch {
            process,
            mishap,
            next,
            of
        }),
        name().prop_map(|process| Command::BreakWatch { process }),
        (name(), 0..u32::MAX).prop_map(|(process, requests)| Command::CrashAfter { process, requests }),
        servers.prop_map(|server| Command::SetServer { server }),
        (text(), any::<u32>(), prop::option::of(1..u32::MAX)).prop_map(|(by, count, crash_after)| Command::RunScript {
            by,
            count,
            crash_after
        }),
        room.prop_map(|setting| Command::SetRoom { setting }),
    ]
}

pub fn any_command() -> impl Strategy<Value = Command> {
    prop_oneof![request(), fault(), switch()]
}

fn propagation() -> impl Strategy<Value = Option<Propagation>> {
    prop::sample::select(vec![
        None,
        Some(Propagation::Background),
        Some(Propagation::Foreground),
        Some(Propagation::Orphan),
    ])
}
