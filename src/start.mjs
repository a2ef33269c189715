// The part of the program that a first visit does not need, if the build has put it into a file of its own.
const named = document.querySelector('meta[name="rest"]');
const rest = named && new URL(named.content, document.baseURI).href;
const root = document.documentElement;
let exports = null;
let stack;
let here = !rest;
let compiled = null;
let coming = null;

const compile = () => (compiled ??= WebAssembly.compileStreaming(fetch(rest)));
const imports = () => ({ first: exports });
const joined = () => {
  exports.rest_is_here.value = 1;
  here = true;
};

globalThis.loopscopeRest = {
  begin(first) {
    exports = first;
    stack = first["g-0"]?.value;
  },
  // A program that ran out of stack has none left to say so with.
  unwind() {
    if (stack !== undefined) exports["g-0"].value = stack;
  },
  isHere: () => here,
  come() {
    root.setAttribute("aria-busy", "true");
    coming ??= compile()
      .then((module) => WebAssembly.instantiate(module, imports()))
      .then(joined)
      .catch((error) => {
        coming = compiled = null;
        throw `${error.name}: ${error.message}`;
      })
      .finally(() => root.removeAttribute("aria-busy"));
    return coming;
  },
  // For what cannot wait: the program stands still meanwhile.
  need() {
    if (here) return;
    const request = new XMLHttpRequest();
    request.open("GET", rest, false);
    request.overrideMimeType("text/plain; charset=x-user-defined");
    request.send();
    const bytes = Uint8Array.from(request.responseText, (letter) => letter.charCodeAt(0));
    new WebAssembly.Instance(new WebAssembly.Module(bytes), imports());
    joined();
  },
};
// Workspace and embed want it from the beginning, and so does what a link leads to.
if (rest && (root.dataset.view !== "simple" || location.hash.length > 1)) compile();

// Trunk's start script calls this while the program comes: its bytes move the bar of the static shell.
export default () => {
  const bar = document.querySelector("#loading progress");
  return {
    onProgress({ current, total }) {
      if (bar && total) {
        bar.max = total;
        bar.value = current;
      }
    },
    onFailure(reason) {
      // Trunk keeps it to itself; the page's first script listens for what nobody has caught.
      Promise.reject(reason);
    },
  };
};
