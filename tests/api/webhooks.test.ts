import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliverWebhook } from '../../src/domain/webhooks/deliver-webhook.ts';
import { createWebhookTransport } from '../../src/integrations/webhooks/webhook-transport.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { inventEvents } from '../support/recorded-events.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { type Receiver, reply, startReceiver } from '../support/webhook-receiver.ts';

const hook = { name: 'Orders', url: 'https://hooks.example.com/a?b=1', event_type: 'payment.completed' };

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
let receiver: Receiver;

beforeAll(async () => {
  t = await testApp({ environment: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: '127.0.0.1' } });
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
  receiver = await startReceiver();
});
afterAll(async () => {
  await server.close();
  await receiver.close();
});

async function create(body: Record<string, unknown> = {}) {
  const made = await api.post('/webhooks', { ...hook, ...body });
  expect(made.status).toBe(200);
  return made.body;
}

describe('webhooks', () => {
  it('makes an active webhook and never shows its secret', async () => {
    const made = await api.post('/webhooks', { ...hook, secret: 'very-secret-key', description: 'd' });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      id: expect.any(Number),
      ...hook,
      is_active: true,
      description: 'd',
      created_at: t.clock.now().toISOString(),
      updated_at: t.clock.now().toISOString(),
      last_triggered_at: null,
      failure_count: 0,
      success_count: 0,
    });
    const texts = [made.text, (await api.get('/webhooks')).text, (await api.get(`/webhooks/${made.body.id}`)).text];
    const changed = await api.patch(`/webhooks/${made.body.id}`, { secret: 'very-secret-key-2' });
    expect([...texts, changed.text].join()).not.toContain('very-secret-key');
  });

  it.each([
    [{ event_type: 'ticket.message_added' }, 'event_type', 'enum'],
    [{ event_type: '' }, 'event_type', 'enum'],
    [{ name: '' }, 'name', 'string_too_short'],
    [{ name: 'n'.repeat(256) }, 'name', 'string_too_long'],
    [{ secret: 's'.repeat(129) }, 'secret', 'string_too_long'],
    [{ url: '' }, 'url', 'string_too_short'],
    [{ url: undefined }, 'url', 'missing'],
    [{ url: 'not a url' }, 'url', 'value_error'],
    [{ url: 'ftp://example.com/' }, 'url', 'value_error'],
    [{ url: 'file:///etc/passwd' }, 'url', 'value_error'],
    [{ url: 'http://user:pw@example.com/' }, 'url', 'value_error'],
    [{ url: 'http://localhost/' }, 'url', 'value_error'],
    [{ url: 'http://169.254.169.254/latest' }, 'url', 'value_error'],
    [{ url: 'http://[::ffff:10.0.0.1]/' }, 'url', 'value_error'],
    [{ url: 'http://2130706434/' }, 'url', 'value_error'],
  ])('refuses %j with 422 at %s as %s', async (body, field, type) => {
    const refused = await api.post('/webhooks', { ...hook, ...body });
    expect(refused.status).toBe(422);
    expect(refused.body.detail).toMatchObject([{ loc: ['body', field], type }]);
  });

  it('lists newest first with exact filters and pages', async () => {
    const [first, second] = [await create({ event_type: 'ticket.created' }), await create({ event_type: 'ticket.created' })];
    await api.patch(`/webhooks/${first.id}`, { is_active: false });
    const list = await api.get('/webhooks', { query: { event_type: 'ticket.created' } });
    expect(list.body).toMatchObject({ total: 2, limit: 50, offset: 0, items: [{ id: second.id }, { id: first.id }] });
    const inactive = await api.get('/webhooks', { query: { event_type: 'ticket.created', is_active: false } });
    expect(inactive.body).toMatchObject({ total: 1, items: [{ id: first.id }] });
    expect((await api.get('/webhooks', { query: { event_type: 'ticket.creat' } })).body).toMatchObject({ total: 0, items: [] });
    const page = await api.get('/webhooks', { query: { event_type: 'ticket.created', limit: 1, offset: 1 } });
    expect(page.body).toMatchObject({ total: 2, limit: 1, offset: 1, items: [{ id: first.id }] });
    expect((await api.get('/webhooks', { query: { offset: 9_000_000_000 } })).body.items).toEqual([]);
    expect((await api.get('/webhooks', { query: { limit: 201 } })).status).toBe(422);
  });

  it('changes what is given and leaves the rest, also where null is given', async () => {
    const made = await create({ description: 'old', secret: 's' });
    t.clock.advance(1_000);
    const changed = await api.patch(`/webhooks/${made.id}`, { name: 'New', description: null, event_type: 'user.created' });
    expect(changed.body).toEqual({ ...made, name: 'New', updated_at: t.clock.now().toISOString() });
    const off = await api.patch(`/webhooks/${made.id}`, { is_active: false, url: 'https://other.example.com/' });
    expect(off.body).toMatchObject({ name: 'New', is_active: false, url: 'https://other.example.com/' });
    expect((await api.patch(`/webhooks/${made.id}`, { url: 'http://10.0.0.1/' })).status).toBe(422);
    expect((await api.patch(`/webhooks/${made.id}`, {})).status).toBe(200);
    const [row] = await t.app.db.sql<{ secret: string }>('SELECT secret FROM webhooks WHERE id = $1', [made.id]);
    expect(row!.secret).toBe('s');
  });

  it('answers 404 for what is not there, numbers beyond the database too', async () => {
    for (const id of [999_999, 99_999_999_999]) {
      const path = `/webhooks/${id}`;
      const answers = [
        await api.get(path),
        await api.patch(path, { name: 'x' }),
        await api.delete(path),
        await api.get(`${path}/deliveries`),
      ];
      for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { detail: 'Webhook not found' } });
    }
    expect((await api.get('/webhooks/abc')).status).toBe(422);
  });

  it('shows deliveries and counts, and deletes them with the webhook', async () => {
    await t.app.db.sql('DELETE FROM webhooks');
    expect((await api.get('/webhooks/stats')).body).toEqual({
      total_webhooks: 0,
      active_webhooks: 0,
      total_deliveries: 0,
      successful_deliveries: 0,
      failed_deliveries: 0,
      success_rate: 0,
    });
    const made = await create({ url: receiver.url, event_type: 'user.created' });
    const app = { ...t.app, ports: { ...t.app.ports, webhooks: createWebhookTransport({ allowedPrivateHosts: ['127.0.0.1'] }) } };
    const ids: number[] = [];
    for (const status of [200, 200, 500, 0]) {
      t.clock.advance(1_000);
      inventEvents();
      await app.db.sql("SELECT emit_event('user.created', '{\"user_id\": 1}'::jsonb, 'feed', 1, $1::timestamptz) AS id", [
        t.clock.now(),
      ]);
      const [row] = await app.db.sql<{ id: number }>('SELECT max(id) AS id FROM webhook_deliveries');
      ids.push(row!.id);
      receiver.answer = reply(status, 'text');
      if (status > 0) await deliverWebhook(app, { deliveryId: row!.id });
    }
    expect((await api.get('/webhooks/stats')).body).toEqual({
      total_webhooks: 1,
      active_webhooks: 1,
      total_deliveries: 4,
      successful_deliveries: 2,
      failed_deliveries: 1,
      success_rate: 50,
    });
    const list = await api.get(`/webhooks/${made.id}/deliveries`);
    expect(list.body.total).toBe(4);
    expect(list.body.items.map((item: { id: number }) => item.id)).toEqual(ids.toReversed());
    const success = await api.get(`/webhooks/${made.id}/deliveries`, { query: { status: 'success', limit: 1 } });
    expect(success.body).toMatchObject({ total: 2, limit: 1 });
    expect(success.body.items).toEqual([
      {
        id: ids[1],
        webhook_id: made.id,
        event_type: 'user.created',
        payload: { user_id: 1 },
        response_status: 200,
        response_body: 'text',
        status: 'success',
        error_message: null,
        attempt_number: 1,
        created_at: expect.stringMatching(/Z$/),
        delivered_at: expect.stringMatching(/Z$/),
        next_retry_at: null,
      },
    ]);
    expect((await api.get(`/webhooks/${made.id}`)).body).toMatchObject({ success_count: 2, failure_count: 1 });
    expect(await api.delete(`/webhooks/${made.id}`)).toMatchObject({ status: 200, body: { success: true } });
    const [left] = await t.app.db.sql<{ total: number }>('SELECT count(*)::int AS total FROM webhook_deliveries');
    expect(left!.total).toBe(0);
  });

  it('is closed without an API key', async () => {
    const anyone = clientOf(server);
    const answers = [await anyone.get('/webhooks'), await anyone.get('/webhooks/stats'), await anyone.post('/webhooks', hook)];
    for (const answer of answers) expect(answer).toMatchObject({ status: 401, body: { detail: 'Missing API key' } });
  });
});
