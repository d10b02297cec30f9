import type { App } from '../../../core/app.ts';
import { fillLinks } from '../../subscription-state/panel-values.ts';
import { inParallel, type RunLease } from '../long-runs/drive-run.ts';
import { requirePanel, withCryptoLink } from '../panel-access.ts';
import { isPanelError, type PanelUser } from '../ports.ts';
import { requestProvisioning } from '../request-provisioning.ts';
import { advance, type PhaseResult } from './progress.ts';
import { countForRecommendation, listForValidation, listRunning, repairRows, type ValidatedSubscription } from './run-repo.ts';
import type { SyncRun } from './types.ts';

export interface SyncRecommendation {
  shouldSync: boolean;
  syncType: 'none' | 'all' | 'update_only';
  reasons: string[];
  priority: 'low' | 'medium' | 'high';
  estimatedTime: string;
  /** Runs under way, with their progress. */
  running: SyncRun[];
}

const MANY_UNLINKED = 10;
const MANY_PAST = 5;

/** Which synchronisation makes sense now (spec 06 section 10), and what is under way (08 P13). @throws AppError 503 the panel is not configured */
export async function recommendSync(app: App): Promise<SyncRecommendation> {
  requirePanel(app);
  const running = await listRunning(app.db);
  return { ...recommendationFor(await countForRecommendation(app.db, app.clock.now())), running };
}

/** More than 10 subscribers without a panel user: all users; more than 5 active subscriptions past their end: the known users. */
function recommendationFor(found: {
  subscriptions: number;
  unlinked: number;
  past: number;
}): Omit<SyncRecommendation, 'running'> {
  if (found.unlinked > MANY_UNLINKED) {
    const reasons = [`${found.unlinked} users have a subscription but no panel user`];
    return { shouldSync: true, syncType: 'all', reasons, priority: 'high', estimatedTime: '2-5 minutes' };
  }
  if (found.past > MANY_PAST) {
    const reasons = [`${found.past} active subscriptions are past their end`];
    return { shouldSync: true, syncType: 'update_only', reasons, priority: 'medium', estimatedTime: '1-3 minutes' };
  }
  if (found.subscriptions === 0) {
    const reasons = ['There are no subscriptions to compare'];
    return { shouldSync: false, syncType: 'none', reasons, priority: 'low', estimatedTime: 'none' };
  }
  const reasons = ['Nothing stands out; a regular update is enough'];
  return { shouldSync: true, syncType: 'update_only', reasons, priority: 'low', estimatedTime: '1-2 minutes' };
}

const PAGE = 100;

/** Checks the next hundred subscriptions and repairs invalid values. */
export async function validateSubscriptions(app: App, lease: RunLease, run: SyncRun): Promise<PhaseResult> {
  const now = app.clock.now();
  const page = await listForValidation(app.db, { now, afterId: Number(run.cursor.after || 0), limit: PAGE });
  const last = page.at(-1);
  if (!last) return 'next';
  const unlinked = page.filter((row) => row.isLinkMissing);
  const { found, failed } = await readLinks(app, lease, unlinked);
  const issuesFound = page.reduce((sum, row) => sum + issuesOf(row), 0);
  await lease.write(app, async (t) => {
    const fixed = (await repair(t, page)) + (await fillLinks(t.db, found, t.clock.now()));
    await advance(t, run, { after: String(last.id) }, { checked: page.length, issuesFound, fixed, errors: failed });
  });
  return 'more';
}

function rowIssues(row: ValidatedSubscription): number {
  return [row.isOver, row.hasNegativeTraffic, row.hasNoDevices, row.hasNoSquadList].filter(Boolean).length;
}

function issuesOf(row: ValidatedSubscription): number {
  return rowIssues(row) + (row.isLinkMissing ? 1 : 0);
}

async function repair(t: App, page: readonly ValidatedSubscription[]): Promise<number> {
  const broken = page.filter((row) => rowIssues(row) > 0);
  if (broken.length === 0) return 0;
  const expired = await repairRows(
    t.db,
    broken.map((row) => row.id),
    t.clock.now(),
  );
  // A push for what the panel has as well: the end of a subscription, or its number of devices.
  for (const { id, userId, hasNoDevices } of broken) {
    const isExpired = expired.includes(id);
    if (isExpired || hasNoDevices) await requestProvisioning(t, id);
    if (isExpired) await t.events.emit('subscription.expired', {}, { audience: 'user', userId });
  }
  const notExpired = broken.filter((row) => row.isOver && !expired.includes(row.id)).length;
  return broken.reduce((sum, row) => sum + rowIssues(row), 0) - notExpired;
}

interface FoundLink extends Pick<PanelUser, 'shortUuid' | 'subscriptionUrl' | 'cryptoLink'> {
  id: number;
  panelUuid: string;
}

/** An absent panel user has no link; the next push of the subscription creates one. */
async function readLinks(
  app: App,
  lease: RunLease,
  rows: readonly ValidatedSubscription[],
): Promise<{ found: FoundLink[]; failed: number }> {
  const found: FoundLink[] = [];
  let failed = 0;
  await inParallel(app, lease, rows, async ({ id, vpnpanelUuid }) => {
    try {
      const user = await app.ports.panel.findByUuid(vpnpanelUuid!);
      if (!user?.shortUuid) return;
      const { shortUuid, subscriptionUrl, cryptoLink } = await withCryptoLink(app, user);
      found.push({ id, panelUuid: vpnpanelUuid!, shortUuid, subscriptionUrl, cryptoLink });
    } catch (error) {
      if (!isPanelError(error)) throw error;
      failed += 1;
    }
  });
  return { found, failed };
}
