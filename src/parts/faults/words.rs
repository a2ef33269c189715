//! What each fault does, and where one sees it.

use loopscope_engine::view::Fault;

pub struct Word {
    /// On its switch.
    pub name: &'static str,
    pub does: &'static str,
    pub look: &'static str,
}

const fn words(name: &'static str, does: &'static str, look: &'static str) -> Word {
    Word { name, does, look }
}

pub fn word(fault: Fault) -> Word {
    match fault {
        Fault::Crash => words(
            "Crash now",
            "It ends, and is started again a second later with an empty cache.",
            "Look at its loops: they list, and go on from what is there.",
        ),
        Fault::CrashLater => words(
            "Crash between requests",
            "It ends right after so many of its requests, in the middle of a turn.",
            "Look at the pods: half of the work is done, and none is done twice.",
        ),
        Fault::Pause => words(
            "Pause",
            "It stands still; what reaches it waits.",
            "Delete a pod: nothing replaces it until it goes on.",
        ),
        Fault::Stop => words(
            "Stop",
            "It ends, and nobody starts it again.",
            "Look at what goes on without it: pods run, nothing heals.",
        ),
        Fault::Stale => words(
            "Stale watch",
            "Its watch brings nothing, and it does not notice: it acts on an old cache.",
            "Delete a pod: its loops still count it.",
        ),
        Fault::Gone => words(
            "Break watch: 410 Gone",
            "Its watch ends with 410 Gone, and it lists all objects anew 0.8 s later.",
            "Look at the faults' lane: what it missed it finds in the list.",
        ),
        Fault::Down => words(
            "Down",
            "Nobody answers: every request fails, and nothing is written.",
            "Look at the nodes: what runs goes on.",
        ),
        Fault::Slow => {
            words("Slow", "Every request takes 2 s longer.", "Look at the loops: they act on what was true 2 s ago.")
        }
        Fault::Refusing => words(
            "Refusing: 429",
            "It answers programs with 429 Too Many Requests.",
            "Look at the queues: keys wait longer from try to try.",
        ),
        Fault::Power => words(
            "Power off",
            "The machine is off, and all that ran there.",
            "Look at its node: reported ready for 40 s more, evicted after 300 s.",
        ),
        Fault::Cut => words(
            "Cut off but alive",
            "Nothing reaches the API server from there; its containers run on.",
            "Show the map as truth, then as reported.",
        ),
        Fault::Network => words(
            "Network plugin broken",
            "Its kubelet says itself that the node is not ready.",
            "Look at its node: new pods go elsewhere, at once.",
        ),
        Fault::Missing => words(
            "Image missing",
            "The registry no longer has the image.",
            "Delete a pod: the next one waits in ImagePullBackOff.",
        ),
        Fault::CrashLoop => words(
            "Crash loop",
            "The program ends with an error 2 s after each start.",
            "Look at its pods: restarts wait 10 s, 20 s, 40 s and longer.",
        ),
        Fault::SlowStart => words(
            "Slow start",
            "A program that starts answers only after 30 s.",
            "Roll out a new image: only a readiness probe waits for it.",
        ),
        Fault::Quota => words(
            "No more pods",
            "A quota allows the namespace default as many pods as there are now.",
            "Scale up, or roll out: the API server answers 403.",
        ),
    }
}
