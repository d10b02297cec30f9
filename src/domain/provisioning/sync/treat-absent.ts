import type { App } from '../../../core/app.ts';
import { DAY_MS, SECOND_MS } from '../../../core/clock.ts';
import { put } from '../../../core/short-lived.ts';
import { blankSubscriptions, disableSubscriptions } from '../../subscription-state/panel-values.ts';
import { inParallel, type RunLease, retryPanelCall } from '../long-runs/drive-run.ts';
import { isParkedPanelUser } from '../parked-panel-users.ts';
import { isPanelError, type PanelUser } from '../ports.ts';
import { advance, type PhaseResult } from './progress.ts';
import { type AbsentAccount, type AbsentTreatment, countAbsent, listAbsent, lockStillAbsent, unlinkServers } from './repo.ts';
import { isLive, isTooManyAbsent } from './rules.ts';
import type { SnapshotEntry, SyncRefusal, SyncRun } from './types.ts';

const BATCH = 50;

function treatmentOf(run: SyncRun): AbsentTreatment {
  if (run.kind === 'statuses') return 'disable';
  return run.kind === 'cleanup' ? 'blank_live' : 'blank';
}

/**
 * Disables the subscriptions of accounts whose panel user is absent (spec 06 section 10). Three conditions must be met first (section
 * 17, hazard 4): the list is complete and not empty, the absent ones are at most a tenth of all, and a look-up of each of them by
 * uuid, messenger id and e-mail finds no user. Balances and transactions never change.
 */
export async function treatAbsent(app: App, lease: RunLease, run: SyncRun): Promise<PhaseResult> {
  const readAt = new Date(run.cursor.readAt!);
  const query = { runId: run.id, readAt, now: app.clock.now(), treatment: treatmentOf(run) };
  if (!run.cursor.isShareChecked) {
    const { absent, known } = await countAbsent(app.db, query);
    const refusal = refusalOf(run, absent, known);
    // For the answer: a clean-up checks every account that the panel could have.
    const counted = run.kind === 'cleanup' ? { checked: known } : {};
    if (refusal !== null) {
      app.log.warn({ runId: run.id, kind: run.kind, absent, known, refusal }, 'panel sync: no subscription was disabled');
      await lease.write(app, (t) => advance(t, run, {}, { ...counted, errors: 1 }, { refusal }));
      return 'next';
    }
    await lease.write(app, (t) => advance(t, run, { isShareChecked: true, after: '0' }, counted));
    return absent === 0 ? 'next' : 'more';
  }
  const accounts = await listAbsent(app.db, { ...query, afterId: Number(run.cursor.after), limit: BATCH });
  const last = accounts.at(-1);
  if (!last) return 'next';
  const { gone, refused } = await confirmAbsent(app, lease, accounts);
  await lease.write(app, async (t) => {
    const ids = await lockStillAbsent(t.db, { ...query, accounts: gone });
    if (ids.length > 0) {
      if (query.treatment === 'disable') {
        await disableSubscriptions(t.db, ids, t.clock.now());
      } else {
        await unlinkServers(t.db, ids);
        await blankSubscriptions(t.db, ids, t.clock.now());
      }
    }
    await advance(t, run, { after: String(last.userId) }, { deleted: ids.length, errors: refused });
  });
  return 'more';
}

function refusalOf(run: SyncRun, absent: number, known: number): SyncRefusal | null {
  if (known === 0 || absent === 0) return null;
  if (!run.cursor.isComplete || !run.cursor.hasUsers) return 'incomplete_list';
  return isTooManyAbsent(absent, known) ? 'too_many_absent' : null;
}

/** The panel user of the stored handle; one of the panel's other generation says nothing, and the link decides (spec 10 V1). */
async function findByHandle(app: App, { vpnpanelUuid, vpnpanelShortUuid }: AbsentAccount): Promise<PanelUser | null> {
  const { panel } = app.ports;
  if (vpnpanelUuid === null) return null;
  try {
    return await retryPanelCall(() => panel.findByUuid(vpnpanelUuid));
  } catch (error) {
    if (!isPanelError(error) || !error.isOtherGeneration) throw error;
    return vpnpanelShortUuid ? retryPanelCall(() => panel.findByShortUuid(vpnpanelShortUuid)) : null;
  }
}

/**
 * @returns `gone`: accounts that the panel has no user for; `refused`: the number of look-ups that the panel refused, e.g. because of a
 *   malformed address. Those accounts stay as they are and do not stop the run.
 * @throws PanelError when the panel does not answer to a look-up
 */
async function confirmAbsent(
  app: App,
  lease: RunLease,
  accounts: readonly AbsentAccount[],
): Promise<{ gone: AbsentAccount[]; refused: number }> {
  const { panel } = app.ports;
  const gone: AbsentAccount[] = [];
  let refused = 0;
  const isFound = async (account: AbsentAccount): Promise<boolean> => {
    const { messengerId, verifiedEmail } = account;
    if ((await findByHandle(app, account)) !== null) return true;
    // A panel user of a subscription that an import kept aside is not the one that is looked for.
    const isTheirs = async (found: PanelUser | null) => found !== null && !(await isParkedPanelUser(app.db, found));
    if (await isTheirs(await retryPanelCall(() => panel.findByMessengerId(messengerId)))) return true;
    return verifiedEmail !== null && (await isTheirs(await retryPanelCall(() => panel.findByEmail(verifiedEmail))));
  };
  await inParallel(app, lease, accounts, async (account) => {
    try {
      if (!(await isFound(account))) gone.push(account);
    } catch (error) {
      if (!isPanelError(error) || error.kind !== 'rejected') throw error;
      refused += 1;
      app.log.warn({ err: error, userId: account.userId }, 'panel sync: the panel refused a look-up; the account is not changed');
    }
  });
  return { gone, refused };
}

/** Longer than a panel user may stay in the panel's list after its removal was requested and keeps failing. */
const RECORDED_SECONDS = (365 * DAY_MS) / SECOND_MS;

const keyOf = (panelUuid: string) => `panel_removal:${panelUuid}`;

/**
 * Records that the removal of a panel user was requested, in the transaction that deletes its account or its subscription: a list that
 * was read before still has the panel user, and a synchronisation would create the deleted account from it again (spec 06 hazard 7).
 * The record does not name the account.
 * @param mode as `requestPanelUserRemoval` accepts it
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
