import type { App } from '../../core/app.ts';
import { BROADCAST_PROGRESS } from './events.ts';
import type { Broadcast } from './types.ts';

/** To the sockets of administrators. */
export function announceProgress(app: App, broadcast: Broadcast): Promise<void> {
  const event = {
    broadcast_id: broadcast.id,
    status: broadcast.status,
    total_count: broadcast.totalCount,
    sent_count: broadcast.sentCount,
    failed_count: broadcast.failedCount,
    blocked_count: broadcast.blockedCount,
    unconfirmed_count: broadcast.unconfirmedCount,
    progress_percent: broadcast.progressPercent,
    estimated_end_at: broadcast.estimatedEndAt?.toISOString() ?? null,
  };
  return app.events.emit(BROADCAST_PROGRESS, event, { audience: 'staff' });
}
