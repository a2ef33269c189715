//! Names that are known only once it runs: `kubectl delete pod/{pod app=web}`.

use crate::api::{Kind, Labels, Name, Object, Pod};
use crate::sim::sort_by;
use crate::world::Simulation;

/// Reads `app=web,tier=front`.
pub fn read_labels(text: &str) -> Option<Labels> {
    let mut labels = Labels::new();
    for pair in text.split(',').filter(|it| !it.is_empty()) {
        let (key, value) = pair.split_once('=')?;
        labels.insert(key.trim().to_owned(), value.trim().to_owned());
    }
    Some(labels)
}

/// What may stand for a name.
enum Blank {
    /// The n-th pod with such labels by name, from 1; ready ones first.
    Pod(Labels, usize),
    Newest(Labels),
    Oldest(Labels),
    /// The node with most of such pods.
    Node(Labels),
}

/// The first blank of a line: what is before it, what it is, what follows.
fn first_blank(line: &str) -> Result<Option<(&str, Blank, &str)>, String> {
    let all = ["{pod ", "{newest ", "{oldest ", "{node "];
    let Some(at) = all.iter().filter_map(|it| line.find(it)).min() else { return Ok(None) };
    let (before, from) = line.split_at(at);
    let wrong = || ["\"", from, "\" is nothing that stands for a name: {pod app=web}"].concat();
    let (inside, after) = from.get(1..).unwrap_or_default().split_once('}').ok_or_else(wrong)?;
    let mut words = inside.split(' ').filter(|it| !it.is_empty());
    let what = words.next().unwrap_or_default();
    let labels = words.next().and_then(read_labels).filter(|it| !it.is_empty()).ok_or_else(wrong)?;
    let number = words.next().map(str::parse::<usize>);
    let blank = match (what, number) {
        ("pod", None) => Blank::Pod(labels, 1),
        ("pod", Some(Ok(n @ 1..))) => Blank::Pod(labels, n),
        ("newest", None) => Blank::Newest(labels),
        ("oldest", None) => Blank::Oldest(labels),
        ("node", None) => Blank::Node(labels),
        _ => return Err(wrong()),
    };
    Ok(Some((before, blank, after)))
}

/// Whether what stands for names in a line can be understood.
///
/// # Errors
/// What cannot.
pub fn check(line: &str) -> Result<String, String> {
    let (mut rest, mut sample) = (line.to_owned(), String::new());
    while let Some((before, _, after)) = first_blank(&rest)? {
        sample += before;
        sample += "name";
        rest = after.to_owned();
    }
    Ok(sample + &rest)
}

/// A line with names in it for what stands for them; nothing where there is no such pod now.
pub fn fill(line: &str, simulation: &Simulation) -> Option<String> {
    let (mut rest, mut filled) = (line.to_owned(), String::new());
    while let Some((before, blank, after)) = first_blank(&rest).ok()? {
        filled += before;
        filled += &name(&blank, simulation)?;
        rest = after.to_owned();
    }
    Some(filled + &rest)
}

fn name(blank: &Blank, simulation: &Simulation) -> Option<Name> {
    let (Blank::Pod(labels, _) | Blank::Newest(labels) | Blank::Oldest(labels) | Blank::Node(labels)) = blank;
    let is_meant =
        |pod: &&Pod| pod.is_active() && labels.iter().all(|(key, value)| pod.metadata.labels.get(key) == Some(value));
    let pods = simulation.api().objects().of_kind(Kind::Pod).filter_map(Object::as_pod).map(|it| &**it);
    let mut pods: Vec<&Pod> = pods.filter(is_meant).collect();
    sort_by(&mut pods, |a, b| (!a.is_ready(), &a.metadata.name).cmp(&(!b.is_ready(), &b.metadata.name)));
    let born = |pod: &&&Pod| pod.metadata.creation_timestamp;
    match blank {
        Blank::Pod(_, n) => pods.get(n - 1).map(|it| it.metadata.name.clone()),
        Blank::Newest(_) => pods.iter().max_by_key(born).map(|it| it.metadata.name.clone()),
        Blank::Oldest(_) => pods.iter().min_by_key(born).map(|it| it.metadata.name.clone()),
        Blank::Node(_) => {
            let on = |node: &Name| pods.iter().filter(|pod| pod.spec.node_name == *node).count();
            let nodes = simulation.api().objects().nodes().map(|(node, _)| &node.metadata.name);
            let mut nodes: Vec<&Name> = nodes.collect();
            sort_by(&mut nodes, |a, b| (on(b), *a).cmp(&(on(a), *b)));
            nodes.first().map(|it| (*it).clone())
        }
    }
}
