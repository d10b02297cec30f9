import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import type { Db } from '../../../core/db/db.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { effectiveSquadsOf, findTariff } from '../../catalog/find-tariff.ts';
import type { Tariff } from '../../catalog/types.ts';
import { PUSH_MARK, saveSyncedSquads } from '../../subscription-state/provision-state.ts';
import { inParallel, retryPanelCall } from '../long-runs/drive-run.ts';
import { isPanelError } from '../ports.ts';
import { recordStaleExternalSquad } from '../push-subscription.ts';
import { requestProvisioning } from '../request-provisioning.ts';

export const syncedTariffNotFound = refusal('tariff_not_found', 404, 'Tariff not found');

const BATCH = 500;
/** After so many failures in a row the panel counts as unavailable and is not called any more. */
const MAX_CONSECUTIVE_FAILURES = 10;
const MAX_ERRORS = 20;

export interface SquadSyncResult {
  tariffId: number;
  tariffName: string;
  totalSubscriptions: number;
  updatedCount: number;
  failedCount: number;
  /** Without a panel user yet, or skipped after too many failures. */
  skippedCount: number;
  /** At most 20. */
  errors: string[];
}

/** Some panel users could not be updated; the queue retries the whole sync. */
export class SyncAborted extends Error {
  constructor(failed: number) {
    super(`Squad sync failed for ${failed} subscriptions`);
    this.name = 'SyncAborted';
  }
}

export interface SquadSyncOptions {
  /**
   * This sync is not retried: where the panel did not accept the squads they are written into the row, and a push sends them (spec 06
   * 17.6). A push cannot remove an external squad; the next sync does.
   */
  delegatesToPushes?: boolean;
}

/**
 * Assigns every active or trial subscription of a tariff the tariff's effective squads (spec 02 H9: an empty list means every available
 * server) and its external squad (none removes it), at the panel first and in the row only where the panel accepted it
 * (spec 02 section 10). Only squads that the panel has are sent, since an unknown one would fail the call.
 * Subscriptions without a panel user get the squads in the row; their panel user is created with them.
 * @returns null when there is no such tariff
 */
export async function syncSquadsOfTariff(
  app: App,
  tariffId: number,
  options: SquadSyncOptions = {},
): Promise<SquadSyncResult | null> {
  const tariff = await findTariff(app, tariffId);
  if (!tariff) return null;
  const squads = await effectiveSquadsOf(app, tariff);
  const external = await knownExternalOf(app, tariff);
  const sync = new SquadSync(app, tariff, { squads, known: await knownOf(app, squads), external }, options);
  await sync.run();
  return sync.result;
}

/** Those of the squads that the panel has; all of them while it returns no list. */
async function knownOf(app: App, squads: readonly string[]): Promise<string[]> {
  if (squads.length === 0) return [];
  try {
    const there = new Set((await retryPanelCall(() => app.ports.panel.listInternalSquads())).map((squad) => squad.uuid));
    return squads.filter((uuid) => there.has(uuid));
  } catch (error) {
    if (!isPanelError(error)) throw error;
    return [...squads];
  }
}

/**
 * The tariff's external squad; null where the panel no longer has it, which is recorded (08 P3): the panel refuses every user with an
 * unknown one. While the panel returns no list it is sent as it is.
 */
async function knownExternalOf(app: App, { id, externalSquadUuid }: Tariff): Promise<string | null> {
  if (externalSquadUuid === null) return null;
  try {
    const there = await retryPanelCall(() => app.ports.panel.listExternalSquads());
    if (there.some((squad) => squad.uuid === externalSquadUuid)) return externalSquadUuid;
  } catch (error) {
    if (!isPanelError(error)) throw error;
    return externalSquadUuid;
  }
  await recordStaleExternalSquad(app, id, externalSquadUuid);
  return null;
}

/** The same within the request of an administrator. @throws AppError 404 'Tariff not found' */
export async function syncSquadsNow(app: App, _actor: Actor, tariffId: number): Promise<SquadSyncResult> {
  const result = await syncSquadsOfTariff(app, tariffId);
  if (!result) throw syncedTariffNotFound();
  const { totalSubscriptions, updatedCount, failedCount, skippedCount } = result;
  app.audit?.record({ after: { totalSubscriptions, updatedCount, failedCount, skippedCount } });
  return result;
}

interface SentSquads {
  squads: string[];
  known: string[];
  external: string | null;
}

class SquadSync {
  readonly result: SquadSyncResult;
  readonly #app: App;
  readonly #tariff: Tariff;
  /** For the rows; empty = rows are not changed. */
  readonly #squads: readonly string[];
  /** Those of them that the panel has. */
  readonly #known: string[];
  /** Null ends the external squad. */
  readonly #external: string | null;
  readonly #delegatesToPushes: boolean;
  #failuresInARow = 0;
  #isAborted = false;

  constructor(app: App, tariff: Tariff, sent: SentSquads, options: SquadSyncOptions) {
    const { squads, known, external } = sent;
    this.#app = app;
    this.#tariff = tariff;
    // Without any squad that the panel has, the users would lose all access.
    this.#squads = known.length === 0 ? [] : squads;
    this.#known = known;
    this.#external = external;
    this.#delegatesToPushes = options.delegatesToPushes ?? false;
    if (known.length < squads.length) {
      const missing = squads.length - known.length;
      app.log.warn({ tariffId: tariff.id, missing }, 'squad sync: squads unknown to the panel were left out');
    }
    this.result = {
      tariffId: tariff.id,
      tariffName: tariff.name,
      totalSubscriptions: 0,
      updatedCount: 0,
      failedCount: 0,
      skippedCount: 0,
      errors: [],
    };
  }

  async run(): Promise<void> {
    let afterId = 0;
    for (;;) {
      const targets = await listSquadSyncTargets(this.#app.db, this.#tariff.id, { afterId, limit: BATCH });
      this.result.totalSubscriptions += targets.length;
      await inParallel(this.#app, null, targets, (target) => (this.#isAborted ? this.#skip(target) : this.#syncOne(target)));
      const last = targets.at(-1);
      if (!last || targets.length < BATCH) break;
      afterId = last.subscriptionId;
    }
    if (this.#isAborted) this.#addError(`Aborted after ${MAX_CONSECUTIVE_FAILURES} consecutive failures`);
  }

  async #skip(target: SquadSyncTarget): Promise<void> {
    if (this.#delegatesToPushes) await this.#store(target, { isPanelUpdated: false });
    this.result.skippedCount += 1;
  }

  async #syncOne(target: SquadSyncTarget): Promise<void> {
    if (target.vpnpanelUuid === null) {
      await this.#store(target, { isPanelUpdated: false });
      this.result.skippedCount += 1;
      return;
    }
    const answer = await this.#updatePanelUser(target.vpnpanelUuid);
    if (answer === 'accepted') {
      await this.#store(target, { isPanelUpdated: true });
      this.result.updatedCount += 1;
      this.#failuresInARow = 0;
      return;
    }
    // The panel no longer has this user: a push finds or creates one, with the squads of the row.
    if (answer === 'no_such_user' || this.#delegatesToPushes) await this.#store(target, { isPanelUpdated: false });
    this.result.failedCount += 1;
    this.#failuresInARow += 1;
    this.#isAborted ||= this.#failuresInARow >= MAX_CONSECUTIVE_FAILURES;
    this.#addError(`user_id=${target.userId}: sync failed`);
  }

  async #updatePanelUser(uuid: string): Promise<'accepted' | 'no_such_user' | 'failed'> {
    try {
      const changed = await this.#app.ports.panel.updateUser({
        uuid,
        ...(this.#known.length === 0 ? {} : { squadUuids: this.#known }),
        externalSquadUuid: this.#external,
      });
      return changed === null ? 'no_such_user' : 'accepted';
    } catch (error) {
      this.#app.log.warn({ err: error, tariffId: this.#tariff.id }, 'squad sync: the panel did not accept the squads');
      return 'failed';
    }
  }

  /** A push that is queued, under way or just done may have read the old squads, so another is requested. */
  async #store(target: SquadSyncTarget, { isPanelUpdated }: { isPanelUpdated: boolean }): Promise<void> {
    await inTransaction(this.#app, async (t) => {
      const saved = await saveSyncedSquads(t.db, {
        target,
        tariffId: this.#tariff.id,
        squads: this.#squads,
        now: t.clock.now(),
      });
      if (!isPanelUpdated || saved !== 'quiet') await requestProvisioning(t, target.subscriptionId);
    });
  }

  #addError(text: string): void {
    if (this.result.errors.length < MAX_ERRORS) this.result.errors.push(text);
  }
}

interface SquadSyncTarget {
  subscriptionId: number;
  userId: number;
  vpnpanelUuid: string | null;
  /** Changes whenever a push of the subscription is requested or done. */
  pushMark: string;
}

/** Active and trial subscriptions of a tariff by id, a batch at a time. */
function listSquadSyncTargets(db: Db, tariffId: number, page: { afterId: number; limit: number }): Promise<SquadSyncTarget[]> {
  return db.sql<SquadSyncTarget>(
    `SELECT s.id AS subscription_id, s.user_id, u.vpnpanel_uuid, ${PUSH_MARK} AS push_mark
     FROM subscriptions s JOIN users u ON u.id = s.user_id
     WHERE s.tariff_id = $1::int AND s.status IN ('active', 'trial') AND s.id > $2::int
     ORDER BY s.id LIMIT $3::int`,
    [tariffId, page.afterId, page.limit],
  );
}
