/** The chats of the sandbox page: markup, style and script; the script uses the functions of the script of the page. */

export const CHAT_HTML = `<section class="wide chat" aria-labelledby="chat-title">
    <h2 id="chat-title">Chat with the bot <span id="chat-bot"></span></h2>
    <div class="row">
      <label id="chat-choice" hidden>Person <select id="chat-person"></select></label>
      <details id="chat-new"><summary>Add a person</summary>
        <form id="chat-add" class="row">
          <label>Messenger id <input name="id" required inputmode="numeric" pattern="[1-9][0-9]{0,14}" value="1001"></label>
          <label>Name <input name="first_name" required maxlength="64" value="Vera"></label>
          <label>User name <input name="username" pattern="[A-Za-z0-9_]{1,32}"></label>
          <label>Language <select name="language_code"><option>ru</option><option>en</option></select></label>
          <button type="submit">Add</button>
        </form>
      </details>
    </div>
    <div id="chat-log" role="log" aria-live="polite" aria-label="Conversation" tabindex="0" aria-busy="true"><p class="soft">Loading …</p></div>
    <p id="chat-answer" role="status" hidden></p>
    <form id="chat-send" class="row">
      <label class="grow">Message <input name="text" maxlength="4096" autocomplete="off" placeholder="/start"></label>
      <label>Photo <input name="photo" type="file" accept="image/png,image/jpeg,image/gif,image/webp"></label>
      <button type="submit" class="pay">Send</button>
      <button type="button" id="chat-repeat" title="Delivers the latest update of this person once more under the same id">Repeat update</button>
    </form>
    <div id="chat-commands" class="row"></div>
  </section>`;

export const CHAT_STYLE = `
.row { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: end; margin: 8px 0; }
.row .grow { flex: 1 1 220px; }
.row details { flex: 1 1 240px; border: 0; }
[hidden] { display: none !important; }
.chat label { display: grid; gap: 2px; font-size: 13px; color: var(--soft); }
.chat input, .chat select { font: inherit; min-height: 32px; max-width: 100%; padding: 4px 8px; border: 1px solid var(--line); border-radius: 8px; background: var(--ground); color: var(--ink); }
#chat-log { display: flex; flex-direction: column; gap: 8px; height: 420px; max-height: 70vh; overflow-y: auto; padding: 10px; border: 1px solid var(--line); border-radius: 10px; background: var(--ground); }
.message { align-self: start; max-width: min(480px, 92%); padding: 8px 12px; border-radius: 12px; background: var(--card); border: 1px solid var(--line); }
.message.sent { align-self: end; border-color: var(--accent); }
.message p { white-space: pre-wrap; overflow-wrap: anywhere; }
.message img { display: block; max-width: 100%; max-height: 260px; border-radius: 8px; background: #fff; }
.message .keys { display: flex; gap: 6px; margin-top: 6px; }
.message .keys > * { flex: 1; margin: 0; text-align: center; overflow-wrap: anywhere; }
.message .keys a { padding: 5px 12px; border: 1px solid var(--line); border-radius: 8px; text-decoration: none; font-size: 13px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

/** Writes text nodes and the tags of the messenger only: messages contain what users typed. */
export const CHAT_SCRIPT = `'use strict';
const TAGS = ['B', 'STRONG', 'I', 'EM', 'U', 'S', 'CODE', 'PRE'];
let chatPerson = Number(location.hash.slice(1)) || 0;
let chatShown = '';
let peopleShown = '';

/** The nodes of a formatted text; other tags are left out, their text is not. */
function formatted(nodes) {
  return [...nodes].flatMap((node) => {
    if (node.nodeType === Node.TEXT_NODE) return [node.data];
    if (node.nodeType !== Node.ELEMENT_NODE) return [];
    const inside = formatted(node.childNodes);
    if (TAGS.includes(node.tagName)) return [element(node.tagName.toLowerCase(), {}, ...inside)];
    if (node.tagName === 'A') return [link(node.getAttribute('href') || '', node.textContent)];
    return inside;
  });
}

function textOf(message) {
  if (!message.isHtml) return linked(message.text);
  return formatted(new DOMParser().parseFromString(message.text, 'text/html').body.childNodes);
}

function key(message, button, invoices) {
  const invoice = invoices[button.url];
  if (invoice) {
    const paid = invoice.status === 'pending' ? '' : ' (' + invoice.status + ')';
    return control(button.text + ' · ' + invoice.stars + ' ⭐' + paid, 'payments', { link: button.url });
  }
  const address = button.url || (button.web_app && button.web_app.url);
  if (address) return link(address, button.text);
  return control(button.text, 'presses', { message_id: message.messageId, data: button.callback_data });
}

function control(text, action, body) {
  const onclick = (event) => actInChat(event.currentTarget, action, body);
  return element('button', { type: 'button', textContent: text, onclick });
}

function messageView(message, invoices) {
  const picture = message.photo
    ? [element('img', { src: '/sandbox/api/pictures/' + message.photo, alt: 'Picture', loading: 'lazy' })]
    : [];
  const rows = message.buttons.map((row) =>
    element('div', { className: 'keys' }, ...row.map((button) => key(message, button, invoices))));
  const sent = message.senderId ? ' sent' : '';
  const text = element('p', {}, ...textOf(message));
  const time = element('span', { className: 'soft', textContent: when(message.sentAt) });
  return element('div', { className: 'message' + sent }, ...picture, text, ...rows, time);
}

async function actInChat(button, action, body) {
  await act(button, '/sandbox/api/chats/' + chatPerson + '/' + action, body);
  await refreshChat();
}

async function read(path) {
  const response = await fetch(path);
  return response.ok ? response.json() : null;
}

async function refreshChat() {
  const overview = await read('/sandbox/api/chats');
  if (!overview) return;
  const people = JSON.stringify(overview);
  if (people !== peopleShown) {
    peopleShown = people;
    byId('chat-bot').textContent = '@' + overview.bot.username;
    if (!overview.people.some((person) => person.id === chatPerson)) chatPerson = overview.people.length ? overview.people[0].id : 0;
    byId('chat-person').replaceChildren(...overview.people.map((person) =>
      element('option', { value: person.id, textContent: person.first_name + ' (' + person.id + ')', selected: person.id === chatPerson })));
    byId('chat-new').open = overview.people.length === 0;
    byId('chat-choice').hidden = overview.people.length === 0;
    byId('chat-add').elements.id.defaultValue = Math.max(1000, ...overview.people.map((person) => person.id)) + 1;
    byId('chat-commands').replaceChildren(...overview.bot.commands.map((one) =>
      element('button', { type: 'button', title: one.description, textContent: '/' + one.command, onclick: (event) => actInChat(event.currentTarget, 'messages', { text: '/' + one.command }) })));
  }
  byId('chat-log').removeAttribute('aria-busy');
  if (chatPerson === 0) {
    byId('chat-log').replaceChildren(element('p', { className: 'soft', textContent: 'Add a person, then send /start.' }));
    return;
  }
  const chat = await read('/sandbox/api/chats/' + chatPerson);
  const text = JSON.stringify(chat);
  if (!chat || text === chatShown) return;
  chatShown = text;
  const empty = element('p', { className: 'soft', textContent: 'Nothing yet. Send /start. A bot has to run for an answer, for example that of npm run examples.' });
  rewrite(byId('chat-log'), chat.messages.length ? chat.messages.map((one) => messageView(one, chat.invoices)) : [empty]);
  byId('chat-log').scrollTop = byId('chat-log').scrollHeight;
  byId('chat-answer').textContent = chat.answer ? 'Bot: ' + chat.answer.text : '';
  byId('chat-answer').hidden = !chat.answer;
}

function choosePerson(id) {
  chatPerson = id;
  chatShown = '';
  history.replaceState(null, '', '#' + id);
  return refreshChat();
}

byId('chat-person').addEventListener('change', (event) => choosePerson(Number(event.target.value)));

byId('chat-add').addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.target;
  const { id, first_name, username, language_code } = form.elements;
  const person = { id: Number(id.value), first_name: first_name.value.trim(), language_code: language_code.value };
  if (username.value) person.username = username.value;
  await act(event.submitter, '/sandbox/api/chats', person);
  peopleShown = '';
  await choosePerson(person.id);
  form.reset();
});

/** The file without the head of its data URL. */
function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.split(',')[1]);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

byId('chat-send').addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.target;
  const text = form.elements.text.value.trim();
  const file = form.elements.photo.files[0];
  if (!text && !file) return;
  // At once: later it would take the focus from the control to which somebody has gone on.
  form.elements.text.focus();
  await actInChat(event.submitter, 'messages', file ? { photo: await base64(file), caption: text } : { text });
  form.reset();
});

byId('chat-repeat').addEventListener('click', (event) => actInChat(event.currentTarget, 'repeats', {}));

async function pollChat() {
  await refreshChat().catch(() => undefined);
  setTimeout(pollChat, 1000);
}
pollChat();
`;
