import type { Db } from '../../core/db/db.ts';

export interface ListedMovement {
  eventKey: string;
  chargeId: string;
  payload: string;
}

export interface KnownTransfers {
  /** Movements that were reported or have had their effect. */
  eventKeys: ReadonlySet<string>;
  /** Payments that are recorded here. */
  charges: ReadonlySet<string>;
  /** Invoices that are stored here. */
  payloads: ReadonlySet<string>;
}

/** What is known here of listed movements of Stars: by their updates, and by their effects, since stored updates are deleted in time. */
export async function findKnownTransfers(db: Db, movements: readonly ListedMovement[]): Promise<KnownTransfers> {
  const rows = await db.sql<{ kind: 'event' | 'charge' | 'refund' | 'payload'; key: string }>(
    `SELECT 'event' AS kind, event_key AS key FROM provider_callbacks
     WHERE provider = 'messenger_stars' AND event_key = ANY($1::text[])
     UNION ALL
     SELECT 'charge', external_id FROM transactions WHERE payment_method = 'messenger_stars' AND external_id = ANY($2::text[])
     UNION ALL
     SELECT 'charge', external_id FROM payments WHERE method = 'messenger_stars' AND external_id = ANY($2::text[])
     UNION ALL
     SELECT 'refund', reversal_id FROM payment_reversals WHERE method = 'messenger_stars' AND reversal_id = ANY($2::text[])
     UNION ALL
     SELECT 'refund', reference FROM payment_cases
     WHERE kind = 'reversal_unknown' AND method = 'messenger_stars' AND reference = ANY($2::text[])
     UNION ALL
     SELECT 'payload', order_id FROM payments WHERE method = 'messenger_stars' AND order_id = ANY($3::text[])`,
    [
      movements.map(({ eventKey }) => eventKey),
      movements.map(({ chargeId }) => chargeId),
      movements.map(({ payload }) => payload),
    ],
  );
  const keysOf = (...kinds: string[]) => rows.filter(({ kind }) => kinds.includes(kind)).map(({ key }) => key);
  const charges = keysOf('charge');
  const effects = [...charges.map((id) => `stars_paid:${id}`), ...keysOf('refund').map((id) => `stars_refunded:${id}`)];
  return {
    eventKeys: new Set([...keysOf('event'), ...effects]),
    charges: new Set(charges),
    payloads: new Set(keysOf('payload')),
  };
}
