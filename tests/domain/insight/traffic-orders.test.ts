/** Orders of the list of traffic that are read from indexes (spec 06 section 5). */

import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { countWithRow, rankIds } from '../../../src/domain/insight/traffic/fill-repo.ts';
import { countPanelUsers, findIds, type TrafficSort } from '../../../src/domain/insight/traffic/repo.ts';
import { aUser } from '../../support/builders.ts';
import { aStoredSubscription, aTariff } from '../../support/sale-samples.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';
import { testApp } from '../../support/test-app.ts';

const SORTS: TrafficSort[] = [
  ...(['total_bytes', 'full_name', 'tariff_name', 'device_limit', 'traffic_limit_gb', 'connected', 'total_spent'] as const),
  ...(['sub_start', 'sub_end', 'last_node'] as const),
];
const EVERYBODY = { search: null, tariffs: [], statuses: [], nodes: [] };
const USERS = 24;

let app: App;
let fills: { usage: number; details: number };
beforeAll(async () => {
  app = (await testApp()).app;
  await app.db.sql('UPDATE users SET vpnpanel_uuid = NULL WHERE vpnpanel_uuid IS NOT NULL');
  const tariffs = [
    await aTariff(app, { name: 'beta' }),
    await aTariff(app, { name: 'Alpha' }),
    await aTariff(app, { name: 'alpha' }),
  ];
  const now = new Date();
  const [usage, details] = await storeRows(
    app,
    'PanelTrafficFill',
    ['usage:test', 'details'].map((key) => ({ key, leaseUntil: now, startedAt: now, finishedAt: now })),
  );
  fills = { usage: usage!.id, details: details!.id };
  for (let n = 0; n < USERS; n++) {
    const { id } = await aUser(app);
    await app.db.sql(
      `UPDATE users SET vpnpanel_uuid = gen_random_uuid(), first_name = $2, last_name = $3, username = $4 WHERE id = $1::int`,
      [id, [null, 'Ann', 'ann', ''][n % 4], [null, 'Bell', ''][n % 3], n % 5 === 0 ? null : `user${id}`],
    );
    await app.db.sql('UPDATE user_stats SET total_spent_kopeks = $2::bigint WHERE user_id = $1::int', [id, (n % 4) * 100]);
    if (n % 3 !== 0) {
      const dates = { start_date: new Date(2026, 0, 1 + (n % 5)), end_date: new Date(2027, 0, 1 + (n % 7)) };
      const limits = { device_limit: 1 + (n % 3), traffic_limit_gb: (n % 4) * 10 };
      await aStoredSubscription(app, id, { tariff_id: n % 5 === 1 ? null : tariffs[n % 3], ...dates, ...limits });
    }
    // The users of the middle have neither traffic nor details.
    if (n > 8 && n < 14) continue;
    const totalBytes = 1 + (n % 5);
    await storeRow(app, 'PanelTrafficUser', { fillId: usage!.id, userId: id, totalBytes, nodeBytes: { node: totalBytes } });
    await storeRow(app, 'PanelUserDetail', {
      fillId: details!.id,
      userId: id,
      devicesConnected: n % 3,
      lastNodeName: [null, 'Oslo', 'oslo', 'Bern'][n % 4]!,
    });
  }
  // Not of the panel: counted and listed nowhere.
  const outsider = await aUser(app);
  await aStoredSubscription(app, outsider.id, { tariff_id: tariffs[0] });
});

const page = (sort: TrafficSort, isDescending: boolean, offset: number, limit: number) =>
  rankIds(
    app.db,
    { sort, isDescending, fills, slice: { offset, limit } },
    { total: () => countPanelUsers(app.db), withRow: () => countWithRow(app.db, sort, fills) },
  );

describe.each(SORTS)('by %s', (sort) => {
  test.each([true, false])('descending %s: pages of any size are parts of one list of everybody', async (isDescending) => {
    const whole = await page(sort, isDescending, 0, 100);
    expect(new Set(whole).size).toBe(USERS);
    for (const size of [1, 7]) {
      const parts: number[] = [];
      for (let offset = 0; offset <= USERS; offset += size) parts.push(...(await page(sort, isDescending, offset, size)));
      expect(parts).toEqual(whole);
    }
    expect(await page(sort, isDescending, 500, 10)).toEqual([]);
  });

  test('the values are in the order of the list with filters', async () => {
    const slice = { offset: 0, limit: 100 };
    const { ids } = await findIds(app.db, fills, EVERYBODY, { key: sort, isDescending: false }, slice, app.clock.now());
    // Users of one value may be in another order, so the values are compared.
    const shownValues = await valuesOf(sort, ids);
    for (const isDescending of [false, true]) {
      const listed = (await page(sort, isDescending, 0, 100)).map((id) => shownValues.get(id));
      const wanted = ids.map((id) => shownValues.get(id));
      expect(listed).toEqual(isDescending ? wanted.toReversed() : wanted);
    }
  });
});

/** The shown value of each user, as the list with filters compares it. */
async function valuesOf(sort: TrafficSort, ids: readonly number[]): Promise<Map<number, string>> {
  const sql: Record<TrafficSort, string> = {
    total_bytes: 'coalesce(r.total_bytes, 0)',
    full_name: `lower(coalesce(nullif(btrim(coalesce(u.first_name, '') || ' ' || coalesce(u.last_name, '')), ''), nullif(u.username, ''), 'ID' || u.messenger_id))`,
    tariff_name: "lower(coalesce(t.name, ''))",
    device_limit: 'coalesce(s.device_limit, 1)',
    traffic_limit_gb: 'coalesce(s.traffic_limit_gb, 0)',
    connected: 'coalesce(d.devices_connected, 0)',
    total_spent: 'f.total_spent_kopeks',
    sub_start: "coalesce(s.start_date, '-infinity')",
    sub_end: "coalesce(s.end_date, '-infinity')",
    last_node: "lower(coalesce(d.last_node_name, ''))",
  };
  const rows = await app.db.sql<{ id: number; value: string }>(
    `SELECT u.id, (${sql[sort]})::text AS value FROM users u JOIN user_stats f ON f.user_id = u.id
       LEFT JOIN subscriptions s ON s.user_id = u.id LEFT JOIN tariffs t ON t.id = s.tariff_id
       LEFT JOIN panel_traffic_users r ON r.fill_id = $1::int AND r.user_id = u.id
       LEFT JOIN panel_user_details d ON d.fill_id = $2::int AND d.user_id = u.id WHERE u.id = ANY($3::int[])`,
    [fills.usage, fills.details, [...ids]],
  );
  return new Map(rows.map(({ id, value }) => [id, value]));
}
