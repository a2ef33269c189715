//! Lines of a shell: words, quotes, comments, pipes, here-documents. No variables, no substitutions.

/// What is typed or pasted, one command after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// The commands of a pipe, each in words.
    pub pipe: Vec<Vec<String>>,
    /// What a here-document or `<` gives to the first.
    pub input: Option<String>,
    /// The file that is read as input.
    pub from: Option<String>,
    /// The file that the last one writes to.
    pub to: Option<String>,
    /// Whether it only runs if the one before went well.
    pub if_well: bool,
    /// The text it was read from, without its here-document.
    pub text: String,
}

/// Longer lines are refused whole.
pub const LONGEST: usize = 1 << 20;

struct Reader<'a> {
    text: &'a str,
    place: usize,
    step: Step,
    words: Vec<String>,
    steps: Vec<Step>,
    /// Marks of here-documents whose text begins on the next line, and whether leading tabs are dropped.
    marks: Vec<(String, bool)>,
    began: usize,
    is_prompted: bool,
    n_printed: usize,
}

/// What a text is read as.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    pub steps: Vec<Step>,
    /// So many lines were taken for what commands had printed: others begin with a prompt, and they do not.
    pub n_printed: usize,
}

/// Reads commands.
///
/// # Errors
/// What a shell would not understand either, or what is not simulated.
pub fn read(text: &str) -> Result<Script, String> {
    if text.len() > LONGEST {
        return Err("error: the line is longer than 1 MiB".into());
    }
    let mut reader = Reader {
        text,
        place: 0,
        step: Step::default(),
        words: Vec::new(),
        steps: Vec::new(),
        marks: Vec::new(),
        began: 0,
        is_prompted: is_prompted(text),
        n_printed: 0,
    };
    reader.all()?;
    Ok(Script { steps: reader.steps, n_printed: reader.n_printed })
}

/// Whether commands stand behind prompts, as in documentation: a line begins with one, and no here-document before it
/// could hold that line.
fn is_prompted(text: &str) -> bool {
    let mut lines = text.lines().take_while(|line| !line.contains("<<") || is_prompt(line));
    lines.any(is_prompt)
}

fn is_prompt(line: &str) -> bool {
    line.trim_start().starts_with("$ ")
}

/// Whether a text is yet to be finished: a quote or a here-document has no end, or the last line goes on.
pub fn is_unfinished(text: &str) -> bool {
    let backslashes = text.len() - text.trim_end_matches('\\').len();
    let begins_more = || text.trim_end().ends_with(['|', '&']) && !text.trim_end().ends_with("||");
    text.len() <= LONGEST
        && match read(text) {
            Ok(_) => backslashes % 2 == 1 || begins_more(),
            Err(error) => error.starts_with(UNENDED_QUOTE) || error.starts_with(UNENDED_DOCUMENT),
        }
}

const UNENDED_QUOTE: &str = "error: unterminated quote";
const UNENDED_DOCUMENT: &str = "error: the here-document has no end";

const NO_VARIABLES: &str = "error: variables and substitutions of the shell are not simulated: write the value itself";

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.place..).unwrap_or_default()
    }

    fn take(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.place += prefix.len();
        }
        found
    }

    /// Passes over lines that commands have printed, where commands stand behind prompts.
    fn printed(&mut self) {
        while self.is_prompted && !self.rest().is_empty() && !is_prompt(self.rest()) {
            let end = self.rest().find('\n').map_or(self.rest().len(), |at| at + 1);
            let line = self.rest()[..end].trim();
            self.n_printed += usize::from(!line.is_empty() && !line.starts_with('#'));
            self.place += end;
            self.began = self.place;
        }
    }

    fn all(&mut self) -> Result<(), String> {
        self.printed();
        while let Some(c) = self.rest().chars().next() {
            match c {
                ' ' | '\t' | '\r' => self.place += 1,
                '\\' if self.rest().starts_with("\\\n") => self.place += 2,
                '\\' if self.rest().starts_with("\\\r\n") => self.place += 3,
                '#' => self.place += self.rest().find('\n').unwrap_or(self.rest().len()),
                '\n' => {
                    self.place += 1;
                    self.here_documents()?;
                    self.end_step(false);
                    self.printed();
                }
                ';' => {
                    self.place += 1;
                    self.end_step(false);
                }
                '&' if self.take("&&") => self.end_step(true),
                '|' if !self.rest().starts_with("||") => {
                    self.place += 1;
                    self.end_command()?;
                }
                '<' | '>' => self.redirect()?,
                '&' | '|' | '(' | ')' | '`' => {
                    let sign = if c == '|' { "||".into() } else { c.to_string() };
                    return Err(["error: '", &sign, "' of the shell is not simulated"].concat());
                }
                // The prompt that documentation writes before what is to be typed.
                '$' if self.is_prompt() => self.place += 1,
                _ => {
                    let word = self.word()?;
                    self.words.push(word);
                }
            }
        }
        if !self.marks.is_empty() {
            return Err("error: the here-document has no end".into());
        }
        self.end_step(false);
        Ok(())
    }

    fn end_command(&mut self) -> Result<(), String> {
        if self.words.is_empty() {
            return Err("error: nothing stands before '|'".into());
        }
        self.step.pipe.push(std::mem::take(&mut self.words));
        Ok(())
    }

    fn end_step(&mut self, then_if_well: bool) {
        if !self.words.is_empty() {
            self.step.pipe.push(std::mem::take(&mut self.words));
        }
        let mut step = std::mem::take(&mut self.step);
        if !step.pipe.is_empty() {
            if step.text.is_empty() {
                step.text = self
                    .text
                    .get(self.began..self.place)
                    .unwrap_or_default()
                    .trim()
                    .trim_end_matches([';', '&'])
                    .trim()
                    .trim_start_matches("$ ")
                    .into();
            }
            self.steps.push(step);
        }
        self.step.if_well = then_if_well;
        self.began = self.place;
    }

    fn redirect(&mut self) -> Result<(), String> {
        if self.take("<<") {
            let drops_tabs = self.take("-");
            self.blanks();
            let mark = self.word()?;
            if mark.is_empty() {
                return Err("error: the here-document has no mark".into());
            }
            self.marks.push((mark, drops_tabs));
            return Ok(());
        }
        let is_input = self.rest().starts_with('<');
        self.place += 1;
        if self.rest().starts_with(['>', '&', '(']) {
            return Err("error: this redirection of the shell is not simulated".into());
        }
        self.blanks();
        let file = self.word()?;
        if file.is_empty() {
            return Err("error: a redirection names no file".into());
        }
        if is_input {
            self.step.from = Some(file);
        } else {
            self.step.to = Some(file);
        }
        Ok(())
    }

    fn blanks(&mut self) {
        while self.rest().starts_with([' ', '\t']) {
            self.place += 1;
        }
    }

    fn here_documents(&mut self) -> Result<(), String> {
        if self.marks.is_empty() {
            return Ok(());
        }
        let text = self.text.get(self.began..self.place).unwrap_or_default().trim();
        self.step.text = text.strip_prefix("$ ").unwrap_or(text).into();
        for (mark, drops_tabs) in std::mem::take(&mut self.marks) {
            let mut body = String::new();
            loop {
                if self.rest().is_empty() {
                    return Err(["error: the here-document has no end: no line is \"", &mark, "\""].concat());
                }
                let end = self.rest().find('\n').unwrap_or(self.rest().len());
                let line = self.rest()[..end].trim_end_matches('\r').to_string();
                self.place += (end + 1).min(self.rest().len());
                let line = if drops_tabs { line.trim_start_matches('\t') } else { line.as_str() };
                if line == mark {
                    break;
                }
                body += line;
                body.push('\n');
            }
            self.step.input = Some(body);
        }
        Ok(())
    }

    fn word(&mut self) -> Result<String, String> {
        let mut word = String::new();
        while let Some(c) = self.rest().chars().next() {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '<' | '>' | '&' | '(' | ')' => break,
                '\'' => {
                    self.place += 1;
                    let end = self.rest().find('\'').ok_or("error: unterminated quote: '")?;
                    word += &self.rest()[..end];
                    self.place += end + 1;
                }
                '"' => {
                    self.place += 1;
                    self.double_quoted(&mut word)?;
                }
                '\\' => {
                    self.place += 1;
                    let escaped = self.rest().chars().next();
                    self.place += escaped.map_or(0, char::len_utf8);
                    word.extend(escaped.filter(|c| *c != '\n'));
                }
                '$' if self.is_variable() => return Err(NO_VARIABLES.into()),
                '`' => return Err(NO_VARIABLES.into()),
                _ => {
                    word.push(c);
                    self.place += c.len_utf8();
                }
            }
        }
        Ok(word)
    }

    fn is_prompt(&self) -> bool {
        self.words.is_empty() && self.step.pipe.is_empty() && self.rest().starts_with("$ ")
    }

    fn is_variable(&self) -> bool {
        self.rest().chars().nth(1).is_some_and(|c| c.is_ascii_alphanumeric() || "_({?@#*$!".contains(c))
    }

    fn double_quoted(&mut self, word: &mut String) -> Result<(), String> {
        loop {
            let Some(c) = self.rest().chars().next() else { return Err("error: unterminated quote: \"".into()) };
            self.place += c.len_utf8();
            match c {
                '"' => return Ok(()),
                '\\' => {
                    let next = self.rest().chars().next().unwrap_or('\\');
                    if "\"\\$`\n".contains(next) {
                        self.place += next.len_utf8();
                        word.extend(Some(next).filter(|c| *c != '\n'));
                    } else {
                        word.push('\\');
                    }
                }
                '$' => {
                    self.place -= 1;
                    if self.is_variable() {
                        return Err(NO_VARIABLES.into());
                    }
                    self.place += 1;
                    word.push('$');
                }
                '`' => return Err(NO_VARIABLES.into()),
                _ => word.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        read(text).unwrap().steps.into_iter().flat_map(|step| step.pipe).collect()
    }

    #[test]
    fn words_are_quoted_as_in_a_shell() {
        assert_eq!(
            words("k get 'a b' \"c \\\"d\\\"\" e\\ f x=\"a b\"  # no\n"),
            [vec!["k", "get", "a b", "c \"d\"", "e f", "x=a b"]]
        );
        assert_eq!(words("a \\\n  b; c && d | e -l"), [vec!["a", "b"], vec!["c"], vec!["d"], vec!["e", "-l"]]);
        assert!(read("k get 'a").is_err() && read("k get \"a").is_err() && read("k get $A").is_err());
        assert_eq!(words("k -o jsonpath='{$.a}'"), [vec!["k", "-o", "jsonpath={$.a}"]]);
    }

    #[test]
    fn what_has_no_prompt_where_others_have_one_was_printed() {
        let read = |text: &str| read(text).map(|it| (it.steps.into_iter().map(|it| it.text).collect(), it.n_printed));
        let texts = |texts: &[&str], n: usize| Ok((texts.iter().map(|it| it.to_string()).collect::<Vec<_>>(), n));
        assert_eq!(
            read("$ kubectl get pods\nNAME   READY\nit's (a)   1/1\n\n# then\n$ k get \\\n  nodes; k version\nNAME"),
            texts(&["kubectl get pods", "k get \\\n  nodes", "k version"], 3)
        );
        assert_eq!(read("NAME\n  $ a\nb"), texts(&["a"], 2));
        assert_eq!(read("$ cat <<E >f\nx\nE\ny"), texts(&["cat <<E >f"], 1));
        assert_eq!(read("cat <<E >f\n$ x\nE\ny"), texts(&["cat <<E >f", "y"], 0));
        assert_eq!(read("a\nb"), texts(&["a", "b"], 0));
    }

    #[test]
    fn here_documents_are_input() {
        let steps = read("cat <<EOF > a.yaml\nkind: Pod\n  x: 1\nEOF\nkubectl apply -f a.yaml\n").unwrap().steps;
        assert_eq!(
            (steps.len(), steps[0].to.as_deref(), steps[0].input.as_deref()),
            (2, Some("a.yaml"), Some("kind: Pod\n  x: 1\n"))
        );
        assert_eq!(steps[1].text, "kubectl apply -f a.yaml");
        assert!(read("k apply -f - <<EOF\na\n").is_err());
    }
}
