use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::api::Name;
use crate::sim::{Digest, Seq, Time};

/// More commits than these are refused.
const MOST_COMMITS: usize = 1_000;
/// More files than these in one commit are refused.
const MOST_FILES: usize = 200;
/// Letters of a commit's name that people read.
const SHORT: usize = 7;

/// A file of the repository, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub path: Name,
    pub text: Rc<str>,
}

/// One file written or taken away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    pub path: String,
    /// Nothing takes the file away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A commit with all files as they are after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub id: Name,
    pub author: Rc<str>,
    pub message: Rc<str>,
    pub at: Time,
    /// By their paths.
    pub files: Rc<Vec<File>>,
    /// The command that made it.
    pub cause: Seq,
}

impl Commit {
    /// The part of its name that people read.
    pub fn short(&self) -> &str {
        short(&self.id)
    }

    pub fn file(&self, path: &str) -> Option<&Rc<str>> {
        self.files.iter().find(|it| it.path.as_str() == path).map(|it| &it.text)
    }

    /// The first line of its message.
    pub fn title(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

/// The part of a commit's name that people read.
pub fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// Who commits what with which words, and when.
pub struct Draft<'a> {
    pub author: &'a str,
    pub message: &'a str,
    pub at: Time,
    pub cause: Seq,
}

/// A Git repository with one branch.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    commits: Vec<Rc<Commit>>,
}

impl Repository {
    /// Oldest first.
    pub fn commits(&self) -> &[Rc<Commit>] {
        &self.commits
    }

    pub fn head(&self) -> Option<&Rc<Commit>> {
        self.commits.last()
    }

    fn index(&self, name: &str) -> Option<usize> {
        let back = match name.strip_prefix("HEAD") {
            Some("") => Some(0),
            Some(rest) => rest.strip_prefix('~').and_then(|it| it.parse::<usize>().ok()),
            None => None,
        };
        match back {
            Some(back) => self.commits.len().checked_sub(back)?.checked_sub(1),
            None if name.len() < 4 => None,
            None => self.commits.iter().position(|it| it.id.starts_with(name)),
        }
    }

    /// A commit by its name, the beginning of that, or `HEAD~2`.
    pub fn find(&self, name: &str) -> Option<&Rc<Commit>> {
        self.commits.get(self.index(name)?)
    }

    /// Puts a commit on top.
    ///
    /// # Errors
    /// In Git's words: nothing has changed, or a file to remove is not there.
    pub fn commit(&mut self, draft: &Draft<'_>, edits: &[Edit]) -> Result<Rc<Commit>, String> {
        let mut files = self.head().map_or_else(Vec::new, |head| head.files.to_vec());
        for edit in edits {
            let at = files.iter().position(|it| it.path.as_str() == edit.path);
            match (&edit.text, at) {
                (Some(text), Some(at)) => files[at].text = text.as_str().into(),
                (Some(text), None) => files.push(File { path: edit.path.as_str().into(), text: text.as_str().into() }),
                (None, Some(at)) => drop(files.remove(at)),
                (None, None) => {
                    return Err(["fatal: pathspec '", &edit.path, "' did not match any files"].concat());
                }
            }
        }
        crate::sim::sort_by(&mut files, |a, b| a.path.cmp(&b.path));
        self.push(draft, files)
    }

    /// Undoes what a commit changed, in a new one.
    ///
    /// # Errors
    /// In Git's words: there is no such commit, or the files have changed since.
    pub fn revert(&mut self, draft: &Draft<'_>, name: &str) -> Result<Rc<Commit>, String> {
        let bad = || ["fatal: bad revision '", name, "'"].concat();
        let at = self.index(name).ok_or_else(bad)?;
        let it = Rc::clone(self.commits.get(at).ok_or_else(bad)?);
        let before = at.checked_sub(1).and_then(|at| self.commits.get(at)).cloned();
        let old = |path: &str| before.as_ref().and_then(|it| it.file(path));
        let now = self.head().map_or_else(Vec::new, |head| head.files.to_vec());
        let is_in =
            |files: &[File], path: &str| files.iter().find(|it| it.path.as_str() == path).map(|it| it.text.clone());
        let mut paths: Vec<&Name> =
            it.files.iter().chain(before.iter().flat_map(|it| it.files.iter())).map(|it| &it.path).collect();
        paths.sort();
        paths.dedup();
        let mut files = now.clone();
        for path in paths.into_iter().filter(|path| it.file(path) != old(path)) {
            if is_in(&now, path).as_ref() != it.file(path) {
                return Err(["error: could not revert ", it.short(), "... ", it.title()].concat());
            }
            files.retain(|file| file.path != *path);
            files.extend(old(path).map(|text| File { path: path.clone(), text: Rc::clone(text) }));
        }
        crate::sim::sort_by(&mut files, |a, b| a.path.cmp(&b.path));
        let message = ["Revert \"", it.title(), "\"\n\nThis reverts commit ", it.short(), "."].concat();
        self.push(&Draft { message: &message, ..*draft }, files)
    }

    fn push(&mut self, draft: &Draft<'_>, files: Vec<File>) -> Result<Rc<Commit>, String> {
        if self.head().map_or(files.is_empty(), |head| *head.files == files) {
            return Err("nothing to commit, working tree clean".into());
        }
        if self.commits.len() >= MOST_COMMITS || files.len() > MOST_FILES {
            return Err("fatal: the repository is full".into());
        }
        let parent = self.head().map(|it| it.id.clone()).unwrap_or_default();
        let commit = Rc::new(Commit {
            id: name_of(&parent, draft, &files),
            author: draft.author.into(),
            message: draft.message.into(),
            at: draft.at,
            files: Rc::new(files),
            cause: draft.cause,
        });
        self.commits.push(Rc::clone(&commit));
        Ok(commit)
    }
}

/// A name as Git's look, from all that the commit is.
fn name_of(parent: &str, draft: &Draft<'_>, files: &[File]) -> Name {
    let mut digest = Digest::default();
    let mut add = |text: &str| {
        digest.bytes(&(text.len() as u64).to_le_bytes());
        digest.bytes(text.as_bytes());
    };
    [parent, draft.author, draft.message].into_iter().for_each(&mut add);
    files.iter().for_each(|it| [&*it.path, &*it.text].into_iter().for_each(&mut add));
    digest.bytes(&draft.at.0.to_le_bytes());
    let mut text = String::new();
    let mut value = digest.value();
    for _ in 0..16 {
        text.push(char::from_digit((value >> 60) as u32, 16).unwrap_or('0'));
        value <<= 4;
    }
    text.as_str().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(message: &str) -> Draft<'_> {
        Draft { author: "Ada", message, at: Time(5), cause: Seq(1) }
    }

    fn write(path: &str, text: &str) -> Edit {
        Edit { path: path.into(), text: Some(text.into()) }
    }

    #[test]
    fn a_revert_brings_back_what_was_there_and_refuses_where_others_have_written_since() {
        let mut git = Repository::default();
        git.commit(&draft("one"), &[write("a.yaml", "1"), write("b.yaml", "x")]).expect("a commit");
        let two = git.commit(&draft("two"), &[write("a.yaml", "2"), write("c.yaml", "y")]).expect("a commit");
        let back = git.revert(&draft(""), "HEAD").expect("a revert");
        assert_eq!(back.title(), "Revert \"two\"");
        assert_eq!((back.file("a.yaml").map(|it| &**it), back.file("c.yaml")), (Some("1"), None));
        git.commit(&draft("three"), &[write("a.yaml", "3")]).expect("a commit");
        let refused = git.revert(&draft(""), &two.id).expect_err("a conflict");
        assert_eq!(refused, ["error: could not revert ", two.short(), "... two"].concat());
        assert_eq!(git.commit(&draft("same"), &[]).expect_err("no change"), "nothing to commit, working tree clean");
        let gone = Edit { path: "z".into(), text: None };
        assert_eq!(
            git.commit(&draft("z"), &[gone]).expect_err("no file"),
            "fatal: pathspec 'z' did not match any files"
        );
        assert_eq!(git.find("HEAD~3").map(|it| it.title()), Some("one"));
        assert!(git.find("HEAD~4").is_none() && git.find(&two.id[..5]).is_some());
    }
}
