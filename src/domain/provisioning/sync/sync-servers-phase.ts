import type { App } from '../../../core/app.ts';
import { syncServers } from '../../catalog/sync-servers.ts';
import type { RunLease } from '../long-runs/drive-run.ts';
import { PanelError } from '../ports.ts';
import { advance, type PhaseResult } from './progress.ts';
import type { SyncRun } from './types.ts';

/** Detail of the 502 when the panel has no squads (spec 06 section 11); the reason follows where it gave no list at all (08 P10). */
export const NO_SQUADS = 'Failed to get squads';

/** Updates the servers from the panel's squads, by the rules of the catalogue (spec 06 section 10 and section 17, hazard 5). @throws PanelError without a list */
export async function syncServersPhase(app: App, lease: RunLease, run: SyncRun): Promise<PhaseResult> {
  await lease.renew(app);
  const result = await syncServers(app);
  if (result.outcome === 'not_configured') throw new PanelError('not_configured', result.reason);
  if (result.outcome === 'no_list')
    throw new PanelError('unavailable', result.reason === null ? NO_SQUADS : `${NO_SQUADS}: ${result.reason}`);
  const { outcome: _outcome, ...servers } = result;
  await lease.write(app, (t) => advance(t, run, {}, {}, { servers }));
  return 'next';
}
