import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { addDays } from '../../src/core/clock.ts';
import { PanelError, type VpnPanelPort } from '../../src/domain/provisioning/ports.ts';
import { pushSubscription } from '../../src/domain/provisioning/push-subscription.ts';
import { fulfilPurchase } from '../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { adminClient, userClient } from '../support/actors.ts';
import { clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { initDataOf } from '../support/init-data.ts';
import { NETHERLANDS } from '../support/panel-setup.ts';
import { type ProvisioningTest, withPanel, withPort } from '../support/provisioning-setup.ts';
import { anEmail, aPaidPurchase, aStorefront, factsOf, giftTo } from '../support/purchase-samples.ts';
import { aServer, aStoredSubscription, aTariff, topUp } from '../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';

/** Long enough for a slow machine where the link is expected, so that a test that ends earlier did not wait. */
const LONG_MS = 20_000;
/** As long as a busy machine may need for what is done meanwhile. */
const SHORT_MS = 3_000;
const servers: FastifyInstance[] = [];
const stops: (() => void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) stop();
  for (const server of servers.splice(0)) await server.close();
});

async function service(
  waitMs: number,
  port: (adapter: VpnPanelPort) => VpnPanelPort = (adapter) => adapter,
  salesMode: 'tariffs' | 'classic' = 'tariffs',
) {
  const t: ProvisioningTest = await withPanel({
    environment: { PROVISION_ANSWER_WAIT_MS: String(waitMs), TRIAL_DURATION_DAYS: '3', SALES_MODE: salesMode },
  });
  const provider = new ScriptedProvider();
  const app = await withProvider(withPort(t.app, port(t.adapter)), provider);
  await app.db.sql('DELETE FROM subscriptions RETURNING id');
  // Each test makes the servers that it needs, with the squads of its own panel.
  await app.db.sql('DELETE FROM server_squads RETURNING id');
  const server = await testServer(app);
  servers.push(server);
  return { ...t, app, server, provider, api: await tokenClient(app, server) };
}

/** Pushes what is requested, as a worker does. */
function startWorker(app: App): void {
  let isStopped = false;
  stops.push(() => {
    isStopped = true;
  });
  const run = async () => {
    while (!isStopped) {
      const rows = await app.db.sql<{ id: number }>(
        "SELECT id FROM subscriptions WHERE provision_state = 'pending' AND provision_attempts = 0",
      );
      for (const { id } of rows) await pushSubscription(app, id).catch(() => 'failed');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  void run().catch(() => undefined);
}

/** The server that the sold squad stands for. Tests of this file run in any order on one database, so it may exist already. */
async function thePanelServer(app: App): Promise<void> {
  await app.db.sql('DELETE FROM server_squads WHERE squad_uuid = $1 RETURNING id', [NETHERLANDS]);
  await aServer(app, { squad_uuid: NETHERLANDS, is_trial_eligible: true });
}

async function timed<T>(work: Promise<T>): Promise<{ ms: number; reply: T }> {
  const start = performance.now();
  const reply = await work;
  return { ms: performance.now() - start, reply };
}
const unavailable = () => Promise.reject(new PanelError('unavailable', 'away'));
const failing = (adapter: VpnPanelPort): VpnPanelPort => ({
  ...adapter,
  findByUuid: unavailable,
  findByMessengerId: unavailable,
  findByEmail: unavailable,
  findByUsername: unavailable,
  createUser: unavailable,
});

const CREATIONS = [
  ['POST /subscriptions', (userId: number) => ['/subscriptions', { user_id: userId, duration_days: 30 }], (body: Body) => body],
  [
    'POST /users/{id}/subscription',
    (userId: number) => [`/users/${userId}/subscription`, { duration_days: 30 }],
    (body: Body) => body.subscription,
  ],
] as const;
interface Body {
  subscription_url: string | null;
  subscription: Body;
}

describe.each(CREATIONS)('08 P14: %s', (_name, request, linkOf) => {
  const post = ({ api }: { api: Awaited<ReturnType<typeof service>>['api'] }, userId: number) => {
    const [path, body] = request(userId);
    return api.post(path as string, body);
  };

  it('answers with the link of a panel that answers', async () => {
    const t = await service(LONG_MS);
    startWorker(t.app);
    const { reply, ms } = await timed(post(t, (await aUser(t.app)).id));
    expect(reply.status).toBe(200);
    expect(linkOf(reply.body).subscription_url).toMatch(/^http/);
    expect(ms).toBeLessThan(LONG_MS / 2);
  });

  it('answers within the limit when the panel stalls, with what there is, while others are answered', async () => {
    const t = await service(SHORT_MS);
    const user = await aUser(t.app);
    let isAnswered = false;
    const waiting = timed(post(t, user.id)).finally(() => {
      isAnswered = true;
    });
    const pending = async () => (await t.app.db.sql("SELECT id FROM subscriptions WHERE provision_state = 'pending'")).length;
    while ((await pending()) === 0 && !isAnswered) await new Promise((resolve) => setTimeout(resolve, 5));
    // An open transaction would block the one connection of the embedded database.
    expect((await t.api.get('/health')).status).toBe(200);
    expect(isAnswered).toBe(false);
    const { reply, ms } = await waiting;
    expect(reply.status).toBe(200);
    expect(linkOf(reply.body).subscription_url).toBe(null);
    expect(ms).toBeGreaterThanOrEqual(SHORT_MS - 50);
    expect(ms).toBeLessThan(SHORT_MS + 5_000);
  });

  it('does not wait for retries of a panel that fails', async () => {
    const t = await service(LONG_MS, failing);
    startWorker(t.app);
    const { reply, ms } = await timed(post(t, (await aUser(t.app)).id));
    expect(reply.status).toBe(200);
    expect(linkOf(reply.body).subscription_url).toBe(null);
    expect(ms).toBeLessThan(LONG_MS / 2);
  });
});

it('08 P14: a repeated answer of a trial does not wait again, and has the link as soon as it is there', async () => {
  const t = await service(SHORT_MS);
  await thePanelServer(t.app);
  const user = await userClient(t.app, t.server);
  const headers = { 'idempotency-key': `trial-${unique()}` };
  const start = () => timed(user.post('/cabinet/subscription/trial', undefined, { headers }));
  const first = await start();
  expect(first.reply).toMatchObject({ status: 200, body: { subscription_url: null } });
  t.clock.advance(SHORT_MS);
  const again = await start();
  expect(again.reply.body).toEqual(first.reply.body);
  const [row] = await t.app.db.sql<{ id: number }>('SELECT id FROM subscriptions WHERE user_id = $1::int', [user.user.id]);
  await pushSubscription(t.app, row!.id);
  const later = await start();
  expect(later.reply.body).toEqual({ ...first.reply.body, subscription_url: expect.stringMatching(/^http/) });
  expect(again.ms).toBeLessThan(first.ms);
});

it.each(['/cabinet/subscription/purchase-tariff', '/miniapp/subscription/tariff/purchase'])(
  'spec 10 V4: the answer of a first purchase waits for its link: POST %s',
  async (path) => {
    const t = await service(LONG_MS);
    startWorker(t.app);
    await thePanelServer(t.app);
    const tariffId = await aTariff(t.app, { allowed_squads: [NETHERLANDS] });
    const user = await userClient(t.app, t.server);
    await topUp(t.app, user.user.id, 1_000_000);
    const order = { tariff_id: tariffId, period_days: 30 };
    const body = path.startsWith('/miniapp') ? { ...order, initData: initDataOf(t, user.user) } : order;
    const { reply } = await timed(user.post(path, body));
    expect(reply.status).toBe(200);
    const [row] = await t.app.db.sql<{ subscriptionUrl: string | null }>(
      'SELECT subscription_url FROM subscriptions WHERE user_id = $1::int',
      [user.user.id],
    );
    expect(row!.subscriptionUrl).toMatch(/^http/);
    if (!path.startsWith('/miniapp')) expect(reply.body.subscription.subscription_url).toBe(row!.subscriptionUrl);
  },
);

it('spec 10 V4: the answer of a first classic purchase waits for its link', async () => {
  const t = await service(LONG_MS, (adapter) => adapter, 'classic');
  startWorker(t.app);
  await thePanelServer(t.app);
  const user = await userClient(t.app, t.server);
  await topUp(t.app, user.user.id, 1_000_000);
  const selection = { period_id: 'days:30', traffic_value: 100, devices: 2 };
  const reply = await user.post('/cabinet/subscription/purchase', { selection });
  expect(reply).toMatchObject({ status: 200, body: { subscription: { subscription_url: expect.stringMatching(/^http/) } } });
});

describe('spec 10 V4: operations on a subscription that has no link yet', () => {
  async function withoutLink(changes: Record<string, unknown> = {}) {
    const t = await service(LONG_MS);
    startWorker(t.app);
    const user = await userClient(t.app, t.server);
    const end = { end_date: addDays(t.clock.now(), 20), subscription_url: null, traffic_limit_gb: 100 };
    return { ...t, user, id: await aStoredSubscription(t.app, user.user.id, { status: 'active', ...end, ...changes }) };
  }

  it.each([
    ['extend', { days: 5 }],
    ['traffic', { gb: 5 }],
    ['devices', { devices: 1 }],
    ['squads', { squad_uuid: NETHERLANDS }],
  ])('POST /subscriptions/{id}/%s', async (action, body) => {
    const t = await withoutLink();
    await aServer(t.app, { squad_uuid: NETHERLANDS });
    const reply = await t.api.post(`/subscriptions/${t.id}/${action}`, body);
    expect(reply).toMatchObject({ status: 200, body: { subscription_url: expect.stringMatching(/^http/) } });
  });

  it('POST /cabinet/subscription/tariff/switch', async () => {
    const t = await withoutLink();
    await aServer(t.app, { squad_uuid: NETHERLANDS });
    const [from, to] = [
      await aTariff(t.app, { allowed_squads: [NETHERLANDS] }),
      await aTariff(t.app, { allowed_squads: [NETHERLANDS] }),
    ];
    await t.app.db.sql('UPDATE subscriptions SET tariff_id = $2::int WHERE id = $1::int', [t.id, from]);
    await topUp(t.app, t.user.user.id, 1_000_000);
    const reply = await t.user.post('/cabinet/subscription/tariff/switch', { tariff_id: to, period_days: 30 });
    expect(reply).toMatchObject({ status: 200, body: { subscription: { subscription_url: expect.stringMatching(/^http/) } } });
  });
});

describe('08 P14: POST /cabinet/landing/activate/{token}', () => {
  /** A paid purchase that waits for its recipient, whose subscription has ended: the token is enough. */
  async function aWaitingGift({ app, server, provider }: Awaited<ReturnType<typeof service>>) {
    await app.db.sql('DELETE FROM rate_limit_windows');
    const email = anEmail();
    const user = await aUser(app, { email });
    const ended = { status: 'expired', end_date: new Date('2026-01-01T00:00:00Z'), subscription_url: null };
    const subscriptionId = await aStoredSubscription(app, user.id, ended);
    const { id, token } = await aPaidPurchase(app, provider, await aStorefront(app), giftTo(email));
    await fulfilPurchase(app, { purchaseId: id });
    expect((await factsOf(app, id)).status).toBe('pending_activation');
    return { id, subscriptionId, activate: () => timed(clientOf(server).post(`/cabinet/landing/activate/${token}`)) };
  }

  it('answers delivered, with the link of a panel that answers', async () => {
    const t = await service(LONG_MS);
    const gift = await aWaitingGift(t);
    startWorker(t.app);
    const { reply, ms } = await gift.activate();
    expect(reply).toMatchObject({ status: 200, body: { status: 'delivered' } });
    expect((await factsOf(t.app, gift.id)).subscriptionUrl).toMatch(/^http/);
    expect(ms).toBeLessThan(LONG_MS / 2);
  });

  it('answers within the limit when the panel stalls, as paid, while others are answered', async () => {
    const t = await service(SHORT_MS);
    const gift = await aWaitingGift(t);
    let isAnswered = false;
    const waiting = gift.activate().finally(() => {
      isAnswered = true;
    });
    const pending = () =>
      t.app.db.sql("SELECT id FROM subscriptions WHERE id = $1::int AND provision_state = 'pending'", [gift.subscriptionId]);
    while ((await pending()).length === 0 && !isAnswered) await new Promise((resolve) => setTimeout(resolve, 5));
    // An open transaction would block the one connection of the embedded database, and its locks this statement on PostgreSQL.
    await t.app.db.sql('SELECT id FROM subscriptions WHERE id = $1::int FOR UPDATE', [gift.subscriptionId]);
    await t.app.db.sql('SELECT id FROM guest_purchases WHERE id = $1::int FOR UPDATE', [gift.id]);
    expect((await t.api.get('/health')).status).toBe(200);
    expect(isAnswered).toBe(false);
    const { reply, ms } = await waiting;
    expect(reply).toMatchObject({ status: 200, body: { status: 'paid' } });
    expect(ms).toBeGreaterThanOrEqual(SHORT_MS - 50);
    expect(ms).toBeLessThan(SHORT_MS + 5_000);
  });

  it('does not wait for retries of a panel that fails, nor again when it is repeated', async () => {
    const t = await service(LONG_MS, failing);
    const gift = await aWaitingGift(t);
    startWorker(t.app);
    for (const _ of [1, 2]) {
      const { reply, ms } = await gift.activate();
      expect(reply).toMatchObject({ status: 200, body: { status: 'paid' } });
      expect(ms).toBeLessThan(LONG_MS / 2);
    }
  });
});

describe('08 C7: full deletion of a user', () => {
  async function deletion(port: (adapter: VpnPanelPort) => VpnPanelPort, isPushed = true) {
    const t = await service(SHORT_MS, port);
    const admin = await adminClient(t.app, t.server, ['users:*'], 900);
    const user = await aUser(t.app);
    await t.api.post('/subscriptions', { user_id: user.id, duration_days: 30 });
    const [row] = await t.app.db.sql<{ id: number }>('SELECT id FROM subscriptions WHERE user_id = $1::int', [user.id]);
    if (isPushed) await pushSubscription(withPort(t.app, t.adapter), row!.id);
    return admin.delete(`/cabinet/admin/users/${user.id}/full`, { body: { delete_from_panel: true } });
  }

  it('says that the panel user is deleted, also when the queue was faster', async () => {
    const done = { status: 200, body: { message: 'User fully deleted', deleted_from_panel: true, panel_error: null } };
    expect(await deletion((adapter) => adapter)).toMatchObject(done);
    const twice = (adapter: VpnPanelPort): VpnPanelPort => ({
      ...adapter,
      deleteUser: async (uuid) => {
        await adapter.deleteUser(uuid);
        throw new PanelError('rejected', 'Delete user error');
      },
      disableUser: () => Promise.reject(new PanelError('rejected', 'User not found')),
    });
    expect(await deletion(twice)).toMatchObject(done);
  });

  it('says that it is pending when the panel does not answer, or the first push is under way', async () => {
    const pending = 'User fully deleted; deletion from the panel is pending';
    const away = (adapter: VpnPanelPort) => ({ ...failing(adapter), deleteUser: unavailable });
    expect(await deletion(away)).toMatchObject({ status: 200, body: { message: pending, deleted_from_panel: false } });
    expect((await deletion((adapter) => adapter, false)).body).toMatchObject({ message: pending, deleted_from_panel: false });
  });
});
