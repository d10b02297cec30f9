import type { PaymentProvider } from './ports.ts';

/**
 * Callbacks of one provider that a process asks about at the same time. Fewer than the queue has workers, so that a provider that does not
 * answer leaves workers to the callbacks of the others.
 */
const ASKS_AT_ONCE = 3;

/** Questions under way in this process. A limit of its own load, on which nothing that must be right depends. */
const underWay = new WeakMap<PaymentProvider, number>();

/** Asks unless so many questions to the provider are under way. @returns null when they are: ask later */
export async function askWithinSlots<T>(provider: PaymentProvider, ask: () => Promise<T>): Promise<{ answer: T } | null> {
  const before = underWay.get(provider) ?? 0;
  if (before >= ASKS_AT_ONCE) return null;
  underWay.set(provider, before + 1);
  try {
    return { answer: await ask() };
  } finally {
    underWay.set(provider, underWay.get(provider)! - 1);
  }
}
