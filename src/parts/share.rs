use leptos::task::spawn_local;
use loopscope_engine::share::{LONG_LINK, MOST_BYTES, MOST_IN_LINK, pack, state_words, write_moment};
use web_sys::{Event, HtmlInputElement};

use super::deeds::Sheets;
use super::opened::open_files;
use super::sheet::sheet;
use crate::atoms::{clock, icon};
use crate::platform;
use crate::session::{Export, Session, session};
use crate::ui::{State, View, effect, view};

const MAKES_A_DUMP: &str = "kubectl get nodes,deploy,rs,sts,ds,po,svc,hpa,pdb -A -o yaml > cluster.yaml";

/// What the dialog says of the moment that is shown.
#[derive(Clone, Copy)]
struct Link {
    /// Nothing while it is made, and where it cannot be.
    url: State<String>,
    about: State<String>,
    /// From the beginning, with all that was done still to come.
    from_start: State<bool>,
    /// What came of the last button.
    answer: State<String>,
}

/// Everything that can be taken along, and the way back in.
pub fn share_dialog(sheets: Sheets) -> View {
    let session = session();
    let open = sheets.share;
    let dialog = sheet(open);
    let link = Link {
        url: State::new(String::new()),
        about: State::new(String::new()),
        from_start: State::new(false),
        answer: State::new(String::new()),
    };
    effect(move || {
        let from_start = link.from_start.get();
        if open.get() {
            link.answer.put(String::new());
            make(session, link, from_start);
        }
    });
    view! {
        <dialog class="dialog share" aria-labelledby="h-share" at=dialog on:close={move |_| open.put(false)}>
            <header>
                <h2 id="h-share">"Share"</h2>
                <button class="btn btn-s btn-icon btn-quiet" type="button" aria-label="Close" on:click={move |_| open.set(false)}>
                    {icon("i", "#i-x")}
                </button>
            </header>
            <div>
                {link_part(session, link)}
                {files_part(session, link)}
                {open_part(sheets)}
            </div>
        </dialog>
    }
}

/// Makes the link to the moment that is shown now; time stands still for it.
fn make(session: Session, link: Link, from_start: bool) {
    session.pause();
    link.url.put(String::new());
    let Some(moment) = session.moment(from_start) else { return };
    let (now, state) = (clock(moment.at.at.0), state_words(moment.digest));
    link.about.put([moment.scenario.name.as_str(), " at ", &now, ", state ", &state].concat());
    let text = write_moment(&moment);
    if text.len() > MOST_BYTES {
        return link.answer.put("This moment holds a whole cluster: take it as a file.".into());
    }
    spawn_local(async move {
        match platform::deflate(&text).await {
            Some(bytes) => link.url.put([platform::address_of_page().as_str(), "#", &pack(&text, &bytes)].concat()),
            None => link.answer.put("This browser cannot make links. Take the moment as a file.".into()),
        }
    });
}

fn link_part(session: Session, link: Link) -> View {
    let is_too_long = move || link.url.with(|url| url.len() > MOST_IN_LINK);
    let cannot = move || is_too_long() || link.url.with(String::is_empty);
    let value = move || if is_too_long() { String::new() } else { link.url.get() };
    let size = move || {
        let n = link.url.with(String::len);
        let letters = [n.to_string().as_str(), " characters. "].concat();
        match n {
            0 => String::new(),
            _ if n > MOST_IN_LINK => letters + "That is too long for a link: take the moment as a file.",
            _ if n > LONG_LINK => letters + "Some programs cut links as long as this: a file is safer.",
            _ => letters + "All of it is in the link: nothing is sent to a server.",
        }
    };
    let copy = move |_| {
        let is_copied = link.url.with_untracked(|url| platform::copy(url));
        link.answer.put(if is_copied { "The link is copied." } else { "Copy the link out of its field." }.into());
        if !is_copied {
            platform::select_all("share-link");
        }
    };
    let file = move |_| save(session, link, Export::Moment);
    let choose = move |event: Event| link.from_start.put(leptos::prelude::event_target_checked(&event));
    view! {
        <h3 class="h">"This moment"</h3>
        <p class="mono" id="share-about">{move || link.about.get()}</p>
        <label class="check">
            <input type="checkbox" prop:checked={move || link.from_start.get()} on:change=choose/>
            <span>"From the beginning: what you did happens as it plays"</span>
        </label>
        <div class="share-link">
            <input
                class="field mono" id="share-link" type="text" readonly="" aria-label="Link" aria-describedby="share-size"
                prop:value=value on:focus={move |_| platform::select_all("share-link")}
            />
            <button class="btn btn-main" type="button" disabled=cannot on:click=copy>"Copy link"</button>
            <button class="btn" type="button" on:click=file>"Save as a file"</button>
        </div>
        <p class="sub" id="share-size">{size}</p>
        <p role="status">{move || link.answer.get()}</p>
    }
}

fn save(session: Session, link: Link, what: Export) {
    spawn_local(async move {
        let words = match session.export(what).await {
            Some(name) => ["Saved as ", name.as_str()].concat(),
            None => "The browser could not make this file.".into(),
        };
        link.answer.put(words);
    });
}

fn files_part(session: Session, link: Link) -> View {
    let row = |(what, name, means): (Export, &'static str, &'static str)| {
        view! {
            <li>
                <button class="btn btn-s" type="button" on:click={move |_| save(session, link, what)}>{name}</button>
                <span class="sub">{means}</span>
            </li>
        }
    };
    let all = Export::ALL.into_iter().filter(|(what, ..)| *what != Export::Moment);
    view! {
        <h3 class="h">"Files"</h3>
        <ul class="share-files">{all.map(row).collect::<View>()}</ul>
    }
}

fn open_part(sheets: Sheets) -> View {
    let session = session();
    let chosen = move |event: Event| {
        let input: HtmlInputElement = leptos::prelude::event_target(&event);
        open_files(session, sheets, input.files());
        input.set_value("");
    };
    view! {
        <h3 class="h">"Open"</h3>
        <div class="share-open">
            <label class="btn btn-s open-file">
                <input class="sr" id="open-moment" type="file" accept=".txt,.yaml,.yml,.json,text/plain,text/yaml,application/json" on:change=chosen/>
                "Open a file…"
            </label>
            <span class="sub">"A moment, a scenario, a lesson or a journal. Or drop it anywhere on the page."</span>
        </div>
        <p class="sub">"Your own cluster opens as well: it goes on here from where it stood. This makes its file:"</p>
        <input
            class="field mono" id="dump-command" type="text" readonly="" aria-label="Command that makes a file of a cluster"
            prop:value=MAKES_A_DUMP on:focus={move |_| platform::select_all("dump-command")}
        />
        <p class="sub">
            "Secrets, ConfigMaps, values of environment variables, arguments and annotations are dropped while it is read, and it never leaves this page."
        </p>
    }
}
