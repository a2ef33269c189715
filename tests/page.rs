#![cfg(target_arch = "wasm32")]

mod support;

use support::Page;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::*;
use web_sys::{HtmlInputElement, HtmlTextAreaElement};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
async fn the_first_load_is_paused_and_says_what_to_do() {
    let page = Page::open().await;
    assert_eq!(page.text("h1"), "Loopscope");
    assert_eq!(page.text(".ro > div:first-child dd"), "3");
    assert_eq!(page.ready(), "0");
    assert!(page.text(".now").contains("Press play"));
    assert!(page.pods().is_empty());
    let clock = page.text(".clock");
    page.wait(120).await;
    assert_eq!(page.text(".clock"), clock, "nothing moves before Play is pressed");
}

#[wasm_bindgen_test]
async fn play_runs_virtual_time_and_pause_stops_it() {
    let page = Page::open().await;
    page.press("Play").await;
    page.wait_until("the first pod", |page| !page.pods().is_empty()).await;
    assert!(!page.text(".clock").starts_with("00:00.000"), "{}", page.text(".clock"));
    page.press("Pause").await;
    let clock = page.text(".clock");
    page.wait(120).await;
    assert_eq!(page.text(".clock"), clock);
}

#[wasm_bindgen_test]
async fn a_deleted_pod_is_replaced_by_a_new_one() {
    let page = Page::open().await;
    page.converge().await;
    let before = page.pods();
    assert_eq!(before.len(), 3);

    let pod = page.one(".map .pod");
    let label = pod.get_attribute("aria-label").unwrap();
    pod.unchecked_ref::<web_sys::HtmlElement>().click();
    page.settle().await;
    assert_eq!(pod.get_attribute("aria-pressed").as_deref(), Some("true"));
    page.press("Delete pod").await;
    assert!(page.text(".toast:last-child").contains("deleted"));
    assert!(pod.get_attribute("aria-label").unwrap().contains("Terminating"), "{:?}", page.pods());

    let name = label.split(',').next().unwrap().to_owned();
    page.step_until("a fourth pod", |page| page.pods().len() == 4).await;
    page.converge().await;
    assert_eq!(page.ready(), "3");
    let others = page.pods().into_iter().filter(|it| !it.starts_with(&name)).count();
    assert_eq!(others, 3, "{:?}", page.pods());
}

#[wasm_bindgen_test]
async fn the_delete_key_deletes_and_arrows_move_the_one_tab_stop() {
    let page = Page::open().await;
    page.converge().await;
    let stops = || page.all(".map .pod[tabindex='0']");
    assert_eq!(stops().len(), 1);
    let begin = stops().remove(0);
    begin.unchecked_ref::<web_sys::HtmlElement>().focus().unwrap();
    page.key(&begin, "Home").await;
    let first = stops().remove(0);
    page.key(&first, "End").await;
    let last = stops().remove(0);
    assert_ne!(first, last);
    page.key(&last, "Home").await;
    assert_eq!(stops(), std::slice::from_ref(&first));
    page.key(&first, "Delete").await;
    assert!(first.get_attribute("aria-label").unwrap().contains("Terminating"));
}

#[wasm_bindgen_test]
async fn the_stepper_scales_and_a_refused_number_goes_back() {
    let page = Page::open().await;
    page.press("One replica more").await;
    assert_eq!(page.text(".ro > div:first-child dd"), "4");
    page.enter(".step input", "100000").await;
    assert!(!page.all(".toast-bad").is_empty());
    let field: HtmlInputElement = page.one(".step input").unchecked_into();
    assert_eq!(field.value(), "4");
    page.enter(".step input", "2").await;
    assert_eq!(page.text(".ro > div:first-child dd"), "2");
    page.converge().await;
    assert_eq!(page.ready(), "2");
}

#[wasm_bindgen_test]
async fn a_phase_shines_where_the_newest_event_is() {
    let page = Page::open().await;
    page.step_until("a lit phase", |page| !page.all("[aria-current='step']").is_empty()).await;
    let lit = page.all(".phase[aria-current='step']");
    assert!(lit.iter().all(|it| it.class_list().contains("on")));
    assert_eq!(page.all(".loop.is-acting").len(), 1);
}

#[wasm_bindgen_test]
async fn a_wrong_manifest_is_marked_and_nothing_is_lost() {
    let page = Page::open().await;
    page.converge().await;
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: three\n";
    page.type_manifest(text).await;
    page.press("Apply").await;
    let field: HtmlTextAreaElement = page.one("#editor").unchecked_into();
    assert_eq!(field.get_attribute("aria-invalid").as_deref(), Some("true"));
    assert_eq!(field.value(), text);
    let described_by = field.get_attribute("aria-describedby").unwrap();
    let described = page.one(&["#", described_by.split(' ').next().unwrap()].concat());
    let problems = described.text_content().unwrap();
    assert!(problems.contains("Line 6") && problems.contains("spec.replicas"), "{problems}");
    assert_eq!(described.get_attribute("role").as_deref(), Some("alert"));
    page.wait(50).await;
    assert_eq!(field.selection_start().unwrap(), Some(text.find("three").unwrap() as u32));
    assert_eq!(page.ready(), "3", "the simulation goes on");
}

#[wasm_bindgen_test]
async fn the_text_is_looked_over_while_one_types() {
    let page = Page::open().await;
    page.type_manifest("kind: [\n").await;
    page.wait(400).await;
    assert!(page.text("#problems").contains("Line"));
    page.type_manifest("").await;
    page.wait(400).await;
    assert!(page.all("#editor[aria-invalid]").is_empty());
}

#[wasm_bindgen_test]
async fn a_node_is_killed_and_restored_by_its_button() {
    let page = Page::open().await;
    page.press("Kill node node-2").await;
    assert!(page.text(".toast").contains("node-2"));
    page.press("Restore node node-2").await;
    page.button("Restore node node-2");
    // What was no double click any more is a press.
    page.wait(700).await;
    page.press("Restore node node-2").await;
    page.button("Kill node node-2");
}

#[wasm_bindgen_test]
async fn an_event_shows_the_chain_of_its_causes() {
    let page = Page::open().await;
    page.converge().await;
    let last = page.all(".log .what").pop().unwrap();
    last.unchecked_ref::<web_sys::HtmlElement>().click();
    page.settle().await;
    assert!(page.text("#h-why").starts_with("Why event"));
    assert!(page.all(".why li").len() > 2);
    assert_eq!(page.all(".why .last").len(), 1);
    assert_eq!(last.get_attribute("aria-pressed").as_deref(), Some("true"));
}

#[wasm_bindgen_test]
async fn many_pods_become_one_canvas_with_a_table_beside_it() {
    let page = Page::of(loopscope_engine::world::Scenario::with_nodes(1, 20, "16", "64Gi")).await;
    page.type_manifest(&DEPLOYMENT.replace("replicas: 3", "replicas: 200")).await;
    page.press("Apply").await;
    page.enter(".opt .pick select", "9").await;
    page.press("Play").await;
    page.wait_until("150 pods", |page| !page.all(".crowd canvas").is_empty()).await;
    page.press("Pause").await;
    assert!(page.pods().is_empty());
    page.press("Table").await;
    assert!(page.all(".crowd").is_empty());
    assert_eq!(page.all(".twin [data-uid]").len(), 100);
    page.press("Next page").await;
    assert!(page.text(".pages .sub").starts_with("Pods 101 to "), "{}", page.text(".pages .sub"));
}

#[wasm_bindgen_test]
async fn the_map_is_also_a_table() {
    let page = Page::open().await;
    page.converge().await;
    page.press("Table").await;
    assert!(page.pods().is_empty());
    let statuses: Vec<String> = page.all(".twin td.mono").iter().map(|it| it.text_content().unwrap()).collect();
    assert_eq!(statuses, ["Running", "Running", "Running"]);
    page.press("Table").await;
    assert_eq!(page.pods().len(), 3);
}

#[wasm_bindgen_test]
async fn a_node_is_cut_off_and_cordoned_in_the_inspector() {
    let page = Page::open().await;
    page.press("node-2").await;
    let is_said = || page.all(".node-msg").iter().any(|it| it.text_content().unwrap().contains("is cut off"));
    page.press("Cut off").await;
    assert!(is_said());
    page.press("Reconnect").await;
    assert!(!is_said());
    page.press("Cordon").await;
    assert_eq!(page.all(".node-cordoned").len(), 1);
    page.press("Uncordon").await;
    assert!(page.all(".node-cordoned").is_empty());
}

#[wasm_bindgen_test]
async fn only_what_the_person_did_is_blue() {
    let page = Page::open().await;
    page.converge().await;
    assert!(page.all(".why li").len() > 1);
    assert!(page.all(".why li.is-yours").is_empty());
    page.press("One replica more").await;
    assert_eq!(page.all(".why li.is-yours").len(), page.all(".why li").len());
}

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: many
spec:
  replicas: 3
  selector:
    matchLabels: {app: many}
  template:
    metadata:
      labels: {app: many}
    spec:
      containers:
      - name: nginx
        image: nginx:1.27.3
";
