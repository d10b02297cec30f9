import type { App } from '../../../core/app.ts';
import { fillLinks } from '../../subscription-state/panel-values.ts';
import type { RunLease } from '../long-runs/drive-run.ts';
import { inParallel } from '../long-runs/parallel-calls.ts';
import { isPanelError, type PanelUser } from '../ports.ts';
import { requestProvisioning } from '../request-provisioning.ts';
import { advance, type PhaseResult } from './progress.ts';
import type { SyncRun } from './types.ts';
import { listForValidation, repairRows, type ValidatedSubscription } from './validate-repo.ts';

const PAGE = 100;

/** Checks the next hundred subscriptions and repairs invalid values (spec 06 section 10). */
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
      const { shortUuid, subscriptionUrl, cryptoLink } = user;
      found.push({ id, panelUuid: vpnpanelUuid!, shortUuid, subscriptionUrl, cryptoLink });
    } catch (error) {
      if (!isPanelError(error)) throw error;
      failed += 1;
    }
  });
  return { found, failed };
}
