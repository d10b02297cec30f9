import { DAY_MS } from '../../core/clock.ts';
import { ImportRefused, type ImportSource, LAST_TIME, rowsOf, timestampOf } from './import-source.ts';

/** Ids that a refusal names. */
const NAMED = 20;

/** Statuses of a live subscription; its end is after the snapshot (spec 07 section 1.4). */
const LIVE_STATUSES = new Set(['active', 'trial', 'limited']);

/** The end of a row that is live at the snapshot, in ms; null where it is not live. */
export function liveEnd(status: string | null, end: string | null, snapshotAt: Date): number | null {
  if (!LIVE_STATUSES.has((status ?? 'trial').trim().toLowerCase())) return null;
  const at = timestampOf(end);
  return at !== null && at > snapshotAt.getTime() ? Math.min(at, LAST_TIME) : null;
}

interface Live {
  id: number;
  userId: string;
  endMs: number;
  tariffId: string | null;
  isTrial: boolean;
}

interface Tariff {
  isDaily: boolean;
  dailyPrice: number;
  periodPrices: string | null;
}

/**
 * What people would lose whose live subscriptions but the latest are kept aside: users, subscriptions, whole days, and the kopeks that the
 * time costs at the prices of now (spec 07 section 1.4). Reads the source once more.
 * @param userIds users with two or more live subscriptions
 * @returns null where it is nobody: these rows had no owner
 */
export async function severalSubscriptions(source: ImportSource, userIds: ReadonlySet<string>): Promise<ImportRefused | null> {
  const live = new Map<string, Live[]>();
  const owners = new Set<string>();
  const tariffs = new Map<string, Tariff>();
  for await (const content of source.contents()) {
    if (content.table.name === 'users') {
      for await (const { id } of rowsOf(content, ['id'])) if (id !== null && userIds.has(id)) owners.add(id);
    } else if (content.table.name === 'tariffs') {
      for await (const row of rowsOf(content, ['id', 'is_daily', 'daily_price_kopeks', 'period_prices'])) {
        if (row.id === null) continue;
        const dailyPrice = Number(row.daily_price_kopeks ?? 0);
        tariffs.set(row.id, { isDaily: row.is_daily === 't', dailyPrice, periodPrices: row.period_prices });
      }
    } else if (content.table.name === 'subscriptions') {
      for await (const row of rowsOf(content, ['id', 'user_id', 'status', 'end_date', 'tariff_id', 'is_trial'])) {
        const endMs = liveEnd(row.status, row.end_date, source.snapshotAt);
        if (endMs === null || row.user_id === null || !userIds.has(row.user_id)) continue;
        const one = { id: Number(row.id), userId: row.user_id, endMs, tariffId: row.tariff_id, isTrial: row.is_trial !== 'f' };
        live.set(row.user_id, [...(live.get(row.user_id) ?? []), one]);
      }
    }
  }
  const lost = [...live.values()]
    .filter(([first]) => owners.has(first!.userId))
    .flatMap((ofUser) => [...ofUser].sort((a, b) => b.endMs - a.endMs || b.id - a.id).slice(1));
  if (lost.length === 0) return null;
  const ids = [...new Set(lost.map(({ userId }) => Number(userId)))].sort((a, b) => a - b);
  const snapshot = source.snapshotAt.getTime();
  const costs = lost.map((one) => costOf(one, one.endMs - snapshot, tariffs.get(one.tariffId ?? '')));
  const details = {
    users: ids.length,
    subscriptions: lost.length,
    days: lost.reduce((sum, { endMs }) => sum + Math.floor((endMs - snapshot) / DAY_MS), 0),
    kopeks: Number(costs.reduce<bigint>((sum, cost) => sum + (cost ?? 0n), 0n)),
    without_price: costs.filter((cost) => cost === null).length,
    user_ids: ids.slice(0, NAMED),
  };
  const what = `${details.users} users have ${details.subscriptions} live subscriptions beside their latest one (${details.days} days, ${details.kopeks} kopeks at today's prices); here a user has one.`;
  const todo =
    'Choose with --subscriptions keep-latest: the one that ends last stays, the others are kept aside and listed; nobody is paid anything for them.';
  return new ImportRefused('source_has_multiple_subscriptions', `${what} ${todo}`, { details });
}

/** What a time left costs in the tariff's shortest period with a price, rounded down; null where nothing says a price. */
function costOf({ isTrial }: Live, leftMs: number, tariff: Tariff | undefined): bigint | null {
  if (isTrial) return 0n;
  if (!tariff) return null;
  if (tariff.isDaily) return tariff.dailyPrice > 0 ? (BigInt(leftMs) * BigInt(tariff.dailyPrice)) / BigInt(DAY_MS) : null;
  const shortest = periodsOf(tariff.periodPrices).sort(([a], [b]) => a - b)[0];
  if (!shortest) return null;
  const [days, price] = shortest;
  return (BigInt(leftMs) * BigInt(price)) / BigInt(days * DAY_MS);
}

/** Pairs of whole numbers above zero: days and kopeks. A text that itself holds JSON is decoded once more (spec 07 section 3). */
function periodsOf(json: string | null): [days: number, kopeks: number][] {
  const parsed: unknown = json === null ? null : JSON.parse(json);
  const value: unknown = typeof parsed === 'string' ? JSON.parse(parsed) : parsed;
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value)
    .filter(([days, price]) => /^\d+$/.test(days) && /^\d+$/.test(String(price)))
    .map(([days, price]): [number, number] => [Number(days), Number(price)])
    .filter(([days, price]) => days > 0 && price > 0);
}
