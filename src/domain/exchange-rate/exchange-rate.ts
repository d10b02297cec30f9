import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { plainRow, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { OfficialRates } from './ports.ts';

/** After this time without a successful request a rate is not shown. On days without work the last one stays the official one. */
const STALE_DAYS = 3;

/** Rubles for one unit as exact decimals, for display only: no amount is computed with them. */
export interface ExchangeRate {
  currency: string;
  rate: string;
  /** 00:00 UTC of the day for which it was set. */
  setOn: Date;
  /** Of the day before that one; null while only one day is known. */
  previous: { rate: string; setOn: Date } | null;
}

/**
 * The official rate of a currency (spec 03a section 16).
 * @param currency ISO 4217, in any case
 * @returns null for an unknown currency, and while nothing newer than 3 days is known
 */
export async function readExchangeRate(app: App, currency: string): Promise<ExchangeRate | null> {
  const row = await findRate(app.db, currency.toUpperCase());
  if (!row || row.fetchedAt < addDays(app.clock.now(), -STALE_DAYS)) return null;
  const { previousRate, previousSetOn } = row;
  const isKnown = previousRate !== null && previousSetOn !== null;
  const previous = isKnown ? { rate: trimmed(previousRate), setOn: previousSetOn } : null;
  return { currency: row.currency, rate: trimmed(row.rate), setOn: row.setOn, previous };
}

/** Fetches and stores the rates of the day (queue `rates.fetch`). In the sandbox nothing outside is called. @throws Error */
export async function fetchExchangeRates(app: App): Promise<void> {
  if (app.ports.instance.sandboxKinds().includes('payments')) return;
  await storeRates(app.db, await app.ports.exchangeRates.fetchRates(), app.clock.now());
}

/** Without the zeros that the column adds. */
function trimmed(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}

/** Stores rates; the ones of an earlier day are kept as the previous ones. Rates of an older day than the stored ones are not taken. */
async function storeRates(db: Db, { setOn, rates }: OfficialRates, now: Date): Promise<void> {
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

async function findRate(db: Db, currency: string): Promise<Rows['ExchangeRate'] | null> {
  const row = await db.prisma.exchangeRate.findUnique({ where: { currency } });
  return row && plainRow('ExchangeRate', row);
}
