//! Plans as text, in the words and symbols of Terraform 1.x (`internal/command/jsonformat`), 80 columns wide.

use serde_json::Value;

use super::{Action, Change, Lock, Plan, Type};

const WIDTH: usize = 78;
const UNKNOWN: &str = "(known after apply)";

/// What a plan prints.
pub fn render(plan: &Plan) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (address, id) in &plan.read {
        out.push([&address.to_string(), ": Refreshing state... [id=", id, "]"].concat());
    }
    let has_drift = render_drift(plan, &mut out);
    if plan.changes.is_empty() {
        if !plan.is_refresh_only {
            no_changes("matches", &mut out);
            wrap(
                "Terraform has compared your real infrastructure against your configuration and found no differences, so no changes are needed.",
                &mut out,
            );
        } else if !has_drift {
            no_changes("still matches", &mut out);
            wrap(
                "Terraform has checked that the real remote objects still match the result of your most recent changes, and found no differences.",
                &mut out,
            );
        }
        return out;
    }
    if has_drift {
        out.push("─".repeat(WIDTH));
    }
    out.push(String::new());
    wrap(
        "Terraform used the selected providers to generate the following execution plan. Resource actions are indicated with the following symbols:",
        &mut out,
    );
    for (action, text) in [
        (Action::Create, "  + create"),
        (Action::Update, "  ~ update in-place"),
        (Action::Delete, "  - destroy"),
        (Action::Replace, "-/+ destroy and then create replacement"),
    ] {
        if plan.count(&[action]) > 0 {
            out.push(text.into());
        }
    }
    lines(&mut out, &["", "Terraform will perform the following actions:"]);
    for change in &plan.changes {
        out.push(String::new());
        block(change, false, &mut out);
    }
    out.push(String::new());
    let [add, update, destroy] =
        [&[Action::Create, Action::Replace][..], &[Action::Update], &[Action::Delete, Action::Replace]]
            .map(|which| plan.count(which).to_string());
    out.push(["Plan: ", &add, " to add, ", &update, " to change, ", &destroy, " to destroy."].concat());
    out
}

fn no_changes(verb: &str, out: &mut Vec<String>) {
    out.push(String::new());
    out.push(["No changes. Your infrastructure ", verb, " the configuration."].concat());
    out.push(String::new());
}

/// In a plan that changes things, the drift of what it changes; in one that only looks, all of it.
fn render_drift(plan: &Plan, out: &mut Vec<String>) -> bool {
    let is_shown =
        |it: &&Change| plan.is_refresh_only || plan.changes.iter().any(|change| change.address == it.address);
    let drift: Vec<&Change> = plan.drift.iter().filter(is_shown).collect();
    if drift.is_empty() {
        return false;
    }
    lines(out, &["", "Note: Objects have changed outside of Terraform", ""]);
    wrap(
        "Terraform detected the following changes made outside of Terraform since the last \"terraform apply\" which may have affected this plan:",
        out,
    );
    for change in drift {
        out.push(String::new());
        block(change, true, out);
    }
    lines(out, &["", ""]);
    wrap(
        if plan.is_refresh_only {
            "This is a refresh-only plan, so Terraform will not take any actions to undo these. If you were expecting these changes then you can apply this plan to record the updated values in the Terraform state without changing any remote objects."
        } else {
            "Unless you have made equivalent changes to your configuration, or ignored the relevant attributes using ignore_changes, the following plan may include actions to undo or respond to these changes."
        },
        out,
    );
    true
}

fn block(change: &Change, is_drift: bool, out: &mut Vec<String>) {
    let address = change.address.to_string();
    let (symbol, fate) = match (change.action, is_drift) {
        (Action::Create, _) => ("  +", "will be created"),
        (Action::Update, false) => ("  ~", "will be updated in-place"),
        (Action::Update, true) => ("  ~", "has changed"),
        (Action::Delete, false) => ("  -", "will be destroyed"),
        (Action::Delete, true) => ("  -", "has been deleted"),
        (Action::Replace, _) => ("-/+", "must be replaced"),
    };
    out.push(["  # ", &address, " ", fate].concat());
    if change.action == Action::Delete && !is_drift {
        out.push(["  # (because ", &address, " is not in configuration)"].concat());
    }
    out.push([symbol, " resource \"", &change.address.kind, "\" \"", &change.address.name, "\" {"].concat());
    arguments(change, out);
    out.push("    }".into());
}

fn arguments(change: &Change, out: &mut Vec<String>) {
    let mut names: Vec<&str> = change.before.keys().chain(change.after.keys()).map(String::as_str).collect();
    names.push("id");
    names.sort_unstable();
    names.dedup();
    let width = names.iter().map(|it| it.len()).max().unwrap_or(0);
    let mut hidden = 0;
    for name in names {
        let Some((symbol, text)) = argument(change, name) else {
            hidden += 1;
            continue;
        };
        let pad = " ".repeat(width - name.len());
        out.push(["      ", symbol, " ", name, &pad, " = ", &text].concat());
    }
    if hidden > 0 {
        let noun = if hidden == 1 { " unchanged attribute" } else { " unchanged attributes" };
        out.push(["        # (", &hidden.to_string(), noun, " hidden)"].concat());
    }
}

/// The symbol of an argument and what stands behind its name; nothing where it is left out.
fn argument(change: &Change, name: &str) -> Option<(&'static str, String)> {
    if name == "id" {
        let id = change.id.as_ref().map(|id| ["\"", id, "\""].concat());
        return Some(match (change.action, id) {
            (Action::Replace, Some(id)) => ("~", [&id, " -> ", UNKNOWN].concat()),
            (Action::Delete, Some(id)) => ("-", [&id, " -> null"].concat()),
            (_, Some(id)) => (" ", id),
            (_, None) => ("+", UNKNOWN.into()),
        });
    }
    let force = Type::find(&change.address.kind).and_then(|it| it.attribute(name)).is_some_and(|it| it.forces_new);
    let note = if force && change.action == Action::Replace { " # forces replacement" } else { "" };
    match (change.before.get(name), change.after.get(name)) {
        (None, Some(new)) => Some(("+", [&shown(new), note].concat())),
        (Some(old), None) => Some(("-", [&shown(old), " -> null", note].concat())),
        (Some(old), Some(new)) if old != new => Some(("~", [&shown(old), " -> ", &shown(new), note].concat())),
        // As the identifying attributes are, where nothing changes about them.
        (Some(old), _) if name == "name" => Some((" ", shown(old))),
        _ => None,
    }
}

fn shown(value: &Value) -> String {
    value.to_string()
}

fn lines(out: &mut Vec<String>, more: &[&str]) {
    out.extend(more.iter().map(|it| (*it).to_owned()));
}

/// A paragraph in lines of at most 78 letters.
fn wrap(text: &str, out: &mut Vec<String>) {
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
            out.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    out.push(line);
}

/// What is asked before a plan is carried out.
pub fn question(plan: &Plan) -> Vec<String> {
    let [ask, what] = if plan.is_refresh_only {
        [
            "Would you like to update the Terraform state to reflect these detected changes?",
            "  Terraform will write these changes to the state without modifying any real infrastructure.",
        ]
    } else {
        ["Do you want to perform these actions?", "  Terraform will perform the actions described above."]
    };
    let last = if plan.is_refresh_only {
        "  There is no undo. Only 'yes' will be accepted to confirm."
    } else {
        "  Only 'yes' will be accepted to approve."
    };
    ["", ask, what, last].map(str::to_owned).to_vec()
}

/// Why a command is refused while another holds the state (`internal/command/clistate`).
pub fn locked(lock: &Lock) -> String {
    [
        "Error: Error acquiring the state lock\n\nError message: resource temporarily unavailable\nLock Info:\n  ID:        ",
        &lock.id,
        "\n  Path:      terraform.tfstate\n  Operation: OperationTypeApply\n  Who:       ",
        &lock.who,
        "\n  Created:   ",
        &lock.created,
        "\n\nTerraform acquires a state lock to protect the state from being written\nby multiple users at the same time. Please resolve the issue above and try\nagain. For most commands, you can disable locking with the \"-lock=false\"\nflag, but this is not recommended.",
    ]
    .concat()
}
