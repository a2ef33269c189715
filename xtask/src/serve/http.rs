//! Just enough HTTP/1.1 for one browser on the same machine.

use super::Site;
use super::resolve::{Resolved, resolve};
use crate::compress;
use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

const HEAD_LIMIT: usize = 16 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);

pub fn answer(mut stream: TcpStream, site: &Site) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let head = read_head(&mut stream)?;
    let mut words = head.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let reply = match method {
        "GET" | "HEAD" => reply_for(site, target, &codings(&head)),
        "" => return Ok(()),
        _ => Reply::text("405 Method Not Allowed", "only GET and HEAD\n").with("Allow", "GET, HEAD"),
    };
    reply.send(&mut stream, method != "HEAD")
}

fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut buffer = [0; 2048];
    while !head.windows(4).any(|w| w == b"\r\n\r\n") && head.len() < HEAD_LIMIT {
        match stream.read(&mut buffer)? {
            0 => break,
            n => head.extend_from_slice(&buffer[..n]),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

struct Reply {
    status: &'static str,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Reply {
    fn text(status: &'static str, body: &str) -> Self {
        Self { status, fields: Vec::new(), body: body.into() }.with("Content-Type", "text/plain; charset=utf-8")
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.into(), value.into()));
        self
    }

    fn send(&self, stream: &mut TcpStream, with_body: bool) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {}\r\nContent-Length: {}\r\n", self.status, self.body.len());
        for (name, value) in &self.fields {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("Connection: close\r\n\r\n");
        stream.write_all(head.as_bytes())?;
        if with_body {
            stream.write_all(&self.body)?;
        }
        stream.flush()
    }
}

/// What the asker can unpack of what the build packs, the best first.
fn codings(head: &str) -> Vec<&'static str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let accepted = fields.filter(|(name, _)| name.eq_ignore_ascii_case("accept-encoding"));
    let words: Vec<&str> = accepted.flat_map(|(_, value)| value.split(',')).map(|it| it.trim()).collect();
    // In HTTP `gz` is called gzip.
    let is_asked = |coding: &str| words.contains(&if coding == "gz" { "gzip" } else { coding });
    compress::CODINGS.into_iter().rev().filter(|coding| is_asked(coding)).collect()
}

fn read(file: &Path, codings: &[&'static str]) -> io::Result<(Vec<u8>, Option<&'static str>)> {
    for coding in codings {
        if let Ok(body) = fs::read(compress::beside(file, coding)) {
            return Ok((body, Some(if *coding == "gz" { "gzip" } else { coding })));
        }
    }
    fs::read(file).map(|body| (body, None))
}

fn reply_for(site: &Site, target: &str, codings: &[&'static str]) -> Reply {
    match resolve(site, target) {
        Resolved::Moved(to) => Reply::text("301 Moved Permanently", "").with("Location", &to),
        Resolved::NotFound => Reply::text("404 Not Found", "not found\n"),
        Resolved::File(file, shown) => match read(&file, codings) {
            Err(_) => Reply::text("404 Not Found", "not found\n"),
            Ok((body, coding)) => {
                let mut reply = Reply { status: "200 OK", fields: Vec::new(), body };
                reply = reply.with("Content-Type", content_type(&file)).with("Vary", "Accept-Encoding");
                if let Some(coding) = coding {
                    reply = reply.with("Content-Encoding", coding);
                }
                for (name, value) in site.headers.of(&shown) {
                    reply = reply.with(name, value);
                }
                reply
            }
        },
    }
}

/// `application/wasm` is the one that matters: without it the browser can't compile while it downloads.
pub fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|e| e.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "yaml" | "yml" => "application/yaml",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn types_are_those_a_browser_insists_on() {
        for (file, expected) in [
            ("a_bg.wasm", "application/wasm"),
            ("a.js", "text/javascript; charset=utf-8"),
            ("a.css", "text/css; charset=utf-8"),
            ("sprite.svg", "image/svg+xml"),
            ("_headers", "application/octet-stream"),
        ] {
            assert_eq!(content_type(Path::new(file)), expected);
        }
    }

    fn ask(site: &Site, request: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        answer(listener.accept().unwrap().0, site).unwrap();
        let mut text = String::new();
        client.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_request_is_answered_with_the_files_headers() {
        let dir = std::env::temp_dir().join(format!("loopscope-http-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("a.wasm"), "body").unwrap();
        fs::write(dir.join("_headers"), "/*\n  Content-Security-Policy: default-src 'none'\n").unwrap();
        let site = Site::new(&dir, "/").unwrap();
        let reply = ask(&site, "GET /a.wasm HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(reply.starts_with("HTTP/1.1 200 OK\r\n") && reply.ends_with("\r\n\r\nbody"), "{reply}");
        assert!(reply.contains("Content-Type: application/wasm\r\n"));
        assert!(reply.contains("Content-Security-Policy: default-src 'none'\r\n"));
        fs::write(dir.join("a.wasm.br"), "packed").unwrap();
        let packed = ask(&site, "GET /a.wasm HTTP/1.1\r\naccept-encoding: gzip, deflate, br\r\n\r\n");
        assert!(packed.contains("Content-Type: application/wasm\r\n") && packed.contains("Content-Encoding: br\r\n"));
        assert!(packed.ends_with("packed"), "{packed}");
        let plain = ask(&site, "GET /a.wasm HTTP/1.1\r\nAccept-Encoding: gzip\r\n\r\n");
        assert!(plain.ends_with("body") && !plain.contains("Content-Encoding"), "{plain}");
        assert!(ask(&site, "HEAD /a.wasm HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n"));
        assert!(ask(&site, "GET /b HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(ask(&site, "POST /a.wasm HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        fs::remove_dir_all(dir).unwrap();
    }
}
