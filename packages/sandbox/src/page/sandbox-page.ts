import { CHAT_HTML, CHAT_STYLE } from './chat-panel.ts';

/** HTML of the page; `page-script.ts` fills the lists. */
export const PAGE_HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sandbox</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/sandbox/page.css">
<script src="/sandbox/page.js" defer></script>
<script src="/sandbox/chat.js" defer></script>
</head>
<body>
<header>
  <div><h1>Sandbox</h1><p>Nothing here reaches the outside: no real money, mail, messages or VPN.</p></div>
  <section class="clock" aria-label="Service clock">
    <time id="now">…</time>
    <div>
      <button type="button" data-advance="3600000">+1 h</button>
      <button type="button" data-advance="86400000">+1 day</button>
      <button type="button" data-advance="2592000000">+30 days</button>
    </div>
  </section>
</header>
<p id="problem" role="alert" hidden></p>
<main>
  ${CHAT_HTML}
  <section class="wide"><h2>Invoices <span id="invoices-count"></span></h2><div id="invoices" role="region" aria-label="List of invoices" tabindex="0" aria-busy="true"><p class="soft">Loading …</p></div></section>
  <section><h2>Mail box <span id="mail-count"></span></h2><div id="mail" aria-busy="true"><p class="soft">Loading …</p></div></section>
  <section><h2>Messenger <span id="messages-count"></span></h2><div id="messages" aria-busy="true"><p class="soft">Loading …</p></div>
    <form id="membership" class="row">
      <label>Channel <input name="channel" required placeholder="@channel or -100…"></label>
      <label>User <input name="user" required inputmode="numeric" placeholder="messenger id"></label>
      <button type="submit" value="left">Has left</button>
      <button type="submit" value="member">Has joined</button>
    </form></section>
  <section class="wide"><h2>Panel users <span id="users-count"></span></h2><div id="users" role="region" aria-label="List of panel users" tabindex="0" aria-busy="true"><p class="soft">Loading …</p></div></section>
  <section class="wide"><h2>Squads <span id="squads-count"></span></h2><div id="squads" role="region" aria-label="List of squads" tabindex="0" aria-busy="true"><p class="soft">Loading …</p></div></section>
</main>
<noscript>This page needs scripts.</noscript>
</body>
</html>
`;

export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --ground: light-dark(#f1f3f8, #12151c);
  --card: light-dark(#ffffff, #1b202b);
  --ink: light-dark(#1b2330, #e7ebf3);
  --soft: light-dark(#5a6476, #98a2b3);
  --line: light-dark(#e3e7ef, #2a3140);
  --accent: light-dark(#2453d6, #8db0ff);
}
* { box-sizing: border-box; }
body { margin: 0; padding: 24px clamp(16px, 4vw, 56px) 56px; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: 16px; justify-content: space-between; align-items: end; margin-bottom: 20px; }
h1 { margin: 0; font-size: 28px; letter-spacing: -0.02em; }
h2 { margin: 0 0 12px; font-size: 16px; }
h2 span { color: var(--soft); font-weight: 400; }
p { margin: 4px 0; }
header p, time, .soft { color: var(--soft); }
main { display: grid; gap: 16px; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 16px 18px; min-width: 0; }
.wide { grid-column: 1 / -1; }
[role='region'] { overflow-x: auto; }
.clock { display: grid; gap: 8px; padding: 12px 16px; }
.clock time { font-variant-numeric: tabular-nums; color: var(--ink); }
button { font: inherit; font-size: 13px; padding: 5px 12px; margin-right: 6px; border: 1px solid var(--line); border-radius: 8px; background: transparent; color: inherit; cursor: pointer; }
button:hover { border-color: var(--accent); }
button[aria-disabled='true'] { opacity: 0.5; cursor: default; }
button.pay { background: #2453d6; border-color: #2453d6; color: #fff; }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-weight: 500; color: var(--soft); font-size: 13px; }
th, td { padding: 7px 12px 7px 0; border-top: 1px solid var(--line); vertical-align: top; }
thead th { border-top: 0; }
code { font: 12px ui-monospace, monospace; word-break: break-all; }
a { color: var(--accent); overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); padding: 8px 0; }
details:first-child { border-top: 0; }
summary { cursor: pointer; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: 8px 0 4px; }
.tag { display: inline-block; padding: 0 8px; border-radius: 99px; background: var(--line); font-size: 12px; }
.tag.paid, .tag.ACTIVE { background: #16a34a2e; }
.tag.failed, .tag.EXPIRED { background: #dc26262e; }
#problem { background: #dc262626; padding: 8px 14px; border-radius: 10px; }
${CHAT_STYLE}`;

/**
 * The page's script as text, so that it is served from a bundle too. It writes with `textContent` only: mails and messages
 * contain what users typed.
 */
export const PAGE_SCRIPT = `'use strict';
const byId = (id) => document.getElementById(id);

function element(name, options, ...children) {
  const node = document.createElement(name);
  Object.assign(node, options);
  node.append(...children);
  return node;
}

/** Text in which web addresses can be clicked. */
function linked(text) {
  const parts = String(text).split(/(https?:\\/\\/[^\\s<>"]+)/);
  return parts.map((part, index) => (index % 2 ? link(part, part) : part));
}

function link(href, text) {
  return /^https?:\\/\\//.test(href) ? element('a', { href, target: '_blank', rel: 'noreferrer noopener', textContent: text }) : text;
}

function table(headings, rows) {
  const head = element('thead', {}, element('tr', {}, ...headings.map((textContent) => element('th', { textContent }))));
  const body = rows.map((cells) => element('tr', {}, ...cells.map((cell) => element('td', {}, ...[].concat(cell)))));
  return element('table', {}, head, element('tbody', {}, ...body));
}

const tag = (status) => element('span', { className: 'tag ' + String(status).replace(/[^A-Za-z_]/g, ''), textContent: status });
const code = (textContent) => element('code', { textContent });
const when = (iso) => (iso ? iso.replace('T', ' ').slice(0, 16) : '—');
const rubles = (kopeks) => (kopeks / 100).toFixed(2) + ' ₽';
const gigabytes = (bytes) => (bytes ? (bytes / 1073741824).toFixed(1) + ' GB' : 'unlimited');

function entry(title, soft, content, open) {
  const summary = element('summary', {}, title + ' ', element('span', { className: 'soft', textContent: soft }));
  return element('details', { open }, summary, ...content);
}

const views = {
  invoices: (list) =>
    table(['Created', 'Method', 'Amount', 'Description', 'Status', 'Next'], list.map((invoice) => [
      when(invoice.createdAt),
      invoice.method,
      rubles(invoice.amountKopeks),
      invoice.payUrl ? link(invoice.payUrl, invoice.description || invoice.id) : invoice.description,
      tag(invoice.status),
      steps(invoice),
    ])),
  mail: (list) => group(list.map((mail, index) => entry(mail.subject, mail.to + ', ' + when(mail.sentAt), [element('pre', {}, ...linked(mail.text))], index === 0))),
  messages: (list) =>
    group(list.map((message, index) => {
      const buttons = (message.buttons || []).flat().map((button) => element('p', {}, '▸ ', button.url ? link(button.url, button.text) : button.text));
      return entry('Chat ' + message.chatId, when(message.sentAt), [element('pre', {}, ...linked(message.text)), ...buttons], index < 3);
    })),
  users: (list) =>
    table(['User', 'Status', 'Until', 'Traffic', 'Link'], list.map((user) => [
      [user.username, element('br'), code(user.uuid)],
      tag(user.status),
      when(user.expireAt),
      gigabytes(user.trafficLimitBytes),
      user.subscriptionUrl ? link(user.subscriptionUrl, user.subscriptionUrl) : '—',
    ])),
  squads: (list) => table(['Name', 'Members', 'Id'], list.map((squad) => [squad.name, String(squad.members), code(squad.uuid)])),
};

const group = (nodes) => element('div', {}, ...nodes);

function steps(invoice) {
  const allowed = { pending: ['pay', 'fail'], paid: ['refund'] }[invoice.status] || [];
  return allowed.map((step) =>
    element('button', {
      type: 'button',
      className: step,
      textContent: step[0].toUpperCase() + step.slice(1),
      onclick: (event) => act(event.target, '/sandbox/api/payments/' + encodeURIComponent(invoice.id) + '/' + step),
    }));
}

/** Writes a list again; who works by keys goes on in it. */
function rewrite(list, content) {
  const hasFocus = list.contains(document.activeElement);
  list.replaceChildren(...content);
  if (hasFocus) list.focus();
}

// A button that waits keeps the focus, which one with the attribute disabled would lose; so its clicks end here.
document.addEventListener('click', (event) => event.target.ariaDisabled === 'true' && (event.preventDefault(), event.stopPropagation()), true);

async function act(button, url, body) {
  button.ariaDisabled = 'true';
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sandbox-page': '1' },
      body: JSON.stringify(body || {}),
    });
    problem(response.ok ? '' : (await response.json()).detail);
    await refresh();
  } catch {
    problem(AWAY);
  } finally {
    button.ariaDisabled = null;
  }
}

const AWAY = 'The service does not answer. This page tries again; what it shows may be old.';

function problem(text) {
  if (byId('problem').textContent === text) return;
  byId('problem').textContent = text;
  byId('problem').hidden = !text;
}

let shown = {};

async function refresh() {
  const response = await fetch('/sandbox/api/state');
  if (!response.ok) throw new Error('state');
  const state = await response.json();
  byId('now').dateTime = state.now;
  byId('now').textContent = state.now.replace('T', ' ').slice(0, 19) + ' UTC';
  for (const name of Object.keys(views)) {
    const list = state[name];
    const text = JSON.stringify(list);
    if (shown[name] === text) continue;
    shown[name] = text;
    byId(name + '-count').textContent = list.length;
    const empty = element('p', { className: 'soft', textContent: 'Nothing yet' });
    byId(name).removeAttribute('aria-busy');
    rewrite(byId(name), [list.length ? views[name](list) : empty]);
  }
}

for (const button of document.querySelectorAll('[data-advance]')) {
  button.addEventListener('click', () => act(button, '/sandbox/api/clock', { advance_ms: Number(button.dataset.advance) }));
}

byId('membership').addEventListener('submit', (event) => {
  event.preventDefault();
  const { channel, user } = event.target.elements;
  const body = { channel_id: channel.value.trim(), user_id: Number(user.value), is_member: event.submitter.value === 'member' };
  act(event.submitter, '/sandbox/api/memberships', body);
});

async function poll() {
  try {
    await refresh();
    if (byId('problem').textContent === AWAY) problem('');
  } catch {
    problem(AWAY);
    for (const name of Object.keys(views)) {
      if (!(name in shown)) byId(name).replaceChildren(element('p', { className: 'soft', textContent: 'Not loaded yet; trying again …' }));
    }
  }
  setTimeout(poll, 2000);
}
poll();
`;
