import type { FastifyInstance } from 'fastify';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/core/clock.ts';
import { writeState } from '../../src/core/service-state.ts';
import { openSession } from '../../src/domain/identity/sessions/sessions.ts';
import { PanelError } from '../../src/domain/provisioning/ports.ts';
import { forgetRequiredChannels, recheckChannels, recordMembership } from '../../src/domain/safety/channel-gate.ts';
import { setMaintenance, watchPanel } from '../../src/domain/safety/maintenance.ts';
import { refreshBlacklist } from '../../src/domain/safety/published-lists.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { eventually } from '../support/eventually.ts';
import { initDataOf } from '../support/init-data.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { workerSandbox } from '../support/test-sandbox.ts';
import { takeMessages } from '../support/ticket-fixture.ts';

const LIST_URL = 'https://lists.example.com/black.txt';
const ME = '/cabinet/auth/me';
const servers: FastifyInstance[] = [];
let listed: () => Promise<string>;
let fetches = 0;

beforeAll(() => {
  listed = async () => '';
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  const { app } = await testApp();
  await app.db.sql('DELETE FROM required_channels RETURNING id');
  await app.db.sql('DELETE FROM blacklist_entries RETURNING 1 AS gone');
  await app.db.sql("DELETE FROM service_state WHERE key IN ('maintenance', 'blacklist') RETURNING key");
  await app.cache.forget(app, ['maintenance', 'blacklist']);
  await forgetRequiredChannels(app);
});

/** A service whose published list is `listed()`, with one config admin. */
async function service(
  environment: Record<string, string> = {},
): Promise<TestApp & { server: FastifyInstance; owner: ActorClient }> {
  const base = await testApp();
  const ownerUser = await aUser(base.app);
  const t = await testApp({ environment: { ADMIN_IDS: String(ownerUser.messengerId), ...environment }, clock: base.clock });
  const publicLists = {
    fetchText: () => {
      fetches += 1;
      return listed();
    },
  };
  const app: App = { ...t.app, ports: { ...t.app.ports, publicLists } };
  const server = await testServer(app);
  servers.push(server);
  const session = await openSession(app, ownerUser.id);
  const owner = {
    ...clientOf(server, { authorization: `Bearer ${session.accessToken}` }),
    user: ownerUser,
    accessToken: session.accessToken,
  };
  return { ...t, app, server, owner };
}

describe('row 7: blacklist', () => {
  const on = { BLACKLIST_CHECK_ENABLED: 'true', BLACKLIST_GITHUB_URL: LIST_URL };
  const out = { status: 403, body: { detail: { code: 'blacklisted', message: expect.any(String) } } };

  it('stops the listed by id or user name, over REST and tRPC, but not others and config admins', async () => {
    const t = await service(on);
    const [byId, byName, free] = [
      await userClient(t.app, t.server),
      await userClient(t.app, t.server),
      await userClient(t.app, t.server),
    ];
    const [name] = await t.app.db.sql<{ username: string }>(
      'UPDATE users SET username = upper(username) WHERE id = $1::int RETURNING username',
      [byName.user.id],
    );
    listed = async () =>
      `# list\n${byId.user.messengerId}, spam\n1 @${name!.username.toLowerCase()}\n${t.owner.user.messengerId}`;
    expect((await byId.get(ME)).status).toBe(200);
    // The request does not wait for the job that it asks for.
    const jobs = () => t.app.db.sql("SELECT id FROM jobs.job WHERE name = 'safety.refresh-blacklist' AND state = 'created'");
    await eventually(async () => expect(await jobs()).toHaveLength(1));
    await refreshBlacklist(t.app);
    expect(await byId.get(ME)).toMatchObject(out);
    expect(await byName.get(ME)).toMatchObject(out);
    expect((await free.get(ME)).status).toBe(200);
    expect((await t.owner.get(ME)).status).toBe(200);
    const trpc = await byId.get('/trpc/cabinet.auth.me');
    expect(trpc).toMatchObject({
      status: 403,
      body: { error: { data: { appCode: 'blacklisted', detail: { code: 'blacklisted' } } } },
    });
  });

  it('stops config admins, too, when they are not ignored', async () => {
    const t = await service({ ...on, BLACKLIST_IGNORE_ADMINS: 'false' });
    listed = async () => String(t.owner.user.messengerId);
    await refreshBlacklist(t.app);
    expect(await t.owner.get(ME)).toMatchObject(out);
  });

  it('is off by default', async () => {
    const t = await service({ BLACKLIST_GITHUB_URL: LIST_URL });
    const user = await userClient(t.app, t.server);
    await storeRow(t.app, 'BlacklistEntry', { messengerId: user.user.messengerId });
    expect((await user.get(ME)).status).toBe(200);
  });

  it('spec 01 H25: keeps the old list when fetching fails, waits longer each time, and takes no page for a list', async () => {
    const t = await service(on);
    const user = await userClient(t.app, t.server);
    listed = async () => String(user.user.messengerId);
    await refreshBlacklist(t.app);
    await refreshBlacklist(t.app);
    fetches = 0;
    await refreshBlacklist(t.app);
    expect(fetches).toBe(0);
    t.clock.advance(24 * HOUR_MS);
    listed = () => Promise.reject(new Error('away'));
    await refreshBlacklist(t.app);
    await refreshBlacklist(t.app);
    expect(fetches).toBe(1);
    t.clock.advance(MINUTE_MS);
    listed = async () => '<!doctype html><p>Please sign in';
    await refreshBlacklist(t.app);
    t.clock.advance(MINUTE_MS);
    await refreshBlacklist(t.app);
    expect(fetches).toBe(2);
    const session = await userClient(t.app, t.server);
    expect((await session.get(ME)).status).toBe(200);
    expect(await t.app.db.sql('SELECT messenger_id::text FROM blacklist_entries')).toEqual([
      { messengerId: String(user.user.messengerId) },
    ]);
    t.clock.advance(MINUTE_MS);
    listed = async () => '# nobody';
    await refreshBlacklist(t.app);
    expect((await t.app.db.sql('SELECT 1 AS found FROM blacklist_entries')).length).toBe(0);
  });
});

describe('row 8: maintenance', () => {
  it("stops everybody but config admins, with the operator's words when switched on by hand", async () => {
    const t = await service({ MAINTENANCE_MESSAGE: 'Moving house' });
    const user = await userClient(t.app, t.server);
    const admin = await adminClient(t.app, t.server, ['*:*'], 900);
    await setMaintenance(t.app, true, 'new disks');
    const closed = { status: 503, body: { detail: { code: 'maintenance', message: 'Moving house', reason: 'new disks' } } };
    expect(await user.get(ME)).toMatchObject(closed);
    expect(await admin.get('/cabinet/admin/tariffs')).toMatchObject(closed);
    expect((await t.owner.get('/cabinet/admin/tariffs')).status).toBe(200);
    await setMaintenance(t.app, false, null);
    expect((await user.get(ME)).status).toBe(200);
  });

  it('is on by the setting alone', async () => {
    const t = await service({ MAINTENANCE_MODE: 'true', MAINTENANCE_MESSAGE: 'Closed' });
    const user = await userClient(t.app, t.server);
    expect((await user.get(ME)).body).toEqual({
      detail: { code: 'maintenance', message: 'Closed', reason: null, error_code: 'maintenance' },
    });
    expect((await t.owner.get(ME)).status).toBe(200);
  });

  it('spec 10 U7: the text of the service is in the language of the reader', async () => {
    const t = await service({ MAINTENANCE_MODE: 'true' });
    for (const [language, message] of [
      ['en', /^Maintenance is under way/],
      ['ru', /^Ведутся технические работы/],
    ] as const) {
      const user = await userClient(t.app, t.server, { language });
      expect((await user.get(ME)).body.detail.message).toMatch(message);
    }
  });

  it('is switched on by the third failed check of the panel, and off by the first successful one, with notices to administrators', async () => {
    const t = await service();
    const user = await userClient(t.app, t.server, { language: 'en' });
    let isDown = true;
    const getSystemStats = async () => {
      if (isDown) throw new PanelError('unavailable', 'away');
      return {};
    };
    const panel = { configurationError: () => null, getSystemStats } as unknown as App['ports']['panel'];
    const watching = { ...t.app, ports: { ...t.app.ports, panel } };
    for (let look = 0; look < 2; look++) await watchPanel(watching);
    expect((await user.get(ME)).status).toBe(200);
    await watchPanel(watching);
    const reply = await user.get(ME);
    expect(reply).toMatchObject({ status: 503, body: { detail: { code: 'maintenance', reason: 'panel_unavailable' } } });
    expect(reply.body.detail.message).toContain(t.clock.now().toISOString().slice(11, 16));
    isDown = false;
    await watchPanel(watching);
    expect((await user.get(ME)).status).toBe(200);
    const messages = await t.app.db.sql<{ html: string }>(
      "SELECT data->>'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND (data->>'messengerId')::bigint = $1::bigint",
      [t.owner.user.messengerId],
    );
    expect(messages).toHaveLength(4);
  });

  it('reports a panel that comes and goes every 5 minutes, in the chat of the administrators where there is one (spec 06 section 14)', async () => {
    const chat = -1_003_000_000_773;
    const t = await service({
      ADMIN_NOTIFICATIONS_ENABLED: 'true',
      ADMIN_NOTIFICATIONS_CHAT_ID: String(chat),
      ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID: '8',
      DEFAULT_LANGUAGE: 'en',
    });
    let isDown = true;
    const getSystemStats = async () => {
      if (isDown) throw new PanelError('unavailable', 'away');
      return {};
    };
    const panel = { configurationError: () => null, getSystemStats } as unknown as App['ports']['panel'];
    const watching = { ...t.app, ports: { ...t.app.ports, panel } };
    const flap = async () => {
      for (isDown of [true, false]) await watchPanel(watching);
    };
    for (let times = 0; times < 3; times++) await flap();
    const notices = await takeMessages(t.app, chat);
    expect(notices.map(({ threadId }) => threadId)).toEqual([8, 8]);
    expect(notices.map(({ html }) => html).join()).toContain('does not answer');
    expect(await takeMessages(t.app, t.owner.user.messengerId)).toEqual([]);
    t.clock.advance(5 * MINUTE_MS);
    await flap();
    expect(await takeMessages(t.app, chat)).toHaveLength(2);
  });
});

describe('row 9: required channels', () => {
  const on = { CHANNEL_IS_REQUIRED_SUB: 'true' };
  async function aChannel(app: App): Promise<string> {
    const channelId = `-100${String(unique()).padStart(10, '0')}`;
    await storeRow(app, 'RequiredChannel', {
      channelId,
      channelLink: 'https://t.me/news',
      title: 'News',
      sortOrder: Number(channelId.slice(-6)),
    });
    await forgetRequiredChannels(app);
    return channelId;
  }
  const setMember = async (channelId: string, user: ActorClient, status: 'member' | 'left') =>
    (await workerSandbox()).servers.messenger.setMembership(channelId, user.user.messengerId, status);

  it('names every channel and which are joined', async () => {
    const t = await service(on);
    const user = await userClient(t.app, t.server);
    const [first, second] = [await aChannel(t.app), await aChannel(t.app)];
    await setMember(second, user, 'left');
    const reply = await user.get(ME);
    expect(reply.status).toBe(403);
    expect(reply.body).toEqual({
      detail: {
        code: 'channel_subscription_required',
        error_code: 'channel_subscription_required',
        message: expect.any(String),
        channels: [
          {
            channel_id: first,
            channel_link: 'https://t.me/news',
            title: 'News',
            is_subscribed: true,
            disable_trial_on_leave: true,
            disable_paid_on_leave: false,
          },
          {
            channel_id: second,
            channel_link: 'https://t.me/news',
            title: 'News',
            is_subscribed: false,
            disable_trial_on_leave: true,
            disable_paid_on_leave: false,
          },
        ],
      },
    });
    const byData = () => clientOf(t.server).post('/miniapp/subscription/tariffs', { initData: initDataOf(t, user.user) });
    expect(await byData()).toMatchObject({ status: 403, body: reply.body });
    expect((await t.owner.get(ME)).status).toBe(200);
    await setMember(second, user, 'member');
    expect((await user.get(ME)).status).toBe(403);
    expect(await recheckChannels(t.app, user.user.messengerId)).toBe(true);
    expect((await user.get(ME)).status).toBe(200);
    expect((await byData()).status).toBe(200);
  });

  it('caches "joined" for long and "not joined" for a minute, until an update of the messenger', async () => {
    const t = await service(on);
    const user = await userClient(t.app, t.server);
    const channelId = await aChannel(t.app);
    await setMember(channelId, user, 'left');
    expect((await user.get(ME)).status).toBe(403);
    await setMember(channelId, user, 'member');
    expect((await user.get(ME)).status).toBe(403);
    t.clock.advance(MINUTE_MS);
    expect((await user.get(ME)).status).toBe(200);
    await setMember(channelId, user, 'left');
    expect((await user.get(ME)).status).toBe(200);
    t.cache.clear();
    // The row is younger than 30 minutes.
    expect((await user.get(ME)).status).toBe(200);
    await recordMembership(t.app, { messengerId: user.user.messengerId, channelId, isMember: false });
    expect((await user.get(ME)).status).toBe(403);
  });

  it('passes e-mail accounts, an empty list of channels and a disabled check, but fails closed', async () => {
    const t = await service(on);
    const user = await userClient(t.app, t.server);
    expect((await user.get(ME)).status).toBe(200);
    const channelId = await aChannel(t.app);
    await (await workerSandbox()).servers.messenger.setUnknown(Number(channelId));
    expect((await user.get(ME)).status).toBe(403);
    const mailUser = await userClient(t.app, t.server);
    await t.app.db.sql('UPDATE users SET messenger_id = NULL WHERE id = $1::int RETURNING id', [mailUser.user.id]);
    expect((await mailUser.get(ME)).status).toBe(200);
    const off = await service();
    expect((await (await userClient(off.app, off.server)).get(ME)).status).toBe(200);
  });
});

it('checks in the order of the specification, for sessions and signed mini-app data', async () => {
  const t = await service({
    BLACKLIST_CHECK_ENABLED: 'true',
    BLACKLIST_GITHUB_URL: LIST_URL,
    MAINTENANCE_MODE: 'true',
    CHANNEL_IS_REQUIRED_SUB: 'true',
  });
  const user = await userClient(t.app, t.server);
  const initData = initDataOf(t, user.user);
  /** What both doors answer. */
  const evaluate = async () => {
    const [bySession, byData] = [
      await user.get(ME),
      await clientOf(t.server).post('/miniapp/subscription/tariffs', { initData }),
    ];
    // The mini-app's errors carry a code throughout.
    const { detail } = bySession.body;
    const expected = typeof detail === 'string' ? { code: 'user_not_active', message: detail } : detail;
    expect(byData).toMatchObject({ status: bySession.status, body: { detail: expected } });
    return detail;
  };
  await storeRow(t.app, 'RequiredChannel', { channelId: '-1001111111111' });
  await forgetRequiredChannels(t.app);
  listed = async () => String(user.user.messengerId);
  await refreshBlacklist(t.app);
  expect(await evaluate()).toMatchObject({ code: 'blacklisted' });
  await t.app.db.sql('DELETE FROM blacklist_entries RETURNING 1 AS gone');
  await writeState(t.app.db, 'blacklist', {
    url: LIST_URL,
    fetchedAt: t.clock.now().toISOString(),
    failures: 0,
    triedUrl: null,
    nextTryAt: null,
    version: 99,
  });
  await t.app.cache.forget(t.app, ['blacklist']);
  expect(await evaluate()).toMatchObject({ code: 'maintenance' });
  await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [user.user.id]);
  await t.app.cache.forget(t.app, [`user:${user.user.id}`]);
  expect(await evaluate()).toBe('User account is not active');
});
