import { columns, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

/** `eventKey` identifies the event at the provider. */
export interface NewCallback extends Pick<Rows['ProviderCallback'], 'provider' | 'eventKey' | 'body' | 'headers'> {
  externalId: string;
  now: Date;
}

/** @returns null when this event is stored already */
export async function insertCallback(db: Db, callback: NewCallback): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO provider_callbacks (provider, event_key, external_id, body, headers, received_at)
     VALUES ($1, $2, $3, $4, $5::jsonb, $6::timestamptz) ON CONFLICT (provider, event_key) DO NOTHING RETURNING id`,
    [callback.provider, callback.eventKey, callback.externalId, callback.body, JSON.stringify(callback.headers), callback.now],
  );
  return row?.id ?? null;
}

const CALLBACK = columns('ProviderCallback', ['id', 'provider', 'body', 'attempts']);

/** `attempts` counts the current one, too. */
export type StoredCallback = RowOf<typeof CALLBACK> & { externalId: string };

/** Counts an attempt. @returns null when the callback is processed or unknown */
export async function startCallback(db: Db, id: number): Promise<StoredCallback | null> {
  const [row] = await db.sql<StoredCallback>(
    `UPDATE provider_callbacks SET attempts = attempts + 1 WHERE id = $1::int AND processed_at IS NULL
     RETURNING ${CALLBACK.of()}, external_id`,
    [id],
  );
  return row ?? null;
}

export async function finishCallback(db: Db, id: number, result: string, now: Date): Promise<void> {
  await db.prisma.providerCallback.updateMany({ where: { id }, data: { processedAt: now, result } });
}
