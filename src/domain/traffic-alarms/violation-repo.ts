import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { TextParams } from '../messaging/texts.ts';

/** Increases that the fast check has found and that the administrators have not been told of. */

const VIOLATION = columns('TrafficViolation', ['panelUuid', 'bytes', 'texts']);

/** A user whose traffic the administrators should see. */
export type Violation = Omit<RowOf<typeof VIOLATION>, 'texts'> & {
  /** Of the message; values are escaped there. */
  texts: TextParams;
};

/** Stores what was found; of two increases of a user the larger one stays. */
export async function insertViolations(db: Db, violations: readonly Violation[], foundAt: Date): Promise<void> {
  if (violations.length === 0) return;
  await db.sql(
    `INSERT INTO traffic_violations AS v (panel_uuid, bytes, texts, found_at)
     SELECT DISTINCT ON (g."panelUuid") g."panelUuid", g.bytes, g.texts, $2::timestamptz
     FROM jsonb_to_recordset($1::jsonb) AS g("panelUuid" uuid, bytes bigint, texts jsonb) ORDER BY g."panelUuid", g.bytes DESC
     ON CONFLICT (panel_uuid) DO UPDATE SET bytes = EXCLUDED.bytes, texts = EXCLUDED.texts, found_at = EXCLUDED.found_at
       WHERE v.bytes < EXCLUDED.bytes RETURNING v.panel_uuid`,
    [JSON.stringify(violations), foundAt],
  );
}

/** Removes what was found until a moment. @returns it, to be sent in the same transaction; of two callers at once each gets other rows */
export function takeViolations(db: Db, foundUntil: Date): Promise<Violation[]> {
  return db.sql<Violation>(
    `DELETE FROM traffic_violations v WHERE v.panel_uuid = ANY(ARRAY(
       SELECT panel_uuid FROM traffic_violations WHERE found_at <= $1::timestamptz ORDER BY panel_uuid FOR UPDATE))
     RETURNING ${VIOLATION.of('v')}`,
    [foundUntil],
  );
}

/** Whether there is anything to send. */
export async function hasViolations(db: Db, foundUntil: Date): Promise<boolean> {
  const rows = await db.sql('SELECT panel_uuid FROM traffic_violations WHERE found_at <= $1::timestamptz LIMIT 1', [foundUntil]);
  return rows.length > 0;
}
