use loopscope_engine::kubectl::{Completion, complete, is_unfinished};
use proptest::prelude::*;

use crate::Desk;

fn found(desk: &Desk, text: &str) -> Completion {
    complete(text, &desk.terminal.console, &desk.history)
}

/// The candidates' texts; those after which no blank follows end in `~`.
fn words(desk: &Desk, text: &str) -> Vec<String> {
    let word = |it: loopscope_engine::kubectl::Candidate| if it.is_whole { it.text } else { it.text + "~" };
    found(desk, text).all.into_iter().map(word).collect()
}

fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.run(
        "kubectl create deployment web --image=app:v1 --replicas=2; kubectl create deployment api --image=app:v1; kubectl create namespace shop; kubectl rollout status deploy/web; kubectl label deploy web tier=front",
    );
    desk
}

#[test]
fn verbs_types_names_and_flags_are_completed_from_the_world() {
    let desk = desk();
    let cases: &[(&str, &[&str])] = &[
        ("", &["cat", "clear", "echo", "kubectl", "sleep"]),
        ("ku", &["kubectl"]),
        ("dr", &["kubectl drain"]),
        ("k ro", &["rollout"]),
        ("kubectl rollout s", &["status"]),
        ("kubectl create d", &["deployment"]),
        ("k create service ", &["clusterip"]),
        ("k set ", &["env", "image", "resources"]),
        ("k get dep", &["deployments"]),
        ("k get deploy,quot", &[]),
        ("k get deploy,net", &["deploy,networkpolicies"]),
        ("k get pods,repl", &["pods,replicasets", "pods,replicationcontrollers"]),
        ("k get deployments ", &["api", "web"]),
        ("k get deploy w", &["web"]),
        ("k get deploy api ", &["web"]),
        ("k get -o yaml deploy ", &["api", "web"]),
        ("k get deploy/", &["deploy/api", "deploy/web"]),
        ("k get deploy -n shop ", &[]),
        ("k get deploy -n sh", &["shop"]),
        ("k -n kube-s", &["kube-system"]),
        ("k get pods --namespace=sh", &["--namespace=shop"]),
        ("k get pods -o ", &["custom-columns=~", "json", "jsonpath=~", "name", "wide", "yaml"]),
        ("k get pods --output=w", &["--output=wide"]),
        ("k get deploy -l tier", &["tier=front"]),
        ("k get deploy --selector=app=w", &["--selector=app=web"]),
        ("k get pods --show-l", &["--show-labels"]),
        ("k scale deploy web --re", &["--recursive", "--replicas=~", "--resource-version=~"]),
        ("k delete deploy web --cascade=", &["--cascade=background", "--cascade=foreground", "--cascade=orphan"]),
        ("k rollout status ", &["deployment/api", "deployment/web"]),
        ("k rollout status d", &["deployment/api", "deployment/web"]),
        ("k rollout undo deploy/w", &["deploy/web"]),
        ("k scale deployment ", &["api", "web"]),
        ("k set image deployment/web ", &["app=~"]),
        ("k set image deploy web a", &["app=~"]),
        ("k drain node-", &["node-1", "node-2", "node-3"]),
        ("k taint n", &["nodes"]),
        ("k taint nodes node-1", &["node-1"]),
        ("k explain ser", &["serviceaccounts", "services"]),
        ("k top pods x", &[]),
        ("k wait --for=", &["--for=condition=~", "--for=create", "--for=delete", "--for=jsonpath=~"]),
        ("k config ", &["current-context", "get-contexts", "set-context", "view"]),
        ("k config set-context --current --namespace=d", &["--namespace=default"]),
        ("k get pods | gr", &["grep"]),
        ("k get pods | grep ", &[]),
        ("k get nodes; k get deploy w", &["web"]),
        ("$ k get deploy w", &["web"]),
        ("k get pods\nk uncordon node-1", &["node-1"]),
        ("k get 'dep", &[]),
        ("k get \"x\"dep", &[]),
        ("k nope ", &[]),
        ("k get nope ", &[]),
        ("k get pods --nope=", &[]),
        ("cat <<EOF\nk get ", &[]),
        ("helm i", &[]),
    ];
    let wrong = cases.iter().filter(|(text, expected)| words(&desk, text) != *expected);
    let wrong: Vec<String> = wrong.map(|(text, _)| format!("`{text}`: {:?}", words(&desk, text))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(found(&desk, "k get all").all.len(), 1);
    assert!(words(&desk, "k get ").len() > 40);
    assert!(words(&desk, "k ").contains(&"apply".into()) && words(&desk, "k ").len() > 20);
}

#[test]
fn files_of_here_documents_are_completed() {
    let mut desk = desk();
    desk.run("cat <<EOF > web.yaml\nkind: Pod\nEOF");
    assert_eq!(words(&desk, "k apply -f w"), ["web.yaml"]);
    assert_eq!(words(&desk, "k diff --filename="), ["--filename=web.yaml"]);
    assert_eq!(words(&desk, "cat "), ["web.yaml"]);
    assert_eq!(words(&desk, "k apply -f - < w"), ["web.yaml"]);
}

#[test]
fn what_candidates_have_in_common_is_known() {
    let mut desk = desk();
    assert_eq!(found(&desk, "k drain ").common(), "node-");
    assert_eq!((found(&desk, "k get deploy w").common(), found(&desk, "k get deploy w").from), ("web", 13));
    assert_eq!(found(&desk, "k get zzz").common(), "");
    desk.run("kubectl scale deploy web --replicas=30; kubectl wait --for=jsonpath='{.status.replicas}'=30 deploy/web");
    let pods = found(&desk, "k delete pod web-");
    assert_eq!((pods.all.len(), pods.has_more), (30, false));
    let (first, last) = (&pods.all[0].text, &pods.all[29].text);
    assert!(first.starts_with(pods.common()) && last.starts_with(pods.common()) && pods.common().starts_with("web-"));
    let given = format!("k delete pod {first} ");
    assert!(
        !words(&desk, &given).contains(first) && words(&desk, &given).contains(last),
        "what is there is not offered"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_is_typed_a_completion_begins_as_the_word_does(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("kubectl ".to_string()), Just("k ".into()), Just("get ".into()), Just("rollout ".into()), Just("deploy".into()),
                Just("/".into()), Just("web ".into()), Just("-n ".into()), Just("--".into()), Just("=".into()), Just("-l".into()),
                Just(" ".into()), Just("'".into()), Just("\\".into()), Just("<<E\n".into()), Just("| ".into()), Just(",".into()),
                Just("set image ".into()), Just("é".into()), "\\PC{0,6}",
            ],
            0..9,
        )
    ) {
        thread_local!(static DESK: Desk = desk());
        let text = parts.concat();
        DESK.with(|desk| {
            let found = found(desk, &text);
            prop_assert!(text.is_char_boundary(found.from));
            let word = &text[found.from..];
            for it in &found.all {
                let is_verb = it.text.strip_prefix("kubectl ").is_some_and(|verb| verb.starts_with(word));
                prop_assert!(it.text.starts_with(word) || is_verb, "{} for `{word}`", it.text);
            }
            is_unfinished(&text);
            Ok(())
        })?;
    }
}
