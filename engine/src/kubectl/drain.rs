//! `kubectl drain` (`kubectl/pkg/cmd/drain`, `pkg/drain`, v1.36).

use super::node::{close, nodes};
use super::selector::Selector;
use super::value::{list, text};
use super::{Cluster, Context, Done, Dry, Failure, Output, Waiting, resources};
use crate::api::{Kind, Name, Object, ObjectKey, Uid};
use crate::apiserver::{DeleteOptions, Reason, Request, Verb as Ask};

/// Kubectl asks again after so long where a budget forbids an eviction.
const AGAIN: i64 = 5_000;

#[derive(Clone, Copy, Debug, Default)]
struct Options {
    force: bool,
    ignore_daemon_sets: bool,
    delete_local: bool,
    by_deletion: bool,
    grace: Option<i64>,
    dry: Dry,
}

/// What is to be done with a pod.
enum Fate {
    Goes,
    GoesWith(&'static str),
    Stays(&'static str),
    Forbids(&'static str),
}

impl Options {
    fn fate(&self, pod: &Object, value: &serde_json::Value, cluster: &dyn Cluster) -> Fate {
        let owner = pod.meta().controller();
        let is_done = matches!(text(value, "status.phase"), "Succeeded" | "Failed");
        if pod.meta().annotations.contains_key("kubernetes.io/config.mirror") {
            return Fate::Stays("");
        }
        if owner.is_some_and(|it| it.kind == "DaemonSet") && !is_done {
            let key = ObjectKey::new(
                Kind::DaemonSet,
                pod.meta().namespace.clone(),
                owner.map_or("".into(), |it| it.name.clone()),
            );
            if cluster.api().objects().get(&key).is_some() {
                return match self.ignore_daemon_sets {
                    true => Fate::Stays("ignoring DaemonSet-managed Pods"),
                    false => Fate::Forbids("DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"),
                };
            }
        }
        let mut fate = Fate::Goes;
        let is_local = list(value, "spec.volumes").iter().any(|it| it.get("emptyDir").is_some());
        if is_local && !is_done {
            if !self.delete_local {
                return Fate::Forbids("Pods with local storage (use --delete-emptydir-data to override)");
            }
            fate = Fate::GoesWith("deleting Pods with local storage");
        }
        if owner.is_none() && !is_done {
            if !self.force {
                return Fate::Forbids("Pods that declare no controller (use --force to override)");
            }
            fate = Fate::GoesWith("deleting Pods that declare no controller");
        }
        fate
    }
}

/// A pod that is to leave.
struct Leaver {
    key: ObjectKey,
    uid: Uid,
    asked: bool,
    again: i64,
    /// The last refusal, while the pod has not been let go.
    refused: Option<String>,
    is_late: bool,
}

pub fn drain(context: &mut Context<'_>) -> Result<Done, Failure> {
    let args = &context.args;
    let options = Options {
        force: args.is("force"),
        ignore_daemon_sets: args.is("ignore-daemonsets"),
        delete_local: args.is("delete-emptydir-data"),
        by_deletion: args.is("disable-eviction"),
        grace: args.int("grace-period").filter(|it| *it >= 0),
        dry: context.dry,
    };
    let pods = match Selector::parse(args.text("pod-selector"), "") {
        Ok(selector) => selector,
        Err(error) => return Err(Failure::error(&error)),
    };
    let timeout = args.duration("timeout").filter(|it| *it > 0);
    let until = timeout.map(|it| context.now() + it);
    let nodes = nodes(context, "drain")?;
    if !context.problems.is_empty() {
        return context.done();
    }
    let suffix = context.dry.suffix();
    for node in &nodes {
        let done = close(context, node, true)?;
        let name = node.meta().name.clone();
        context.line(&["node/", &name, " ", done, suffix]);
    }
    let mut rest: Vec<Name> = nodes.iter().map(|it| it.meta().name.clone()).collect();
    rest.reverse();
    let timeout = context.args.text("timeout").to_string();
    Ok(Done::Wait(Box::new(Drain {
        rest,
        options,
        pods,
        until,
        timeout,
        current: None,
        leavers: Vec::new(),
        failed: Vec::new(),
        is_over: false,
    })))
}

struct Drain {
    /// The nodes to come, the next one last.
    rest: Vec<Name>,
    options: Options,
    pods: Selector,
    until: Option<i64>,
    timeout: String,
    current: Option<Name>,
    leavers: Vec<Leaver>,
    failed: Vec<(Name, Vec<String>)>,
    is_over: bool,
}

fn several(errors: &[String]) -> String {
    match errors {
        [one] => one.clone(),
        all => ["[", &all.join(", "), "]"].concat(),
    }
}

impl Drain {
    /// Looks which pods a node has, and which of them may go.
    fn begin(&mut self, node: &Name, cluster: &dyn Cluster, out: &mut Output) {
        let mut leavers = Vec::new();
        let note = |to: &mut Vec<(&'static str, Vec<String>)>, words: &'static str, pod: &Object| {
            let name = [pod.meta().namespace.as_str(), "/", pod.meta().name.as_str()].concat();
            match to.iter_mut().find(|(known, _)| *known == words) {
                Some((_, names)) => names.push(name),
                None => to.push((words, vec![name])),
            }
        };
        let mut forbidden: Vec<(&'static str, Vec<String>)> = Vec::new();
        let mut warned: Vec<(&'static str, Vec<String>)> = Vec::new();
        for pod in resources::list(cluster, Kind::Pod, None) {
            let value = pod.to_value();
            if text(&value, "spec.nodeName") != node.as_str() || !self.pods.matches(&pod) {
                continue;
            }
            let fate = self.options.fate(&pod, &value, cluster);
            match fate {
                Fate::Forbids(words) => note(&mut forbidden, words, &pod),
                Fate::Stays("") => {}
                Fate::Stays(words) => note(&mut warned, words, &pod),
                Fate::Goes | Fate::GoesWith(_) => {
                    if let Fate::GoesWith(words) = fate {
                        note(&mut warned, words, &pod);
                    }
                    leavers.push(Leaver {
                        key: pod.key(),
                        uid: pod.meta().uid,
                        asked: false,
                        again: 0,
                        refused: None,
                        is_late: false,
                    });
                }
            }
        }
        if !forbidden.is_empty() {
            let errors =
                forbidden.iter().map(|(words, names)| ["cannot delete ", words, ": ", &names.join(", ")].concat());
            return self.give_up(node, errors.collect(), out);
        }
        if !warned.is_empty() {
            let told: Vec<String> =
                warned.iter().map(|(words, names)| [words, ": ", &names.join(", ")].concat()).collect();
            out.err(&["Warning: ", &told.join("; "), "\n"].concat());
        }
        if self.options.dry == Dry::Client {
            for it in &leavers {
                out.out(&["evicting pod ", &it.key.namespace, "/", &it.key.name, " (dry run)\n"].concat());
            }
            leavers.clear();
        }
        self.leavers = leavers;
        self.current = Some(node.clone());
    }

    fn give_up(&mut self, node: &Name, errors: Vec<String>, out: &mut Output) {
        out.err(
            &[
                "error: unable to drain node \"",
                node,
                "\" due to error: ",
                &several(&errors),
                ", continuing command...\n",
            ]
            .concat(),
        );
        self.failed.push((node.clone(), errors));
    }

    /// Asks for each pod that has not been let go to leave.
    fn ask(&mut self, cluster: &mut dyn Cluster, is_over: bool, out: &mut Output) {
        let now = cluster.wall_millis();
        let suffix = self.options.dry.suffix();
        for index in 0..self.leavers.len() {
            let it = &self.leavers[index];
            if it.asked || it.again > now || it.is_late {
                continue;
            }
            let (key, options) =
                (it.key.clone(), DeleteOptions { grace_seconds: self.options.grace, ..DeleteOptions::default() });
            let ask = if self.options.by_deletion {
                Ask::Delete(key.clone(), options)
            } else {
                Ask::Evict(key.clone(), options)
            };
            if !self.options.by_deletion {
                out.out(&["evicting pod ", &key.namespace, "/", &key.name, suffix, "\n"].concat());
            }
            if is_over {
                self.leavers[index].is_late = true;
                continue;
            }
            let request = Request::new("kubectl", ask);
            let result = match self.options.dry {
                Dry::No => cluster.ask(request),
                _ => cluster.try_out(&request),
            };
            let it = &mut self.leavers[index];
            match result {
                Ok(_) => (it.asked, it.refused) = (true, None),
                Err(error) if error.reason == Reason::NotFound => (it.asked, it.refused) = (true, None),
                Err(error) => {
                    it.again = now + AGAIN;
                    let what = ["error when evicting pods/\"", &key.name, "\" -n \"", &key.namespace, "\""].concat();
                    out.err(&[&what, " (will retry after 5s): ", &error.message, "\n"].concat());
                    it.refused = Some(what);
                }
            }
        }
    }

    /// Tells of those that have left.
    fn tell(&mut self, cluster: &dyn Cluster, out: &mut Output) {
        let done = if self.options.by_deletion { " deleted" } else { " evicted" };
        self.leavers.retain(|it| {
            let is_there = cluster.api().objects().get(&it.key).is_some_and(|pod| pod.meta().uid == it.uid);
            // A pod that was only tried out stays: the real kubectl waits for it as well.
            let stays = !it.asked || is_there;
            if !stays {
                out.out(&["pod/", &it.key.name, done, "\n"].concat());
            }
            stays
        });
    }

    fn time_out(&mut self, node: &Name, out: &mut Output) {
        let errors: Vec<String> = self
            .leavers
            .iter()
            .map(|it| match &it.refused {
                Some(what) => [what, ": global timeout reached: ", &self.timeout].concat(),
                None => [
                    "error when waiting for pod \"",
                    &it.key.name,
                    "\" in namespace \"",
                    &it.key.namespace,
                    "\" to terminate: global timeout reached: ",
                    &self.timeout,
                ]
                .concat(),
            })
            .collect();
        out.err(
            &["There are pending pods in node \"", node, "\" when an error occurred: ", &several(&errors), "\n"]
                .concat(),
        );
        for it in std::mem::take(&mut self.leavers) {
            out.err(&["pod/", &it.key.name, "\n"].concat());
        }
        self.give_up(node, errors, out);
    }

    fn end(&self, out: &mut Output) -> i32 {
        if self.failed.is_empty() {
            return 0;
        }
        out.err("There are pending nodes to be drained:\n");
        for (node, _) in &self.failed {
            out.err(&[" ", node, "\n"].concat());
        }
        for error in self.failed.iter().flat_map(|(_, errors)| errors) {
            out.err(&[error, "\n"].concat());
        }
        1
    }
}

impl Waiting for Drain {
    fn look(&mut self, cluster: &mut dyn Cluster, out: &mut Output) -> Option<i32> {
        loop {
            let Some(node) = self.current.clone() else {
                let Some(next) = self.rest.pop() else { return Some(self.end(out)) };
                self.begin(&next, cluster, out);
                continue;
            };
            let is_over = self.until.is_some_and(|until| cluster.wall_millis() >= until);
            self.is_over = is_over;
            self.ask(cluster, is_over, out);
            self.tell(cluster, out);
            if self.leavers.is_empty() {
                let suffix = self.options.dry.suffix();
                out.out(&["node/", &node, " drained", suffix, "\n"].concat());
                self.current = None;
                continue;
            }
            // Kubectl sleeps until it asks again, and only then sees that its time is up.
            if is_over && self.leavers.iter().all(|it| it.asked || it.is_late) {
                self.current = None;
                self.time_out(&node, out);
                continue;
            }
            return None;
        }
    }

    fn due(&self) -> Option<i64> {
        let again = self.leavers.iter().filter(|it| !it.asked && !it.is_late).map(|it| it.again).min();
        match (again, self.until.filter(|_| !self.is_over)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}
