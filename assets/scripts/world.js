// The library that countersign installs in an isolated world of every frame, before the page's first script.
// The page cannot reach it. It is constant text, pinned by hash; arguments travel as protocol values, never as text.
// Everything is called through prototypes of this world: a form with an input named "getAttribute" changes nothing here.
(() => {
  'use strict';
  if (Object.prototype.hasOwnProperty.call(globalThis, 'countersign')) return;

  // A method or getter as a function of its object.
  const asFunction = Function.prototype.bind.bind(Function.prototype.call);
  const getters = new Map();
  const getter = (proto, name) => {
    const known = getters.get(proto)?.[name];
    if (known) return known;
    let owner = proto;
    while (!Object.prototype.hasOwnProperty.call(owner, name)) owner = Object.getPrototypeOf(owner);
    const read = asFunction(Object.getOwnPropertyDescriptor(owner, name).get);
    if (!getters.has(proto)) getters.set(proto, { __proto__: null });
    return (getters.get(proto)[name] = read);
  };
  const method = (proto, name) => asFunction(proto[name]);
  const attr = method(Element.prototype, 'getAttribute');
  const hasAttr = method(Element.prototype, 'hasAttribute');
  const rectOf = method(Element.prototype, 'getBoundingClientRect');
  const lineBoxes = method(Element.prototype, 'getClientRects');
  const assignedNodes = method(HTMLSlotElement.prototype, 'assignedNodes');
  const closest = method(Element.prototype, 'closest');
  const matches = method(Element.prototype, 'matches');
  const checkVisibility = method(Element.prototype, 'checkVisibility');
  const queryAll = method(Element.prototype, 'querySelectorAll');
  const query = method(Element.prototype, 'querySelector');
  const shadowOf = getter(Element.prototype, 'shadowRoot');
  const localName = getter(Element.prototype, 'localName');
  const namespace = getter(Element.prototype, 'namespaceURI');
  const priorElement = getter(Element.prototype, 'previousElementSibling');
  const scrollTop = getter(Element.prototype, 'scrollTop');
  const scrollLeft = getter(Element.prototype, 'scrollLeft');
  const scrollHeight = getter(Element.prototype, 'scrollHeight');
  const scrollWidth = getter(Element.prototype, 'scrollWidth');
  const clientHeight = getter(Element.prototype, 'clientHeight');
  const clientWidth = getter(Element.prototype, 'clientWidth');
  const editable = (el) => namespace(el) === XHTML && getter(HTMLElement.prototype, 'isContentEditable')(el);
  // A document can be clobbered by named images and forms: its own properties are read through the prototype too.
  const viewOf = getter(Document.prototype, 'defaultView');
  const rootElement = getter(Document.prototype, 'documentElement');
  const bodyOf = getter(Document.prototype, 'body');
  const titleOf = getter(Document.prototype, 'title');
  const scrollerOf = getter(Document.prototype, 'scrollingElement');
  const readiness = getter(Document.prototype, 'readyState');
  const newRange = method(Document.prototype, 'createRange');
  const command = method(Document.prototype, 'execCommand');
  const dispatch = method(EventTarget.prototype, 'dispatchEvent');
  const listen = method(EventTarget.prototype, 'addEventListener');
  const docQueryAll = method(Document.prototype, 'querySelectorAll');
  const docFromPoint = method(Document.prototype, 'elementFromPoint');
  const docStack = method(Document.prototype, 'elementsFromPoint');
  const rootStack = method(ShadowRoot.prototype, 'elementsFromPoint');
  const rootFromPoint = method(ShadowRoot.prototype, 'elementFromPoint');
  const fromPoint = (root, x, y) => (nodeType(root) === 9 ? docFromPoint(root, x, y) : rootFromPoint(root, x, y));
  const activeOf = (root) => (nodeType(root) === 9 ? getter(Document.prototype, 'activeElement')(root) : getter(ShadowRoot.prototype, 'activeElement')(root));
  const baseOf = getter(Node.prototype, 'baseURI');
  const childNodes = getter(Node.prototype, 'childNodes');
  const firstChild = getter(Node.prototype, 'firstChild');
  const nextNode = getter(Node.prototype, 'nextSibling');
  const hasAttributes = method(Element.prototype, 'hasAttributes');
  const firstElement = getter(Element.prototype, 'firstElementChild');
  const parentNode = getter(Node.prototype, 'parentNode');
  const priorNode = getter(Node.prototype, 'previousSibling');
  const nodeType = getter(Node.prototype, 'nodeType');
  const textContent = getter(Node.prototype, 'textContent');
  const isConnected = getter(Node.prototype, 'isConnected');
  const ownerDocument = getter(Node.prototype, 'ownerDocument');
  const rootOf = method(Node.prototype, 'getRootNode');
  const contains = method(Node.prototype, 'contains');
  const hostOf = getter(ShadowRoot.prototype, 'host');
  const contentDocument = getter(HTMLIFrameElement.prototype, 'contentDocument');
  const contentWindow = getter(HTMLIFrameElement.prototype, 'contentWindow');
  const innerText = getter(HTMLElement.prototype, 'innerText');
  const inputType = getter(HTMLInputElement.prototype, 'type');
  const inputValue = getter(HTMLInputElement.prototype, 'value');
  const areaValue = getter(HTMLTextAreaElement.prototype, 'value');
  const formElements = getter(HTMLFormElement.prototype, 'elements');
  const composedPath = method(Event.prototype, 'composedPath');
  const stop = method(Event.prototype, 'stopImmediatePropagation');
  const prevent = method(Event.prototype, 'preventDefault');
  const slotOf = getter(Element.prototype, 'assignedSlot');
  const without = method(Element.prototype, 'removeAttribute');
  const having = method(Element.prototype, 'setAttribute');
  const rootQueryAll = method(DocumentFragment.prototype, 'querySelectorAll');
  const findAll = (root, selector) => (nodeType(root) === 9 ? docQueryAll(root, selector) : nodeType(root) === 11 ? rootQueryAll(root, selector) : queryAll(root, selector));
  const animationsOf = method(Element.prototype, 'getAnimations');
  const newWalker = method(Document.prototype, 'createTreeWalker');

  const MASK = '••••••••';
  // Also of what is no node: an event's path ends in a window.
  const isElement = (node) => {
    try {
      return node !== null && node !== undefined && nodeType(node) === 1;
    } catch {
      return false;
    }
  };
  // By name and namespace, not by instanceof: an element of another frame has that frame's prototypes.
  const XHTML = 'http://www.w3.org/1999/xhtml', SVG = 'http://www.w3.org/2000/svg';
  const NAMES = new Map([[HTMLInputElement, 'input'], [HTMLTextAreaElement, 'textarea'], [HTMLSelectElement, 'select'], [HTMLButtonElement, 'button'], [HTMLAnchorElement, 'a'], [HTMLAreaElement, 'area'], [HTMLLabelElement, 'label'], [HTMLIFrameElement, 'iframe'], [HTMLFormElement, 'form']]);
  const isHtml = (el, C) => namespace(el) === XHTML && (C === HTMLElement || localName(el) === NAMES.get(C));
  const isShadow = (node) => {
    if (node === null || node === undefined || nodeType(node) !== 11) return false;
    try {
      return hostOf(node) !== null;
    } catch {
      return false;
    }
  };
  const clean = (text) => String(text ?? '').replace(/\s+/g, ' ').trim();
  const cut = (text, most) => (text.length > most ? text.slice(0, most) : text);

  // ---- identity: numbers that only this world knows -----------------------------------------------------------------
  const serials = new WeakMap();
  const known = new Map();
  let nextSerial = 1;
  const serial = (node) => {
    if (node === null || node === undefined) return 0;
    let n = serials.get(node);
    if (n === undefined) {
      serials.set(node, (n = nextSerial++));
      known.set(n, new WeakRef(node));
    }
    return n;
  };
  const bySerial = (n) => known.get(n)?.deref() ?? null;

  // The parent a person would name: through slots of the flat tree and out of shadow roots.
  const parentOf = (node) => {
    const parent = parentNode(node);
    if (isShadow(parent)) return hostOf(parent);
    return isElement(parent) ? parent : null;
  };

  // ---- sensitivity: once sensitive, always ---------------------------------------------------------------------------
  // Each field with the strictest kind it ever was. The table of kinds is the shipped one, handed over by the first look;
  // until then the minimum below applies, and what it finds stays.
  const sensitive = new WeakMap();
  const KINDS = ['new_password', 'password', 'one_time_code', 'card', 'pin', 'secret', 'account', 'identity', 'concealed', 'hidden'];
  let table = {
    types: { password: 'password', hidden: 'hidden' },
    autocomplete: { 'current-password': 'password', 'new-password': 'new_password', 'one-time-code': 'one_time_code' },
    autocomplete_prefixes: { 'cc-': 'card' },
    words: [],
    whole: false,
  };
  const becomes = (el, kind) => {
    const known = sensitive.get(el);
    const at = (k) => (KINDS.includes(k) ? KINDS.indexOf(k) : KINDS.length);
    if (known === undefined) everSensitive.push(new WeakRef(el));
    if (known === undefined || at(kind) < at(known)) sensitive.set(el, kind);
  };

  // ---- what sensitive fields held: the page may show it anywhere, long after the field is emptied or gone ---------------
  const everSensitive = []; // weak references, to read them again
  const held = new Set(); // values of this document's fields, and of this site's that were handed over
  const tokens = new Set(); // values of hidden inputs that look like tokens, the oldest first
  const needles = new Map(); // a value -> its spellings, folded
  const typing = new Map(); // a field's number -> what is being typed into it
  let overfull = false;
  const HELD = 1000, TOKENS = 64, PIECE = 128, PIECES = 128;
  const rawValue = (el) => (isHtml(el, HTMLInputElement) ? inputValue(el) : isHtml(el, HTMLTextAreaElement) ? areaValue(el) : textContent(el));
  // Hidden inputs hold ids, prices, names and words as well, which rightly stand on the page. Of what they hold only what
  // looks like a token counts: one word of letters and digits in turns, or a long one.
  const tokenLike = (value) => {
    if (value.length < 8 || !/^[\w+/=.~-]+$/.test(value) || !/\d/.test(value) || !/[a-z]/i.test(value)) return false;
    if (/[a-z0-9]{20}/i.test(value)) return true;
    const kind = (c) => (/\d/.test(c) ? 0 : /[a-z]/.test(c) ? 1 : /[A-Z]/.test(c) ? 2 : 3);
    let turns = 0;
    for (let i = 1; i < value.length; i++) if (kind(value[i]) < 3 && kind(value[i - 1]) < 3 && kind(value[i]) !== kind(value[i - 1])) turns++;
    return turns / value.length > 0.3;
  };
  // A card holder's name, a card's brand and the year it ends are masked in their field, and stand rightly elsewhere.
  const COMMON = ['cc-name', 'cc-given-name', 'cc-additional-name', 'cc-family-name', 'cc-type', 'cc-exp-month', 'cc-exp-year'];
  const isCommon = (el, kind) => kind === 'card' && clean(attr(el, 'autocomplete')).toLowerCase().split(' ').some((token) => COMMON.includes(token));
  const keep = (value) => {
    const text = String(value).trim();
    if (text.length < 3) return;
    // A long value is kept in pieces, so that any of them is found.
    for (let at = 0, n = 0; at < text.length && n < PIECES; at += PIECE, n++) {
      const piece = text.slice(at, at + PIECE);
      if (held.has(piece)) continue;
      if (held.size >= HELD) return void (overfull = true);
      held.add(piece);
      learn(piece);
    }
  };
  const keepToken = (value) => {
    if (!tokenLike(value) || tokens.has(value)) return;
    if (tokens.size >= TOKENS) tokens.delete(tokens.values().next().value);
    tokens.add(value);
    learn(value);
  };
  const hold = (el) => {
    const kind = sensitive.get(el);
    if (kind === undefined || isCommon(el, kind)) return;
    const value = rawValue(el);
    if (kind === 'hidden') keepToken(value);
    else keep(value);
  };
  // Between two looks a value may come and go. While it is typed its beginnings are no values of their own; what it was
  // before something was taken away again is.
  const onInput = (event) => {
    const el = composedPath(event)[0];
    if (!isElement(el) || !noteSensitive(el)) return;
    if (isCommon(el, sensitive.get(el))) return;
    const now = rawValue(el), was = typing.get(serial(el));
    if (was !== undefined && !now.startsWith(was.value) && (was.grows || !was.value.startsWith(now) || now === '')) keep(was.value);
    typing.set(serial(el), { value: now, grows: was === undefined || now.length > was.value.length });
    if (event.type === 'change') hold(el);
  };
  const heldNow = () => {
    for (const { value } of typing.values()) keep(value);
    typing.clear();
    let boxes = [], left = 0;
    const join = () => {
      if (boxes.length > 1) keep(boxes.map((el) => rawValue(el)).join(''));
      boxes = [];
    };
    for (const ref of everSensitive) {
      const el = ref.deref();
      if (el === undefined) continue;
      everSensitive[left++] = ref;
      hold(el);
    }
    everSensitive.length = left;
    // A code whose signs have a box each is one value.
    for (const ref of everSensitive) {
      const el = ref.deref();
      if (el === undefined || sensitive.get(el) === 'hidden') continue;
      const length = rawValue(el).length;
      if (length < 1 || length > 4 || (boxes.length > 0 && formOf(el) !== formOf(boxes[0]))) join();
      if (length >= 1 && length <= 4) boxes.push(el);
    }
    join();
  };
  const valuesHeld = () => {
    heldNow();
    return { values: [...held], passing: [...tokens], overfull };
  };
  const handed = (read) => ({ read, held: valuesHeld() });

  // The letters of a text that count when a value is looked for: case, white space and separators aside.
  const APART = /[\s\p{Cf}\p{Cc}\-._/·•\u2010-\u2015\u2212]/gu;
  const fold = (text) => (/^[\x21-\x2c\x30-\x5e\x60-\x7e]*$/.test(text) ? text.toLowerCase() : text.replace(APART, '').normalize('NFKD').toLowerCase().replace(APART, ''));
  const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
  const learn = (value) => {
    if (needles.has(value)) return;
    let spelt = [value];
    try {
      spelt = [value, encodeURIComponent(value), encodeURI(value), new URLSearchParams([['', value]]).toString().slice(1), value.replace(/[&<>"']/g, (c) => escapes[c]), JSON.stringify(value).slice(1, -1)];
    } catch {
      // Half a letter cannot be encoded.
    }
    const texts = [...new Set(spelt.map(fold))].filter((text) => text.length >= 3 && (/[\p{L}\p{N}]/u.test(text) || [...text].some((c) => c !== text[0])));
    needles.set(value, texts);
  };
  const joins = (a, b) => (/\p{L}/u.test(a) && /\p{L}/u.test(b)) || (/\p{N}/u.test(a) && /\p{N}/u.test(b));
  // Where values stand in a folded text. `edge` says whether a text of the page begins or ends at a place.
  const echoes = (text, edge) => {
    const spans = [];
    for (const value of [...held, ...tokens]) {
      for (const needle of needles.get(value) ?? []) {
        for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
          const end = at + needle.length;
          const parts = (place) => place === 0 || place === text.length || edge(place) || !joins(text[place - 1], text[place]);
          if (needle.length >= 6 || (needle.length >= 4 ? parts(at) && parts(end) : (at === 0 || edge(at)) && (end === text.length || edge(end)))) spans.push([at, end]);
        }
      }
    }
    return spans;
  };
  const anyHeld = () => held.size + tokens.size > 0;
  const echoed = (text) => anyHeld() && text !== null && text !== '' && echoes(fold(text), () => false).length > 0;
  const watchTypes = new MutationObserver((records) => {
    for (const record of records) {
      if (record.type === 'attributes') {
        const was = record.attributeName === 'type' ? table.types[String(record.oldValue).toLowerCase()] : undefined;
        if (was !== undefined) becomes(record.target, was);
        if (noteSensitive(record.target)) hold(record.target);
      } else {
        for (const node of record.addedNodes) {
          if (!isElement(node)) continue;
          for (const field of [node, ...queryAll(node, 'input,textarea')]) if (noteSensitive(field)) hold(field);
        }
        // What leaves takes its value along.
        for (const node of record.removedNodes) {
          if (!isElement(node)) continue;
          for (const field of [node, ...queryAll(node, 'input,textarea')]) if (sensitive.has(field)) hold(field);
        }
      }
    }
  });
  const watched = new WeakSet();
  const watch = (root) => {
    // Again, since a document that is written anew loses its listeners; the same listener is there once.
    for (const type of ['input', 'change']) listen(root, type, onInput, { capture: true, passive: true });
    if (watched.has(root)) return;
    watched.add(root);
    watchTypes.observe(root, { subtree: true, childList: true, attributes: true, attributeOldValue: true, attributeFilter: ['type', 'autocomplete'] });
  };

  const cardLike = (text) => {
    for (const run of String(text).matchAll(/\d(?:[ -.]?\d){12,18}/g)) {
      const digits = run[0].replace(/\D/g, '');
      let sum = 0;
      for (let i = 0; i < digits.length; i++) {
        let d = digits.charCodeAt(digits.length - 1 - i) - 48;
        if (i % 2 === 1) d = d * 2 > 9 ? d * 2 - 9 : d * 2;
        sum += d;
      }
      if (sum % 10 === 0 && !/^0+$/.test(digits)) return true;
    }
    return false;
  };
  const ibanLike = (text) => {
    for (const run of String(text).toUpperCase().matchAll(/[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]){11,30}/g)) {
      const bare = run[0].replace(/ /g, '');
      for (let end = bare.length; end >= 15; end--) {
        const part = bare.slice(0, end);
        let rest = 0;
        for (const c of part.slice(4) + part.slice(0, 4)) {
          const value = c >= 'A' ? String(c.charCodeAt(0) - 55) : c;
          for (const digit of value) rest = (rest * 10 + digit.charCodeAt(0) - 48) % 97;
        }
        if (rest === 1) return true;
      }
    }
    return false;
  };
  const valueLike = (text) => text.length >= 13 && (cardLike(text) || ibanLike(text));

  const labelsOf = (el) => {
    const C = [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement, HTMLButtonElement].find((kind) => isHtml(el, kind));
    return C ? [...(getter(C.prototype, 'labels')(el) ?? [])] : [];
  };
  // The elements that an attribute such as `aria-labelledby` names by their ids.
  const referred = (el, name) => {
    const root = rootOf(el);
    if (![9, 11].includes(nodeType(root))) return [];
    const ids = (attr(el, name) ?? '').split(/\s+/).filter((id) => id !== '').slice(0, 8);
    return ids.map((id) => findAll(root, '#' + CSS.escape(id))[0]).filter((named) => named);
  };
  const fieldWords = (el) => {
    const words = [attr(el, 'name'), attr(el, 'id'), attr(el, 'aria-label'), attr(el, 'placeholder'), attr(el, 'title')];
    for (const label of labelsOf(el)) words.push(textContent(label));
    for (const name of ['aria-labelledby', 'aria-describedby']) for (const named of referred(el, name)) words.push(cut(textContent(named), 200));
    words.push(...cellWords(el), wordsBefore(el));
    return words.filter((w) => w);
  };
  const CONTROLS = 'input:not([type=hidden]),textarea,select,button,[contenteditable]';
  // The headers of the table cell that a field is in.
  const cellWords = (el) => {
    const cell = closest(el, 'td,th'), row = cell === null ? null : closest(cell, 'tr'), head = row === null ? null : closest(row, 'table');
    if (head === null) return [];
    const cells = getter(HTMLTableRowElement.prototype, 'cells');
    const at = [...cells(row)].indexOf(cell);
    const first = query(head, 'tr');
    const column = first && first !== row ? cells(first)[at] : null;
    const headers = [...cells(row)].filter((other) => other !== cell && localName(other) === 'th');
    if (column && localName(column) === 'th') headers.push(column);
    return headers.filter((header) => query(header, CONTROLS) === null).map((header) => cut(clean(textContent(header)), 200));
  };
  // The words that stand directly before a field, in its line, row or cell, back to the field before it.
  const wordsBefore = (el) => {
    for (let node = el, level = 0; node && level < 4; node = parentOf(node), level++) {
      if (['form', 'table', 'body', 'section', 'article', 'main', 'fieldset', 'dialog'].includes(localName(node))) return '';
      let words = '';
      for (let prior = priorNode(node), i = 0; prior && i < 12; prior = priorNode(prior), i++) {
        const type = nodeType(prior);
        if (type === 1) {
          if (SKIP.has(localName(prior))) continue;
          if (matches(prior, CONTROLS) || query(prior, CONTROLS) !== null) return clean(words);
        } else if (type !== 3) continue;
        words = cut(textContent(prior), 2000) + ' ' + words;
        if (clean(words).length > 60) break;
      }
      words = clean(words);
      // A sentence is no name.
      if (words !== '') return /[.!]$/.test(words) && words.split(' ').length > 3 ? '' : words.slice(-100);
    }
    return '';
  };
  // The form the expressions expect: policy/sensitive.rs says which.
  const prepared = (text) =>
    String(text)
      .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .normalize('NFKD')
      .replace(/[\p{M}\p{Cf}]/gu, '')
      .toLowerCase()
      .replace(/ß/g, 'ss')
      .replace(/æ/g, 'ae')
      .replace(/œ/g, 'oe')
      .replace(/ø/g, 'o');
  function noteSensitive(el) {
    const input = isHtml(el, HTMLInputElement), area = isHtml(el, HTMLTextAreaElement);
    if (!(input || area || (hasAttr(el, 'contenteditable') && editable(el)))) return false;
    const type = input ? inputType(el) : 'textarea';
    if (table.types[type] !== undefined) becomes(el, table.types[type]);
    if (['checkbox', 'radio', 'submit', 'button', 'reset', 'image', 'file', 'range', 'color'].includes(type)) return sensitive.has(el);
    for (const token of clean(attr(el, 'autocomplete')).toLowerCase().split(' ')) {
      if (table.autocomplete[token] !== undefined) becomes(el, table.autocomplete[token]);
      for (const [prefix, kind] of Object.entries(table.autocomplete_prefixes)) if (token.startsWith(prefix)) becomes(el, kind);
    }
    if (table.words.length > 0) {
      for (const name of fieldWords(el).map(prepared)) for (const { kind, expression } of table.words) if (expression.test(name)) becomes(el, kind);
    }
    const value = input ? inputValue(el) : area ? areaValue(el) : cut(textContent(el), 400);
    if (value.length >= 13 && valueLike(value)) becomes(el, cardLike(value) ? 'card' : 'account');
    return sensitive.has(el);
  }
  const textSecured = (style) => {
    const v = style.webkitTextSecurity;
    return v !== undefined && v !== '' && v !== 'none';
  };
  const isSensitive = (el, style) => {
    if (noteSensitive(el)) return true;
    if (style && textSecured(style)) {
      becomes(el, 'concealed');
      return true;
    }
    return false;
  };
  const setTable = (t) => {
    if (table.whole || !t) return;
    const bare = (map) => Object.assign(Object.create(null), map);
    table = {
      types: bare(t.types),
      autocomplete: bare(t.autocomplete),
      autocomplete_prefixes: bare(t.autocomplete_prefixes),
      words: t.words.map(({ kind, expression }) => ({ kind, expression: new RegExp(expression, 'u') })),
      whole: true,
    };
  };
  watch(document);

  // ---- what can be seen ---------------------------------------------------------------------------------------------
  const styleOf = (el) => (viewOf(ownerDocument(el)) ?? globalThis).getComputedStyle(el);
  const seen = (el) => checkVisibility(el, { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
  const cross = (a, b) => {
    const x = Math.max(a.x, b.x), y = Math.max(a.y, b.y);
    const r = Math.min(a.x + a.w, b.x + b.w), s = Math.min(a.y + a.h, b.y + b.h);
    return r > x && s > y ? { x, y, w: r - x, h: s - y } : null;
  };
  const box = (r, off) => ({ x: r.x + off.x, y: r.y + off.y, w: r.width, h: r.height });

  const deepest = (doc, x, y) => {
    let root = doc, hit = null;
    for (let i = 0; i < 32; i++) {
      const inner = fromPoint(root, x, y);
      if (inner === null || inner === hit) break;
      hit = inner;
      const next = shadowOf(inner) ?? closedRoots.get(inner);
      if (!next) break;
      root = next;
    }
    return hit;
  };
  // True where `inner` is `outer` or lies in it, through shadow roots.
  const within = (outer, inner) => {
    for (let node = inner; node; node = parentOf(node)) if (node === outer) return true;
    return false;
  };
  const labelled = (el) => (isHtml(el, HTMLLabelElement) ? getter(HTMLLabelElement.prototype, 'control')(el) : null);
  // The slot that shows an element, or the text of an element with a shadow root, be the root open or closed.
  const slotAround = (node) => {
    const open = slotOf(node);
    if (open) return open;
    const parent = parentNode(node), root = isElement(parent) ? closedRoots.get(parent) : undefined;
    if (!root) return null;
    return [...rootQueryAll(root, 'slot')].find((slot) => assignedNodes(slot).includes(node)) ?? null;
  };
  const slotOfText = (host) => {
    const root = shadowOf(host) ?? closedRoots.get(host);
    if (!root) return null;
    const shows = (slot) => assignedNodes(slot).some((node) => nodeType(node) === 3 && /\S/.test(node.data));
    return [...rootQueryAll(root, 'slot')].find(shows) ?? null;
  };
  // What an event at this element passes on its way up, innermost first, as it is drawn.
  const pathOf = (hit) => {
    const path = [];
    for (let node = slotOfText(hit) ?? hit; node && path.length < 1000; node = slotAround(node) ?? parentOf(node)) path.push(node);
    return path;
  };
  const labelOf = (el, path) => path.some((node) => isElement(node) && labelled(node) === el);
  const reaches = (el, hit) => {
    if (hit === null) return false;
    const path = pathOf(hit);
    return path.includes(el) || within(el, hit) || labelOf(el, path);
  };
  const HOLDS_OTHERS = new Set(['iframe', 'frame', 'object', 'embed']);
  // Whether a press on this element does something of its own, whatever lies around it.
  const interactive = (el) => {
    const name = localName(el);
    if (HOLDS_OTHERS.has(name)) return true;
    switch (name) {
      case 'a':
      case 'area':
        // In a text that is being written a link is text.
        if ((hasAttr(el, 'href') || hasAttr(el, 'xlink:href')) && !editable(el)) return true;
        break;
      case 'button':
      case 'select':
      case 'textarea':
      case 'summary':
        return true;
      case 'input':
        // One of another language than HTML is named so and is none.
        if (isHtml(el, HTMLInputElement)) return inputType(el) !== 'hidden';
        break;
      case 'label':
        return labelled(el) !== null;
      case 'video':
      case 'audio':
        if (hasAttr(el, 'controls')) return true;
        break;
      default:
    }
    const role = attr(el, 'role');
    if (role !== null && ACTIVE_ROLES.has(role.trim().toLowerCase().split(/\s+/)[0])) return true;
    if (editable(el) && !(parentOf(el) !== null && editable(parentOf(el)))) return true;
    return hasAttr(el, 'onclick') || (hasAttr(el, 'tabindex') && Number(attr(el, 'tabindex')) >= 0);
  };
  // What takes a press before any of the wanted elements does: another control on the way up to them, or null.
  const takes = (path, wanted) => {
    for (const node of path) {
      if (!isElement(node)) continue;
      if (wanted.includes(node)) return null;
      if (!interactive(node)) continue;
      return wanted.includes(labelled(node)) ? null : node;
    }
    return null;
  };

  const closedRoots = new Map(); // host -> closed root, filled by each look from the browser's own tree

  // ---- what a person could act on -----------------------------------------------------------------------------------
  const ACTIVE_ROLES = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'combobox', 'textbox', 'searchbox', 'slider', 'spinbutton', 'treeitem', 'gridcell']);
  const actionable = (el, style, parentStyle) => {
    const name = localName(el);
    switch (name) {
      case 'a':
      case 'area':
        return hasAttr(el, 'href') || hasAttr(el, 'onclick') || hasAttr(el, 'role');
      case 'button':
      case 'select':
      case 'textarea':
      case 'summary':
        return true;
      case 'input':
        // One of another language than HTML is named so and is none.
        if (isHtml(el, HTMLInputElement)) return inputType(el) !== 'hidden';
        break;
      case 'label': {
        const control = labelled(el);
        return control !== null && isElement(control) && !bigEnough(control);
      }
      default:
    }
    const role = attr(el, 'role');
    if (role !== null && ACTIVE_ROLES.has(role.trim().toLowerCase().split(/\s+/)[0])) return true;
    if (editable(el) && !(parentOf(el) !== null && editable(parentOf(el)))) return true;
    if (hasAttr(el, 'onclick') || (hasAttr(el, 'tabindex') && Number(attr(el, 'tabindex')) >= 0)) return true;
    return style.cursor === 'pointer' && (parentStyle === null || parentStyle.cursor !== 'pointer');
  };
  const bigEnough = (el) => {
    const r = rectOf(el);
    return r.width >= 4 && r.height >= 4 && seen(el);
  };

  const href = (el) => {
    if (isHtml(el, HTMLAnchorElement)) return getter(HTMLAnchorElement.prototype, 'href')(el);
    if (isHtml(el, HTMLAreaElement)) return getter(HTMLAreaElement.prototype, 'href')(el);
    if (namespace(el) === SVG && localName(el) === 'a') return attr(el, 'href') ?? attr(el, 'xlink:href') ?? '';
    return '';
  };
  // The same for an address that needs no resolving, which is cheaper; null for any other.
  const plainHref = (el) => {
    const said = isHtml(el, HTMLAnchorElement) ? attr(el, 'href') : null;
    return said !== null && /^\/(?:[\w-]+\/)*[\w-]*$/.test(said) && baseOf(el).startsWith(location.origin + '/') ? location.origin + said : null;
  };
  const formOf = (el) => {
    for (const C of [HTMLInputElement, HTMLButtonElement, HTMLSelectElement, HTMLTextAreaElement]) {
      if (isHtml(el, C)) return getter(C.prototype, 'form')(el);
    }
    const form = closest(el, 'form');
    return form !== null && isHtml(form, HTMLFormElement) ? form : null;
  };
  const isSubmit = (el) => {
    if (isHtml(el, HTMLButtonElement)) return getter(HTMLButtonElement.prototype, 'type')(el) === 'submit';
    return isHtml(el, HTMLInputElement) && ['submit', 'image'].includes(inputType(el));
  };
  const defaultButton = (form) => {
    for (const el of formElements(form)) if (isSubmit(el)) return el;
    return queryAll(form, 'input[type=image]')[0] ?? null;
  };
  // The text a person reads in an element: rendered text only.
  const ownText = (el) => {
    if (isHtml(el, HTMLInputElement)) return ['submit', 'button', 'reset'].includes(inputType(el)) ? clean(inputValue(el)) : '';
    // What a field holds is its value, not its name: it changes when it is filled.
    if (isHtml(el, HTMLSelectElement) || isHtml(el, HTMLTextAreaElement) || editable(el)) return '';
    if (isHtml(el, HTMLElement)) {
      const text = clean(innerText(el));
      const root = shadowOf(el) ?? closedRoots.get(el);
      if (!root) return text;
      let inner = '';
      for (const child of childNodes(root)) if (isHtml(child, HTMLElement) && localName(child) !== 'style') inner += ' ' + innerText(child);
      return clean(text + ' ' + inner);
    }
    return seen(el) ? clean(textContent(el)) : '';
  };

  const fieldState = (el, style) => {
    const out = {};
    const hidden = isSensitive(el, style);
    if (isHtml(el, HTMLInputElement)) {
      const type = inputType(el);
      if (type === 'checkbox' || type === 'radio') out.checked = getter(HTMLInputElement.prototype, 'checked')(el);
      else if (!['submit', 'button', 'reset', 'image', 'file'].includes(type)) out.value = hidden ? (inputValue(el) === '' ? '' : MASK) : cut(inputValue(el), 400);
    } else if (isHtml(el, HTMLTextAreaElement)) {
      out.value = hidden ? (areaValue(el) === '' ? '' : MASK) : cut(areaValue(el), 400);
    } else if (isHtml(el, HTMLSelectElement)) {
      const options = [...getter(HTMLSelectElement.prototype, 'options')(el)];
      const chosen = [...getter(HTMLSelectElement.prototype, 'selectedOptions')(el)];
      out.value = cut(chosen.map((o) => clean(o.label)).join(', '), 200);
      out.options = options.slice(0, 30).map((o) => cut(clean(o.label), 80));
      out.optionCount = options.length;
      out.multiple = getter(HTMLSelectElement.prototype, 'multiple')(el);
    } else if (editable(el)) {
      out.value = hidden ? MASK : cut(clean(innerText(el)), 400);
      out.editable = true;
    }
    if (hidden) out.masked = true;
    if (matches(el, ':disabled') || attr(el, 'aria-disabled') === 'true' || closest(el, '[inert]') !== null) out.disabled = true;
    if (matches(el, ':read-only') && ['input', 'textarea'].includes(localName(el)) && hasAttr(el, 'readonly')) out.readonly = true;
    if (matches(el, ':required') || attr(el, 'aria-required') === 'true') out.required = true;
    if (matches(el, ':user-invalid') || attr(el, 'aria-invalid') === 'true') out.invalid = true;
    if (matches(el, ':focus')) out.focused = true;
    for (const state of ['checked', 'expanded', 'selected', 'pressed']) {
      const v = attr(el, 'aria-' + state);
      if (v !== null && out[state] === undefined) out[state] = v === 'true';
    }
    if (localName(el) === 'summary' && parentOf(el) !== null) out.expanded = hasAttr(parentOf(el), 'open');
    return out;
  };

  // What the elements that `aria-labelledby` names say.
  const namedBy = (el) => referred(el, 'aria-labelledby').map((named) => clean(textContent(named))).join(' ');
  // What the pictures inside an element are called: a button may say nothing else.
  const pictured = (el) => [...queryAll(el, 'img[alt],[aria-label],[title],svg title')].slice(0, 8).map((inner) => clean(localName(inner) === 'title' ? textContent(inner) : attr(inner, 'alt') || attr(inner, 'aria-label') || attr(inner, 'title')));
  // What must be the same when a gesture is made as when the mark was read.
  const fingerprint = (el) => {
    const form = formOf(el);
    const submit = isSubmit(el);
    const action = form === null ? '' : submit && hasAttr(el, 'formaction') ? attr(el, 'formaction') : attr(form, 'action') ?? '';
    const verb = form === null ? '' : (submit && attr(el, 'formmethod')) || attr(form, 'method') || 'get';
    return {
      tag: localName(el),
      type: isHtml(el, HTMLInputElement) ? inputType(el) : attr(el, 'type') ?? '',
      role: attr(el, 'role') ?? '',
      text: cut(ownText(el), 400),
      label: cut(clean([attr(el, 'aria-label'), namedBy(el), attr(el, 'title'), attr(el, 'alt'), attr(el, 'placeholder'), attr(el, 'name'), ...pictured(el)].filter((x) => x).join(' · ')), 400),
      href: cut(href(el), 2000),
      action: form === null ? '' : cut(resolve(el, action), 2000),
      verb: verb.toLowerCase(),
      target: attr(el, 'target') ?? '',
      parent: serial(parentOf(el)),
      serial: serial(el),
    };
  };
  const resolve = (el, relative) => {
    try {
      return new URL(relative, baseOf(el)).href;
    } catch {
      return 'unreadable:' + relative;
    }
  };

  // The box of an image-map area, in the coordinates of the top document.
  const areaOf = (el, ctx) => {
    const map = closest(el, 'map');
    const name = map === null ? null : attr(map, 'name');
    const image = name === null ? null : [...docQueryAll(ctx.doc, 'img[usemap]')].find((i) => attr(i, 'usemap') === '#' + name);
    if (!image) return null;
    const base = box(rectOf(image), ctx.off);
    const c = (attr(el, 'coords') ?? '').split(',').map(Number);
    if (c.some(Number.isNaN)) return base;
    if (attr(el, 'shape') === 'circle') return c.length < 3 ? base : { x: base.x + c[0] - c[2], y: base.y + c[1] - c[2], w: 2 * c[2], h: 2 * c[2] };
    if (c.length < 4) return base;
    const xs = c.filter((_, i) => i % 2 === 0), ys = c.filter((_, i) => i % 2 === 1);
    return { x: base.x + Math.min(...xs), y: base.y + Math.min(...ys), w: Math.max(...xs) - Math.min(...xs), h: Math.max(...ys) - Math.min(...ys) };
  };

  // ---- the walk ------------------------------------------------------------------------------------------------------
  let looked = []; // the elements of the last look, in the order of their items
  let masked = []; // [element or range, offset source frame chain] of the last look
  const BLOCKS = new Set(['block', 'flex', 'grid', 'table', 'list-item', 'table-row', 'table-cell', 'table-caption', 'flow-root', 'table-row-group', 'table-header-group', 'table-footer-group']);
  const SKIP = new Set(['script', 'style', 'noscript', 'template', 'head', 'meta', 'link', 'title', 'datalist', 'source', 'track', 'param']);

  const headingOf = (el, name) => (/^h[1-6]$/.test(name) ? Number(name[1]) : attr(el, 'role') === 'heading' ? Number(attr(el, 'aria-level') ?? 2) : 0);
  const cellIndex = getter(HTMLTableCellElement.prototype, 'cellIndex');
  const cellOf = (el, around) => (around ?? 0) + 1 + (['td', 'th'].includes(localName(el)) && namespace(el) === XHTML ? cellIndex(el) : [...childNodes(parentNode(el))].indexOf(el));
  // All words of an element, seen or not: what a thing that was out of sight is known again by.
  const contentOf = (el) => cut(clean(textContent(el)), 400);
  const frameOffset = (iframe, off) => {
    const r = rectOf(iframe), s = styleOf(iframe);
    return { x: off.x + r.x + parseFloat(s.borderLeftWidth) + parseFloat(s.paddingLeft), y: off.y + r.y + parseFloat(s.borderTopWidth) + parseFloat(s.paddingTop) };
  };
  const readableDocument = (iframe) => {
    if (!isHtml(iframe, HTMLIFrameElement)) return null;
    let doc = null, origin = null;
    try {
      doc = contentDocument(iframe);
      origin = contentWindow(iframe).origin;
    } catch {
      return null;
    }
    return doc !== null && origin === globalThis.origin && origin !== 'null' ? doc : null;
  };

  // ---- frames whose documents this world cannot read: they are read in a world of their own ---------------------------
  // Whether a box is drawn where its rectangle says, whole and unturned, through every box around it. Moving it is no turning.
  const STRAIGHT = /^(none|matrix\(1, 0, 0, 1, [^)]*\))$/;
  const isStraight = (el) => {
    for (let node = el; node; node = slotAround(node) ?? parentOf(node)) {
      const s = styleOf(node);
      if (!STRAIGHT.test(s.transform) || s.rotate !== 'none' || s.scale !== 'none' || s.perspective !== 'none' || s.offsetPath !== 'none' || (s.zoom ?? '1') !== '1') return false;
      if (s.clipPath !== 'none' || s.clip !== 'auto' || (s.maskImage ?? 'none') !== 'none') return false;
    }
    return true;
  };
  // The box of a frame element, and the viewport of its document; that is null where it cannot be said with certainty, or
  // where no press gets in. `base` is where the viewport of this world's own document lies.
  const placeOf = (el, base) => {
    const chain = frameChain(el);
    let off = base;
    for (const frame of chain) off = frameOffset(frame, off);
    const r = box(rectOf(el), off), s = styleOf(el), at = frameOffset(el, off);
    const open = [...chain, el].every((frame) => isStraight(frame) && styleOf(frame).pointerEvents !== 'none' && closest(frame, '[inert]') === null);
    const w = clientWidth(el) - parseFloat(s.paddingLeft) - parseFloat(s.paddingRight);
    const h = clientHeight(el) - parseFloat(s.paddingTop) - parseFloat(s.paddingBottom);
    return { rect: [r.x, r.y, r.w, r.h], view: open && w > 0 && h > 0 ? [at.x, at.y, w, h] : null };
  };
  // What lies over frames, as boxes and whether anything is drawn there: every element that crosses one is tried, and a
  // grid of points for what is no element. Null where there is too much of it.
  const COVERS = 64, CROSSED = 40000, TRIED = 1000, GRID = 6;
  const layOver = (frames) => {
    const levels = new Map();
    for (const frame of frames) {
      frame.covers = [];
      let off = frame.base;
      for (const el of [...frame.frames, frame.el]) {
        const doc = ownerDocument(el);
        if (!levels.has(doc)) levels.set(doc, []);
        levels.get(doc).push({ frame, el, off });
        off = frameOffset(el, off);
      }
    }
    let left = CROSSED, tries = TRIED;
    const tried = ({ frame, el, off }, area, x, y) => {
      const doc = ownerDocument(el), at = [x - off.x, y - off.y];
      const top = deepest(doc, ...at);
      if (--tries < 0 || top === null || top === el || frame.covers === null) return;
      let host = el;
      while (isShadow(rootOf(host))) host = hostOf(rootOf(host));
      const stack = docStack(doc, ...at);
      const draws = drawsOver(top) || stack.slice(0, Math.max(stack.indexOf(host), 0)).some(drawsOver);
      frame.covers.push([area.x, area.y, area.w, area.h, draws ? 1 : 0]);
      if (frame.covers.length > COVERS) frame.covers = null;
    };
    for (const [doc, list] of levels) {
      const scan = (root) => {
        const walker = newWalker(doc, root, NodeFilter.SHOW_ELEMENT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          if (--left < 0) return;
          const r = rectOf(node);
          if (r.width > 0 && r.height > 0) {
            for (const level of list) {
              const area = level.el === node || within(node, level.el) ? null : cross(box(r, level.off), level.frame.clip);
              if (area) tried(level, area, area.x + area.w / 2, area.y + area.h / 2);
            }
          }
          const inner = shadowOf(node) ?? closedRoots.get(node);
          if (inner) scan(inner);
        }
      };
      scan(doc);
      for (const level of list) {
        const clip = level.frame.clip, w = clip.w / GRID, h = clip.h / GRID;
        for (let i = 0; i < GRID * GRID && level.frame.covers !== null; i++) {
          const area = { x: clip.x + (i % GRID) * w, y: clip.y + Math.floor(i / GRID) * h, w, h };
          const x = area.x + w / 2, y = area.y + h / 2;
          if (!level.frame.covers.some((c) => isIn(c, x, y))) tried(level, area, x, y);
        }
      }
    }
    if (left < 0 || tries < 0) for (const frame of frames) frame.covers = null;
  };
  const isIn = ([l, t, w, h], x, y) => x >= l && x <= l + w && y >= t && y <= t + h;

  // ---- colours: what is written in the colour of what lies behind it cannot be read -----------------------------------
  const colours = new Map();
  let canvas = null;
  // Red, green, blue and alpha, the last from 0 to 1.
  const rgba = (colour) => {
    const known = colours.get(colour);
    if (known) return known;
    const plain = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(colour);
    let out;
    if (plain) out = [Number(plain[1]), Number(plain[2]), Number(plain[3]), plain[4] === undefined ? 1 : Number(plain[4])];
    else {
      // Any other notation is drawn, and read back.
      canvas ??= new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = '#000';
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      out = [r, g, b, a / 255];
    }
    colours.set(colour, out);
    return out;
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const LEAST = 16; // of 255: a difference that a person could see
  const alike = (a, b) => [0, 1, 2].every((i) => Math.abs(a[i] - b[i]) < LEAST);
  const DRAWN = new Set(['img', 'video', 'canvas', 'svg', 'iframe', 'object', 'embed', 'input']);
  // The colours behind a text at a point, from the elements that are drawn there; null where a picture is among them.
  let grounds = new Map(); // for the length of one walk, like `drawing`
  // Every colour that was seen behind anything in the view: words in none of them can be read wherever they stand.
  const palette = { solid: [[255, 255, 255, 1], [18, 18, 18, 1]], sheer: [], known: new Set(), full: false };
  const note = (colour) => {
    if (colour[3] === 0 || palette.full) return;
    const key = colour.join();
    if (palette.known.has(key)) return;
    palette.known.add(key);
    const solid = (c) => {
      if (!palette.solid.some((other) => other.every((v, i) => Math.abs(v - c[i]) < 2))) palette.solid.push(c);
    };
    if (colour[3] > 0.99) {
      for (const sheer of palette.sheer) solid(over(sheer, colour));
      solid(colour);
    } else {
      palette.sheer.push(colour);
      for (const below of [...palette.solid]) solid(over(colour, below));
    }
    palette.full = palette.solid.length > 200;
  };
  // Whether words of this colour stand out from every colour there is.
  const standsOut = (fill) => !palette.full && fill[3] > 0.99 && !palette.solid.some((back) => alike(fill, back));
  let standing = new Set(); // the colours of words that were taken to stand out, in one walk
  // What an element draws behind its text: its colour, or the colours of its gradient, or `unknown` for a picture.
  const groundOf = (el) => {
    let ground = grounds.get(el);
    if (ground !== undefined) return ground;
    const s = styleOf(el);
    if (s.backgroundImage === 'none') ground = { colour: rgba(s.backgroundColor) };
    // A gradient has the colours that it names; any of them may lie behind the text.
    else if (/url\(|image|element\(|cross-fade|paint\(/.test(s.backgroundImage.replaceAll('-gradient', ''))) ground = { unknown: true };
    else ground = { drawn: [...s.backgroundImage.matchAll(/(?:rgba?|color|oklch|oklab|lab|lch|hsl)\([^()]*\)/g)].map((m) => rgba(m[0])) };
    grounds.set(el, ground);
    for (const colour of ground.drawn ?? [ground.colour ?? [0, 0, 0, 0]]) note(colour);
    return ground;
  };
  const backdrops = (parent, stack, here, inFrame) => {
    const layers = [];
    let drawn = null;
    const layer = (el, own) => {
      if (!own && DRAWN.has(localName(el))) return 'unknown';
      const ground = groundOf(el);
      if (ground.unknown) return 'unknown';
      if (ground.drawn) {
        drawn = ground.drawn;
        return 'whole';
      }
      if (ground.colour[3] > 0) layers.push(ground.colour);
      return ground.colour[3] > 0.99 ? 'whole' : 'on';
    };
    // What cannot be hit is not in the stack: from the parent up to the first that is, boxes tell.
    let node = parent, end = 'on';
    for (; node && !stack.includes(node); node = parentOf(node)) {
      const r = rectOf(node);
      if (here.x < r.x || here.x > r.x + r.width || here.y < r.y || here.y > r.y + r.height) continue;
      end = layer(node, true);
      if (end !== 'on') break;
    }
    if (end === 'on') {
      for (const el of stack.slice(Math.max(node ? stack.indexOf(node) : 0, 0))) {
        end = layer(el, el === parent);
        if (end !== 'on') break;
      }
    }
    if (end === 'unknown' || (end === 'on' && inFrame)) return null;
    const dark = end === 'on' && /dark/.test(styleOf(rootElement(ownerDocument(parent))).colorScheme) && globalThis.matchMedia('(prefers-color-scheme: dark)').matches;
    const ground = drawn !== null && drawn.length > 0 ? drawn : [dark ? [18, 18, 18, 1] : [255, 255, 255, 1]];
    return ground.map((bottom) => layers.reduceRight((below, top) => over(top, below), over(bottom, [255, 255, 255, 1])));
  };
  // Whether words of this style are in the colour of all that lies behind them.
  const unreadable = (style, behind) => {
    const fill = rgba(style.webkitTextFillColor);
    if (behind !== null && fill[3] > 0.99 && !behind.every((back) => alike(fill, back))) return false;
    const drawn = style.textShadow !== 'none' || parseFloat(style.webkitTextStrokeWidth) > 0 || style.backgroundClip === 'text' || style.webkitBackgroundClip === 'text';
    if (drawn) return false;
    if (behind === null) return fill[3] * 255 < LEAST;
    return behind.every((back) => alike(over(fill, back), back));
  };
  // Whether an element shows anything of its own where it lies: a transparent sheet hides nothing.
  const drawsOver = (el) => {
    const known = drawing.get(el);
    if (known !== undefined) return known;
    const s = styleOf(el);
    const draws = opacityOf(s) >= 0.5 && seen(el) && (DRAWN.has(localName(el)) || s.backgroundImage !== 'none' || rgba(s.backgroundColor)[3] > 0.5);
    drawing.set(el, draws);
    return draws;
  };
  let drawing = new Map(); // for the length of one walk: nothing of the page runs meanwhile
  // Whether something between a text and what was hit behind it cuts pieces away.
  const cutAway = (el, hit) => {
    for (let node = el; node && node !== hit; node = parentOf(node)) {
      const s = styleOf(node);
      if (s.clipPath !== 'none' || s.clip !== 'auto' || (s.maskImage ?? 'none') !== 'none') return true;
    }
    return false;
  };
  // How much of an element is left by its own opacity.
  const opacityOf = (style) => {
    const faded = /opacity\(([\d.]+)\)/.exec(style.filter);
    return Number(style.opacity) * (faded === null ? 1 : Number(faded[1]));
  };
  const FAINT = 0.06; // less than this cannot be seen
  const LEGIBLE = 4; // CSS pixels

  // Closed shadow roots cannot be seen from here: the browser is asked about what is in sight and could have one.
  const HOSTS = new Set(['article', 'aside', 'blockquote', 'body', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main', 'nav', 'p', 'section', 'span']);
  const canHost = (name) => HOSTS.has(name) || name.includes('-');
  const examined = new WeakSet();
  let hosts = [[], []]; // of the last look: those that were never asked about, and those that were
  const LISTS = 'ul,ol,menu,tbody,thead,table,[role=list],[role=listbox],[role=grid],[role=rowgroup],[role=table],[role=feed],[role=tree],[role=menu]';
  const ROWS = new Set(['li', 'tr']);
  const BOXES = new Set(['tr', 'tbody', 'ul', 'ol']); // hold nothing but what is asked by itself
  const DRAWN_AT_ALL = { opacityProperty: true };
  const ROW_ROLES = new Set(['listitem', 'row', 'option', 'article', 'treeitem', 'menuitem']);
  const isRow = (el, name) => ROWS.has(name) || ROW_ROLES.has(attr(el, 'role') ?? '');
  // Roots of what was taken to be out of sight and is not: they are walked like what is in sight.
  const never = new WeakSet();
  const PITCH = 64; // CSS pixels between the points at which the view is asked what lies there

  const walk = (limits, sensitiveTable, closed, ofThisSite) => {
    setTable(sensitiveTable);
    for (const value of ofThisSite?.values ?? []) keep(value);
    for (const value of ofThisSite?.passing ?? []) keepToken(value);
    for (const [host, root] of closedRoots) if (!isConnected(host) || hostOf(root) !== host) closedRoots.delete(host);
    for (const root of closed) {
      closedRoots.set(hostOf(root), root);
      watch(root);
    }
    drawing = new Map();
    grounds = new Map();
    let out = walkOnce(limits);
    // Again where something out of sight was not, or a colour came up later that words were taken to stand out from.
    for (let i = 0; i < 3 && (out.strays.length > 0 || ![...standing].every(standsOut)); i++) {
      for (const root of out.strays) never.add(root);
      out = walkOnce(limits);
    }
    drawing = new Map();
    grounds = new Map();
    const { far, strays, ...near } = out;
    // Where frames are still to be read, it is read after them.
    if (limits.picture && !near.items.some((item) => item.p)) near.geometry = geometry([], [0, 0], true);
    // As texts: the protocol takes long over many small values.
    return { near: JSON.stringify(near), far: JSON.stringify(far) };
  };
  const walkOnce = (limits) => {
    standing = new Set();
    looked = [];
    masked = [];
    hosts = [[], []];
    // A frame's document is walked with its place in the top document: where its viewport lies, what of it is in sight, and
    // what lies over it. All rectangles are the top document's.
    const place = limits.place ?? null;
    const base = place === null ? { x: 0, y: 0 } : { x: place.view[0], y: place.view[1] };
    const whole = { x: base.x, y: base.y, w: globalThis.innerWidth, h: globalThis.innerHeight };
    const view = place === null ? whole : cross(whole, { x: place.clip[0], y: place.clip[1], w: place.clip[2], h: place.clip[3] }) ?? { ...whole, w: 0, h: 0 };
    const covered = (x, y, drawn) => place !== null && place.covers.some((c) => (c[4] === 1 || !drawn) && isIn(c, x, y));
    const framed = [];
    const items = [];
    const counts = { hidden: 0, above: 0, below: 0, left: 0, right: 0, covered: 0, omitted: 0, frames: 0 };
    let block = 0, visited = 0, textBudget = limits.text, hits = limits.hits;
    const far = [], pruned = new Set(), nearby = new Set();
    let farBudget = limits.far;

    const away = (b) => {
      if (b.y + b.h <= view.y) counts.above++;
      else if (b.y >= view.y + view.h) counts.below++;
      else if (b.x + b.w <= view.x) counts.left++;
      else counts.right++;
    };
    const mask = (what, frames, isRange = false) => masked.push({ what, isRange, frames });

    // What a person could not see is counted; where the profile wants it, it is given and marked as such.
    const withhold = (why, raw, secured) => {
      counts[why]++;
      if (!limits.hidden) return;
      if (textBudget <= 0) return void counts.omitted++;
      let words = clean(raw);
      words = secured || valueLike(words) ? MASK : cut(words, textBudget);
      textBudget -= words.length;
      items.push({ k: 'h', b: block, s: words });
    };
    const hit = (ctx, x, y) => {
      hits--;
      if (covered(x, y, false)) return null;
      return ctx.solid ? hitAt(x - base.x, y - base.y) : deepest(ctx.doc, x - ctx.off.x, y - ctx.off.y);
    };
    // Whether something that can be seen is drawn over one of the frames around a point.
    const frameCovered = (ctx, x, y) => {
      let off = base, doc = document;
      for (const frame of ctx.frames) {
        const stack = docStack(doc, x - off.x, y - off.y);
        if (stack.slice(0, Math.max(stack.indexOf(frame), 0)).some(drawsOver)) return true;
        off = frameOffset(frame, off);
        doc = contentDocument(frame);
      }
      return false;
    };
    // Why words at a point cannot be seen, or null. Everything that is drawn there is asked for, from the front to the back.
    const unseen = (parent, style, ctx, b) => {
      hits--;
      const here = cross(b, ctx.clip);
      const x = here.x + here.w / 2 - ctx.off.x, y = here.y + here.h / 2 - ctx.off.y;
      if (covered(x + ctx.off.x, y + ctx.off.y, true)) return 'covered';
      const root = rootOf(parent);
      // Where its own element is the first that is hit, nothing covers it; and in a colour of its own it can be read.
      const fill = rgba(style.webkitTextFillColor);
      if (!ctx.solid && fromPoint(root, x, y) === parent && standsOut(fill)) {
        standing.add(fill);
        return null;
      }
      const stack = isShadow(root) ? rootStack(root, x, y) : docStack(ctx.doc, x, y);
      let behind = parent;
      while (behind && !stack.includes(behind)) behind = parentOf(behind);
      if (behind === parent) {
        if (stack.slice(0, stack.indexOf(parent)).some(drawsOver)) return 'covered';
      } else {
        // Its own element is not hit: pieces of it are cut away, or it is inert, or lets the pointer through.
        if (cutAway(parent, behind)) return 'hidden';
        const front = stack[0] ?? null;
        if (front !== null && !within(front, parent) && closest(front, 'dialog:modal,:popover-open,:fullscreen') !== null) return 'covered';
      }
      if (ctx.solid && frameCovered(ctx, x + ctx.off.x, y + ctx.off.y)) return 'covered';
      return unreadable(style, backdrops(parent, stack, { x, y }, ctx.frames.length > 0 || place !== null)) ? 'hidden' : null;
    };
    const text = (node, parent, style, ctx) => {
      const raw = node.data;
      if (!/\S/.test(raw)) {
        // White space of its own parts the words before and after.
        const last = items.at(-1);
        if (last?.k === 't' && last.b === block) last.s += ' ';
        for (let said = ctx.said; said; said = said.outer) said.words += ' ';
        return;
      }
      const secured = ctx.secret || textSecured(style);
      const range = newRange(ownerDocument(node));
      range.selectNodeContents(node);
      const all = [...range.getClientRects()].map((r) => box(r, ctx.off));
      if (all.length === 0 || !ctx.seen) return withhold('hidden', raw, secured);
      // A sliver of a line is no line.
      const much = (b, area) => {
        const c = cross(b, area);
        return c !== null && c.w >= Math.min(LEGIBLE, b.w) && c.h >= Math.min(LEGIBLE, b.h);
      };
      const inView = all.filter((b) => much(b, ctx.clip));
      if (inView.length === 0) {
        if (all.some((b) => much(b, ctx.wide))) away(all[0]);
        else withhold('hidden', raw, secured);
        return;
      }
      if (parseFloat(style.fontSize) < LEGIBLE || inView.every((b) => b.h < LEGIBLE || b.w < 1)) return withhold('hidden', raw, secured);
      if (textBudget <= 0 || hits <= 0) return void counts.omitted++;
      // Line by line: the middle of each must be there to be seen.
      let why = 'hidden';
      const shown = inView.filter((line) => {
        const reason = unseen(parent, style, ctx, line);
        why = reason ?? why;
        return reason === null;
      });
      if (shown.length === 0) return withhold(why, raw, secured);
      const part = shown.length === all.length ? raw : visiblePart(node, ctx, inView.filter((b) => !shown.includes(b)));
      let words = clean(part);
      // What was drawn as dots once is a secret, whatever becomes of its style.
      if (secured && !ctx.secret) keep(words);
      if (secured || valueLike(words)) {
        mask(range, ctx.frames, true);
        words = MASK;
      }
      words = cut(words, Math.max(textBudget, 1));
      textBudget -= words.length;
      // White space at the edges says whether the next run is another word.
      const edge = (at, end) => (at.test(part) ? end : '');
      const run = edge(/^\s/, ' ') + words + edge(/\s$/, ' ');
      for (let said = ctx.said; said; said = said.outer) {
        said.words += (said.block === block ? '' : ' ') + run;
        said.block = block;
      }
      items.push({ k: 't', b: block, s: run, h: ctx.heading, c: ctx.cell });
    };
    // A long text of which only some lines are in sight: the words whose boxes are.
    const visiblePart = (node, ctx, gone) => {
      const range = newRange(ownerDocument(node));
      let out = '';
      for (const word of node.data.matchAll(/\S+\s*/g)) {
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].trimEnd().length);
        const boxes = [...range.getClientRects()].map((r) => box(r, ctx.off));
        if (boxes.some((b) => cross(b, ctx.clip) && !gone.some((line) => cross(line, b)))) out += word[0];
      }
      return out;
    };

    // The words that a person reads as a field's name: those of its labels that can be seen, or else its placeholder.
    const captionOf = (el, state, ctx) => {
      if (!FIELDS.has(localName(el))) return '';
      const words = [];
      const gather = (node, style) => {
        if (nodeType(node) === 3) {
          if (!/\S/.test(node.data) || hits <= 0 || !seen(parentNode(node))) return;
          const range = newRange(ownerDocument(node));
          range.selectNodeContents(node);
          const line = [...range.getClientRects()].map((r) => box(r, ctx.off)).find((b) => cross(b, ctx.clip) && b.h >= LEGIBLE);
          if (line && unseen(parentNode(node), style, ctx, line) === null) words.push(node.data);
        } else if (isElement(node) && node !== el && !SKIP.has(localName(node)) && !['select', 'textarea'].includes(localName(node))) {
          for (const child of childNodes(node)) gather(child, styleOf(node));
        }
      };
      for (const label of labelsOf(el)) gather(label, styleOf(label));
      const caption = clean(words.join(' '));
      return cut(caption !== '' ? caption : state.value === '' && !isHtml(el, HTMLSelectElement) ? clean(attr(el, 'placeholder')) : '', 400);
    };
    const candidate = (el, style, ctx) => {
      // What runs over several lines has a box on each, and nothing between them is its own.
      const lines = isHtml(el, HTMLAreaElement) ? [] : [...lineBoxes(el)].slice(0, 20).map((q) => box(q, ctx.off)).filter((b) => b.w >= 4 && b.h >= 4);
      let areas = lines;
      if (isHtml(el, HTMLAreaElement)) areas = [areaOf(el, ctx) ?? box(rectOf(el), ctx.off)];
      else if (lines.length === 0) {
        const child = [...queryAll(el, '*')].slice(0, 20).map((c) => box(rectOf(c), ctx.off)).find((b) => b.w >= 4 && b.h >= 4);
        if (!child) return void counts.hidden++;
        areas = [child];
      }
      if (!ctx.seen) return void counts.hidden++;
      const inView = areas.map((area) => cross(area, ctx.clip)).filter((b) => b !== null && b.w >= 2 && b.h >= 2);
      if (inView.length === 0) {
        if (areas.some((area) => cross(area, ctx.wide))) away(areas[0]);
        else counts.hidden++;
        return;
      }
      if (looked.length >= limits.marks || hits <= 0) return void counts.omitted++;
      const points = [[0.5, 0.5], [0.2, 0.3], [0.8, 0.3], [0.2, 0.7], [0.8, 0.7]];
      const isOpen = (b, [fx, fy]) => reaches(el, hit(ctx, b.x + b.w * fx, b.y + b.h * fy));
      const open = inView.find((b) => isOpen(b, points[0])) ?? inView.find((b) => points.slice(1).some((point) => isOpen(b, point)));
      if (!open && !isHtml(el, HTMLAreaElement)) return void counts.covered++;
      const here = open ?? inView[0];
      const state = fieldState(el, style);
      if (state.masked) mask(el, ctx.frames);
      const field = state.value !== undefined;
      const leaf = field || isHtml(el, HTMLInputElement);
      const print = fingerprint(el);
      // What it says is what of its words can be seen: they are gathered as they are walked.
      const mark = { k: 'm', b: block, n: looked.length, r: [here.x, here.y, here.w, here.h], f: print, v: leaf ? print.text || captionOf(el, state, { ...ctx, clip: ctx.around }) : '', s: state, d: ctx.depth, h: ctx.heading, c: ctx.cell, frame: ctx.frameSerial };
      items.push(mark);
      looked.push(el);
      return { leaf, mark };
    };
    // ---- out of sight: no pixels to judge by, and there may be very much of it -----------------------------------------
    // Elements of one class under parents of one class are styled alike as a rule: the style of the first stands for the
    // others, except where it would hide them; then each is asked.
    const styles = new Map();
    const isLoose = (s) => s.position === 'fixed' || s.position === 'absolute' || (s.position === 'relative' && (s.top !== 'auto' || s.left !== 'auto')) || s.transform !== 'none' || s.translate !== 'none' || parseFloat(s.marginTop) < 0 || parseFloat(s.marginLeft) < 0;
    const farStyle = (el, name, parent) => {
      const key = parent.n + ' ' + name + (hasAttributes(el) ? ' ' + (attr(el, 'class') ?? '') + ' ' + (attr(el, 'style') ?? '') : '');
      const known = styles.get(key);
      if (known !== undefined && !known.hides) return known;
      const s = styleOf(el);
      const opacity = parent.opacity * opacityOf(s);
      const ground = groundOf(el);
      const solid = ground.colour === undefined ? null : ground.colour[3] > 0.99 ? ground.colour : ground.colour[3] > 0 ? null : parent.solid;
      const hides = opacity < FAINT || s.visibility !== 'visible' || parseFloat(s.fontSize) < LEGIBLE || s.clipPath !== 'none' || s.clip !== 'auto' || unreadable(s, solid === null ? null : [solid]);
      const out = { n: known?.n ?? styles.size + 1, opacity, solid, hides, display: s.display, cursor: s.cursor, loose: isLoose(s), secured: textSecured(s) };
      styles.set(key, out);
      return out;
    };
    const parentStyles = new Map();
    const styleAround = (el, ctx) => {
      const parent = parentOf(el);
      let known = parentStyles.get(parent);
      if (known !== undefined) return known;
      let solid = ctx.frames.length === 0 ? [255, 255, 255, 1] : null;
      for (let node = parent; node; node = parentOf(node)) {
        const ground = groundOf(node);
        if (ground.colour !== undefined && ground.colour[3] === 0) continue;
        solid = ground.colour !== undefined && ground.colour[3] > 0.99 ? ground.colour : null;
        break;
      }
      known = { n: 'p' + parentStyles.size, opacity: ctx.opacity, solid, hides: false, cursor: parent === null ? '' : styleOf(parent).cursor };
      parentStyles.set(parent, known);
      return known;
    };
    // Where an element and all that overflows it lie out of sight: `above`, `below`, `left`, `right`, or `hidden` where
    // no scrolling brings it into sight. Null where some of it may be in sight.
    const outOfSight = (el, name, ctx) => {
      if (name === 'body' || name === 'html' || never.has(el)) return null;
      const r = rectOf(el);
      if (r.width === 0 || r.height === 0) return null;
      const b = box(r, ctx.off), clip = ctx.clip;
      if (cross(b, clip)) return null;
      // What is centred in too small a box overflows it on both sides.
      const spare = hasChildren(el) ? view.h / 2 : 0;
      if (b.y >= clip.y + clip.h + spare && cross(b, ctx.wide)) return 'below';
      const w = Math.max(b.w, scrollWidth(el)), h = Math.max(b.h, scrollHeight(el));
      const side = b.y >= clip.y + clip.h + spare ? 'below' : b.y + h + spare <= clip.y ? 'above' : b.x >= clip.x + clip.w + spare ? 'right' : b.x + w + spare <= clip.x ? 'left' : null;
      if (side === null) return null;
      return cross({ x: b.x, y: b.y, w, h }, ctx.wide) ? side : 'hidden';
    };
    const hasChildren = (el) => firstElement(el) !== null || shadowOf(el) !== null || closedRoots.has(el);
    const tell = (item, length) => {
      if (limits.far === 0) return;
      if (farBudget <= 0) return void counts.omitted++;
      farBudget -= length + 16;
      far.push(item);
    };
    const farText = (node, style, ctx, side, heading, cell) => {
      const raw = node.data;
      if (!/\S/.test(raw)) {
        const last = far.at(-1);
        if (last?.k === 't' && last.b === block) last.s += ' ';
        return;
      }
      if (side === 'hidden' || style.hides) return void counts.hidden++;
      counts[side]++;
      const words = ctx.secret || style.secured ? MASK : cut(clean(raw), 4000);
      const run = (/^\s/.test(raw) ? ' ' : '') + words + (/\s$/.test(raw) ? ' ' : '');
      tell({ k: 't', b: block, s: run, h: heading || undefined, c: cell ?? undefined, o: side }, run.length);
    };
    const farElement = (el, ctx, parent, side, around, row) => {
      if (++visited > limits.nodes) return void counts.omitted++;
      const name = localName(el);
      if (SKIP.has(name)) return;
      const style = farStyle(el, name, parent);
      // What stands by itself may be in sight all the same.
      if (style.loose && side !== 'hidden') {
        nearby.add(el);
        return element(el, ctx, null);
      }
      if (style.display !== 'contents' && !BOXES.has(name) && !checkVisibility(el, DRAWN_AT_ALL)) return void counts.hidden++;
      const isBlock = BLOCKS.has(style.display) || name === 'br';
      if (isBlock && style.display !== 'table-cell') block++;
      let inside = ctx;
      const heading = headingOf(el, name) || around, cell = style.display === 'table-cell' ? cellOf(el, row) : row;
      if (HOLDS_OTHERS.has(name)) {
        const doc = readableDocument(el);
        if (side === 'hidden') counts.hidden++;
        else counts[side]++;
        if (doc !== null && rootElement(doc) !== null && side !== 'hidden') farElement(rootElement(doc), { ...inside, doc, frames: [...inside.frames, el], frameSerial: serial(el) }, { ...style, n: style.n + 'f', solid: null }, side, heading, cell);
        return;
      }
      const field = FIELDS.has(name);
      if ((field || hasAttr(el, 'contenteditable')) && isSensitive(el, null)) inside = { ...inside, secret: true };
      let item = null;
      if (actionable(el, style, parent)) {
        if (side === 'hidden' || style.hides) counts.hidden++;
        else {
          counts[side]++;
          item = { k: 'e', b: block, q: serial(el), p: serial(parentOf(el)), g: name, y: isHtml(el, HTMLInputElement) ? inputType(el) : attr(el, 'type') ?? undefined, l: attr(el, 'role') ?? undefined, u: cut(plainHref(el) ?? href(el), 2000) || undefined, v: '', n: undefined, x: undefined, s: undefined, h: heading || undefined, c: cell ?? undefined, o: side };
          if (field || hasAttr(el, 'contenteditable') || hasAttr(el, 'aria-expanded') || hasAttr(el, 'aria-checked')) item.s = fieldState(el, styleOf(el));
          tell(item, 40 + (item.u?.length ?? 0));
        }
      }
      const before = far.length;
      if (!field) {
        const root = shadowOf(el) ?? closedRoots.get(el);
        if (root) {
          watch(root);
          for (let child = firstChild(root); child; child = nextNode(child)) farNode(child, style, inside, side, heading, cell);
        }
        if (name === 'slot') {
          const assigned = assignedNodes(el, { flatten: true });
          for (const child of assigned.length ? assigned : childNodes(el)) farNode(child, style, inside, side, heading, cell);
        } else if (!root) {
          for (let child = firstChild(el); child; child = nextNode(child)) farNode(child, style, inside, side, heading, cell);
        }
      }
      if (item !== null) {
        let keep = before, words = '';
        for (let i = before; i < far.length; i++) {
          if (far[i].k === 't') words += far[i].b === item.b ? far[i].s : ' ' + far[i].s;
          else far[keep++] = far[i];
        }
        far.length = keep;
        item.v = cut(clean(field ? labelsOf(el).map(shownText).join(' ') || (isHtml(el, HTMLInputElement) ? ownText(el) : '') : words), 400);
        if (item.v === '') item.n = cut(clean([attr(el, 'aria-label'), namedBy(el), attr(el, 'title'), attr(el, 'alt'), attr(el, 'placeholder'), ...pictured(el)].filter((x) => x).join(' · ')), 400) || undefined;
        const content = contentOf(el);
        if (content !== item.v) item.x = content;
      }
      if (isBlock && style.display !== 'table-cell') block++;
    };
    const farNode = (node, parent, ctx, side, heading, cell) => {
      const type = nodeType(node);
      if (type === 3) farText(node, parent, ctx, side, heading, cell);
      else if (type === 1) farElement(node, ctx, parent, side, heading, cell);
    };
    // What is drawn in the view must have been walked as in view: the view is asked, point by point.
    const strays = () => {
      const found = new Set(), known = new Set();
      if (pruned.size === 0) return [];
      for (let y = PITCH / 2; y < view.h; y += PITCH) {
        for (let x = PITCH / 2; x < view.w; x += PITCH) {
          for (let node = hitAt(x, y); node && !known.has(node) && !nearby.has(node); node = parentOf(node)) {
            if (pruned.has(node)) {
              found.add(node);
              break;
            }
            known.add(node);
          }
        }
      }
      return [...found];
    };

    const element = (el, ctx, parentStyle) => {
      if (++visited > limits.nodes) return void counts.omitted++;
      const name = localName(el);
      if (SKIP.has(name)) return;
      const row = ctx.rows && isRow(el, name) ? ctx.rows : null;
      const side = ctx.seen ? outOfSight(el, name, ctx) : null;
      if (side !== null && !(side === 'hidden' && limits.hidden)) {
        pruned.add(el);
        if (row && side !== 'hidden') row[side]++;
        visited--;
        return farElement(el, ctx, styleAround(el, ctx), side, ctx.heading, ctx.cell);
      }
      if (row) row.near++;
      if (canHost(name) && shadowOf(el) === null && !closedRoots.has(el)) {
        hosts[examined.has(el) && !name.includes('-') ? 1 : 0].push(el);
        examined.add(el);
      }
      groundOf(el);
      const style = styleOf(el);
      if (style.display === 'none') {
        counts.hidden++;
        if (!limits.hidden) return;
      }
      const opacity = ctx.opacity * opacityOf(style);
      const inside = { ...ctx, around: ctx.clip, opacity, seen: opacity >= FAINT && seen(el), depth: ctx.depth + 1 };
      if (style.display !== 'contents' && style.overflow !== 'visible' && style.overflow !== '' && name !== 'body' && name !== 'html') {
        const b = box(rectOf(el), ctx.off);
        const clip = cross(b, ctx.clip);
        const scrolls = /auto|scroll/.test(style.overflowX + style.overflowY);
        inside.clip = clip ?? { x: -1, y: -1, w: 0, h: 0 };
        if (!scrolls) inside.wide = cross(b, ctx.wide) ?? { x: -1, y: -1, w: 0, h: 0 };
      }
      if (style.position === 'fixed') inside.clip = cross(ctx.clip, view) ?? ctx.clip;
      const isBlock = BLOCKS.has(style.display) || name === 'br';
      if (isBlock && !(style.display === 'table-cell')) block++;
      if (style.display === 'table-cell') inside.cell = cellOf(el, ctx.cell);
      const heading = headingOf(el, name);
      if (heading) inside.heading = heading;
      if (isHtml(el, HTMLIFrameElement) || name === 'embed' || name === 'object' || name === 'frame') {
        const r = rectOf(el);
        const here = cross(box(r, ctx.off), ctx.clip);
        const doc = readableDocument(el);
        if (!inside.seen || r.width < 4 || r.height < 4) return void counts.hidden++;
        if (doc === null || rootElement(doc) === null) {
          if (here === null) return void away(box(r, ctx.off));
          counts.frames++;
          const item = { k: 'f', b: ++block, r: [here.x, here.y, here.w, here.h], e: serial(el) };
          items.push(item);
          const inner = placeOf(el, base).view;
          const clip = inner === null ? null : cross({ x: inner[0], y: inner[1], w: inner[2], h: inner[3] }, ctx.clip);
          if (clip !== null) framed.push({ item, el, base, frames: ctx.frames, view: inner, clip, opacity });
          return;
        }
        watch(doc);
        const off = frameOffset(el, ctx.off);
        const inner = { x: off.x, y: off.y, w: clientWidth(el), h: clientHeight(el) };
        const clip = cross(inner, ctx.clip);
        if (clip === null) return void away(box(r, ctx.off));
        block++;
        const solid = (ctx.solid || ctx.frames.length === 0) && style.pointerEvents !== 'none';
        element(rootElement(doc), { ...inside, doc, off, clip, solid, frames: [...ctx.frames, el], frameSerial: serial(el) }, null);
        block++;
        return;
      }
      // Also where the field itself has no mark, what is written in it is not told as a text.
      if ((FIELDS.has(name) || hasAttr(el, 'contenteditable')) && isSensitive(el, style)) inside.secret = true;
      let kind;
      if (actionable(el, style, parentStyle)) kind = candidate(el, style, inside);
      if (kind?.leaf) return;
      if (kind) inside.said = { words: '', block, outer: ctx.said };
      if (textSecured(style)) becomes(el, 'concealed');
      const before = items.length, first = block;
      inside.rows = matches(el, LISTS) ? { near: 0, above: 0, below: 0, left: 0, right: 0 } : null;
      const root = shadowOf(el) ?? closedRoots.get(el);
      if (root) {
        watch(root);
        for (const child of childNodes(root)) visit(child, el, style, inside);
      }
      if (name === 'slot') {
        const assigned = assignedNodes(el, { flatten: true });
        for (const child of assigned.length ? assigned : childNodes(el)) visit(child, el, style, inside);
      } else if (!root) {
        for (const child of childNodes(el)) visit(child, el, style, inside);
      }
      if (inside.rows && inside.rows.near > 0) {
        const { above, below } = inside.rows;
        if (above > 0) items.splice(before, 0, { k: 'r', b: first, n: above, o: 'above' });
        if (below > 0) items.push({ k: 'r', b: ++block, n: below, o: 'below' });
      }
      // The words inside a marked element are said by its mark; what remains are marks within it.
      if (kind) {
        kind.mark.v = cut(clean(inside.said.words), 400);
        let keep = before;
        for (let i = before; i < items.length; i++) if (items[i].k !== 't') items[keep++] = items[i];
        items.length = keep;
      }
      if (isBlock && style.display !== 'table-cell') block++;
    };
    const visit = (node, parent, style, ctx) => {
      const type = nodeType(node);
      if (type === 3) text(node, isElement(parentNode(node)) ? parentNode(node) : parent, isElement(parentNode(node)) && parentNode(node) !== parent ? styleOf(parentNode(node)) : style, ctx);
      else if (type === 1) element(node, ctx, style);
    };

    const scroller = scrollerOf(document) ?? rootElement(document);
    const wide = { x: base.x - globalThis.scrollX, y: base.y - globalThis.scrollY, w: scroller ? scrollWidth(scroller) : view.w, h: scroller ? scrollHeight(scroller) : view.h };
    const start = { doc: document, off: base, clip: view, wide, seen: true, opacity: place?.opacity ?? 1, rows: null, said: null, solid: false, secret: false, depth: 0, frames: [], frameSerial: 0, heading: 0, cell: null };
    if (rootElement(document)) element(rootElement(document), start, null);
    if (framed.length > 0) layOver(framed);
    for (const { item, view, clip, opacity, covers } of framed) {
      if (covers !== null) item.p = { view, clip: [clip.x, clip.y, clip.w, clip.h], covers: [...covers, ...(place?.covers ?? [])], opacity };
    }
    const title = cut(maskText(clean(titleOf(document))), 300);
    return {
      far,
      strays: strays(),
      hosts: hosts[0].length,
      marks: looked.length,
      url: location.href,
      title,
      view: { w: view.w, h: view.h, dpr: globalThis.devicePixelRatio, scrollX: globalThis.scrollX, scrollY: globalThis.scrollY, pageW: wide.w, pageH: wide.h },
      items,
      counts,
      masks: rectsOf(masked, base),
      ready: readiness(document),
      left: { text: Math.max(textBudget, 0), hits: Math.max(hits, 0), nodes: Math.max(limits.nodes - visited, 0) },
    };
  };

  // Everything of the page that must be covered, whether it has a mark or can be hit or not, and whatever the look's
  // bounds are: sensitive fields, words that are numbers of cards or accounts, frames that are not read.
  const MASKABLE = 400000; // nodes; past them there is no picture
  const FIELDS = new Set(['input', 'textarea', 'select']);
  const coverable = (read) => {
    heldNow();
    const found = [], texts = [];
    const add = (what, isRange, frames) => found.push({ what, isRange, frames });
    let left = MASKABLE, generated = GENERATED;
    const scan = (root, frames) => {
      watch(root);
      const doc = nodeType(root) === 9 ? root : ownerDocument(root);
      const walker = newWalker(doc, root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
      let skipped = null;
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (--left < 0) return;
        if (nodeType(node) === 3) {
          if (skipped !== null && parentNode(node) === skipped) continue;
          texts.push({ node, frames, text: node.data });
          if (node.data.length < 13 || !valueLike(node.data)) continue;
          const range = newRange(doc);
          range.selectNodeContents(node);
          add(range, true, frames);
          continue;
        }
        const name = localName(node);
        if (SKIP.has(name)) skipped = node;
        if (FIELDS.has(name) || hasAttr(node, 'contenteditable')) {
          if (isSensitive(node, styleOf(node))) {
            hold(node);
            add(node, false, frames);
          } else if (FIELDS.has(name)) texts.push({ field: node, frames, text: drawnIn(node) });
        } else if (HOLDS_OTHERS.has(name)) {
          const inner = readableDocument(node);
          if (inner === null || rootElement(inner) === null) {
            if (seen(node) && !read.includes(serials.get(node))) add(node, false, frames);
          } else {
            scan(inner, [...frames, node]);
            framed.push({ node, frames });
          }
        }
        if (anyHeld() && --generated >= 0 && !SKIP.has(name)) {
          const written = ['::before', '::after'].map((part) => drawnBy(node, part)).join(' ');
          if (written !== ' ' && echoed(written)) add(node, false, frames);
          else if (name === 'img' && echoed(attr(node, 'alt'))) add(node, false, frames);
        }
        const root = shadowOf(node) ?? closedRoots.get(node);
        if (root) scan(root, frames);
      }
    };
    const framed = [];
    scan(document, []);
    const whole = left >= 0 && !overfull;
    heldNow();
    for (const { node, field, frames, from, to } of split(texts)) {
      if (field) add(field, false, frames);
      else {
        const range = newRange(ownerDocument(node));
        range.selectNodeContents(node);
        // Of a long text only what is around the value.
        if (node.data.length > 120) {
          range.setStart(node, Math.max(from - 8, 0));
          range.setEnd(node, Math.min(to + 8, node.data.length));
        }
        add(range, true, frames);
      }
    }
    // Within a frame that is turned or scaled nothing is where it says: the whole frame is covered.
    const inner = new Set(found.flatMap(({ frames }) => frames));
    for (const { node, frames } of framed) if (inner.has(node) && isBent(node)) add(node, false, frames);
    return { found, whole };
  };
  const GENERATED = 2000; // elements whose ::before and ::after are read
  // What a field that is not sensitive shows.
  const drawnIn = (el) => {
    if (isHtml(el, HTMLSelectElement)) {
      const shown = getter(HTMLSelectElement.prototype, 'size')(el) > 1 || getter(HTMLSelectElement.prototype, 'multiple')(el) ? 'options' : 'selectedOptions';
      return [...getter(HTMLSelectElement.prototype, shown)(el)].slice(0, 200).map((o) => o.label).join('\n');
    }
    const value = isHtml(el, HTMLInputElement) ? inputValue(el) : isHtml(el, HTMLTextAreaElement) ? areaValue(el) : '';
    return value !== '' ? value : attr(el, 'placeholder') ?? '';
  };
  // What a style writes before or after an element.
  const drawnBy = (el, part) => {
    const content = (viewOf(ownerDocument(el)) ?? globalThis).getComputedStyle(el, part).content;
    return content === 'none' || content === 'normal' || content === '' ? '' : content.replace(/^"|"$/g, '').replace(/\\(["\\])/g, '$1');
  };
  // The texts in which a value stands that a field held, wholly or in part; and those that together make the number of a
  // card or account, where they stand in one block.
  const split = (texts) => {
    const out = new Map();
    const mark = (at, from, to) => {
      const known = out.get(at);
      out.set(at, known === undefined ? [from, to] : [Math.min(known[0], from), Math.max(known[1], to)]);
    };
    if (anyHeld()) {
      const folded = texts.map(({ text }) => fold(text));
      const starts = [];
      let length = 0;
      for (const text of folded) {
        starts.push(length);
        length += text.length;
      }
      const edges = new Set(starts);
      const after = (place) => {
        let low = 0, high = starts.length;
        while (low < high) {
          const middle = (low + high) >> 1;
          if (starts[middle] <= place) low = middle + 1;
          else high = middle;
        }
        return low - 1;
      };
      for (const [start, end] of echoes(folded.join(''), (place) => edges.has(place))) {
        for (let at = after(start); at < texts.length && starts[at] < end; at++) {
          if (folded[at] === '') continue;
          mark(at, ...unfolded(texts[at].text, Math.max(start - starts[at], 0), Math.min(end - starts[at], folded[at].length)));
        }
      }
    }
    // Runs of texts with nothing but white space between them, each going on where the one before ends.
    const END = /[\dA-Z][\s.-]{0,3}$/, START = /^[\s.-]{0,3}[\dA-Z]/, GROUP = /^\d{2,6}$/;
    let run = [], home = null;
    const judge = () => {
      const joined = run.map((at) => texts[at].text).join('');
      if (run.length > 1 && valueLike(joined)) for (const at of run) mark(at, 0, texts[at].text.length);
      run = [];
      home = null;
    };
    texts.forEach(({ node, field, text }, at) => {
      if (!/\S/.test(text)) return;
      const last = run.length > 0 && run.length < 32 ? texts[run.at(-1)] : null;
      if (last !== null && (field === undefined ? last.field === undefined && START.test(text) : last.field !== undefined && GROUP.test(text))) {
        home ??= blockOf(last.node ?? last.field);
        if (blockOf(node ?? field) === home) {
          run.push(at);
          if (field === undefined && !END.test(text)) judge();
          return;
        }
      }
      judge();
      if (field === undefined ? END.test(text) : GROUP.test(text)) run.push(at);
    });
    judge();
    return [...out].map(([at, [from, to]]) => ({ ...texts[at], from, to }));
  };
  // The places in a text of a part of its folded form.
  const unfolded = (text, start, end) => {
    let place = 0, from = 0, to = text.length, at = 0;
    for (const c of text) {
      const length = fold(c).length;
      if (length > 0) {
        if (place <= start) from = at;
        if (place < end) to = at + c.length;
      }
      place += length;
      at += c.length;
    }
    return [from, to];
  };
  const blockOf = (node) => {
    for (let el = isElement(node) ? parentOf(node) : isElement(parentNode(node)) ? parentNode(node) : parentOf(node); el; el = parentOf(el)) {
      const name = localName(el);
      if (name === 'td' || name === 'th') return el;
      if (['span', 'b', 'i', 'em', 'strong', 'a', 'code', 'small', 'u', 's', 'mark', 'font', 'label'].includes(name) || !BLOCKS.has(styleOf(el).display)) continue;
      return el;
    }
    return null;
  };
  const isBent = (el) => {
    for (let node = el; node; node = slotAround(node) ?? parentOf(node)) {
      const s = styleOf(node);
      if (s.transform !== 'none' || s.rotate !== 'none' || s.scale !== 'none' || s.perspective !== 'none' || s.offsetPath !== 'none' || (s.zoom ?? '1') !== '1') return true;
    }
    return false;
  };
  // Styles that draw a thing elsewhere than where it is, or that may move it while a picture is taken.
  const STILL = /^(accentColor|backgroundColor|border\w*Color|boxShadow|caretColor|color|fill|opacity|outline\w*|stroke|text\w*Color|visibility|offset|computedOffset|easing|composite)$/;
  const moves = (animation) => {
    if (getter(Animation.prototype, 'playState')(animation) !== 'running') return false;
    const effect = getter(Animation.prototype, 'effect')(animation);
    if (effect === null) return false;
    return method(KeyframeEffect.prototype, 'getKeyframes')(effect).some((frame) => Object.keys(frame).some((name) => !STILL.test(name)));
  };
  // How far from its letters a text is drawn as well: its shadow may be as legible as itself.
  const reach = (style) => {
    let most = parseFloat(style.webkitTextStrokeWidth) || 0;
    for (const [, x, y, blur] of style.textShadow.matchAll(/(-?[\d.]+)px (-?[\d.]+)px ([\d.]+)px/g)) most = Math.max(most, Math.max(Math.abs(x), Math.abs(y)) + 2 * blur);
    return most;
  };
  const FAR = 24; // CSS pixels: a shadow further off is another text
  const strays = (style) => /drop-shadow|blur|url/.test(style.filter) || !['none', ''].includes(style.webkitBoxReflect ?? '');
  const isSteady = (found) => {
    const known = new Set();
    for (const { what, isRange, frames } of found) {
      const drawn = isRange ? parentNode(what.startContainer) : what;
      if (isElement(drawn) && reach(styleOf(drawn)) > FAR) return false;
      for (const start of [drawn, ...frames]) {
        for (let node = start; node && !known.has(node); node = slotAround(node) ?? parentOf(node)) {
          known.add(node);
          if (strays(styleOf(node)) || animationsOf(node).some(moves)) return false;
        }
      }
    }
    return true;
  };
  const rectsOf = (found, base) => found.map(({ what, isRange, frames }) => {
    let off = base;
    for (const frame of frames) off = frameOffset(frame, off);
    const drawn = isRange ? parentNode(what.startContainer) : what;
    let more = isElement(drawn) ? Math.min(reach(styleOf(drawn)), FAR) : 0;
    if (more > 0 && isBent(drawn)) more *= 4;
    return (isRange ? [...what.getClientRects()] : [rectOf(what)]).filter((r) => r.width > 0 && r.height > 0).map((r) => {
      const b = box(r, off);
      return [b.x - more, b.y - more, b.w + 2 * more, b.h + 2 * more];
    });
  }).flat();
  // The rectangles to cover, as they are at this instant: compared before and after a capture.
  const masks = (read, base) => {
    const { found, whole } = coverable(read);
    const all = [...masked, ...found];
    return { all, rects: rectsOf(all, base), whole, steady: isSteady(all) };
  };
  // `read` numbers the frame elements whose documents are read in worlds of their own: they are not covered here, and said
  // where they are.
  // From the reading before a picture to the one after it, every drawn frame is looked at: what moves away and comes back is
  // at the same place both times, and elsewhere in the picture.
  let between = null;
  const DRAWN_FRAMES = 1000;
  const follow = (all, read, base) => {
    const held = read.map(bySerial).filter((el) => el !== null);
    const where = () => JSON.stringify([rectsOf(all, base), held.map((el) => (isConnected(el) ? placeOf(el, base) : null)), globalThis.scrollX, globalThis.scrollY]);
    const first = where(), own = { moved: false };
    between = own;
    const check = () => {
      if (between === own && !own.moved) own.moved = where() !== first;
    };
    let left = DRAWN_FRAMES;
    // At the start of a frame, and as soon as it has been drawn.
    const next = () => {
      check();
      setTimeout(check);
      if (between === own && !own.moved && --left > 0) requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  };
  const geometry = (read, at, begins) => {
    const still = begins || between?.moved === false;
    between = null;
    const base = { x: at[0], y: at[1] };
    const marks = looked.map((el) => {
      const r = rectOf(el);
      return [Math.round(r.x), Math.round(r.y), Math.round(r.width), Math.round(r.height)];
    });
    const { all, rects, whole, steady } = masks(read, base);
    if (begins) follow(all, read, base);
    const frames = [];
    for (const el of read.map(bySerial)) {
      if (el === null || !isConnected(el) || viewOf(ownerDocument(el)) === null) continue;
      frames.push({ serial: serial(el), ...placeOf(el, base), steady: isSteady([{ what: el, isRange: false, frames: frameChain(el) }]) });
    }
    return { masks: rects, whole, steady, still, frames, marks, scroll: [globalThis.scrollX, globalThis.scrollY], view: [globalThis.innerWidth, globalThis.innerHeight, globalThis.devicePixelRatio] };
  };
  const lookedAt = () => [...looked, ...hosts[0], ...hosts[1]];

  // ---- facts: one element, read for a check -----------------------------------------------------------------------------
  const shownText = (el) => clean(isHtml(el, HTMLElement) ? innerText(el) : textContent(el));
  const sectionHeading = (el) => {
    for (let node = el, i = 0; node && i < 40; node = parentOf(node), i++) {
      let prior = node;
      for (let j = 0; prior && j < 30; j++) {
        if (isElement(prior) && prior !== el) {
          if (matches(prior, 'h1,h2,h3,h4,h5,h6,[role=heading]')) return shownText(prior);
          if (matches(prior, 'header,hgroup')) {
            const inner = [...queryAll(prior, 'h1,h2,h3,h4,h5,h6,[role=heading]')].pop();
            if (inner) return clean(textContent(inner));
          }
        }
        prior = priorElement(prior);
      }
    }
    return '';
  };
  const formHeading = (form) => {
    const legend = [...queryAll(form, 'legend,h1,h2,h3,h4,h5,h6,[role=heading]')][0];
    const said = clean(attr(form, 'aria-label'));
    return said !== '' ? said : legend ? clean(textContent(legend)) : sectionHeading(form);
  };
  const fieldLabel = (el) => {
    const text = clean(labelsOf(el).map((l) => ownText(l) || textContent(l)).join(' '));
    return text || clean(attr(el, 'aria-label')) || clean(attr(el, 'placeholder')) || clean(attr(el, 'name'));
  };

  // What a gesture on this element amounts to: the element itself, what its label stands for, the link or button around
  // it, or, for Enter in a field, the form's default button.
  const amountsTo = (el, key) => {
    const control = labelled(el);
    if (control) return control;
    const around = closest(el, 'a[href],area[href],button,summary,label,[role=button],[role=link]');
    if (key === 'enter' && isHtml(el, HTMLInputElement) && !isSubmit(el)) {
      const form = formOf(el);
      const button = form === null ? null : defaultButton(form);
      return button ?? el;
    }
    if (key === 'enter' && isHtml(el, HTMLSelectElement)) return el;
    if (around === null) return el;
    return labelled(around) ?? around;
  };

  // The thing among others that a control belongs to: a row, an item of a list, a dialog.
  const OBJECTS = 'li,tr,article,dialog,[role=row],[role=listitem],[role=dialog],[role=alertdialog]';
  const DIALOGS = 'dialog,[role=dialog],[role=alertdialog]';
  // What a dialog says: its name and its words.
  const dialogText = (el) => {
    const dialog = closest(el, DIALOGS);
    return dialog === null ? '' : cut(maskText(clean([attr(dialog, 'aria-label') ?? '', namedBy(dialog), shownText(dialog)].join(' '))), 1000);
  };
  // Everything that the form would send, hidden and sensitive values too, and the thing it is about: an answer is bound
  // to it (security C2). It is turned into a digest where it arrives; null where it is too much to be sure of.
  const contents = (form, near, object) => {
    const controls = form === null ? [...queryAll(near, 'input,select,textarea,button,[contenteditable]')] : [...formElements(form)];
    if (controls.length > 5000) return null;
    const parts = controls.map((f) => {
      const out = [localName(f), ...['id', 'name', 'type', 'formaction', 'formmethod', 'disabled'].map((name) => attr(f, name))];
      if (isHtml(f, HTMLInputElement)) out.push(inputValue(f), getter(HTMLInputElement.prototype, 'checked')(f));
      else if (isHtml(f, HTMLTextAreaElement)) out.push(areaValue(f));
      else if (isHtml(f, HTMLSelectElement)) out.push(...[...getter(HTMLSelectElement.prototype, 'selectedOptions')(f)].map((o) => [o.value, o.label]));
      else if (isHtml(f, HTMLButtonElement)) out.push(getter(HTMLButtonElement.prototype, 'value')(f));
      else if (editable(f)) out.push(textContent(f));
      return out;
    });
    const all = JSON.stringify([parts, object === null ? '' : shownText(object)]);
    return all.length > 500000 ? null : all;
  };
  // The end of a long sensitive number: enough for a person to know it again.
  const ending = (f) => {
    const value = isHtml(f, HTMLInputElement) ? inputValue(f).replace(/[^A-Za-z0-9]/g, '') : '';
    return ['account', 'card'].includes(sensitive.get(f)) && value.length >= 12 ? value.slice(-4) : '';
  };
  // Options that the gesture may choose: what a person reads, and what is sent.
  const optionsOf = (el) => (isHtml(el, HTMLSelectElement) ? [...getter(HTMLSelectElement.prototype, 'options')(el)].slice(0, 1000).map((o) => ({ label: cut(clean(o.label), 200), value: cut(clean(o.value), 200) })) : []);
  const facts = (el, sensitiveTable, key) => {
    setTable(sensitiveTable);
    if (!isElement(el) || !isConnected(el) || viewOf(ownerDocument(el)) === null) return { gone: true };
    if (frameChain(el).some((frame) => !isConnected(frame))) return { gone: true };
    const style = styleOf(el);
    const effect = amountsTo(el, key);
    const form = formOf(effect);
    const fields = form === null ? [] : [...formElements(form)].filter((f) => ['input', 'select', 'textarea'].includes(localName(f)));
    const visible = fields.filter((f) => !(isHtml(f, HTMLInputElement) && ['hidden', 'submit', 'button', 'reset', 'image'].includes(inputType(f))));
    const submits = isSubmit(effect) || (key === 'enter' && form !== null && isHtml(effect, HTMLInputElement));
    const near = (form !== null ? form : closest(el, 'section,article,main,fieldset,li,tr,dialog,[role=dialog]')) ?? parentOf(el) ?? el;
    const kinds = fields.filter((f) => isSensitive(f, null)).map((f) => sensitive.get(f));
    const object = closest(effect, OBJECTS);
    const has = (kind) => kinds.includes(kind);
    const view = viewOf(ownerDocument(el));
    return {
      print: fingerprint(el),
      content: contentOf(el),
      state: fieldState(el, style),
      visible: seen(el) && bigEnough(el),
      effect: effect === el ? null : fingerprint(effect),
      effectState: effect === el ? null : fieldState(effect, styleOf(effect)),
      submits,
      formHeading: form === null ? '' : cut(formHeading(form), 200),
      sectionHeading: cut(sectionHeading(el), 200),
      around: cut(maskText(shownText(near)), 1500),
      page: cut(maskText(clean(titleOf(document))), 200),
      filled: visible.slice(0, 24).map((f) => {
        const s = fieldState(f, styleOf(f));
        return { label: cut(maskText(fieldLabel(f)), 80), value: s.masked ? (s.value ? MASK : '') : s.checked !== undefined ? (s.checked ? 'on' : 'off') : cut(s.value ?? '', 120), masked: s.masked === true, ending: s.masked ? ending(f) : '' };
      }),
      dialog: dialogText(effect),
      object: object === null ? '' : cut(maskText(shownText(object)), 200),
      contents: contents(form, near, object),
      options: optionsOf(el),
      isField: ['input', 'select', 'textarea', 'option', 'label', 'summary'].includes(localName(effect)) && !isSubmit(effect) && !(isHtml(effect, HTMLInputElement) && inputType(effect) === 'button'),
      fieldCount: visible.length,
      card: has('card'),
      newPassword: has('new_password') || kinds.filter((kind) => kind === 'password').length > 1,
      code: has('one_time_code'),
      account: has('account'),
      url: view.location.href,
      origins: origins(el),
      key: attr(el, 'accesskey') ?? '',
    };
  };
  const maskText = (text) => text.replace(/[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}/g, (run) => (ibanLike(run) ? MASK : run)).replace(/\d(?:[ -.]?\d){12,18}/g, (run) => (cardLike(run) ? MASK : run));

  const focusedElement = () => {
    let el = activeOf(document);
    for (let i = 0; i < 32 && el; i++) {
      const root = shadowOf(el) ?? closedRoots.get(el);
      if (root && activeOf(root)) {
        el = activeOf(root);
        continue;
      }
      const inner = readableDocument(el);
      if (inner && activeOf(inner)) {
        el = activeOf(inner);
        continue;
      }
      break;
    }
    return el;
  };
  const hasFocus = (el) => focusedElement() === el;
  // The element that holds the frame this element is in; null in the top document.
  const frameOwner = (el) => frameChain(el).pop() ?? null;
  // The origins from the element's frame up to the top; what cannot be read is no origin.
  const origins = (el) => {
    const out = [];
    for (let view = viewOf(ownerDocument(el)); view; view = view.parent) {
      try {
        out.push(view.origin);
      } catch {
        out.push('null');
      }
      if (view === globalThis || view === view.parent) break;
    }
    return out;
  };

  // ---- where to press ------------------------------------------------------------------------------------------------
  const frameChain = (el) => {
    const chain = [];
    for (let view = viewOf(ownerDocument(el)); view && view !== globalThis && view.frameElement; view = view.parent) chain.unshift(view.frameElement);
    return chain;
  };
  const point = (el, sight) => {
    let off = { x: 0, y: 0 };
    let clip = { x: 0, y: 0, w: globalThis.innerWidth, h: globalThis.innerHeight };
    if (sight) clip = cross(clip, { x: sight[0], y: sight[1], w: sight[2], h: sight[3] });
    if (clip === null) return { off: true };
    const chain = frameChain(el);
    for (const frame of chain) {
      off = frameOffset(frame, off);
      clip = cross(clip, { x: off.x, y: off.y, w: clientWidth(frame), h: clientHeight(frame) });
      if (clip === null) return { off: true };
    }
    const ctx = { off, doc: ownerDocument(el) };
    let parts = [...lineBoxes(el)].map((r) => box(r, off)).filter((b) => b.w >= 2 && b.h >= 2);
    if (isHtml(el, HTMLAreaElement)) parts = [areaOf(el, ctx)].filter((b) => b);
    if (parts.length === 0) parts = [...queryAll(el, '*')].slice(0, 20).map((c) => box(rectOf(c), off)).filter((b) => b.w >= 4 && b.h >= 4).slice(0, 1);
    const wanted = [el, amountsTo(el, null)];
    let cover = null;
    const tried = (here, x, y) => {
      const hit = hitAt(x, y);
      if (hit === null) return null;
      const path = pathOf(hit), taker = takes(path, wanted);
      if (reaches(el, hit) && taker === null) return { x, y, rect: [here.x, here.y, here.w, here.h] };
      cover = cover ?? taker ?? path.find(interactive) ?? hit;
      return null;
    };
    for (const part of parts) {
      const here = cross(part, clip);
      if (here === null) continue;
      for (const [fx, fy] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75]]) {
        const found = tried(here, here.x + here.w * fx, here.y + here.h * fy);
        if (found) return found;
      }
    }
    // Where a control inside takes the middle, the element's own words or its corners may still be free.
    if (cover !== null && within(el, cover)) {
      const walker = newWalker(ownerDocument(el), el, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(), i = 0; node && i < 50; node = walker.nextNode(), i++) {
        if (!/\S/.test(node.data) || takes(pathOf(parentNode(node)), wanted) !== null) continue;
        const range = newRange(ownerDocument(el));
        range.selectNodeContents(node);
        for (const line of [...range.getClientRects()].slice(0, 4)) {
          const here = cross(box(line, off), clip);
          const found = here && tried(here, here.x + here.w / 2, here.y + here.h / 2);
          if (found) return found;
        }
      }
      for (const part of parts.slice(0, 4)) {
        const here = cross(part, clip);
        if (here === null) continue;
        const dx = Math.min(6, here.w / 8), dy = Math.min(6, here.h / 8);
        for (const [x, y] of [[dx, dy], [here.w - dx, dy], [dx, here.h - dy], [here.w - dx, here.h - dy]]) {
          const found = tried(here, here.x + x, here.y + y);
          if (found) return found;
        }
      }
    }
    if (cover === null) return { off: true };
    coverOf = cover;
    return { covered: true, frame: isHtml(cover, HTMLIFrameElement) };
  };
  let coverOf = null;
  const cover = () => coverOf;
  // The deepest element at a point of the top document, through shadow roots and readable frames.
  const hitAt = (x, y) => {
    let doc = document, off = { x: 0, y: 0 }, hit = null;
    for (let i = 0; i < 16; i++) {
      hit = deepest(doc, x - off.x, y - off.y);
      const inner = hit === null ? null : readableDocument(hit);
      if (inner === null) return hit;
      off = frameOffset(hit, off);
      doc = inner;
    }
    return hit;
  };
  // A frame element of this document: where its viewport lies, and whether a point of this document is on it and on nothing over it.
  const framePlace = (el) => placeOf(el, { x: 0, y: 0 }).view;
  const frameAt = (el, x, y) => {
    const hit = deepest(document, x, y);
    if (hit === el) return { at: true };
    coverOf = hit;
    return { at: false, covered: hit !== null };
  };
  // Whether a frame element of this document has the focus, and with it its document.
  const holdsFocus = (el) => {
    let active = activeOf(document);
    for (let i = 0; i < 32 && active; i++) {
      const root = shadowOf(active) ?? closedRoots.get(active);
      if (!root || !activeOf(root)) break;
      active = activeOf(root);
    }
    return active === el;
  };
  const viewport = () => [0, 0, globalThis.innerWidth, globalThis.innerHeight];
  const frames2 = () => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
  });

  // ---- the guard: while armed, a trusted event whose path lacks the target is stopped -----------------------------------
  // What it sees is told through a binding of this world, as it happens: once a navigation has begun, nothing can be asked
  // of the page any more.
  const guard = { armed: false, nonce: '', target: null, allowed: [], inner: [], wanted: [], roots: [] };
  const tell = (passed, type) => globalThis.countersignReport(JSON.stringify({ nonce: guard.nonce, passed, type }));
  const GUARDED = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu', 'touchstart', 'touchend', 'keydown', 'keypress', 'keyup', 'beforeinput', 'textInput', 'dragstart', 'drop', 'copy', 'cut', 'paste', 'submit'];
  const PRESSES = new Set(['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'auxclick', 'dblclick', 'contextmenu', 'touchstart', 'touchend']);
  const CARRIES = new Set(['copy', 'cut', 'paste', 'dragstart', 'drop']);
  const halt = (event) => {
    stop(event);
    prevent(event);
    tell(false, event.type);
  };
  // A click with a modifier or another button opens what it presses in a tab or window that may have no opener. None of
  // ours does that, and no page may do it in our tabs.
  let stopping = 0;
  const elsewhere = (event) => {
    if (event.type === 'submit') {
      if (stopping === 0) return false;
    } else {
      if (event.type !== 'click' && event.type !== 'auxclick') return false;
      const bent = event.ctrlKey || event.shiftKey || event.metaKey || event.altKey || event.button !== 0;
      // What lies in a closed root is not on the path: what a page makes up is stopped wherever it is aimed.
      if (!bent || (event.isTrusted && !composedPath(event).some(opens))) return false;
      if (!event.cancelable) {
        // It cannot be prevented, so for as long as it is under way nothing has an address and nothing is submitted.
        const links = composedPath(event).filter(isElement).flatMap((el) => ['href', 'xlink:href'].filter((name) => hasAttr(el, name)).map((name) => [el, name, attr(el, name)]));
        for (const [el, name] of links) without(el, name);
        stopping++;
        setTimeout(() => {
          stopping--;
          for (const [el, name, value] of links) if (!hasAttr(el, name)) having(el, name, value);
        });
      }
    }
    stop(event);
    prevent(event);
    return true;
  };
  const opens = (node) => {
    if (!isElement(node)) return false;
    const control = labelled(node) ?? node;
    return ['a', 'area'].includes(localName(control)) || isSubmit(control) || closedRoots.has(node);
  };
  // What a guard cannot judge is stopped.
  const judged = (judge) => (event) => {
    try {
      judge(event);
    } catch {
      stop(event);
      prevent(event);
      if (guard.armed) tell(false, event.type);
    }
  };
  const onEvent = judged((event) => {
    if (elsewhere(event)) return;
    if (!guard.armed || event.type === 'submit') return;
    if (CARRIES.has(event.type)) {
      stop(event);
      prevent(event);
      return;
    }
    if (!event.isTrusted) return;
    const path = composedPath(event);
    if (!guard.allowed.some((node) => path.includes(node)) || (PRESSES.has(event.type) && takes(path, [...guard.wanted, ...guard.allowed]) !== null)) {
      halt(event);
      return;
    }
    if ((event.type === 'beforeinput' || event.type === 'textInput') && !event.defaultPrevented) {
      // What a key enters or erases goes to what has the focus once every handler has run, whatever path the event had.
      // So the page's handlers get a copy first, and the event itself ends here: nothing runs between look and entry.
      const wanted = event.type === 'textInput' || offered(guard.target, event.inputType, event.data, event.dataTransfer, event.getTargetRanges());
      if (!hasFocus(guard.target)) {
        halt(event);
        return;
      }
      stop(event);
      if (!wanted) prevent(event);
    }
    tell(true, event.type);
  });
  // Inside a closed root the window sees only the host; a listener on the root itself sees the target.
  const onClosed = judged((event) => {
    if (elsewhere(event) || !event.isTrusted || !guard.armed) return;
    if (CARRIES.has(event.type) || event.type === 'submit') return;
    const path = composedPath(event);
    if (guard.inner.some((node) => path.includes(node)) && !(PRESSES.has(event.type) && takes(path, [...guard.wanted, ...guard.inner]) !== null)) return;
    halt(event);
  });
  // Added again only where it is gone: as the first listener of all it runs before any of the page's.
  const install = () => {
    for (const type of GUARDED) window.addEventListener(type, onEvent, { capture: true, passive: false });
  };
  install();
  // Arms the guard and proves that listeners run in this frame: the event's name is a nonce that no page knows.
  const arm = (nonce, target, key) => {
    disarm();
    install();
    guard.nonce = nonce;
    guard.target = target;
    guard.inner = [];
    guard.allowed = [];
    guard.wanted = [];
    if (target) {
      const effect = amountsTo(target, key);
      guard.wanted = [target, effect];
      guard.inner = [target, effect, ...labelsOf(target)];
      for (const node of guard.inner) {
        let outer = node;
        for (let root = rootOf(outer); isShadow(root); root = rootOf(outer)) {
          if (root.mode === 'closed') {
            guard.roots.push(root);
            for (const type of GUARDED) root.addEventListener(type, onClosed, { capture: true, passive: false });
            outer = hostOf(root);
            guard.inner.push(outer);
          } else if (isShadow(rootOf(hostOf(root)))) outer = hostOf(root);
          else break;
        }
        guard.allowed.push(outer === node ? node : outer);
      }
    }
    // A closed root inside the target hides what it holds from the window.
    for (const [host, root] of closedRoots) {
      if (guard.roots.includes(root) || !target || !within(target, host)) continue;
      guard.roots.push(root);
      guard.inner.push(host);
      for (const type of GUARDED) root.addEventListener(type, onClosed, { capture: true, passive: false });
    }
    guard.armed = true;
    let live = false;
    const probe = () => (live = true);
    window.addEventListener(nonce, probe, { capture: true, once: true });
    window.dispatchEvent(new Event(nonce));
    window.removeEventListener(nonce, probe, { capture: true });
    return live;
  };
  const disarm = () => {
    guard.armed = false;
    guard.target = null;
    for (const root of guard.roots) for (const type of GUARDED) root.removeEventListener(type, onClosed, { capture: true });
    guard.roots = [];
    guard.allowed = [];
  };

  // ---- gestures that are no events -------------------------------------------------------------------------------------
  const into = (el) => {
    method(Element.prototype, 'scrollIntoView')(el, { block: 'center', inline: 'center', behavior: 'instant' });
    return true;
  };
  const scroll = (el, dx, dy) => {
    let box = el;
    for (; box; box = parentOf(box)) {
      const s = styleOf(box);
      const can = dy !== 0 ? scrollHeight(box) > clientHeight(box) && /auto|scroll/.test(s.overflowY) : scrollWidth(box) > clientWidth(box) && /auto|scroll/.test(s.overflowX);
      if (can) break;
    }
    const doc = ownerDocument(el), page = scrollerOf(doc) ?? rootElement(doc);
    const target = box && box !== bodyOf(doc) && box !== rootElement(doc) ? box : page;
    const before = [scrollLeft(target), scrollTop(target)];
    const w = target === page ? viewOf(doc).innerWidth : clientWidth(target);
    const h = target === page ? viewOf(doc).innerHeight : clientHeight(target);
    method(Element.prototype, 'scrollBy')(target, { left: dx * w * 0.85, top: dy * h * 0.85, behavior: 'instant' });
    return { moved: before[0] !== scrollLeft(target) || before[1] !== scrollTop(target) };
  };
  const scrollPage = (dx, dy) => scroll(scrollerOf(document) ?? rootElement(document), dx, dy);
  const selectAll = (el) => {
    if (isHtml(el, HTMLInputElement) || isHtml(el, HTMLTextAreaElement)) {
      method(isHtml(el, HTMLInputElement) ? HTMLInputElement.prototype : HTMLTextAreaElement.prototype, 'select')(el);
    } else {
      const doc = ownerDocument(el), range = newRange(doc), selection = viewOf(doc).getSelection();
      range.selectNodeContents(el);
      selection.removeAllRanges();
      selection.addRange(range);
    }
  };
  const selected = (el) => {
    const selection = viewOf(ownerDocument(el)).getSelection();
    const range = selection.rangeCount > 0 ? selection.getRangeAt(0) : null;
    return range !== null && contains(el, range.startContainer) && contains(el, range.endContainer) ? [new StaticRange(range)] : [];
  };
  // Tells the page what is about to be entered, for editors that keep a model of their own. True unless the page cancels.
  const offered = (el, inputType, data, dataTransfer, targetRanges) =>
    dispatch(el, new InputEvent('beforeinput', { bubbles: true, composed: true, cancelable: true, inputType, data, dataTransfer, targetRanges }));
  // Enters text in place of what is selected, or of everything. The look at the focus and the entry are one turn of the
  // page's thread: the command queues its events until it is done, so no script of the page runs between the two.
  const enter = (el, text, everything) => {
    if (!hasFocus(el)) return 'lost';
    if (everything) selectAll(el);
    const erases = text === '';
    const wanted = offered(el, erases ? 'deleteContentBackward' : 'insertText', erases ? null : text, null, selected(el));
    if (!hasFocus(el)) return 'stolen';
    if (!wanted) return 'taken';
    const done = command(ownerDocument(el), erases ? 'delete' : 'insertText', false, text);
    return done || erases ? 'entered' : 'stolen';
  };
  // Whether the field holds exactly this text now; the text itself need not come back.
  const holds = (el, wanted) => {
    const same = (a, b) => a.replace(/\r\n?/g, '\n').replace(/\u00a0/g, ' ').replace(/\n$/, '') === b.replace(/\r\n?/g, '\n').replace(/\u00a0/g, ' ').replace(/\n$/, '');
    const value = isHtml(el, HTMLInputElement) ? inputValue(el) : isHtml(el, HTMLTextAreaElement) ? areaValue(el) : innerText(el);
    const hidden = isSensitive(el, styleOf(el));
    return { same: same(value, wanted), length: [...value].length, value: hidden ? null : cut(value, 400) };
  };
  const setter = (proto, name) => Object.getOwnPropertyDescriptor(proto, name).set;
  const fire = (el) => {
    dispatch(el, new Event('input', { bubbles: true, composed: true }));
    dispatch(el, new Event('change', { bubbles: true }));
  };
  // Date, time, colour and range fields have no text to type into: their value is set and said as typing says it.
  const setValue = (el, value) => {
    Reflect.apply(setter(HTMLInputElement.prototype, 'value'), el, [value]);
    fire(el);
    return holds(el, value);
  };
  const choose = (el, wanted) => {
    const options = [...getter(HTMLSelectElement.prototype, 'options')(el)];
    const list = options.map((o) => [cut(clean(o.label), 120), cut(o.value, 120)]).slice(0, 200);
    const picked = [];
    for (const want of wanted) {
      const byValue = options.filter((o) => o.value === want);
      const byLabel = options.filter((o) => clean(o.label) === clean(want));
      const found = byLabel.length === 1 ? byLabel : byValue.length === 1 ? byValue : byLabel.length > 1 ? byLabel : byValue;
      if (found.length === 0) return { unknown: true, list };
      if (found.length > 1) return { ambiguous: true, list };
      if (matches(found[0], ':disabled')) return { disabled: true, list };
      picked.push(found[0]);
    }
    if (picked.length !== 1 && !getter(HTMLSelectElement.prototype, 'multiple')(el)) return { single: true, list };
    return { picked, list };
  };
  const canChoose = (el, wanted) => {
    const { picked, ...rest } = choose(el, wanted);
    return { ...rest, fits: picked !== undefined };
  };
  const select = (el, wanted) => {
    const { picked, ...rest } = choose(el, wanted);
    if (!picked) return rest;
    const set = setter(HTMLOptionElement.prototype, 'selected');
    for (const option of getter(HTMLSelectElement.prototype, 'options')(el)) Reflect.apply(set, option, [picked.includes(option)]);
    fire(el);
    const now = [...getter(HTMLSelectElement.prototype, 'selectedOptions')(el)];
    return { same: now.length === picked.length && now.every((o) => picked.includes(o)), value: now.map((o) => clean(o.label)).join(', ') };
  };

  // ---- waiting -----------------------------------------------------------------------------------------------------------
  // Resolves at the next change of the document, or after `ms`: waiting without a fixed sleep.
  const changed = (ms) => new Promise((done) => {
    const observer = new MutationObserver(() => end(true));
    const end = (what) => {
      observer.disconnect();
      clearTimeout(timer);
      done(what);
    };
    const timer = setTimeout(() => end(false), ms);
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  // Resolves when nothing has changed for `quiet` ms, or after `most` ms.
  const rest = (quiet, most) => new Promise((done) => {
    let changes = 0;
    const observer = new MutationObserver(() => {
      changes++;
      clearTimeout(idle);
      idle = setTimeout(end, quiet);
    });
    const end = () => {
      observer.disconnect();
      clearTimeout(idle);
      clearTimeout(limit);
      done(changes);
    };
    let idle = setTimeout(end, quiet);
    const limit = setTimeout(end, most);
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });

  const api = { walk, handed, geometry, lookedAt, bySerial, frameOwner, facts, focusedElement, hasFocus, holdsFocus, framePlace, frameAt, viewport, point, cover, frames2, arm, disarm, into, scroll, scrollPage, enter, holds, setValue, canChoose, select, changed, rest, serial };
  Object.defineProperty(globalThis, 'countersign', { value: Object.freeze(api), writable: false, configurable: false, enumerable: false });
})();
