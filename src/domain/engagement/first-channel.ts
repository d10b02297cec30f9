import type { Db } from '../../core/db/db.ts';

/** The first required channel as a chat of the messenger; null when there is none. */
export async function firstChannel(db: Db): Promise<number | null> {
  const [row] = await db.sql<{ channelId: string }>(
    'SELECT channel_id FROM required_channels WHERE is_active ORDER BY sort_order, id LIMIT 1',
  );
  return row ? Number(row.channelId) : null;
}
