//! What people type who do not know kubectl, or paste what is no command: a clear answer, soon.

use std::time::Instant;

use loopscope_engine::kubectl::Console;

use super::world::{run, says, world};

const WEB: &str = "kubectl create deployment web --image=app:v1";

/// Runs with as much stack as a browser gives to WebAssembly.
fn on_a_small_stack(test: fn()) {
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(test);
    thread.expect("a thread").join().expect("it ends well");
}

fn answer(line: &str) -> (String, i32) {
    let (mut console, mut simulation) = (Console::default(), world());
    run(&mut console, &mut simulation, line)
}

#[test]
fn what_is_nested_without_end_is_refused() {
    on_a_small_stack(|| {
        let many = |text: &str, n: usize| text.repeat(n);
        let filters = [&many("[?(@.a", 4_000), &*many(")]", 4_000)].concat();
        for template in [many("{range .items[*]}", 4_000), ["{.items", &filters, "}"].concat()] {
            let (text, exit) = answer(&format!("kubectl get pods -o jsonpath='{template}'"));
            let end = "ranges and filters more than 50 deep in each other are not simulated\n";
            assert!(text.ends_with(end) && exit == 1, "{}", &text[text.len().saturating_sub(200)..]);
        }
        let (text, exit) = answer(&format!("kubectl get pods -o custom-columns='A:.items{filters}'"));
        assert!(text.contains("more than 50 deep") && exit == 1, "{}", &text[text.len().saturating_sub(200)..]);
        let deep = many("{range .items[*]}", 40) + "x" + &many("{end}", 40);
        assert_eq!(answer(&format!("kubectl get pods -o jsonpath='{deep}'")), (String::new(), 0));
        for (line, words) in [
            (format!("kubectl get pods -l '{}'", many("(a,", 30_000)), "found '('"),
            (format!("kubectl get pods -o go-template='{}'", many("{{range .items}}", 30_000)), "is not simulated"),
            (format!("kubectl get {}", many("\"a\"'b'\\c", 30_000)), "the server doesn't have a resource type"),
            (format!("kubectl apply -f - <<EOF\na: {}\nEOF", many("[", 30_000)), "error"),
            (format!("kubectl apply -f - <<EOF\n{}\nEOF", many("{a: ", 30_000)), "error"),
            (format!("kubectl apply -f - <<EOF\n{}\nEOF", many("- ", 30_000)), "error"),
            (format!("kubectl patch node node-1 -p '{}'", many("{\"a\":", 30_000)), "Error"),
            (many("k; ", 3_000) + "k nope", "unknown command"),
        ] {
            let (text, exit) = answer(&line);
            assert!(text.contains(words) && exit == 1, "{}: {}", &line[..40], &text[text.len().saturating_sub(200)..]);
        }
    });
}

#[test]
fn a_text_of_the_same_key_is_not_read_to_its_end() {
    let (text, exit) = answer(&format!("kubectl apply -f - <<EOF\n{}EOF", "a: b\n".repeat(200_000)));
    let words = "!error: error parsing STDIN: error converting YAML to JSON: More than 1000 keys stand here twice\n";
    assert_eq!((text.as_str(), exit), (words, 1));
}

/// An insertion or a look-up that passes over all names takes a thousand times as long for 32 times as many.
#[test]
fn many_names_are_found_as_soon_as_few() {
    use loopscope_engine::sim::Dict;
    let take = |n: usize| {
        let began = Instant::now();
        let mut dict = Dict::<u32>::default();
        for it in 0..n {
            dict.insert(format!("{it:06}"), 1);
        }
        assert!((0..n).all(|it| dict.contains_key(&format!("{it:06}"))));
        began.elapsed()
    };
    let few = (0..3).map(|_| take(2_000)).min().unwrap_or_default();
    let many = (0..3).map(|_| take(64_000)).min().unwrap_or_default();
    assert!(many < few * 300, "{few:?} and {many:?}");
}

#[test]
fn fields_that_are_in_no_schema_are_not_stored_by_a_patch() {
    let (mut console, mut simulation) = (Console::default(), world());
    let (console, simulation) = (&mut console, &mut simulation);
    says(console, simulation, WEB, "deployment.apps/web created\n");
    let state = "kubectl get deploy web -o jsonpath='{.metadata.generation} {.spec.foo}{.spec.template.spec.foo}'";
    for patch in [
        r#"--type merge -p '{"spec":{"foo":2}}'"#,
        r#"-p '{"spec":{"foo":2}}'"#,
        r#"--type json -p '[{"op":"add","path":"/spec/foo","value":2}]'"#,
    ] {
        let expected = "!Warning: unknown field \"spec.foo\"\ndeployment.apps/web patched (no change)\n";
        says(console, simulation, &format!("kubectl patch deploy web {patch}"), expected);
        says(console, simulation, state, "1 ");
    }
    let inner = r#"{"spec":{"template":{"spec":{"containers":[{"name":"app","imge":"a"}],"foo":{"a":1}}}}}"#;
    says(
        console,
        simulation,
        &format!("kubectl patch deploy web -p '{inner}'"),
        "!Warning: unknown field \"spec.template.spec.containers[0].imge\"\nWarning: unknown field \"spec.template.spec.foo\"\ndeployment.apps/web patched (no change)\n",
    );
    says(console, simulation, state, "1 ");
    // What is known is written all the same, and directives are no fields.
    let known = r#"{"spec":{"replicas":2,"foo":2,"strategy":{"$retainKeys":["type"],"type":"Recreate"}},"metadata":{"labels":{"foo":"2"}}}"#;
    says(
        console,
        simulation,
        &format!("kubectl patch deploy web -p '{known}'"),
        "!Warning: unknown field \"spec.foo\"\ndeployment.apps/web patched\n",
    );
    says(
        console,
        simulation,
        "kubectl get deploy web -o jsonpath='{.spec.replicas} {.spec.strategy} {.metadata.labels.foo}'",
        "2 {\"type\":\"Recreate\"} 2",
    );
}

#[test]
fn what_is_not_simulated_is_named() {
    for (line, words) in [
        (
            "kubectl create secret generic s --from-literal=a=b",
            "error: kubectl create secret generic is not simulated. Use 'kubectl create -f'\n",
        ),
        (
            "kubectl create ingress i --rule=a/b=c:80",
            "error: kubectl create ingress is not simulated. Use 'kubectl create -f'\n",
        ),
        (
            "kubectl create cronjob c --image=a --schedule='* * * * *'",
            "error: kubectl create cronjob is not simulated. Use 'kubectl create -f'\n",
        ),
        (
            "kubectl create role r --verb=get --resource=pods",
            "error: kubectl create role is not simulated. Use 'kubectl create -f'\n",
        ),
        (
            "kubectl create service nodeport s --tcp=80:80",
            "error: kubectl create service nodeport is not simulated. Use 'kubectl create -f'\n",
        ),
        (
            "kubectl create deployment d --from-literal=a=b",
            "error: unknown flag: --from-literal\nSee 'kubectl create deployment --help' for usage.\n",
        ),
        ("kubectl get ns | sort -k1", "sort: the option -k1 is not simulated\n"),
        ("kubectl get ns | sort names", "sort: files are not simulated, only what a pipe gives\n"),
        ("kubectl get ns | wc", "wc: only 'wc -l' is simulated\n"),
        ("kubectl get ns | wc -w", "wc: the option -w is not simulated\n"),
        ("kubectl get a || kubectl get b", "error: '||' of the shell is not simulated\n"),
        ("kubectl get a & kubectl get b", "error: '&' of the shell is not simulated\n"),
    ] {
        assert_eq!(answer(line), (format!("!{words}"), 1), "{line}");
    }
}

#[test]
fn a_watch_ends_with_its_request() {
    let (mut console, mut simulation) = (Console::default(), world());
    let (console, simulation) = (&mut console, &mut simulation);
    for (given, ms) in [("3s", 3_000), ("2", 2_000), ("1500ms", 1_500)] {
        let began = simulation.now();
        let (text, exit) = run(console, simulation, &format!("kubectl get ns -w --request-timeout={given} -o name"));
        assert!(text.starts_with("namespace/default\n") && exit == 0, "{text}");
        assert_eq!(simulation.now().since(began).0, ms);
    }
}

#[test]
fn an_edited_text_that_is_refused_is_kept_in_a_file() {
    let (mut console, mut simulation) = (Console::default(), world());
    let (console, simulation) = (&mut console, &mut simulation);
    says(console, simulation, WEB, "deployment.apps/web created\n");
    for (old, new) in
        [("matchLabels:\n      app: web", "matchLabels:\n      app: other"), ("replicas: 1", "replcas: 1")]
    {
        let mut running = console.run("kubectl edit deploy web", None, simulation);
        let edited = running.editor().expect("an editor").replace(old, new);
        running.edited(&edited);
        assert_eq!(running.poll(console, simulation), Some(1));
        let text: String = running.take().into_iter().map(|(_, text)| text).collect();
        assert!(text.ends_with("\nA copy of your changes has been stored to \"kubectl-edit-web.yaml\"\n"), "{text}");
        says(console, simulation, "cat kubectl-edit-web.yaml", &edited);
    }
}
