//! Commands about infrastructure as code as text: `terraform apply -auto-approve`, `cloud set svc-1 desired_count=5`.

use std::fmt::{self, Formatter};

use super::IacDeed;
use super::command_reader::{Flags, span};
use super::command_text::{Quoted, Span};

const WHO: &str = "you";

fn write_pairs(f: &mut Formatter<'_>, pairs: &[(String, String)]) -> fmt::Result {
    pairs.iter().try_for_each(|(name, value)| write!(f, " {}", Quoted(&[name, "=", value].concat())))
}

pub(super) fn write_iac(f: &mut Formatter<'_>, deed: &IacDeed) -> fmt::Result {
    let only = |is_only: &bool| if *is_only { " -refresh-only" } else { "" };
    match deed {
        IacDeed::Write { text } => write!(f, "terraform write {}", Quoted(text)),
        IacDeed::Plan { refresh_only } => write!(f, "terraform plan{}", only(refresh_only)),
        IacDeed::Apply { refresh_only, approved, who } => {
            let approved = if *approved { " -auto-approve" } else { "" };
            write!(f, "terraform apply{}{approved}", only(refresh_only))?;
            if who == WHO { Ok(()) } else { write!(f, " --who={}", Quoted(who)) }
        }
        IacDeed::Answer { yes } => f.write_str(if *yes { "terraform answer yes" } else { "terraform answer no" }),
        IacDeed::Import { address, id } => write!(f, "terraform import {} {}", Quoted(address), Quoted(id)),
        IacDeed::ForceUnlock { id } => write!(f, "terraform force-unlock {}", Quoted(id)),
        IacDeed::CloudCreate { kind, attributes } => {
            write!(f, "cloud create {}", Quoted(kind))?;
            write_pairs(f, attributes)
        }
        IacDeed::CloudSet { id, attributes } => {
            write!(f, "cloud set {}", Quoted(id))?;
            write_pairs(f, attributes)
        }
        IacDeed::CloudDelete { id } => write!(f, "cloud delete {}", Quoted(id)),
        IacDeed::CloudAutoscale { id, min, max, want } => {
            write!(f, "cloud autoscale {} --min={min} --max={max} --want={want}", Quoted(id))
        }
        IacDeed::Schedule { every_ms, applies } => {
            let applies = if *applies { " --apply" } else { "" };
            write!(f, "terraform schedule --every={}{applies}", Span(*every_ms))
        }
        IacDeed::Unschedule => f.write_str("terraform unschedule"),
        IacDeed::CloudQuota { kind, most } => write!(f, "cloud quota {} --most={most}", Quoted(kind)),
    }
}

fn pairs(words: &[&str]) -> Result<Vec<(String, String)>, String> {
    let pair = |word: &&str| match word.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(["\"", word, "\": an = is missing"].concat()),
    };
    words.iter().map(pair).collect()
}

pub(super) fn read_iac(words: &[&str], flags: &mut Flags) -> Result<Option<IacDeed>, String> {
    let text = |it: &&str| (*it).to_owned();
    Ok(Some(match words {
        ["terraform", "write", it] => IacDeed::Write { text: text(it) },
        ["terraform", "plan"] => IacDeed::Plan { refresh_only: false },
        ["terraform", "plan", "-refresh-only"] => IacDeed::Plan { refresh_only: true },
        ["terraform", "apply", options @ ..] => {
            if let Some(other) = options.iter().find(|it| !["-refresh-only", "-auto-approve"].contains(it)) {
                return Err(["flag provided but not defined: ", other].concat());
            }
            IacDeed::Apply {
                refresh_only: options.contains(&"-refresh-only"),
                approved: options.contains(&"-auto-approve"),
                who: flags.take("who").unwrap_or_else(|| WHO.into()),
            }
        }
        ["terraform", "answer", answer @ ("yes" | "no")] => IacDeed::Answer { yes: *answer == "yes" },
        ["terraform", "import", address, id] => IacDeed::Import { address: text(address), id: text(id) },
        ["terraform", "force-unlock", id] => IacDeed::ForceUnlock { id: text(id) },
        ["terraform", "schedule"] => IacDeed::Schedule {
            every_ms: span(&flags.take("every").ok_or("--every is required")?)?,
            applies: flags.take("apply").is_some(),
        },
        ["terraform", "unschedule"] => IacDeed::Unschedule,
        ["cloud", "create", kind, rest @ ..] => IacDeed::CloudCreate { kind: text(kind), attributes: pairs(rest)? },
        ["cloud", "set", id, rest @ ..] => IacDeed::CloudSet { id: text(id), attributes: pairs(rest)? },
        ["cloud", "delete", id] => IacDeed::CloudDelete { id: text(id) },
        ["cloud", "autoscale", id] => IacDeed::CloudAutoscale {
            id: text(id),
            min: flags.need("min")?,
            max: flags.need("max")?,
            want: flags.need("want")?,
        },
        ["cloud", "quota", kind] => IacDeed::CloudQuota { kind: text(kind), most: flags.need("most")? },
        _ => return Ok(None),
    }))
}
