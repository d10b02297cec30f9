import type { App } from '../../../../src/core/app.ts';
import { SECOND_MS } from '../../../../src/core/clock.ts';
import { inTransaction } from '../../../../src/core/db/transaction.ts';
import { findSquadsByUuid } from '../../../../src/domain/catalog/find-squads.ts';
import { pushSubscription } from '../../../../src/domain/provisioning/push-subscription.ts';
import { requestProvisioning } from '../../../../src/domain/provisioning/request-provisioning.ts';
import { startSync } from '../../../../src/domain/provisioning/sync/start-sync.ts';
import type { SyncKind, SyncMode, SyncRun } from '../../../../src/domain/provisioning/sync/types.ts';
import {
  aSubscription,
  type BuiltSubscription,
  type PanelTestOptions,
  type ProvisioningTest,
  withPanel,
} from '../../../support/provisioning-setup.ts';

export const actor = { kind: 'system', name: 'test' } as const;

/** A panel and a database without subscriptions, servers and runs. */
export async function startEmpty(options: PanelTestOptions = {}): Promise<ProvisioningTest> {
  const t = await withPanel(options);
  for (const table of ['squad_migration_runs', 'panel_sync_runs', 'subscriptions', 'server_squads']) {
    await t.app.db.sql(`DELETE FROM ${table}`);
  }
  await t.app.db.sql("DELETE FROM jobs.job WHERE state = 'created'");
  return t;
}

/** Subscriptions whose panel users are up to date; the clock is a second later. */
export async function inStep(
  t: ProvisioningTest,
  count: number,
  fields: Parameters<typeof aSubscription>[1] = {},
): Promise<BuiltSubscription[]> {
  const made: BuiltSubscription[] = [];
  for (let n = 0; n < count; n++) {
    const subscription = await aSubscription(t.app, fields);
    await push(t.app, subscription.id);
    made.push(subscription);
  }
  t.clock.advance(SECOND_MS);
  return made;
}

/** Requests a push and runs it. */
export async function push(app: App, id: number): Promise<void> {
  await inTransaction(app, (inner) => requestProvisioning(inner, id));
  await pushSubscription(app, id);
}

export function run(app: App, kind: SyncKind, mode?: SyncMode): Promise<SyncRun> {
  return startSync(app, actor, { kind, ...(mode ? { mode } : {}) });
}

/** Everything that a synchronisation could change, to compare before and after. */
export async function everything(app: App): Promise<unknown> {
  return app.db.sql(
    `SELECT (SELECT json_agg(s ORDER BY s.id) FROM subscriptions s) AS subscriptions,
       (SELECT json_agg(u ORDER BY u.id) FROM users u) AS users,
       (SELECT json_agg(l ORDER BY l.id) FROM subscription_servers l) AS links,
       (SELECT json_agg(q ORDER BY q.id) FROM server_squads q) AS servers,
       (SELECT count(*)::int FROM transactions) AS transactions`,
  );
}

export async function aServer(app: App, squadUuid: string): Promise<number> {
  const [row] = await app.db.sql<{ id: number }>(
    'INSERT INTO server_squads (squad_uuid, display_name) VALUES ($1, $1) RETURNING id',
    [squadUuid],
  );
  return row!.id;
}

/** How many users the servers say to have, in the order of the squads asked for. */
export async function usersOf(app: App, ...squadUuids: string[]): Promise<(number | undefined)[]> {
  const found = await findSquadsByUuid(app, squadUuids);
  return squadUuids.map((uuid) => found.find((squad) => squad.squadUuid === uuid)?.currentUsers);
}
