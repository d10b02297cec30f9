import type { App } from '../../core/app.ts';

/** Writes the tax receipt of a movement, or that it has none any more (null). Amounts stay. */
export async function recordReceipt(
  t: Pick<App, 'db'>,
  transactionId: number,
  receipt: { uuid: string; issuedAt: Date } | null,
): Promise<void> {
  await t.db.sql(
    'UPDATE transactions SET receipt_uuid = $2, receipt_created_at = $3::timestamptz WHERE id = $1::int RETURNING id',
    [transactionId, receipt?.uuid ?? null, receipt?.issuedAt ?? null],
  );
}
