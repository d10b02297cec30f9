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
    table(['Created', 'Method', 'Amount', 'Description', 'Status', ''], list.map((invoice) => [
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

async function act(button, url, body) {
  button.disabled = true;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-sandbox-page': '1' },
      body: JSON.stringify(body || {}),
    });
    problem(response.ok ? '' : (await response.json()).detail);
    await refresh();
  } catch {
    problem('The service does not answer.');
  } finally {
    button.disabled = false;
  }
}

function problem(text) {
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
    byId(name).replaceChildren(list.length ? views[name](list) : empty);
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
    if (byId('problem').textContent === 'The service does not answer.') problem('');
  } catch {
    problem('The service does not answer.');
    for (const name of Object.keys(views)) {
      if (!(name in shown)) byId(name).replaceChildren(element('p', { className: 'soft', textContent: 'Not loaded yet; trying again …' }));
    }
  }
  setTimeout(poll, 2000);
}
poll();
`;
