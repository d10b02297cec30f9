import type { App } from '../../../core/app.ts';
import { DAY_MS, SECOND_MS } from '../../../core/clock.ts';
import { put } from '../../../core/short-lived.ts';
import { isLive } from './rules.ts';
import type { SnapshotEntry } from './types.ts';

/** Longer than a panel user may stay in the panel's list after its removal was requested and keeps failing. */
const RECORDED_SECONDS = (365 * DAY_MS) / SECOND_MS;

const keyOf = (panelUuid: string) => `panel_removal:${panelUuid}`;

/**
 * Records that the removal of a panel user was requested, in the transaction that deletes its account or its subscription: a list that
 * was read before still has the panel user, and a synchronisation would create the deleted account from it again (spec 06 hazard 7).
 * The record does not name the account.
 * @param mode as `requestPanelUserRemoval` takes it
 */
export async function recordRemoval(t: App, panelUuid: string, mode?: 'delete' | 'disable'): Promise<void> {
  const removal = { at: t.clock.now().toISOString(), mode: mode ?? t.settings.get('VPNPANEL_USER_DELETE_MODE') };
  await put(t, keyOf(panelUuid), removal, RECORDED_SECONDS);
}

interface Removal {
  uuid: string;
  at: Date;
  mode: string;
  isOpen: boolean;
}

/** `isOpen`: the queue has not done it yet, or has given it up. One statement. */
async function findRemovals(t: App, panelUuids: readonly string[]): Promise<Map<string, Removal>> {
  if (panelUuids.length === 0) return new Map();
  const rows = await t.db.sql<Omit<Removal, 'at'> & { at: string }>(
    `SELECT n.uuid, e.value->>'at' AS at, e.value->>'mode' AS mode, EXISTS (
       SELECT 1 FROM jobs.job j WHERE j.name = 'provisioning.remove-user' AND j.data->>'panelUuid' = n.uuid
         AND j.state::text NOT IN ('completed', 'cancelled')) AS "isOpen"
     FROM jsonb_to_recordset($1::jsonb) AS n(key text, uuid text) JOIN short_lived_entries e ON e.key = n.key
     WHERE e.expires_at > $2::timestamptz`,
    [JSON.stringify(panelUuids.map((uuid) => ({ key: keyOf(uuid), uuid }))), t.clock.now()],
  );
  return new Map(rows.map((row) => [row.uuid, { ...row, at: new Date(row.at) }]));
}

/**
 * The uuids of those panel users from which no account and no subscription may be created: their removal was requested since they were
 * read, or is not done. A deleted one stays excluded; a disabled one does not, where it was enabled again at the panel. What a
 * concurrent removal has written is seen only after its user's row was locked.
 */
export async function listRemoved(t: App, entries: readonly SnapshotEntry[]): Promise<Set<string>> {
  const removals = await findRemovals(
    t,
    entries.map(({ user }) => user.uuid),
  );
  const now = t.clock.now();
  const removed = entries.filter(({ user, readAt }) => {
    const removal = removals.get(user.uuid);
    if (!removal) return false;
    return removal.at >= readAt || removal.mode === 'delete' || removal.isOpen || !isLive(user, now);
  });
  return new Set(removed.map(({ user }) => user.uuid));
}

/** Whether the removal of this panel user was requested at or after `readAt`. Call it after the user's row was locked. */
export async function isRemovedSince(t: App, panelUuid: string, readAt: Date): Promise<boolean> {
  const removal = (await findRemovals(t, [panelUuid])).get(panelUuid);
  return removal !== undefined && removal.at >= readAt;
}
