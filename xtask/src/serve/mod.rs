//! Serves a built folder on this machine, the way a static host would.

mod headers;
mod http;
mod resolve;

use crate::build::{self, Profile};
use crate::cmd::Res;
use crate::option;
use crate::setup::{self, Scope};
use headers::Headers;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FIRST_PORT: u16 = 8080;
const PORTS_TRIED: u16 = 50;

/// A folder at a path of a host.
pub struct Site {
    dir: PathBuf,
    /// Begins and ends with `/`.
    mount: String,
    headers: Headers,
}

impl Site {
    fn new(dir: &Path, mount: &str) -> Res<Self> {
        let dir = dir.canonicalize().map_err(|e| format!("{} can't be served: {e}", dir.display()))?;
        let trimmed = mount.trim_matches('/');
        let mount = if trimmed.is_empty() { "/".to_string() } else { format!("/{trimmed}/") };
        let headers = Headers::parse(&std::fs::read_to_string(dir.join("_headers")).unwrap_or_default());
        Ok(Self { dir, mount, headers })
    }
}

pub fn command(args: &[String]) -> Res {
    let port = port_of(args)?;
    let tools = setup::ensure(Scope::Page)?;
    let dist = build::page(&tools, Profile::from_args(args))?;
    let site = Site::new(&dist, "/")?;
    let listener = listen(port)?;
    println!("Loopscope is at {} (Ctrl+C stops)", address(&listener, &site)?);
    run(&listener, site)
}

/// For tests and for looking at a build as it is. With `--until-eof` it ends with the program that started it.
pub fn command_dist(args: &[String]) -> Res {
    let dir = option(args, "--dir").map_or_else(|| Profile::Release.dist(), PathBuf::from);
    let site = Site::new(&dir, option(args, "--mount").unwrap_or("/"))?;
    let listener = listen(port_of(args)?)?;
    println!("listening on {}", address(&listener, &site)?);
    if crate::flag(args, "--until-eof") {
        std::thread::spawn(|| {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            std::process::exit(0);
        });
    }
    run(&listener, site)
}

fn port_of(args: &[String]) -> Res<Option<u16>> {
    let Some(text) = option(args, "--port") else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("`--port {text}` is no port: give a number from 0 to 65535"))
}

fn listen(port: Option<u16>) -> Res<TcpListener> {
    let bind = |port: u16| TcpListener::bind(("127.0.0.1", port));
    if let Some(port) = port {
        return bind(port).map_err(|e| format!("port {port} can't be used ({e}): leave out --port for a free one"));
    }
    let last = FIRST_PORT + PORTS_TRIED;
    (FIRST_PORT..last)
        .find_map(|port| bind(port).ok())
        .ok_or(format!("no port from {FIRST_PORT} to {last} is free: name one with --port"))
}

fn address(listener: &TcpListener, site: &Site) -> Res<String> {
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    Ok(format!("http://{address}{}", site.mount))
}

fn run(listener: &TcpListener, site: Site) -> Res {
    let site = Arc::new(site);
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let site = Arc::clone(&site);
        std::thread::spawn(move || {
            // A browser that closes early is no event for the server.
            let _ = http::answer(stream, &site);
        });
    }
    Ok(())
}
