import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, addMs, DAY_MS, HOUR_MS, MINUTE_MS, startOfDay } from '../../../src/core/clock.ts';
import { usageFill } from '../../../src/domain/insight/traffic/fill.ts';
import { PanelError } from '../../../src/domain/provisioning/ports.ts';
import { checkDailyTraffic } from '../../../src/domain/traffic-alarms/check-traffic.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { TestClock, testApp } from '../../support/test-app.ts';

const GB = 1024 ** 3;
const NODES = ['0de00000-0000-4000-8000-00000000000a', '0de00000-0000-4000-8000-00000000000b'] as const;
const clock = new TestClock();
/** 03:30 UTC, a day that no other test uses. */
const DUE = addMs(startOfDay(addDays(new Date(), 3)), 3 * HOUR_MS + 30 * MINUTE_MS);

let users: { user: BuiltUser; uuid: string }[];
let app: App;

beforeAll(async () => {
  ({ app } = await testApp({ clock }));
  users = [];
  for (let n = 0; n < 3; n += 1) {
    const [user, uuid] = [await aUser(app), crypto.randomUUID()];
    await app.db.sql('UPDATE users SET vpnpanel_uuid = $2::uuid WHERE id = $1::int RETURNING id', [user.id, uuid]);
    users.push({ user, uuid });
  }
});
afterAll(() => clean());
beforeEach(() => clean());

async function clean(): Promise<void> {
  await app.db.sql("DELETE FROM service_state WHERE key = 'traffic-alarms:daily' RETURNING key");
  await app.db.sql('DELETE FROM panel_traffic_fills RETURNING id');
  await app.db.sql('DELETE FROM traffic_alarms RETURNING panel_uuid');
}

type Traffic = readonly (readonly [number, number])[];

/**
 * What the message to the administrators says of users with this traffic in GB through each node, on each day or by its number (0 = the day
 * of `DUE`). The panel of the tests counts by days, as the real one does.
 */
async function anInstallation(gb: Traffic | ((day: number) => Traffic), environment: Record<string, string> = {}) {
  const chatId = -4_000_000 - unique();
  const made = await testApp({
    clock,
    environment: {
      TRAFFIC_DAILY_CHECK_ENABLED: 'true',
      TRAFFIC_DAILY_CHECK_TIME: '03:30',
      ADMIN_NOTIFICATIONS_ENABLED: 'true',
      ADMIN_NOTIFICATIONS_CHAT_ID: String(chatId),
      ADMIN_NOTIFICATIONS_TOPIC_ID: '8',
      ...environment,
    },
  });
  const ranges: { from: Date; to: Date }[] = [];
  const panel = {
    ...made.ports.panel,
    configurationError: () => null,
    listNodes: async () => NODES.map((uuid, index) => ({ uuid, name: `Node ${index}`, countryCode: 'NL' })),
    listNodeUserBytes: async (node: string, range: { from: Date; to: Date }) => {
      ranges.push(range);
      const at = NODES.indexOf(node as (typeof NODES)[number]);
      const sums = users.map(() => 0);
      for (let day = startOfDay(range.from); day <= range.to; day = addDays(day, 1)) {
        const traffic = typeof gb === 'function' ? gb(Math.round((day.getTime() - startOfDay(DUE).getTime()) / DAY_MS)) : gb;
        for (const [index, byNode] of traffic.entries()) sums[index]! += byNode[at]! * GB;
      }
      return sums.flatMap((totalBytes, index) => (totalBytes > 0 ? [{ userUuid: users[index]!.uuid, totalBytes }] : []));
    },
  };
  const installation = { ...made.app, ports: { ...made.ports, panel: panel as unknown as App['ports']['panel'] } };
  const notices = () =>
    app.db.sql<{ html: string; thread: string }>(
      `SELECT data ->> 'html' AS html, data ->> 'threadId' AS thread FROM jobs.job
       WHERE name = 'messenger.send' AND (data ->> 'messengerId')::bigint = $1::bigint ORDER BY start_after, ctid`,
      [chatId],
    );
  const notified = async () => (await notices()).map(({ html }) => users.findIndex(({ uuid }) => html.includes(uuid)));
  return { app: installation, panel, ranges, notices, notified };
}

describe('06 14: daily traffic check', () => {
  test('once a day at its time: users with the threshold or more in the day before', async () => {
    const t = await anInstallation([
      [30, 20],
      [49, 0],
      [0, 80],
    ]);
    clock.set(addMs(DUE, -MINUTE_MS));
    await checkDailyTraffic(t.app);
    expect(t.ranges).toEqual([]);
    for (const minutes of [0, 1, 2, 30]) {
      clock.set(addMs(DUE, minutes * MINUTE_MS));
      await checkDailyTraffic(t.app);
    }
    expect(t.ranges).toEqual([
      { from: DUE, to: DUE },
      { from: DUE, to: DUE },
    ]);
    expect(await t.notified()).toEqual([2, 0]);
    const [first] = await t.notices();
    expect(first!.thread).toBe('8');
    expect(first!.html).toMatch(/Node 1.*80 ГБ.*50 ГБ/s);
  });

  test('at midnight the day before, of which one reading suffices', async () => {
    const t = await anInstallation(
      (day) => [
        [day === -1 ? 60 : 0, 0],
        [day === -1 ? 0 : 60, 0],
      ],
      {
        TRAFFIC_DAILY_CHECK_TIME: '00:00',
      },
    );
    const midnight = startOfDay(DUE);
    clock.set(midnight);
    await checkDailyTraffic(t.app);
    expect(t.ranges[0]).toEqual({ from: addDays(midnight, -1), to: addMs(midnight, -1) });
    expect(t.ranges).toHaveLength(2);
    expect(await t.notified()).toEqual([0]);
  });

  test('at another time the last 24 hours, not both days that they touch', async () => {
    // The day before the panel knew of 60 GB at this time; what it counts of that day afterwards is of the last 24 hours.
    let isOver = false;
    const dayBefore = () =>
      [
        [isOver ? 30 : 0, 0],
        [isOver ? 40 : 0, 0],
        [60, 0],
      ] as const;
    const today = [
      [0, 0],
      [20, 0],
      [0, 0],
    ] as const;
    const t = await anInstallation((day) => (day === -1 ? dayBefore() : today));
    clock.set(addDays(DUE, -1));
    await checkDailyTraffic(t.app);
    // Without an earlier reading only that day counts.
    expect(await t.notified()).toEqual([2]);
    isOver = true;
    clock.set(DUE);
    await checkDailyTraffic(t.app);
    expect(await t.notified()).toEqual([2, 1]);
    expect((await t.notices()).at(-1)!.html).toMatch(/60 ГБ.*50 ГБ/s);
  });

  test('an earlier reading, which a page would be shown meanwhile, does not count', async () => {
    const t = await anInstallation([[60, 0]], { TRAFFIC_DAILY_CHECK_TIME: '00:00' });
    const midnight = startOfDay(DUE);
    clock.set(addMs(midnight, -10 * MINUTE_MS));
    await usageFill(t.app, { from: addDays(midnight, -1), to: addMs(midnight, -1) });
    const { listNodeUserBytes } = t.panel;
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    t.panel.listNodeUserBytes = async (node, range) => {
      await answered;
      return listNodeUserBytes(node, range);
    };
    clock.set(midnight);
    // It waits for the panel as long as a page would.
    await checkDailyTraffic(t.app);
    expect(await t.notified()).toEqual([]);
    answer();
    await eventually(async () => {
      await checkDailyTraffic(t.app);
      expect(await t.notified()).toEqual([0]);
    });
  });

  test('only traffic through nodes that count, and none of excluded users', async () => {
    clock.set(DUE);
    const gb = [
      [60, 10],
      [10, 60],
      [60, 60],
    ] as const;
    const cases: [Record<string, string>, number[]][] = [
      [{ TRAFFIC_MONITORED_NODES: NODES[0] }, [0, 2]],
      [{ TRAFFIC_IGNORED_NODES: `${NODES[0]} # first` }, [1, 2]],
      [{ TRAFFIC_EXCLUDED_USER_UUIDS: users[2]!.uuid }, [0, 1]],
    ];
    for (const [environment, expected] of cases) {
      await clean();
      const t = await anInstallation(gb, environment);
      await checkDailyTraffic(t.app);
      expect((await t.notified()).sort()).toEqual(expected);
    }
  });

  test('a panel that is away is asked again, until the day is left out after an hour', async () => {
    const t = await anInstallation([[90, 0]]);
    const { listNodeUserBytes } = t.panel;
    t.panel.listNodeUserBytes = async () => {
      throw new PanelError('unavailable', 'VPN panel did not answer');
    };
    clock.set(DUE);
    await checkDailyTraffic(t.app);
    t.panel.listNodeUserBytes = listNodeUserBytes;
    clock.set(addMs(DUE, HOUR_MS));
    await checkDailyTraffic(t.app);
    expect(await t.notified()).toEqual([]);
    clock.set(addMs(DUE, 59 * MINUTE_MS));
    await checkDailyTraffic(t.app);
    expect(await t.notified()).toEqual([0]);
  });

  test('both checks share the cooldown of a user', async () => {
    clock.set(DUE);
    await storeRow(app, 'TrafficAlarm', { panelUuid: users[0]!.uuid, notifiedAt: addMs(DUE, -59 * MINUTE_MS) });
    const t = await anInstallation([
      [90, 0],
      [91, 0],
    ]);
    await checkDailyTraffic(t.app);
    expect(await t.notified()).toEqual([1]);
  });

  test('nothing is read while it is off', async () => {
    clock.set(DUE);
    const off = await anInstallation([[90, 0]], { TRAFFIC_DAILY_CHECK_ENABLED: 'false' });
    await checkDailyTraffic(off.app);
    expect(off.ranges).toEqual([]);
  });
});
