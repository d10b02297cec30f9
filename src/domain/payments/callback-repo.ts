import type { Db } from '../../core/db/db.ts';

export interface NewCallback {
  provider: string;
  /** The event's identity at the provider. */
  eventKey: string;
  externalId: string;
  body: string;
  headers: Record<string, string>;
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

export interface StoredCallback {
  id: number;
  provider: string;
  externalId: string;
  body: string;
  /** Tries so far, this one included. */
  attempts: number;
}

/** Counts a try. @returns null when the callback is done or unknown */
export async function startCallback(db: Db, id: number): Promise<StoredCallback | null> {
  const [row] = await db.sql<{ id: number; provider: string; externalId: string; body: string; attempts: number }>(
    `UPDATE provider_callbacks SET attempts = attempts + 1 WHERE id = $1::int AND processed_at IS NULL
     RETURNING id, provider, external_id, body, attempts`,
    [id],
  );
  return row ? { id: row.id, provider: row.provider, externalId: row.externalId, body: row.body, attempts: row.attempts } : null;
}

export async function finishCallback(db: Db, id: number, result: string, now: Date): Promise<void> {
  await db.sql('UPDATE provider_callbacks SET processed_at = $3::timestamptz, result = $2 WHERE id = $1::int RETURNING id', [
    id,
    result,
    now,
  ]);
}
