import type { App } from '../../core/app.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { readState, writeState } from '../../core/service-state.ts';
import { type PaymentProvider, ProviderError, type ProviderLimit } from './ports.ts';

/** How long an instance uses what it has read of the database. */
const CACHE_MS = MINUTE_MS;
/** Limits that were read longer ago do not count: the provider may have changed them. */
const MAX_AGE_MS = 2 * HOUR_MS;

interface StoredLimits {
  /** ISO 8601. */
  readAt: string;
  limits: ProviderLimit[];
}

const keyOf = (method: string) => `payments:limits:${method}`;

/** Reads the limits that providers set themselves, for all instances (queue `payments.read-limits`). A provider that fails keeps its last ones. */
export async function readProviderLimits(app: App): Promise<void> {
  for (const provider of app.ports.payments.all()) {
    if (!provider.fetchLimits || !provider.isConfigured()) continue;
    try {
      const limits = await provider.fetchLimits();
      await writeState(app.db, keyOf(provider.method), { readAt: app.clock.now().toISOString(), limits } satisfies StoredLimits);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      app.log.warn({ err: error, method: provider.method }, 'the limits of a provider could not be read');
    }
  }
}

/** The limits of a provider as read last; none where they are unknown. Never asks the provider: somebody is waiting. */
export async function knownLimits(app: App, provider: PaymentProvider | null): Promise<readonly ProviderLimit[]> {
  if (!provider?.fetchLimits) return [];
  const key = keyOf(provider.method);
  const load = () => readState<StoredLimits>(app.db, key);
  // In a transaction its own connection reads, which others must not wait for.
  const stored = await (app.db.begin === null ? load() : app.cache.read(key, CACHE_MS, load));
  const isFresh = stored !== null && app.clock.now().getTime() - new Date(stored.readAt).getTime() <= MAX_AGE_MS;
  return isFresh ? stored.limits : [];
}

/** Kopeks, both included. */
export interface AmountLimits {
  minKopeks: number;
  maxKopeks: number;
}

/**
 * The limits of a method within those of its provider: from the lowest minimum to the highest maximum of the ways to pay that it offers. One
 * way without a known limit leaves them as they are.
 */
export function withinProviderLimits(
  limits: AmountLimits,
  options: readonly string[],
  known: readonly ProviderLimit[],
): AmountLimits {
  const ways = options.map((option) => known.find((limit) => limit.option === option));
  if (ways.length === 0 || ways.includes(undefined)) return limits;
  const open = ways.filter((way) => way?.isOn === true);
  if (open.length === 0) return limits;
  return {
    minKopeks: Math.max(limits.minKopeks, Math.min(...open.map((way) => way?.minKopeks ?? 0))),
    maxKopeks: Math.min(limits.maxKopeks, Math.max(...open.map((way) => way?.maxKopeks ?? Number.POSITIVE_INFINITY))),
  };
}

/** Whether the provider says that this way to pay is closed now. */
export function isClosed(option: string, known: readonly ProviderLimit[]): boolean {
  return known.some((limit) => limit.option === option && !limit.isOn);
}
