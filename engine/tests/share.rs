//! What is handed on comes back as it was, and whatever else comes back is answered in words.

use std::io::{Read, Write};
use std::rc::Rc;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use loopscope_engine::api::{Kind, Object, ObjectKey};
use loopscope_engine::environment::Behavior;
use loopscope_engine::history::History;
use loopscope_engine::share::*;
use loopscope_engine::sim::Time;
use loopscope_engine::world::*;
use proptest::prelude::*;

#[path = "common/commands.rs"]
mod commands;

/// What a browser does with a text, and back, no further than the page reads.
fn deflate(text: &str) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    DeflateDecoder::new(bytes).take(MOST_BYTES as u64 + 1).read_to_end(&mut out).ok().map(|_| out)
}

fn link(moment: &Moment) -> String {
    let text = write_moment(moment);
    pack(&text, &deflate(&text))
}

fn open(link: &str) -> Result<Moment, Bad> {
    let (bytes, sum) = packed(link)?;
    read_moment(&unpack(inflate(&bytes), sum)?)
}

fn target(kind: Kind, name: &str) -> Target {
    Target { kind, namespace: "default".into(), name: name.into() }
}

fn pod_names(simulation: &Simulation) -> Vec<String> {
    let pods = simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod);
    pods.map(|it| it.metadata.name.to_string()).collect()
}

fn moment(history: &History, selected: Option<ObjectKey>) -> Moment {
    let steps = history.branch(history.current()).expect("it is there").steps().to_vec();
    let simulation = history.simulation();
    let scenario = simulation.scenario().clone();
    Moment { scenario, steps, at: simulation.instant(), selected, digest: simulation.trace().digest() }
}

/// Plays a moment as the page does, in pieces. Returns the history and what was refused.
fn play(moment: &Moment) -> (History, Vec<(usize, Outcome)>) {
    let (mut history, mut refused) =
        (History::of(moment.scenario.clone(), moment.steps.clone(), Instant::default()), Vec::new());
    while !history.run_to(moment.at, 100, &mut refused) {}
    (history, refused)
}

fn healed() -> History {
    let mut history = History::new(Scenario { seed: 7, ..Scenario::self_healing() });
    history.run_until(Time(10_000), usize::MAX);
    let pod = pod_names(history.simulation()).swap_remove(0);
    history.dispatch(Command::delete(target(Kind::Pod, &pod)));
    history.run_until(Time(12_345), usize::MAX);
    history.dispatch(Command::Scale { target: target(Kind::Deployment, "web"), replicas: 5 });
    history.run_until(Time(15_000), usize::MAX);
    history
}

#[test]
fn a_moment_is_the_same_world_elsewhere() {
    let mut history = healed();
    history.seek(Instant::end_of(Time(11_000)));
    let selected = Some(ObjectKey::new(Kind::Deployment, "default", "web"));
    let sent = moment(&history, selected);
    let read = open(&link(&sent)).expect("a link of ours");
    assert_eq!(read, sent);
    let (there, refused) = play(&read);
    assert_eq!((there.simulation().instant(), there.simulation().trace().digest()), (sent.at, sent.digest));
    assert!(refused.is_empty());
    assert_eq!(pod_names(there.simulation()), pod_names(history.simulation()));
    assert_eq!(there.pending().len(), 1, "what was done later is still to come");
    assert_eq!(read_file(&write_moment_file(&sent)), Ok(Handed::Moment(sent)));
}

#[test]
fn a_link_stays_short() {
    let mut history = healed();
    let five = link(&moment(&history, None)).len();
    assert!(five < 400, "{five}");
    for round in 0..98 {
        let until = Time(history.simulation().now().0 + 1_234);
        history.run_until(until, usize::MAX);
        history.dispatch(Command::Scale { target: target(Kind::Deployment, "web"), replicas: 3 + round % 5 });
    }
    let hundred = link(&moment(&history, None)).len();
    assert!(hundred < 1_400, "{hundred}");
}

#[test]
fn links_are_letters_of_an_address() {
    let link = link(&moment(&healed(), None));
    assert!(link.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it)), "{link}");
    assert!(is_link(&link));
}

#[test]
fn each_kind_of_bad_link_says_what_it_is() {
    let good = link(&moment(&healed(), None));
    let fault = |link: &str| open(link).expect_err("it is bad").fault;
    for short in [&good[..good.len() - 1], &good[..good.len() - 11], &good[..good.len() / 2], "1.abc", "1."] {
        assert_eq!(fault(short), Fault::Truncated, "{short}");
    }
    let (other, letter) = (good.len() / 2, good.as_bytes()[good.len() / 2]);
    let changed = [&good[..other], if letter == b'A' { "B" } else { "A" }, &good[other + 1..]].concat();
    assert_eq!(fault(&changed), Fault::Changed);
    assert_eq!(fault(&good.replace("1.", "1.ä")), Fault::Changed);
    assert_eq!(fault(&["2", &good[1..]].concat()), Fault::Newer);
    assert!(open("7.x.y").expect_err("newer").words.contains("version 7"));
    assert_eq!(fault("99999999999999.x"), Fault::Newer);
    assert_eq!(fault("0.x.y"), Fault::NotOurs);
    assert_eq!(fault("map"), Fault::NotOurs);
    assert_eq!(fault(&["1.", &"A".repeat(LONGEST_LINK), ".AAAAAAAAAAA"].concat()), Fault::TooLarge);
    // A bomb: a small link that holds much.
    let bomb = "a".repeat(8 * MOST_BYTES);
    let link = pack(&bomb, &deflate(&bomb));
    assert!(link.len() < LONGEST_LINK);
    assert_eq!(fault(&link), Fault::TooLarge);
}

/// A link with another text.
fn of_text(text: &str) -> Result<Moment, Bad> {
    open(&pack(text, &deflate(text)))
}

#[test]
fn what_is_wrong_inside_is_said_with_its_place_and_what_is_left() {
    let sent = moment(&healed(), None);
    let text = write_moment(&sent);
    let bad = of_text(&text.replace("kubectl scale", "kubectl stretch")).expect_err("no such command");
    assert_eq!(bad.fault, Fault::Unreadable);
    let line = 1 + text.lines().position(|it| it.contains("kubectl scale")).expect("it is there");
    assert!(bad.words.contains(&format!("line {line} ")) && bad.words.contains("kubectl stretch"), "{}", bad.words);
    assert_eq!((bad.scenario.as_deref(), bad.steps.len()), (Some(&sent.scenario), 1));
    let bad = of_text(&text.replace("seed: 7", "seed: -7")).expect_err("no such seed");
    assert!(bad.words.contains("seed must be a whole number") && bad.scenario.is_none(), "{}", bad.words);
    let bad = of_text(&text.replace("Self-healing", "Self-made")).expect_err("no such scenario");
    assert!(bad.words.contains("Self-made"), "{}", bad.words);
    for (from, to) in [
        ("commands: 2", "commands: 3"),
        ("commands: 2", "commands: -1"),
        ("at: 15.000s", "at: 1.000s"),
        ("at: 15.000s", "at: 999999999.000s"),
        ("at: 15.000s", "at: soon"),
        ("state: ", "stage: "),
        ("12.345s kubectl", "2.345s kubectl"),
        ("12.345s kubectl", "999999999.345s kubectl"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let bad = of_text(&text.replacen(from, to, 1)).expect_err(to);
        assert_eq!((bad.fault, bad.scenario.is_some()), (Fault::Unreadable, true), "{to}: {}", bad.words);
    }
    let many = "16.000s node stop node-1\n".repeat(MOST_COMMANDS);
    let bad = of_text(&[text.as_str(), &many].concat()).expect_err("too many");
    assert!(bad.words.contains("more than 5000 commands"), "{}", bad.words);
}

#[test]
fn limits_of_a_scenario_are_held() {
    let text = |fields: &str| ["# Loopscope scenario 1\n", fields].concat();
    for (fields, words) in [
        ("nodes: [{name: a, cpu: many}]", "nodes[0]: cpu \"many\" of node \"a\" must be a positive quantity"),
        ("nodes: [{name: a}, {name: a}]", "two nodes a"),
        ("nodes: [{name: Ä}]", "nodes[0].name must be"),
        ("nodes: [{cpu: 4}]", "nodes[0].name must be"),
        ("nodes: [{name: a, kpu: 4}]", "the field nodes[0].kpu is not known"),
        ("nodes: 3", "nodes must be a list"),
        ("maxPods: 10001", "maxPods must be a whole number from 1 to 10000"),
        ("latency: {watch: 0}", "latency.watch must be a whole number from 1 to 60000"),
        ("resyncMs: 1", "resyncMs must be"),
        ("clientLimit: {qps: 0}", "clientLimit.qps must be"),
        ("epochMs: 99999999999999999", "epochMs must be"),
        ("behaviors: {'app:1': '--pull=3y'}", "behaviors.app:1: \"3y\" is no time"),
        ("behaviors: {'app:1': '--pul=3s'}", "behaviors.app:1: unknown flag: pul"),
        ("behaviors: {'app:1': --pull=99999999999999999s}", "is no time"),
        ("color: red", "the field color is not known"),
        ("name: [", "Line"),
        ("- a", "Fields are missing"),
        ("name: ''", "name must be a name of one line"),
    ] {
        let bad = read_file(&text(fields)).expect_err(fields);
        assert!(bad.words.contains(words), "{fields}: {}", bad.words);
    }
    let nodes: Vec<String> = (0..=MOST_NODES).map(|n| format!("- {{name: n{n}}}\n")).collect();
    let bad = read_file(&text(&["nodes:\n", &nodes.concat()].concat())).expect_err("too many");
    assert!(bad.words.contains("a list of at most 1000"), "{}", bad.words);
    let few = read_file(&text("seed: 3\nnodes: [{name: a, cpu: 2}]\nbehaviors: {'app:1': --pull=3s --missing}\n"));
    let Ok(Handed::Scenario(few)) = few else { panic!("{few:?}") };
    assert_eq!((few.seed, few.nodes.len(), few.nodes[0].cpu.as_str()), (3, 1, "2"));
    assert_eq!((few.behaviors.of("app:1").pull_ms, few.behaviors.of("app:1").is_missing), (3_000, true));
    assert_eq!((few.max_pods, few.latency), (Some(Scenario::MAX_PODS), Latency::default()));
}

#[test]
fn files_that_are_not_ours_or_not_whole_are_told_apart() {
    let sent = moment(&healed(), None);
    let file = write_moment_file(&sent);
    let fault = |text: &str| read_file(text).expect_err("it is bad").fault;
    for foreign in ["", "apiVersion: v1\nkind: Pod\n", "{}", "# Loopscope picture 1\n", "# Loopscope scenario\n", "\0"]
    {
        assert_eq!(fault(foreign), Fault::NotOurs, "{foreign}");
    }
    assert_eq!(fault(&file.replacen("moment 1", "moment 2", 1)), Fault::Newer);
    assert_eq!(fault(&file.replacen("replicas=5", "replicas=6", 1)), Fault::Changed);
    assert_eq!(fault(&file[..file.len() - 20]), Fault::Truncated);
    assert_eq!(fault(&"x".repeat(MOST_BYTES + 1)), Fault::TooLarge);
    let bad = read_file(&file[..file.len() - 20]).expect_err("it is cut");
    assert_eq!(bad.scenario.as_deref(), Some(&sent.scenario), "what can be read of it is offered");
    let bad = read_file("# Loopscope journal 1\n\n1.000s node stop node-1\r\n2.000s node explode node-1\n");
    let bad = bad.expect_err("no such command");
    assert!(bad.words.contains("line 4 ") && bad.steps.len() == 1, "{}", bad.words);
}

#[test]
fn a_command_that_no_longer_applies_is_told_and_the_rest_played() {
    let file =
        "# Loopscope journal 1\n5.000s kubectl delete pod/web-gone\n6.000s kubectl scale deployment/web --replicas=4\n";
    let Ok(Handed::Journal(steps)) = read_file(file) else { panic!("a journal") };
    let at = Instant::end_of(Time(30_000));
    let (history, refused) = play(&Moment { scenario: Scenario::self_healing(), steps, at, selected: None, digest: 0 });
    assert_eq!(refused.len(), 1);
    let (index, outcome) = &refused[0];
    assert!(*index == 0 && outcome.problems[0].message.contains("not found"), "{outcome:?}");
    assert_eq!(pod_names(history.simulation()).len(), 4);
}

/// What the vectors of version 1 were made from. `UPDATE_VECTORS=1` writes them, which is only right before a version is
/// out.
fn write_vectors(folder: &str) {
    let healed = healed();
    let web = Some(ObjectKey::new(Kind::Deployment, "default", "web"));
    let past = Moment { at: Instant { at: Time(9_000), commands: 0, nth: u32::MAX }, ..moment(&healed, web) };
    let mut own = Scenario::with_nodes(3, 2, "2", "4Gi");
    own.name = "One of my own".into();
    own.nodes[0].labels.insert("disk".into(), "ssd".into());
    own.behaviors.0.insert("app:1".into(), Behavior { is_missing: true, pull_ms: 9_000, ..Behavior::usual("app:1") });
    let mut history = History::new(own.clone());
    history.dispatch(Command::Apply { manifest: Scenario::self_healing().manifest });
    history.run_until(Time(5_000), usize::MAX);
    for command in [
        "node cut node-1",
        "kubectl patch deployment/web --type=json -p '[]'",
        "image nginx:1.27.3 behave --exit=1@3s --oom",
        "printf %s 'no line ends' | kubectl apply -f -",
        "kubectl delete deployment/web --cascade=orphan --grace-period=0",
        "controller expectations-off kube-controller-manager",
    ] {
        history.dispatch(command.parse().expect("a command"));
    }
    let nothing = moment(&History::new(Scenario::empty(1)), None);
    let vector = |it: &Moment| [link(it).as_str(), "\n", &write_moment(it)].concat();
    let all: Vec<String> =
        [nothing, moment(&healed, None), past.clone(), moment(&history, None)].iter().map(vector).collect();
    let write = |name: &str, text: &str| std::fs::write([folder, name].concat(), text).expect("it can be written");
    write("v1.txt", &all.join("\n====\n"));
    write("v1-scenario.yaml", &write_scenario_file(&own));
    let steps = history.branch(history.current()).expect("it is there").steps().to_vec();
    write("v1-journal.txt", &write_journal_file(&Scenario::self_healing(), &steps));
    write("v1-moment.txt", &write_moment_file(&past));
}

/// Texts and links of version 1 as they were, with what they mean. They must be readable for ever.
#[test]
fn what_version_1_has_written_is_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/share/");
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        write_vectors(folder);
    }
    let vectors = std::fs::read_to_string([folder, "v1.txt"].concat()).expect("the vectors are there");
    let mut n = 0;
    for vector in vectors.split("\n====\n") {
        let (link, text) = vector.trim_end_matches('\n').split_once('\n').expect("a link and its text");
        let moment = open(link).unwrap_or_else(|bad| panic!("{link}: {bad:?}"));
        assert_eq!(write_moment(&moment).trim_end_matches('\n'), text);
        n += 1;
    }
    assert!(n >= 4, "{n}");
    for name in ["v1-scenario.yaml", "v1-journal.txt", "v1-moment.txt"] {
        let text = std::fs::read_to_string([folder, name].concat()).expect("it is there");
        let handed = read_file(&text).unwrap_or_else(|bad| panic!("{name}: {bad:?}"));
        let again = match &handed {
            Handed::Scenario(it) => write_scenario_file(it),
            Handed::Journal(it) => write_journal_file(&Scenario::self_healing(), it),
            Handed::Moment(it) => write_moment_file(it),
        };
        assert_eq!(again, text, "{name}");
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,8}", "[ -~äß\\t\\n'\"\\\\]{0,12}", any::<String>()]
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let node =
        (0..4_u32, "[1-9][0-9]{0,2}m?", "[1-9]{1,3}(Mi|Gi)", 0..200_u32, word(), prop::option::of(0..90_000_u64));
    let nodes = prop::collection::vec(node, 0..4).prop_map(|all| {
        let setup = |(at, (_, cpu, memory, pods, label, ready_ms)): (usize, (u32, String, String, u32, String, _))| {
            let labels = [("zone".to_owned(), label)].into();
            NodeSetup { pods, ready_ms, labels, ..NodeSetup::named(format!("n{at}"), &cpu, &memory) }
        };
        all.into_iter().enumerate().map(setup).collect::<Vec<_>>()
    });
    let pull = (word(), 0..9_999_999_u64, any::<[bool; 3]>());
    let rest = (nodes, word(), prop::collection::vec(pull, 0..3), 1..60_000_u64, any::<[bool; 4]>());
    (any::<u64>(), rest).prop_map(|(seed, (nodes, manifest, behaviors, phase, [healing, described, limited, told]))| {
        let mut base = if healing { Scenario::self_healing() } else { Scenario::empty(1) };
        base.seed = seed;
        if described {
            (base.nodes, base.manifest, base.latency.phase) = (nodes, manifest, phase);
            base.name = "One of my own".into();
            for (image, pull_ms, [is_missing, is_oom, exits]) in behaviors {
                let usual = Behavior::usual(&image);
                let exit = exits.then_some((pull_ms, 3));
                base.behaviors.0.insert(image, Behavior { pull_ms, is_missing, is_oom, exit, ..usual });
            }
        }
        base.client_limit = limited.then_some(ClientLimit { qps: 5, burst: 9 });
        base.resync_ms = told.then_some(30_000);
        base
    })
}

fn any_moment() -> impl Strategy<Value = Moment> {
    let steps = prop::collection::vec((0..5_000_u64, prop::option::of(0..9_u32), commands::any_command()), 0..12);
    (scenario(), steps, any::<u64>(), word(), 0..=12_usize).prop_map(|(scenario, steps, digest, name, n)| {
        let mut at = Time(0);
        let mut entry = |(later, nth, command)| {
            at = Time(at.0 + later);
            Rc::new(JournalEntry { at, nth, command })
        };
        let steps: Vec<Rc<JournalEntry>> = steps.into_iter().map(&mut entry).collect();
        let commands = n.min(steps.len());
        let here = commands.checked_sub(1).map_or(Time(0), |last| steps[last].at);
        let at = Instant { at: here, commands: commands as u32, nth: if n == 7 { u32::MAX } else { n as u32 } };
        let selected = Some(ObjectKey::new(Kind::Pod, "default", name.replace('\n', " ").as_str()));
        Moment { scenario, steps, at, selected, digest }
    })
}

/// Reading must end in an answer. What is read can be written and read again.
fn answers(text: &str) {
    if let Ok(moment) = read_moment(text) {
        assert_eq!(read_moment(&write_moment(&moment)), Ok(moment));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn moments_are_read_as_they_were_written(moment in any_moment()) {
        prop_assert_eq!(open(&link(&moment)), Ok(moment.clone()), "{}", write_moment(&moment));
        prop_assert_eq!(read_file(&write_moment_file(&moment)), Ok(Handed::Moment(moment.clone())));
        prop_assert_eq!(read_file(&write_scenario_file(&moment.scenario)), Ok(Handed::Scenario(moment.scenario.clone())));
        let file = write_journal_file(&moment.scenario, &moment.steps);
        prop_assert_eq!(read_file(&file), Ok(Handed::Journal(moment.steps)));
    }

    /// A link that was changed anywhere is not opened as another moment.
    #[test]
    fn mutated_links_are_answered(
        moment in any_moment(),
        at in any::<prop::sample::Index>(),
        letter in "[A-Za-z0-9_.ä-]?",
        cut in any::<bool>(),
    ) {
        let link = link(&moment);
        let at = at.index(link.len());
        let end = if cut { link.len() } else { at + 1 };
        let mutated = [&link[..at], &letter, &link[end..]].concat();
        match open(&mutated) {
            // Letters at an end have bits that mean nothing.
            Ok(read) => prop_assert_eq!(read, moment),
            Err(bad) => prop_assert!(!bad.words.is_empty()),
        }
    }

    /// The same for what a person might do to the text under the link, where no sum protects it.
    #[test]
    fn mutated_texts_are_answered(
        moment in any_moment(),
        at in any::<prop::sample::Index>(),
        n in 0..9_usize,
        piece in "[ -~\\n]{0,6}",
    ) {
        let text: Vec<char> = write_moment(&moment).chars().collect();
        let at = at.index(text.len());
        let end = (at + n).min(text.len());
        let mutated: String = text[..at].iter().copied().chain(piece.chars()).chain(text[end..].iter().copied()).collect();
        answers(&mutated);
        let _ = read_file(&["# Loopscope scenario 1\n", &mutated].concat());
        let _ = read_file(&["# Loopscope journal 1\n", &mutated].concat());
    }

    #[test]
    fn anything_is_answered(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        answers(&text);
        let _ = open(&text);
        let _ = open(&["1.", &text, ".AAAAAAAAAAA"].concat());
        let _ = read_file(&["# Loopscope ", &text].concat());
        let _ = unpack(inflate(&bytes), 0);
    }
}
