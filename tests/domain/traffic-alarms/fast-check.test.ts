import { describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { PanelError, type PanelUser } from '../../../src/domain/provisioning/ports.ts';
import { sendLeftAlarms } from '../../../src/domain/traffic-alarms/check-traffic.ts';
import { checkUsedTraffic } from '../../../src/domain/traffic-alarms/fast-check.ts';
import { unique } from '../../support/builders.ts';
import { TestClock, testApp } from '../../support/test-app.ts';

const GB = 1024 ** 3;
const NODE = '0de00000-0000-4000-8000-000000000001';
const OTHER_NODE = '0de00000-0000-4000-8000-000000000002';

type FakeUser = Pick<PanelUser, 'uuid' | 'username' | 'usedTrafficBytes' | 'lastConnectedNodeUuid'>;

/** An installation with a chat of its own, on a panel with these users; `pages` counts its pages. */
async function anInstallation(environment: Record<string, string> = {}, clock = new TestClock()) {
  const chatId = -3_000_000 - unique();
  const made = await testApp({
    clock,
    environment: {
      TRAFFIC_FAST_CHECK_ENABLED: 'true',
      ADMIN_NOTIFICATIONS_ENABLED: 'true',
      ADMIN_NOTIFICATIONS_CHAT_ID: String(chatId),
      SUSPICIOUS_NOTIFICATIONS_TOPIC_ID: '5',
      ...environment,
    },
  });
  const users: FakeUser[] = [];
  const pages: { start: number; size: number }[] = [];
  const panel = {
    ...made.ports.panel,
    configurationError: () => null,
    listNodes: async () => [{ uuid: NODE, name: 'Node <1>' }],
    listUsers: async (page: { start: number; size: number }) => {
      pages.push(page);
      const shown = users.slice(page.start, page.start + page.size);
      return { users: shown.map((user) => ({ messengerId: null, email: null, ...user })), total: users.length };
    },
  };
  const app = { ...made.app, ports: { ...made.ports, panel: panel as unknown as App['ports']['panel'] } };
  const add = (usedGb: number, more: Partial<FakeUser> = {}) => {
    const user = {
      uuid: crypto.randomUUID(),
      username: `user_${unique()}`,
      usedTrafficBytes: usedGb * GB,
      lastConnectedNodeUuid: NODE,
    };
    users.push({ ...user, ...more });
    return users.at(-1)!;
  };
  const run = (signal = new AbortController().signal) => checkUsedTraffic(app, signal);
  const notices = () =>
    app.db.sql<{ html: string; thread: string }>(
      `SELECT data ->> 'html' AS html, data ->> 'threadId' AS thread FROM jobs.job
       WHERE name = 'messenger.send' AND (data ->> 'messengerId')::bigint = $1::bigint ORDER BY start_after, ctid`,
      [chatId],
    );
  return { ...made, app, users, pages, add, run, notices, chatId };
}

describe('06 14: fast traffic check', () => {
  test('an increase since the last reading, without new users and resets', async () => {
    const t = await anInstallation();
    const [heavy, light, reset] = [t.add(1), t.add(1), t.add(100)];
    await t.run();
    expect(await t.notices()).toEqual([]);
    heavy!.usedTrafficBytes += 5 * GB;
    light!.usedTrafficBytes += 5 * GB - 1;
    reset!.usedTrafficBytes = 6 * GB;
    t.add(500);
    t.clock.advance(10 * MINUTE_MS);
    await t.run();
    const [notice, ...others] = await t.notices();
    expect(others).toEqual([]);
    expect(notice!.thread).toBe('5');
    expect(notice!.html).toContain(heavy!.uuid);
    expect(notice!.html).toContain('Node &lt;1&gt;');
    expect(notice!.html).toMatch(/10 мин.*5 ГБ.*5 ГБ/s);
  });

  test('the last reading is of the database: another instance compares with it', async () => {
    const first = await anInstallation();
    const user = first.add(1);
    await first.run();
    const second = await anInstallation({}, first.clock);
    second.users.push({ ...user, usedTrafficBytes: 9 * GB });
    await second.run();
    expect(await second.notices()).toHaveLength(1);
  });

  test('a reading that is too old is none', async () => {
    const t = await anInstallation({ TRAFFIC_SNAPSHOT_TTL_HOURS: '2' });
    const user = t.add(1);
    await t.run();
    // It is kept fresh although it says the same.
    t.clock.advance(HOUR_MS);
    await t.run();
    t.clock.advance(HOUR_MS + MINUTE_MS);
    user.usedTrafficBytes += 20 * GB;
    await t.run();
    expect(await t.notices()).toHaveLength(1);
    t.clock.advance(2 * HOUR_MS + MINUTE_MS);
    user.usedTrafficBytes += 20 * GB;
    await t.run();
    expect(await t.notices()).toHaveLength(1);
  });

  test('at most ten messages a run, the heaviest first, half a second apart', async () => {
    const t = await anInstallation();
    const users = Array.from({ length: 13 }, () => t.add(0));
    await t.run();
    for (const [index, user] of users.entries()) user.usedTrafficBytes = (10 + index) * GB;
    await t.run();
    const starts = await t.app.db.sql<{ html: string; seconds: number }>(
      `SELECT data ->> 'html' AS html, extract(epoch FROM start_after - created_on)::float8 AS seconds FROM jobs.job
       WHERE name = 'messenger.send' AND (data ->> 'messengerId')::bigint = $1::bigint ORDER BY start_after, ctid`,
      [t.chatId],
    );
    expect(starts).toHaveLength(10);
    expect(starts[0]!.html).toContain(users[12]!.uuid);
    expect(starts[9]!.html).toContain(users[3]!.uuid);
    for (const [index, { seconds }] of starts.entries()) expect(seconds).toBeCloseTo(index / 2, 1);
  });

  test('a user is reported once in the cooldown', async () => {
    const t = await anInstallation({ TRAFFIC_NOTIFICATION_COOLDOWN_MINUTES: '30' });
    const user = t.add(0);
    const rounds: number[] = [];
    for (const minutes of [0, 10, 10, 19, 1]) {
      t.clock.advance(minutes * MINUTE_MS);
      await t.run();
      user.usedTrafficBytes += 6 * GB;
      rounds.push((await t.notices()).length);
    }
    expect(rounds).toEqual([0, 1, 1, 1, 2]);
  });

  test('filters: excluded users, monitored nodes before ignored ones, comments in the lists', async () => {
    const cases: [Record<string, string>, string[]][] = [
      [{ TRAFFIC_EXCLUDED_USER_UUIDS: 'a # comment' }, ['here', 'there', 'nowhere']],
      [{ TRAFFIC_MONITORED_NODES: `${NODE.toUpperCase()} # Berlin` }, ['here']],
      [{ TRAFFIC_IGNORED_NODES: `x, ${NODE}#Berlin` }, ['there', 'nowhere']],
      [{ TRAFFIC_MONITORED_NODES: OTHER_NODE, TRAFFIC_IGNORED_NODES: OTHER_NODE }, ['there']],
    ];
    for (const [environment, expected] of cases) {
      const uuid = crypto.randomUUID();
      const excluded = `${environment.TRAFFIC_EXCLUDED_USER_UUIDS ?? ''}\n${uuid.toUpperCase()} # a friend`;
      const t = await anInstallation({ ...environment, TRAFFIC_EXCLUDED_USER_UUIDS: excluded });
      t.add(0, { uuid, username: 'excluded' });
      t.add(0, { username: 'here' });
      t.add(0, { username: 'there', lastConnectedNodeUuid: OTHER_NODE });
      t.add(0, { username: 'nowhere', lastConnectedNodeUuid: null });
      await t.run();
      for (const user of t.users) user.usedTrafficBytes = 7 * GB;
      await t.run();
      const names = (await t.notices()).map(({ html }) => /<b>(\w+)<\/b>\nUUID/.exec(html)![1]);
      expect(names.sort()).toEqual(expected.sort());
    }
  });

  test('the older switch: its hours and its threshold', async () => {
    const t = await anInstallation({ TRAFFIC_FAST_CHECK_ENABLED: 'false', TRAFFIC_MONITORING_ENABLED: 'true' });
    const user = t.add(0);
    await t.run();
    user.usedTrafficBytes = 9 * GB;
    await t.run();
    expect(await t.notices()).toEqual([]);
    user.usedTrafficBytes = 19 * GB;
    await t.run();
    expect((await t.notices())[0]!.html).toMatch(/1440 мин.*10 ГБ.*10 ГБ/s);
  });

  test('nothing is read while both switches are off', async () => {
    const off = await anInstallation({ TRAFFIC_FAST_CHECK_ENABLED: 'false' });
    await off.run();
    expect(off.pages).toEqual([]);
  });

  test('every page is read, of the size that the panel gives', async () => {
    const t = await anInstallation({ TRAFFIC_CHECK_BATCH_SIZE: '3', TRAFFIC_CHECK_CONCURRENCY: '2' });
    for (let n = 0; n < 8; n += 1) t.add(0);
    await t.run();
    expect(t.pages.map(({ start }) => start).sort()).toEqual([0, 3, 6]);
    for (const user of t.users) user.usedTrafficBytes = 6 * GB;
    await t.run();
    expect(await t.notices()).toHaveLength(8);
    const large = await anInstallation({ TRAFFIC_CHECK_BATCH_SIZE: '5000' });
    await large.run();
    expect(large.pages).toEqual([{ start: 0, size: 1_000 }]);
  });

  test('a process that ends between the readings and the messages loses no alarm: the next run sends it, once', async () => {
    const t = await anInstallation({ TRAFFIC_CHECK_BATCH_SIZE: '1', TRAFFIC_CHECK_CONCURRENCY: '1' });
    const [first, second] = [t.add(0), t.add(0)];
    await t.run();
    first!.usedTrafficBytes = 6 * GB;
    second!.usedTrafficBytes = 7 * GB;
    const { panel } = t.app.ports;
    const { listUsers } = panel;
    panel.listUsers = async (page) => {
      if (page.start > 0) throw new Error('the process ends');
      return listUsers(page);
    };
    await expect(t.run()).rejects.toThrow('the process ends');
    expect(await t.notices()).toEqual([]);
    panel.listUsers = listUsers;
    for (const _run of [1, 2]) {
      await t.run();
      expect((await t.notices()).map(({ html }) => (html.includes(first!.uuid) ? 'first' : 'second'))).toEqual([
        'second',
        'first',
      ]);
    }
  });

  test('the job sends what a run has left behind, once no run can be under way', async () => {
    const t = await anInstallation({ TRAFFIC_CHECK_BATCH_SIZE: '1', TRAFFIC_CHECK_CONCURRENCY: '1' });
    const [user] = [t.add(0), t.add(0)];
    await t.run();
    user!.usedTrafficBytes = 6 * GB;
    const { listUsers } = t.app.ports.panel;
    t.app.ports.panel.listUsers = async (page) => {
      if (page.start > 0) throw new Error('the process ends');
      return listUsers(page);
    };
    await expect(t.run()).rejects.toThrow('the process ends');
    t.clock.advance(30 * MINUTE_MS - 1);
    await sendLeftAlarms(t.app);
    expect(await t.notices()).toEqual([]);
    t.clock.advance(1);
    await Promise.all([sendLeftAlarms(t.app), sendLeftAlarms(t.app)]);
    expect((await t.notices()).map(({ html }) => html.includes(user!.uuid))).toEqual([true]);
  });

  test('without a chat for notices nothing is kept for later', async () => {
    const t = await anInstallation({ ADMIN_NOTIFICATIONS_ENABLED: 'false' });
    const user = t.add(0);
    await t.run();
    user.usedTrafficBytes = 6 * GB;
    await t.run();
    const kept = await t.app.db.sql('SELECT bytes FROM traffic_violations WHERE panel_uuid = $1::uuid', [user.uuid]);
    expect(kept).toEqual([]);
  });

  test('a panel that is away ends the run with what was found, as does a stopping process', async () => {
    const t = await anInstallation({ TRAFFIC_CHECK_BATCH_SIZE: '1', TRAFFIC_CHECK_CONCURRENCY: '1' });
    const [first, second] = [t.add(0), t.add(0)];
    await t.run();
    first!.usedTrafficBytes = 6 * GB;
    second!.usedTrafficBytes = 6 * GB;
    const { panel } = t.app.ports;
    const { listUsers } = panel;
    panel.listUsers = async (page) => {
      if (page.start > 0) throw new PanelError('unavailable', 'VPN panel did not answer');
      return listUsers(page);
    };
    await t.run();
    expect((await t.notices()).map(({ html }) => html.includes(first!.uuid))).toEqual([true]);
    panel.listUsers = listUsers;
    t.pages.length = 0;
    await t.run(AbortSignal.abort());
    expect(t.pages).toHaveLength(1);
    await t.run();
    expect(await t.notices()).toHaveLength(2);
  });
});
