// The custom element <loop-scope>: a frame with Loopscope in it, made when it is wanted. How to use it, and the messages:
// docs/embed.md. A classic script on purpose: one of another origin needs no permission of its host, and knows its place.
(() => {
  const name = 'loop-scope';
  if (customElements.get(name)) return;
  const base = new URL('.', document.currentScript.src);
  const most = 3;
  const markedMs = 8000;
  // Elements with a frame, the one that was used last at the end.
  let live = [];
  let first = true;

  const sheet = new CSSStyleSheet();
  sheet.replaceSync([
    ':host{display:block}:host([hidden]){display:none}:host([theme=dark]){color-scheme:dark}:host([theme=light]){color-scheme:light}',
    ':host>div{position:relative;box-sizing:border-box;min-block-size:inherit;overflow:hidden;border:1px solid GrayText;border-radius:6px;background:Canvas;color:CanvasText}',
    'iframe{position:absolute;inset:0;inline-size:100%;block-size:100%;border:0}',
    'section{position:absolute;inset:0;display:grid;place-content:center;justify-items:center;gap:12px;padding:16px;text-align:center}',
    'section>:not(canvas){position:relative;background:Canvas}canvas{position:absolute;inset:0;inline-size:100%;block-size:100%;object-fit:contain;opacity:.4}',
    'p{margin:0;font-weight:600}button{font:inherit;font-weight:600;min-block-size:40px;padding:0 16px}',
    'i{display:inline-block;inline-size:20px;block-size:20px;margin:0 4px;box-sizing:border-box;border:2px dashed}i:first-child{border-radius:50%;border:6px solid}',
  ].join(''));

  const make = (tag, fields, ...kids) => {
    const node = Object.assign(document.createElement(tag), fields);
    node.append(...kids);
    return node;
  };

  class LoopScope extends HTMLElement {
    static observedAttributes = ['theme', 'scenario', 'state', 'src', 'view', 'controls'];

    connectedCallback() {
      if (!this.box) {
        this.box = make('div');
        const root = this.attachShadow({ mode: 'open' });
        root.adoptedStyleSheets = [sheet];
        root.append(this.box);
        this.reserve(0);
      }
      if (!this.frame) this.poster(this.moment ? 'Resume' : 'Start');
      sight.observe(this);
    }

    /** Room from the beginning, so that nothing moves later: where it is narrow, parts stand one above the other. */
    reserve(natural) {
      const stacks = this.offsetWidth < 560 && /,|^$/.test(this.getAttribute('view') || '');
      this.style.minBlockSize = `${Math.max(natural, parseInt(this.getAttribute('height')) || 528, stacks ? 720 : 0)}px`;
    }

    disconnectedCallback() {
      sight.unobserve(this);
      this.end();
    }

    attributeChangedCallback(which, old, now) {
      if (!this.frame || old === now) return;
      if (which === 'theme') this.paint();
      else {
        this.moment = this.still = '';
        this.start();
      }
    }

    get label() {
      return this.getAttribute('label') || `Loopscope: ${this.getAttribute('scenario') || 'self-healing'}`;
    }

    /** A still in place of the frame, with the one button that is needed. */
    poster(verb) {
      this.box.replaceChildren(
        make('section', {},
          this.still || make('p', { ariaHidden: 'true' }, make('i'), make('i'), make('i')),
          make('p', { textContent: this.label }),
          make('button', { type: 'button', textContent: `${verb} simulation`, onclick: () => this.start(true) }),
          make('slot')));
    }

    start(focus) {
      this.end();
      const url = new URL(base);
      const set = (key, value) => value && url.searchParams.set(key, value);
      set('embed', 1);
      set('host', location.origin);
      set('s', this.getAttribute('scenario'));
      for (const key of ['src', 'view', 'speed', 'controls', 'seed', 'goal', 'lang', 'back']) set(key, this.getAttribute(key));
      set('title', this.getAttribute('label'));
      if (this.hasAttribute('autoplay')) set('autoplay', 1);
      set('theme', this.theme);
      url.hash = this.moment || this.getAttribute('state') || '';
      const frame = make('iframe', { title: this.label, src: url, allow: 'clipboard-write; fullscreen', referrerPolicy: 'strict-origin-when-cross-origin' });
      if (base.origin !== location.origin) frame.sandbox = 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-downloads';
      this.frame = frame;
      this.box.replaceChildren(frame);
      if (focus) frame.focus();
      live.push(this);
      while (live.length > most) live[0].rest();
      // The frame hears nothing until its program runs: then it answers.
      let tries = 300;
      this.pings = setInterval(() => (tries-- ? this.send('ping') : clearInterval(this.pings)), 100);
    }

    /** Gives its place to another. The moment that it shows is asked for first, so that it can go on from there, and how it looks. */
    rest() {
      live = live.filter((it) => it !== this);
      this.due = 2;
      this.send('share');
      this.send('picture');
      const frame = this.frame;
      this.leave = () => {
        if (this.frame !== frame) return;
        this.end();
        this.poster('Resume');
      };
      setTimeout(this.leave, 1000);
    }

    end() {
      clearInterval(this.pings);
      live = live.filter((it) => it !== this);
      this.frame?.remove();
      this.frame = this.leave = this.isReady = null;
    }

    send(type, fields) {
      this.frame?.contentWindow?.postMessage({ app: 'loopscope', v: 1, type, ...fields }, base.origin);
    }

    /** What the host's page looks like here, where the attribute does not say. */
    get theme() {
      const own = this.getAttribute('theme');
      const scheme = getComputedStyle(this).colorScheme;
      return own && own !== 'auto' ? own : scheme === 'dark' || scheme === 'light' ? scheme : 'auto';
    }

    paint() {
      if (this.frame && this.painted !== this.theme) this.send('theme', { theme: (this.painted = this.theme) });
    }

    highlight(ref) {
      if (this.isReady) return this.send('highlight', { ref });
      this.wanted = ref;
      if (!this.frame) this.start();
    }

    hear(data) {
      const { type } = data;
      if (type === 'pong') clearInterval(this.pings);
      if (type === 'ready') {
        this.isReady = true;
        this.painted = null;
        this.paint();
        if (this.wanted) this.highlight(this.wanted);
        this.wanted = null;
      }
      if (type === 'resize' || type === 'ready') this.natural = Math.min(2000, Math.max(240, data.height | 0));
      this.grow();
      if (type === 'share') this.moment = new URL(data.url).hash;
      const { bitmap } = data;
      if (type === 'picture') this.still = bitmap && make('canvas', { width: bitmap.width, height: bitmap.height, ariaHidden: 'true' });
      if (type === 'picture' && bitmap) this.still.getContext('bitmaprenderer').transferFromImageBitmap(bitmap);
      if ((type === 'share' || type === 'picture') && !--this.due) this.leave?.();
      this.dispatchEvent(new CustomEvent('loopscope', { detail: data, bubbles: true }));
    }

    /** As high as the frame asks for, but only below all that is seen: what one is reading never moves. */
    grow() {
      if (this.natural && this.getBoundingClientRect().top >= innerHeight) this.reserve(this.natural + 2);
    }
  }

  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      target.grow();
      if (isIntersecting && first) {
        first = false;
        target.start();
      }
    }
  }, { rootMargin: '200px' });

  addEventListener('message', ({ source, origin, data }) => {
    if (origin !== base.origin || data?.app !== 'loopscope' || data.v !== 1) return;
    for (const it of document.querySelectorAll(name)) if (it.frame?.contentWindow === source) it.hear(data);
  });

  // A host that has a switch of its own for the theme sets `color-scheme` with it.
  new MutationObserver(() => live.forEach((it) => it.paint())).observe(document.documentElement, { attributes: true });

  // Words of the prose light up the parts that they name.
  let pressed;
  const release = () => pressed?.setAttribute('aria-pressed', false);
  addEventListener('click', ({ target }) => {
    const word = target.closest?.('[data-loop-scope-highlight]');
    if (!word) return;
    const all = [...document.querySelectorAll(name)];
    const { loopScopeHighlight: ref, loopScopeFor: id } = word.dataset;
    const to = id ? document.getElementById(id) : all.find((it) => word.compareDocumentPosition(it) & 4) || all.at(-1);
    const isOn = word.getAttribute('aria-pressed') === 'true';
    release();
    pressed = word;
    word.setAttribute('aria-pressed', !isOn);
    to?.highlight(isOn ? null : ref);
    clearTimeout(release.timer);
    release.timer = setTimeout(release, markedMs);
  });

  customElements.define(name, LoopScope);
})();
