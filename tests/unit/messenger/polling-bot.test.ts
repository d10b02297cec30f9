import { afterEach, describe, expect, it } from 'vitest';
import { jsonReply, startLoopbackServer } from '../../../packages/sandbox/src/loopback-server.ts';
import { startMessengerSandbox } from '../../../packages/sandbox/src/messenger/messenger-sandbox.ts';
import { aPng } from '../../support/image-samples.ts';
import { memoryStore, onceHttp } from '../../support/loopback-http.ts';

const TOKEN = '1000001:sandbox-token';
const VERA = { id: 7, first_name: 'Vera', language_code: 'ru' };
const BUTTON = { inline_keyboard: [[{ text: 'Buy', callback_data: 'buy' }]] };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

interface Answer {
  ok: boolean;
  result: never;
  error_code?: number;
  description?: string;
}

/** The fake messenger with one person, and a webhook that remembers what it received. */
async function setup({ isWebhookDefault = false } = {}) {
  const received: { update_id: number }[] = [];
  const webhook = await startLoopbackServer(async ({ body }) => {
    received.push(JSON.parse(body));
    return jsonReply(200, {});
  });
  const sandbox = await startMessengerSandbox({
    store: memoryStore(),
    http: onceHttp(),
    botToken: TOKEN,
    botUsername: 'sandbox_bot',
    now: () => new Date('2026-03-01T10:00:00.000Z'),
    defaultWebhook: () => (isWebhookDefault ? { url: webhook.url, secret: 'secret' } : null),
  });
  open.push(webhook, sandbox);
  await sandbox.conversations.add(VERA);
  const call = async (method: string, payload: object = {}): Promise<Answer> => {
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify(payload) };
    return (await fetch(`${sandbox.server.url}/bot${TOKEN}/${method}`, request)).json() as Promise<Answer>;
  };
  const updates = async (payload: object = {}) =>
    (await call('getUpdates', payload)).result as { update_id: number; message?: { text: string } }[];
  return { sandbox, call, updates, received, webhook };
}

describe('a bot that fetches its updates', () => {
  it('gets them until a higher offset confirms them', async () => {
    const { sandbox, call, updates } = await setup();
    await call('deleteWebhook');
    await sandbox.conversations.sendText(VERA.id, 'one');
    await sandbox.conversations.sendText(VERA.id, 'two');
    const [first, second] = await updates();
    expect([first?.message?.text, second?.message?.text]).toEqual(['one', 'two']);
    expect(await updates({ limit: 1 })).toEqual([first]);
    expect(await updates({ offset: second!.update_id })).toEqual([second]);
    expect(await updates({ offset: second!.update_id + 1 })).toEqual([]);
    expect(await updates()).toEqual([]);
  });

  it('is answered as soon as an update comes', async () => {
    const { sandbox, updates } = await setup();
    await updates();
    const waiting = updates({ timeout: 50 });
    await sandbox.conversations.sendText(VERA.id, '/start code');
    expect(await waiting).toMatchObject([
      {
        message: {
          text: '/start code',
          from: { ...VERA, is_bot: false },
          entities: [{ type: 'bot_command', offset: 0, length: 6 }],
        },
      },
    ]);
  });

  it('is refused while a webhook receives the updates, also that of the service', async () => {
    const { sandbox, call, updates, received, webhook } = await setup({ isWebhookDefault: true });
    expect(await call('getUpdates')).toMatchObject({ ok: false, error_code: 409 });
    await sandbox.conversations.sendText(VERA.id, 'to the service');
    expect(received).toMatchObject([{ message: { text: 'to the service' } }]);
    await call('deleteWebhook');
    await sandbox.conversations.sendText(VERA.id, 'to the bot');
    expect(await updates()).toMatchObject([{ message: { text: 'to the bot' } }]);
    await call('setWebhook', { url: webhook.url });
    expect(await call('getUpdates')).toMatchObject({ ok: false, error_code: 409 });
    // What was not confirmed goes to the new webhook.
    await expect.poll(() => received).toMatchObject([{}, { message: { text: 'to the bot' } }]);
  });

  it('ends the poll before when another begins', async () => {
    const { call, updates } = await setup();
    await updates();
    const before = call('getUpdates', { timeout: 50 });
    const refused = before.then(({ error_code: code }) => code);
    const second = call('getUpdates', { timeout: 50 });
    const codes = Promise.race([refused, second.then(({ error_code: code }) => code)]);
    expect(await codes).toBe(409);
  });

  it('gets only the kinds that it asked for', async () => {
    const { sandbox, updates } = await setup();
    await updates({ allowed_updates: ['callback_query'] });
    await sandbox.conversations.sendText(VERA.id, 'unwanted');
    await sandbox.postUpdate({ callback_query: { id: '1', from: VERA } });
    expect(await updates()).toMatchObject([{ callback_query: { id: '1' } }]);
  });

  it('gets a confirmed update again under its id when it is repeated', async () => {
    const { sandbox, updates } = await setup();
    await updates();
    await sandbox.conversations.sendText(VERA.id, 'once');
    const [update] = await updates();
    const offset = update!.update_id + 1;
    expect(await updates({ offset })).toEqual([]);
    expect(await sandbox.conversations.repeat(VERA.id)).toBe(true);
    expect(await updates({ offset })).toEqual([update]);
    expect(await updates({ offset })).toEqual([]);
    expect(await sandbox.conversations.repeat(8)).toBe(false);
  });

  it('is notified of a pressed button, once the message has it', async () => {
    const { sandbox, call, updates } = await setup();
    await updates();
    const sent = (await call('sendMessage', { chat_id: VERA.id, text: 'Offer', reply_markup: BUTTON })).result as {
      message_id: number;
    };
    expect(await sandbox.conversations.press(VERA.id, sent.message_id, 'sell')).toBe(false);
    expect(await sandbox.conversations.press(VERA.id, sent.message_id, 'buy')).toBe(true);
    const pressed = (await updates()) as unknown as { callback_query: { id: string } }[];
    expect(pressed).toMatchObject([
      { callback_query: { data: 'buy', from: VERA, message: { message_id: sent.message_id, text: 'Offer' } } },
    ]);
    await call('answerCallbackQuery', { callback_query_id: pressed[0]?.callback_query.id, text: 'Done' });
    expect((await sandbox.conversations.read(VERA.id))?.answer).toMatchObject({ text: 'Done', isAlert: false });
  });

  it('changes its messages as the real messenger does', async () => {
    const { sandbox, call } = await setup();
    const sent = (await call('sendMessage', { chat_id: VERA.id, text: 'Offer', reply_markup: BUTTON })).result as {
      message_id: number;
    };
    const message = { chat_id: VERA.id, message_id: sent.message_id };
    const changed = { ...message, text: '<b>Sold</b>', parse_mode: 'HTML' };
    expect(await call('editMessageText', changed)).toMatchObject({ ok: true });
    expect((await sandbox.conversations.read(VERA.id))?.messages).toMatchObject([
      { text: '<b>Sold</b>', isHtml: true, buttons: [] },
    ]);
    expect(await call('editMessageText', changed)).toMatchObject({
      error_code: 400,
      description: expect.stringMatching(/is not modified/),
    });
    expect(await call('editMessageReplyMarkup', { ...message, reply_markup: BUTTON })).toMatchObject({ ok: true });
    expect(await call('editMessageText', { ...changed, message_id: 9_999 })).toMatchObject({
      description: expect.stringMatching(/to edit not found/),
    });
  });

  it('fetches a photo that a person sent', async () => {
    const { sandbox, call, updates } = await setup();
    await updates();
    const bytes = aPng(3, 3);
    await sandbox.conversations.sendPhoto(VERA.id, { name: 'photo.png', contentType: 'image/png', bytes }, 'look');
    const [update] = (await updates()) as unknown as { message: { caption: string; photo: { file_id: string }[] } }[];
    expect(update?.message.caption).toBe('look');
    const { file_path: path } = (await call('getFile', { file_id: update?.message.photo.at(-1)?.file_id })).result as {
      file_path: string;
    };
    const file = await fetch(`${sandbox.server.url}/file/bot${TOKEN}/${path}`);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(bytes);
    expect((await fetch(`${sandbox.server.url}/file/botother/${path}`)).status).toBe(401);
  });

  it('sends a file in a part that another field names, with a name without quotes', async () => {
    const { sandbox } = await setup();
    const bytes = aPng(2, 3);
    const part = (head: string, content: string | Buffer) =>
      Buffer.concat([
        Buffer.from(`--line\r\ncontent-disposition:form-data;${head}\r\n\r\n`),
        Buffer.from(content),
        Buffer.from('\r\n'),
      ]);
    const body = Buffer.concat([
      part('name="chat_id"', String(VERA.id)),
      part('name="photo"', 'attach://file1'),
      part('name="file1";filename=link.png\r\ncontent-type:application/octet-stream', bytes),
      Buffer.from('--line--\r\n'),
    ]);
    const headers = { 'content-type': 'multipart/form-data; boundary=line' };
    const reply = await fetch(`${sandbox.server.url}/bot${TOKEN}/sendPhoto`, { method: 'POST', headers, body });
    expect(reply.status).toBe(200);
    const [message] = (await sandbox.conversations.read(VERA.id))?.messages ?? [];
    expect(sandbox.conversations.file(message?.photo ?? '')?.bytes).toEqual(bytes);
  });
});
