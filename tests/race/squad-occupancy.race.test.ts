import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findSquadsByUuid } from '../../src/domain/catalog/find-squads.ts';
import { recountServerUsers } from '../../src/domain/catalog/servers.ts';
import { aServer } from '../domain/provisioning/panel-sync/setup.ts';
import { aSubscription } from '../support/provisioning-setup.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

// The embedded database has one connection: races need a server.
describe.runIf(serverUrl)('users of a squad', () => {
  let database: TestDatabase;
  let t: TestApp;

  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 12 });
    t = await testApp({ database });
  });
  afterAll(() => database.drop());

  it('spec 02 H20: stay exact during concurrent inserts, updates, deletes and a recount, in a small number of counter rows', async () => {
    const uuids = ['a', 'b', 'c'];
    for (const uuid of uuids) await aServer(t.app, uuid);
    const squadsOf = (seed: number) => uuids.filter((_uuid, index) => ((seed >> index) & 1) === 1);
    const change = async (worker: number) => {
      for (let round = 0; round < 25; round++) {
        const { id } = await aSubscription(t.app, { squads: squadsOf(worker + round) });
        const squads = JSON.stringify(squadsOf(worker * 3 + round + 1));
        await t.app.db.sql('UPDATE subscriptions SET connected_squads = $2::jsonb WHERE id = $1::int RETURNING id', [id, squads]);
        const status = ['expired', 'trial', 'disabled', 'active'][round % 4];
        await t.app.db.sql('UPDATE subscriptions SET status = $2 WHERE id = $1::int RETURNING id', [id, status]);
        if (round % 5 === 0) await t.app.db.sql('DELETE FROM subscriptions WHERE id = $1::int RETURNING id', [id]);
      }
    };
    const count = async () => {
      for (let round = 0; round < 10; round++) expect(await recountServerUsers(t.app)).toBe(3);
    };
    await Promise.all([...Array.from({ length: 8 }, (_unused, worker) => change(worker)), count()]);
    const shown = (await findSquadsByUuid(t.app, uuids)).map(({ squadUuid, currentUsers }) => ({ squadUuid, currentUsers }));
    const real = await t.app.db.sql<{ squadUuid: string; currentUsers: number }>(
      `SELECT squad AS "squadUuid", count(*)::int AS "currentUsers"
       FROM subscriptions CROSS JOIN LATERAL jsonb_array_elements_text(connected_squads) AS squad
       WHERE status IN ('active', 'trial') GROUP BY 1 ORDER BY 1`,
    );
    expect(shown.sort((a, b) => a.squadUuid.localeCompare(b.squadUuid))).toEqual(real);
    expect(real.every((row) => row.currentUsers > 10)).toBe(true);
    const [rows] = await t.app.db.sql<{ kept: number }>('SELECT count(*)::int AS kept FROM squad_counters');
    expect(rows!.kept).toBeLessThan(300);
  });
});
