import type { App } from '../../../core/app.ts';
import { DAY_MS, SECOND_MS } from '../../../core/clock.ts';
import { put } from '../../../core/short-lived.ts';
import { isLive } from './rules.ts';
import type { SnapshotEntry } from './types.ts';

/** As long as a panel user that was to go may still be in the panel's list, where the panel would not let go of it. */
const KEPT_SECONDS = (365 * DAY_MS) / SECOND_MS;

const keyOf = (panelUuid: string) => `panel_removal:${panelUuid}`;

/**
 * Notes that a panel user is to go, in the transaction that takes its account or its subscription away: a list that was read before
 * still has it, live and with a name, and a synchronisation would make from it what was just erased (spec 06 hazard 7). The note
 * says nothing about whose it was.
 * @param mode as `requestPanelUserRemoval` takes it
 */
export async function noteRemoval(t: App, panelUuid: string, mode?: 'delete' | 'disable'): Promise<void> {
  const note = { at: t.clock.now().toISOString(), mode: mode ?? t.settings.get('VPNPANEL_USER_DELETE_MODE') };
  await put(t, keyOf(panelUuid), note, KEPT_SECONDS);
}

interface Removal {
  uuid: string;
  at: Date;
  mode: string;
  isOpen: boolean;
}

/** Open: the queue has not done it yet, or has given it up. One statement. */
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
 * The uuids of those of the panel's users from which nothing may be made anew: to be removed since they were read, or still to be
 * removed. One that was to be deleted never comes back; one that was to be switched off does where somebody has switched it on
 * again at the panel. What a concurrent removal has written is seen only after its user's row was locked.
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

/** Was the removal of this panel user asked for at or after `readAt`? After the user's row was locked. */
export async function isRemovedSince(t: App, panelUuid: string, readAt: Date): Promise<boolean> {
  const removal = (await findRemovals(t, [panelUuid])).get(panelUuid);
  return removal !== undefined && removal.at >= readAt;
}
