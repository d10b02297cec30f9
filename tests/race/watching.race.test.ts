/** Instances that find the same thing at once: the administrators are notified of it once (spec 06 section 14). */
import { beforeAll, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { DAY_MS } from '../../src/core/clock.ts';
import { sendDailyReport } from '../../src/domain/insight/report/report.ts';
import { checkUsedTraffic } from '../../src/domain/traffic-alarms/fast-check.ts';
import { checkForUpdate } from '../../src/domain/updates/releases.ts';
import { unique } from '../support/builders.ts';
import { times } from '../support/parallel.ts';
import { TestClock, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

const GB = 1024 ** 3;
const INSTANCES = 6;
const clock = new TestClock();
let apps: App[];
let chatId: number;
let uuids: string[];
let usedBytes: number;

beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  [chatId, usedBytes] = [-5_000_000 - unique(), 0];
  uuids = Array.from({ length: 4 }, () => crypto.randomUUID());
  const repo = `owner/raced-${unique()}`;
  apps = await times(INSTANCES, async () => {
    const { app, ports } = await testApp({
      clock,
      environment: {
        TRAFFIC_FAST_CHECK_ENABLED: 'true',
        TRAFFIC_CHECK_BATCH_SIZE: '2',
        VERSION_CHECK_REPO: repo,
        ADMIN_NOTIFICATIONS_ENABLED: 'true',
        ADMIN_NOTIFICATIONS_CHAT_ID: String(chatId),
        ADMIN_REPORTS_ENABLED: 'true',
        ADMIN_REPORTS_SEND_TIME: '00:00',
      },
    });
    const panel = {
      ...ports.panel,
      configurationError: () => null,
      listNodes: async () => [],
      listUsers: async ({ start, size }: { start: number; size: number }) => ({
        users: uuids.slice(start, start + size).map((uuid) => ({
          uuid,
          username: uuid,
          usedTrafficBytes: usedBytes,
          messengerId: null,
          email: null,
          lastConnectedNodeUuid: null,
        })),
        total: uuids.length,
      }),
    } as unknown as App['ports']['panel'];
    const release = { tagName: 'v99', name: 'v99', body: '', publishedAt: '', prerelease: false };
    const releases = { ...ports.releases, listReleases: async () => [release] };
    return { ...app, ports: { ...ports, panel, releases } };
  });
});

const notified = async (text: string) => {
  const rows = await apps[0]!.db.sql(
    `SELECT id FROM jobs.job WHERE name = 'messenger.send' AND (data ->> 'messengerId')::bigint = $1::bigint AND data ->> 'html' LIKE '%' || $2 || '%'`,
    [chatId, text],
  );
  return rows.length;
};

test('06 14: a new version', async () => {
  for (let round = 0; round < 3; round += 1) await times(INSTANCES, (index) => checkForUpdate(apps[index]!));
  expect(await notified('v99')).toBe(1);
});

test('06 14: instances that see a user above the threshold store the same rows without a deadlock', async () => {
  const { signal } = new AbortController();
  await times(INSTANCES, (index) => checkUsedTraffic(apps[index]!, signal));
  for (const used of [6, 12, 18]) {
    usedBytes = used * GB;
    await times(INSTANCES, (index) => checkUsedTraffic(apps[index]!, signal));
  }
  for (const uuid of uuids) expect(await notified(uuid)).toBe(1);
});

test('06 14: the report of a day, also of the next one', async () => {
  const before = await notified('📊');
  for (let round = 0; round < 3; round += 1) await times(INSTANCES, (index) => sendDailyReport(apps[index]!));
  expect(await notified('📊')).toBe(before + 1);
  clock.advance(DAY_MS);
  await times(INSTANCES, (index) => sendDailyReport(apps[index]!));
  expect(await notified('📊')).toBe(before + 2);
});
