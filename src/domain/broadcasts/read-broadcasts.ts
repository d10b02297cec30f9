import type { App } from '../../core/app.ts';
import { isRowId } from '../../core/row-id.ts';
import { readSends } from '../mass-sends/control-sends.ts';
import { findBroadcast, listBroadcasts } from './repo.ts';
import { broadcastNotFound, withProgress } from './rules.ts';
import type { Broadcast, BroadcastRow } from './types.ts';

/** All broadcasts of all channels, newest first. */
export async function listAllBroadcasts(
  app: App,
  page: { limit: number; offset: number },
): Promise<{ items: Broadcast[]; total: number }> {
  const { items, total } = await listBroadcasts(app.db, page);
  return { items: await allWithProgress(app, items), total };
}

/** @throws AppError 404 */
export async function readBroadcast(app: App, id: number): Promise<Broadcast> {
  const row = isRowId(id) ? await findBroadcast(app.db, id) : null;
  if (!row) throw broadcastNotFound();
  const [broadcast] = await allWithProgress(app, [row]);
  return broadcast!;
}

async function allWithProgress(app: App, rows: readonly BroadcastRow[]): Promise<Broadcast[]> {
  const sends = await readSends(
    app,
    'broadcast',
    rows.map(({ id }) => id),
  );
  const now = app.clock.now();
  return rows.map((row) =>
    withProgress(
      row,
      sends.filter(({ sourceId }) => sourceId === row.id),
      app.env,
      now,
    ),
  );
}
