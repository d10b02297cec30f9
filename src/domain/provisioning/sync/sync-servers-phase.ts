import type { App } from '../../../core/app.ts';
import { syncServers } from '../../catalog/sync-servers.ts';
import type { RunHold } from '../long-runs/drive-run.ts';
import { PanelError } from '../ports.ts';
import { advance, type PhaseResult } from './progress.ts';
import type { SyncRun } from './types.ts';

/** What the endpoint says when the panel names no squads (spec 06 section 11). */
export const NO_SQUADS = 'Failed to get squads';

/** The servers after the panel's squads, by the rules of the catalogue (spec 06 section 10 and section 17, hazard 5). @throws PanelError without a list */
export async function syncServersPhase(app: App, hold: RunHold, run: SyncRun): Promise<PhaseResult> {
  await hold.renew(app);
  const result = await syncServers(app);
  if (result.outcome === 'not_configured') throw new PanelError('not_configured', result.reason);
  if (result.outcome === 'no_list') throw new PanelError('unavailable', NO_SQUADS);
  const { outcome: _outcome, ...servers } = result;
  await hold.write(app, (t) => advance(t, run, {}, {}, { servers }));
  return 'next';
}
