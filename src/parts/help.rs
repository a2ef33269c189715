use leptos::prelude::event_target_checked;
use loopscope_engine::view::PodClass;

use super::deeds::{DEEDS, Deed, key_words};
use super::sheet::sheet;
use super::shortcuts::{set_single_keys, single_keys_on};
use crate::atoms::{icon, pod_icon};
use crate::ui::{State, View, view};

/// What one sees, and the keys.
pub fn help_dialog(open: State<bool>) -> View {
    let dialog = sheet(open);
    view! {
        <dialog class="dialog" aria-labelledby="h-help" at=dialog on:close={move |_| open.set(false)}>
            <header>
                <h2 id="h-help">"Help"</h2>
                <button class="btn btn-s btn-icon btn-quiet" type="button" aria-label="Close" on:click={move |_| open.set(false)}>
                    {icon("i", "#i-x")}
                </button>
            </header>
            <div class="help">{story()}{states()}{keys()}</div>
        </dialog>
    }
}

fn story() -> View {
    view! {
        <p>
            "You say what you want, in a manifest. Each loop compares that with what is, and does the next small thing about the difference. No loop knows the whole plan."
        </p>
        <ul class="help-list">
            <li><b>"Observe"</b>" reads what the loop's own cache says."</li>
            <li><b>"Diff"</b>" compares it with what is wanted."</li>
            <li><b>"Act"</b>" asks the API server for one change. Watches tell the other loops."</li>
            <li><b class="s-you">"Blue"</b>" is you, and all that follows from what you did."</li>
        </ul>
        <p>"A whole turn takes milliseconds. At a readable speed time slows down while loops act, and is real time in between."</p>
        <p>
            "Delete a pod, change the replicas, kill a node: the loops answer. What is simulated follows Kubernetes 1.36: "
            <a href="fidelity.txt" target="_blank">"what is exact, what is simpler, what is missing"</a>"."
        </p>
    }
}

/// Every shape of a pod and of a node, and what it says.
fn states() -> View {
    let row = |(class, means): (PodClass, &'static str)| {
        let (color, shape) = pod_icon(class);
        view! { <li>{icon(color, shape)}<b>{class.name()}</b><span class="sub">{means}</span></li> }
    };
    let node = |(shape, name, means): (&'static str, &'static str, &'static str)| {
        view! { <li>{icon("i", shape)}<b>{name}</b><span class="sub">{means}</span></li> }
    };
    view! {
        <h3 class="h">"Pods"</h3>
        <ul class="help-states">
            {[
                (PodClass::Pending, "no node yet"),
                (PodClass::Creating, "its containers are being made"),
                (PodClass::NotReady, "runs, a probe says no"),
                (PodClass::Ready, "runs and serves"),
                (PodClass::Terminating, "told to stop"),
                (PodClass::CrashLoop, "ends again and again"),
                (PodClass::ImageError, "its image cannot be had"),
                (PodClass::Failed, "ended badly"),
                (PodClass::Completed, "ended well"),
                (PodClass::Unknown, "its node is silent"),
            ].map(row)}
        </ul>
        <h3 class="h">"Nodes"</h3>
        <ul class="help-states">
            {[
                ("#node-ready", "Ready", "its kubelet reports"),
                ("#node-notready", "NotReady", "its kubelet says so itself"),
                ("#node-cordoned", "Cordoned", "takes no new pods"),
                ("#node-unreachable", "Unreachable", "its kubelet is silent"),
                ("#ph-diff", "Reported", "really otherwise: show truth"),
            ].map(node)}
        </ul>
    }
}

fn keys() -> View {
    let row = |deed: &Deed| {
        let keys = deed.keys.iter().map(|key| view! { <kbd>{key_words(key)}</kbd> " " }).collect::<View>();
        view! { <tr><th scope="row">{keys}</th><td>{deed.name}</td><td class="sub">{deed.place}</td></tr> }
    };
    view! {
        <table class="keys-table">
            <caption class="h">"Keys"</caption>
            <thead class="sr"><tr><th scope="col">"Key"</th><th scope="col">"Does"</th><th scope="col">"Acts on"</th></tr></thead>
            <tbody>{DEEDS.iter().filter(|deed| !deed.keys.is_empty()).map(row).collect::<View>()}</tbody>
        </table>
        <p class="sub">"Space and arrows act where what has the focus has no use for them."</p>
        <label class="check">
            <input
                type="checkbox" prop:checked={single_keys_on()}
                on:change={move |event| set_single_keys(event_target_checked(&event))}
            />
            "Single-key shortcuts"
        </label>
    }
}
