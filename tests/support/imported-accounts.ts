/** Accounts as an import leaves them, beside users of the fake panel. */
import { addDays } from '../../src/core/clock.ts';
import type { PanelUser } from '../../src/domain/provisioning/ports.ts';
import { unique } from './builders.ts';
import { NETHERLANDS, type ProvisioningTest } from './provisioning-setup.ts';
import { aStoredSubscription } from './sale-samples.ts';
import { storeRow } from './stored-rows.ts';

/** Replaces the runs of imports by one from a source of this revision. */
export async function anImportRun({ app, clock }: ProvisioningTest, sourceRevision: string): Promise<number> {
  await app.db.sql('DELETE FROM import_runs RETURNING id');
  // A new panel numbers its users from 1 again: the links of earlier tests would name them.
  await app.db.sql('UPDATE users SET vpnpanel_uuid = NULL WHERE vpnpanel_uuid IS NOT NULL RETURNING id');
  const now = clock.now();
  const run = { pass: 1, state: 'finished', sourceKind: 'postgresql', sourceRevision } as const;
  return (await storeRow(app, 'ImportRun', { ...run, snapshotAt: now, startedAt: now, finishedAt: now })).id;
}

export interface ImportedAccount {
  userId: number;
  subscriptionId: number;
  messengerId: number;
  email: string;
}

/** A person with a live subscription, both from before the import. */
export async function anImportedAccount(
  { app, clock }: ProvisioningTest,
  fields: { panelUuid?: string; shortUuid?: string; status?: 'active' | 'expired' } = {},
): Promise<ImportedAccount> {
  const number = unique();
  const messengerId = 6_000_000_000 + number;
  const email = `imported${number}@example.com`;
  const person = {
    messengerId,
    email,
    emailVerified: true,
    firstName: `Imported ${number}`,
    vpnpanelUuid: fields.panelUuid ?? null,
  };
  const { id: userId } = await storeRow(app, 'User', { ...person, createdAt: addDays(clock.now(), -30) });
  const status = fields.status ?? 'active';
  const subscriptionId = await aStoredSubscription(app, userId, {
    status,
    end_date: addDays(clock.now(), status === 'active' ? 30 : -10),
    connected_squads: [NETHERLANDS],
    vpnpanel_short_uuid: fields.shortUuid ?? null,
  });
  return { userId, subscriptionId, messengerId, email };
}

/** An active user of the panel. */
export function aPanelUser(
  { app, clock }: ProvisioningTest,
  fields: { messengerId?: number; email?: string; days?: number } = {},
): Promise<PanelUser> {
  const { days = 30, ...identity } = fields;
  const username = `panel_${unique()}`;
  const expireAt = addDays(clock.now(), days);
  return app.ports.panel.createUser({ username, status: 'ACTIVE', expireAt, ...identity });
}

/** A live subscription of a person, with its panel user, that the import has kept aside. @returns its id in the source */
export async function aParkedSubscription(
  { app }: ProvisioningTest,
  fields: { runId: number; userId: number; panelUser: PanelUser; isNumberOnly?: boolean },
): Promise<number> {
  const id = unique();
  const { uuid, shortUuid, expireAt } = fields.panelUser;
  const number = /^00000000-0000-8000-8000-([0-9a-f]{12})$/.exec(uuid)?.[1];
  const row = {
    ...{ id, user_id: fields.userId, status: 'active', end_date: expireAt.toISOString() },
    remnawave_id: number === undefined ? null : Number.parseInt(number, 16),
    remnawave_uuid: number === undefined ? uuid.toUpperCase() : null,
    remnawave_short_uuid: fields.isNumberOnly ? null : shortUuid,
  };
  const parked = { sourceTable: 'subscriptions', reason: 'subscription_parked', isWhole: true } as const;
  await storeRow(app, 'ImportParked', { ...parked, runId: fields.runId, sourceId: String(id), row });
  return id;
}

/** Calls since a number of calls that changed anything at the panel. */
export const changesSince = ({ panel }: ProvisioningTest, calls: number): string[] =>
  panel
    .calls()
    .slice(calls)
    .filter(({ method, path }) => method !== 'GET' && !path.endsWith('/encrypt'))
    .map(({ method, path }) => `${method} ${path}`);
