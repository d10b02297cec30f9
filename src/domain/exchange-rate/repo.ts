import { plainRow, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { OfficialRates } from './ports.ts';

/** Stores rates; the ones of an earlier day are kept as the previous ones. Rates of an older day than the stored ones are not taken. */
export async function storeRates(db: Db, { setOn, rates }: OfficialRates, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO exchange_rates AS e (currency, rate, set_on, fetched_at)
     SELECT currency, rate, $3::date, $4::timestamptz FROM unnest($1::text[], $2::numeric[]) AS r (currency, rate)
     ON CONFLICT (currency) DO UPDATE SET rate = EXCLUDED.rate, set_on = EXCLUDED.set_on, fetched_at = EXCLUDED.fetched_at,
       previous_rate = CASE WHEN e.set_on < EXCLUDED.set_on THEN e.rate ELSE e.previous_rate END,
       previous_set_on = CASE WHEN e.set_on < EXCLUDED.set_on THEN e.set_on ELSE e.previous_set_on END
     WHERE e.set_on <= EXCLUDED.set_on RETURNING currency`,
    // As text: the driver would send a timestamp in the time zone of the machine, which may be on another day.
    [[...rates.keys()], [...rates.values()], setOn.toISOString().slice(0, 10), now],
  );
}

export async function findRate(db: Db, currency: string): Promise<Rows['ExchangeRate'] | null> {
  const row = await db.prisma.exchangeRate.findUnique({ where: { currency } });
  return row && plainRow('ExchangeRate', row);
}
