import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse, sign, validate } from '@tma.js/init-data-node';
import { afterEach, describe, expect, it } from 'vitest';
import { jsonReply, type LoopbackServer, startLoopbackServer } from '../../../packages/sandbox/src/loopback-server.ts';
import { type MessengerSandbox, startMessengerSandbox } from '../../../packages/sandbox/src/messenger/messenger-sandbox.ts';
import { formBody } from '../../../packages/sandbox/src/messenger/messenger-state.ts';
import type { MessengerError, MessengerPort, MessengerUpdate } from '../../../src/domain/messaging/ports.ts';
import { createMessengerPort } from '../../../src/integrations/messenger/messenger-port.ts';
import { SendPacer } from '../../../src/integrations/messenger/send-pacer.ts';
import { memoryStore, onceHttp, startRecorder } from '../../support/loopback-http.ts';

const TOKEN = '1000001:sandbox-token';
const SECRET = 'webhook-secret_1';
const PAYER = { id: 5_000_000_001, first_name: 'Ann', username: 'ann', language_code: 'ru' };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

interface Setup {
  port: MessengerPort;
  sandbox: MessengerSandbox;
  updates: MessengerUpdate[];
  webhook: LoopbackServer;
  slept: number[];
}

/** The service's side of the webhook: the check, then the handling of a pre-checkout. */
async function setup(decide: (update: MessengerUpdate) => boolean = () => true): Promise<Setup> {
  const updates: MessengerUpdate[] = [];
  const sandbox = await startMessengerSandbox({
    store: memoryStore(),
    http: onceHttp(),
    botToken: TOKEN,
    botUsername: 'sandbox_bot',
    now: () => new Date('2026-03-01T10:00:00.000Z'),
  });
  const connection = { baseUrl: sandbox.server.url, token: TOKEN, webhookSecret: SECRET };
  let now = 0;
  const slept: number[] = [];
  const timer = {
    now: () => now,
    sleep: async (ms: number) => {
      slept.push(ms);
      now += ms;
    },
  };
  const port = createMessengerPort({ http: onceHttp(), connection: () => connection, pacer: new SendPacer({ timer }) });
  const webhook = await startLoopbackServer(async (request) => {
    const verdict = port.receiveUpdate({ headers: request.headers, rawBody: Buffer.from(request.body) });
    if (verdict.accepted) {
      updates.push(verdict.update);
      if (verdict.update.kind === 'pre_checkout') {
        const ok = decide(verdict.update);
        await port.answerPreCheckout(verdict.update.queryId, ok, ok ? undefined : 'Sign up first');
      }
    }
    return jsonReply(verdict.reply.status, JSON.parse(verdict.reply.body));
  });
  open.push(sandbox, webhook);
  await port.setWebhook(`${webhook.url}/messenger-webhook`);
  return { port, sandbox, updates, webhook, slept };
}

const failure = async (call: Promise<unknown>) => {
  try {
    await call;
  } catch (error) {
    return (error as { failure: unknown }).failure;
  }
  throw new Error('the call did not fail');
};

describe('messenger port against the Bot API', () => {
  it('sends HTML with buttons and deletes it again', async () => {
    const { port, sandbox } = await setup();
    const { messageId } = await port.sendMessage(42, '<b>Hi</b>', {
      buttons: [[{ text: 'Open', webAppUrl: 'https://app.example' }]],
    });
    const row = [
      { text: 'Go', url: 'https://x.example' },
      { text: 'Yes', callbackData: 'yes:1' },
    ];
    await port.sendMessage(43, 'two', { buttons: [row] });
    expect(await sandbox.messages()).toMatchObject([
      { chatId: 43, buttons: [[{ url: 'https://x.example' }, { callback_data: 'yes:1' }]] },
      { chatId: 42, text: '<b>Hi</b>', buttons: [[{ web_app: { url: 'https://app.example' } }]] },
    ]);
    await port.deleteMessage(42, messageId);
    expect(await sandbox.messages()).toHaveLength(1);
  });

  it('returns its identity and the members of a chat', async () => {
    const { port, sandbox } = await setup();
    expect(await port.getMe()).toEqual({ messengerId: 1_000_001, username: 'sandbox_bot', firstName: 'Sandbox bot' });
    expect(await port.getChatMember('@channel', 5)).toEqual({ status: 'member', isMember: true });
    await sandbox.setMembership('@channel', 5, 'left');
    expect(await port.getChatMember('@channel', 5)).toEqual({ status: 'left', isMember: false });
  });

  it('distinguishes blocked, unknown chat and a refused request', async () => {
    const { port, sandbox } = await setup();
    await sandbox.setBlocked(7, true);
    await sandbox.setUnknown(8);
    expect(await failure(port.sendMessage(7, 'x'))).toEqual({ kind: 'blocked' });
    expect(await failure(port.sendMessage(8, 'x'))).toEqual({ kind: 'chat_not_found' });
    expect(await failure(port.sendMessage(9, 'x'.repeat(4_097)))).toEqual({ kind: 'rejected' });
    expect(await failure(port.answerPreCheckout('old', true))).toEqual({ kind: 'rejected' });
  });

  it('waits for a short 429 in every call and reports a long one', async () => {
    const { port, sandbox, slept } = await setup();
    sandbox.knobs.rateLimits.push(2);
    await port.sendMessage(1, 'after the pause');
    expect(slept).toEqual([2_000]);
    sandbox.knobs.rateLimits.push(60);
    expect(await failure(port.getMe())).toEqual({ kind: 'rate_limited', retryAfterSeconds: 60 });
    expect(await failure(port.sendMessage(2, 'held back'))).toEqual({ kind: 'rate_limited', retryAfterSeconds: 60 });
    expect(await sandbox.messages()).toHaveLength(1);
  });

  it('is unavailable, without naming the token, when there is no answer or a malformed one', async () => {
    const nonsense = await startRecorder((_request, count) => ({
      status: count === 1 ? 502 : 200,
      contentType: 'text/html',
      body: '<html>',
    }));
    open.push(nonsense.server);
    let baseUrl = nonsense.server.url;
    const port = createMessengerPort({ http: onceHttp(), connection: () => ({ baseUrl, token: TOKEN, webhookSecret: null }) });
    expect(await failure(port.getMe())).toEqual({ kind: 'unavailable' });
    expect(await failure(port.getMe())).toEqual({ kind: 'unavailable' });
    baseUrl = 'http://127.0.0.1:1';
    const error = await port.getMe().catch((caught: unknown) => caught as Error);
    expect((error as MessengerError).failure).toEqual({ kind: 'unavailable' });
    expect(`${(error as Error).message} ${(error as Error).cause ?? ''}`).not.toContain(TOKEN);
    expect(nonsense.requests).toHaveLength(2);
  });

  it.each([
    [401, 'Unauthorized'],
    [404, 'Not Found'],
  ])('a token that is answered %d says nothing about the message: it may be tried again', async (status, description) => {
    const recorder = await startRecorder(() => jsonReply(status, { ok: false, error_code: status, description }));
    open.push(recorder.server);
    const connection = { baseUrl: recorder.server.url, token: TOKEN, webhookSecret: null };
    const port = createMessengerPort({ http: onceHttp(), connection: () => connection });
    expect(await failure(port.sendMessage(1, 'x'))).toEqual({ kind: 'unavailable', isTokenRefused: true });
    expect(await failure(port.getMe())).toEqual({ kind: 'unavailable', isTokenRefused: true });
  });

  it('writes to a group by its new id after the messenger has named it, and says so once', async () => {
    const chats: unknown[] = [];
    const recorder = await startRecorder(({ body, rawBody, headers }) => {
      const fields = formBody(headers['content-type'] ?? '', rawBody) ?? JSON.parse(body);
      const chat = Number(fields.chat_id);
      chats.push(chat);
      if (chat !== -5) return jsonReply(200, { ok: true, result: { message_id: 7 } });
      const parameters = { migrate_to_chat_id: -1005 };
      const description = 'Bad Request: group chat was upgraded to a supergroup chat';
      return jsonReply(400, { ok: false, error_code: 400, description, parameters });
    });
    open.push(recorder.server);
    const connection = { baseUrl: recorder.server.url, token: TOKEN, webhookSecret: null };
    const timer = { now: () => 0, sleep: async () => undefined };
    const moved: number[][] = [];
    const port = createMessengerPort({
      http: onceHttp(),
      connection: () => connection,
      pacer: new SendPacer({ timer, maxWaitMs: 60_000 }),
      onMoved: (from, to) => moved.push([from, to]),
    });
    expect(await port.sendMessage(-5, 'x')).toEqual({ messageId: 7 });
    await port.sendMessage(-5, 'y');
    const file = { name: 'a.txt', contentType: 'text/plain', bytes: Buffer.from('a') };
    await port.sendFile(-5, 'document', file, '');
    expect(chats).toEqual([-5, -1005, -1005, -1005]);
    expect(moved).toEqual([[-5, -1005]]);
  });

  it('says that a message may have arrived when the connection broke off before the answer', async () => {
    const silent = createServer((request) => request.on('data', () => request.socket.destroy()));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    open.push({ close: () => new Promise((resolve) => silent.close(() => resolve())) });
    const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const port = createMessengerPort({ http: onceHttp(), connection: () => ({ baseUrl, token: TOKEN, webhookSecret: null }) });
    expect(await failure(port.sendMessage(1, 'once'))).toEqual({ kind: 'unavailable', mayHaveArrived: true });
  });

  it('is not configured without a token', async () => {
    const port = createMessengerPort({ http: onceHttp(), connection: () => null });
    expect(port.isConfigured()).toBe(false);
    expect(await failure(port.sendMessage(1, 'x'))).toEqual({ kind: 'not_configured' });
  });
});

describe('Stars over the webhook', () => {
  const invoice = { title: 'Пополнение', description: 'Top-up', payload: 'balance_topup_1_13000_abc', stars: 100 };

  it('sends the query before the payment, then the payment with the charge id', async () => {
    const { port, sandbox, updates } = await setup();
    const link = await port.createStarsInvoiceLink({ ...invoice, title: 'T'.repeat(50) });
    const paid = await sandbox.payStars(link, PAYER);
    expect(paid).toMatchObject({ status: 'paid', title: 'T'.repeat(32) });
    expect(updates.map(({ updateId: _id, ...update }) => update)).toEqual([
      {
        kind: 'pre_checkout',
        queryId: expect.any(String),
        payerMessengerId: PAYER.id,
        payload: invoice.payload,
        amountStars: 100,
      },
      { kind: 'stars_paid', chargeId: paid?.chargeId, payerMessengerId: PAYER.id, payload: invoice.payload, stars: 100 },
    ]);
    expect(new Set(updates.map((update) => update.updateId)).size).toBe(2);
  });

  it('pays nothing when the service refuses at pre-checkout', async () => {
    const { port, sandbox, updates } = await setup(() => false);
    await port.createStarsInvoiceLink(invoice);
    expect(await sandbox.payStars(invoice.payload, PAYER)).toMatchObject({ status: 'refused', chargeId: null });
    expect(updates.map((update) => update.kind)).toEqual(['pre_checkout']);
    expect(await sandbox.payStars('unknown', PAYER)).toBeNull();
  });

  it('gives a charge back once, counts a repeat as done, and refuses an unknown charge', async () => {
    const { port, sandbox, updates } = await setup();
    const paid = await sandbox.payStars(await port.createStarsInvoiceLink(invoice), PAYER);
    for (let copy = 0; copy < 2; copy++) await port.refundStars(PAYER.id, paid!.chargeId!);
    const refunds = updates.filter(({ kind }) => kind === 'stars_refunded');
    expect(refunds).toMatchObject([{ chargeId: paid!.chargeId, payerMessengerId: PAYER.id, stars: 100 }]);
    expect(await failure(port.refundStars(PAYER.id, 'charge-of-nobody'))).toEqual({ kind: 'rejected' });
  });

  it('takes no update without the secret', async () => {
    const { port, webhook, updates } = await setup();
    const body = JSON.stringify({ update_id: 1, message: {} });
    const post = (headers: Record<string, string>) => onceHttp().request({ method: 'POST', url: webhook.url, headers, body });
    expect((await post({})).status).toBe(401);
    expect((await post({ 'x-telegram-bot-api-secret-token': 'guess' })).status).toBe(401);
    expect((await post({ 'x-telegram-bot-api-secret-token': SECRET })).status).toBe(200);
    expect(updates).toEqual([{ updateId: 1, kind: 'ignored' }]);
    expect(
      port.receiveUpdate({ headers: { 'x-telegram-bot-api-secret-token': SECRET }, rawBody: Buffer.from('{') }),
    ).toMatchObject({
      accepted: false,
      reply: { status: 400 },
    });
    const closed = createMessengerPort({
      http: onceHttp(),
      connection: () => ({ baseUrl: '', token: TOKEN, webhookSecret: null }),
    });
    expect(
      closed.receiveUpdate({ headers: { 'x-telegram-bot-api-secret-token': '' }, rawBody: Buffer.from(body) }),
    ).toMatchObject({
      accepted: false,
      reply: { status: 404 },
    });
  });
});

const FORGED = expect.objectContaining({ name: 'SignatureInvalidError' });
describe('sandbox identity data', () => {
  it('carries a signature that the published verifier accepts, until one byte changes', async () => {
    const { sandbox } = await setup();
    const data = sandbox.initData(PAYER, 'campaign');
    const expiresIn = { expiresIn: 0 };
    expect(() => validate(data, TOKEN, expiresIn)).not.toThrow();
    expect(parse(data)).toMatchObject({ start_param: 'campaign', user: { id: PAYER.id, username: 'ann' } });
    expect(() => validate(data.replace('campaign', 'campaigm'), TOKEN, expiresIn)).toThrow(FORGED);
    expect(() => validate(data, `${TOKEN}x`, expiresIn)).toThrow(FORGED);
    const theirs = new URLSearchParams(sign({ user: PAYER }, TOKEN, new Date(1_700_000_000_000)));
    expect(theirs.get('hash')).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('the registered webhook', () => {
  it('is read back as it was set', async () => {
    const { port, webhook } = await setup();
    expect(await port.readWebhook()).toBe(`${webhook.url}/messenger-webhook`);
    await port.setWebhook('');
    expect(await port.readWebhook()).toBeNull();
  });
});
