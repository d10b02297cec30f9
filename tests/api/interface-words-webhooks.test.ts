/** Spec 09 section 3 and W11: a webhook keeps the words of where it was made or last changed. */
import { createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliverWebhook } from '../../src/domain/webhooks/deliver-webhook.ts';
import { clientOf, testServer, tokenClient } from '../support/api.ts';
import { inventEvents } from '../support/recorded-events.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';

const SECRET = 'very-secret-key';
const OURS = { user_id: 7, messenger_id: 70, status: 'active' };
const THEIRS = { user_id: 7, telegram_id: 70, status: 'active' };

let t: TestApp;
/** Of the same service when the words are switched off. */
let plain: TestApp;
let server: FastifyInstance;
let token: string;
let receiver: Receiver;

beforeAll(async () => {
  const environment = { WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' };
  t = await testApp({ environment: { ...environment, INTERFACE_WORDS: 'telegram=messenger,remnawave=vpnpanel' } });
  plain = await testApp({ environment });
  server = await testServer(t.app);
  ({ token } = await tokenClient(t.app, server));
  receiver = await startReceiver();
});
afterAll(async () => {
  await server.close();
  await receiver.close();
});

const api = () => clientOf(server, { 'x-api-key': token });

async function aWebhook(prefix: string): Promise<number> {
  const body = { name: 'Orders', url: receiver.url, event_type: 'user.created', secret: SECRET };
  return (await api().post(`${prefix}/webhooks`, body)).body.id;
}

/** The body that the receiver of this webhook gets of an event. */
async function delivered(webhookId: number, { app } = t): Promise<unknown> {
  inventEvents();
  const event = [JSON.stringify(OURS), t.clock.now()];
  await app.db.sql("SELECT emit_event('user.created', $1::jsonb, 'feed', 7, $2::timestamptz) AS id", event);
  const [row] = await app.db.sql<{ id: number }>('SELECT max(id) AS id FROM webhook_deliveries WHERE webhook_id = $1', [
    webhookId,
  ]);
  await deliverWebhook(app, { deliveryId: row!.id });
  const { body, headers } = receiver.calls.at(-1)!;
  expect(headers['x-webhook-signature']).toBe(`sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`);
  return JSON.parse(body);
}

test('one that was made on the mount has the words of the client, signed as sent', async () => {
  expect(await delivered(await aWebhook('/compat'))).toEqual(THEIRS);
});

test('one that was made at the root has ours', async () => {
  expect(await delivered(await aWebhook(''))).toEqual(OURS);
});

test('a change gives it the words of where it was changed', async () => {
  const id = await aWebhook('');
  await api().patch(`/compat/webhooks/${id}`, { description: 'of the client' });
  expect(await delivered(id)).toEqual(THEIRS);
  await api().patch(`/webhooks/${id}`, { description: 'ours' });
  expect(await delivered(id)).toEqual(OURS);
});

test('it has ours while the option is off, and those of the client once it is on again', async () => {
  const id = await aWebhook('/compat');
  expect(await delivered(id, plain)).toEqual(OURS);
  expect(await delivered(id)).toEqual(THEIRS);
});

test('its deliveries are stored in our words and read in those of the reader', async () => {
  const id = await aWebhook('/compat');
  await delivered(id);
  const path = `/webhooks/${id}/deliveries`;
  expect((await api().get(path)).body.items).toMatchObject([{ payload: OURS }]);
  expect((await api().get(`/compat${path}`)).body.items).toMatchObject([{ payload: THEIRS }]);
});
