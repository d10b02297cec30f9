/** Compares what clients were acknowledged with the movements of money in the database. */
import type { MoneyWrite } from './write-book.ts';

/** A row of `transactions` that was written during the drill. */
export interface Movement {
  id: number;
  userId: number;
  type: string;
  amountKopeks: number;
  description: string | null;
  paymentMethod: string | null;
  externalId: string | null;
}

export interface MovementDifferences {
  /** Acknowledged, but without a movement. */
  lost: string[];
  /** With more than one movement. */
  doubled: string[];
  /** With a movement of another user or amount. */
  changed: string[];
  /** Movements that no client asked for. */
  unknown: string[];
  /** Writes that were sent and never acknowledged. */
  unanswered: string[];
}

const DESCRIPTION_PREFIX = 'drill ';
const PURCHASE_TYPE = 'subscription_payment';

/** Text that a balance write gives its movement, so that both are found together. */
export function descriptionOf(write: Pick<MoneyWrite, 'key'>): string {
  return `${DESCRIPTION_PREFIX}${write.key}`;
}

/**
 * A balance write and a callback have one movement each, found by their key. A purchase names no key in its movement: they are counted
 * by user, so a user may have at most one purchase that was not acknowledged.
 */
export function compareMovements(writes: readonly MoneyWrite[], movements: readonly Movement[]): MovementDifferences {
  const found: MovementDifferences = { lost: [], doubled: [], changed: [], unknown: [], unanswered: [] };
  const byKey = new Map<string, Movement[]>();
  const purchases = new Map<number, Movement[]>();
  for (const movement of movements) {
    const key = keyOf(movement);
    if (key !== null) byKey.set(key, [...(byKey.get(key) ?? []), movement]);
    else if (movement.type === PURCHASE_TYPE)
      purchases.set(movement.userId, [...(purchases.get(movement.userId) ?? []), movement]);
    else found.unknown.push(movementText(movement));
  }
  for (const write of writes) {
    if (!write.isAcknowledged) found.unanswered.push(writeText(write));
    if (write.kind === 'purchase') continue;
    const mine = byKey.get(write.key) ?? [];
    byKey.delete(write.key);
    if (mine.length === 0 && write.isAcknowledged) found.lost.push(writeText(write));
    if (mine.length > 1) found.doubled.push(`${writeText(write)}: ${mine.map(movementText).join('; ')}`);
    for (const movement of mine) {
      if (movement.userId !== write.userId || movement.amountKopeks !== write.amountKopeks)
        found.changed.push(`${writeText(write)}: ${movementText(movement)}`);
    }
  }
  for (const rest of byKey.values()) found.unknown.push(...rest.map(movementText));
  comparePurchases(writes, purchases, found);
  return found;
}

function comparePurchases(writes: readonly MoneyWrite[], purchases: Map<number, Movement[]>, found: MovementDifferences): void {
  const sent = Map.groupBy(
    writes.filter((write) => write.kind === 'purchase'),
    (write) => write.userId,
  );
  for (const [userId, list] of sent) {
    const paid = purchases.get(userId) ?? [];
    purchases.delete(userId);
    const acknowledged = list.filter((write) => write.isAcknowledged).length;
    const counts = `user ${userId}: ${acknowledged} purchases acknowledged, ${list.length} sent, ${paid.length} paid`;
    for (let count = paid.length; count < acknowledged; count += 1) found.lost.push(counts);
    for (let count = list.length; count < paid.length; count += 1) found.doubled.push(counts);
    for (const movement of paid)
      if (movement.amountKopeks !== list[0]!.amountKopeks) found.changed.push(`${counts}: ${movementText(movement)}`);
  }
  for (const rest of purchases.values()) found.unknown.push(...rest.map(movementText));
}

/**
 * Balances that follow from what was acknowledged. What was sent without an answer counts where the database has it: it may have been
 * done or not, but not both.
 * @param before balances by user before the drill
 */
export function expectedBalances(
  before: ReadonlyMap<number, number>,
  writes: readonly MoneyWrite[],
  movements: readonly Movement[],
): Map<number, number> {
  const balances = new Map(before);
  const add = (userId: number, kopeks: number) => balances.set(userId, (balances.get(userId) ?? 0) + kopeks);
  const unanswered = new Set<string>();
  const unansweredBuyers = new Map<number, number>();
  for (const write of writes) {
    if (write.isAcknowledged) add(write.userId, write.amountKopeks);
    else if (write.kind === 'purchase') unansweredBuyers.set(write.userId, (unansweredBuyers.get(write.userId) ?? 0) + 1);
    else unanswered.add(write.key);
  }
  for (const movement of movements) {
    const key = keyOf(movement);
    if (key !== null && unanswered.has(key)) add(movement.userId, movement.amountKopeks);
  }
  for (const userId of unansweredBuyers.keys()) {
    const paid = movements.filter((movement) => movement.type === PURCHASE_TYPE && movement.userId === userId);
    const acknowledged = writes.filter((write) => write.kind === 'purchase' && write.userId === userId && write.isAcknowledged);
    for (const movement of paid.slice(acknowledged.length)) add(userId, movement.amountKopeks);
  }
  return balances;
}

function keyOf(movement: Movement): string | null {
  if (movement.description?.startsWith(DESCRIPTION_PREFIX)) return movement.description.slice(DESCRIPTION_PREFIX.length);
  return movement.paymentMethod === 'sandbox' ? movement.externalId : null;
}

function writeText(write: MoneyWrite): string {
  return `${write.kind} ${write.key} of user ${write.userId}, ${write.amountKopeks} kopeks, sent ${write.tries} times`;
}

function movementText({ id, userId, type, amountKopeks, description }: Movement): string {
  return `transaction ${id} (${type}, user ${userId}, ${amountKopeks} kopeks, ${description})`;
}
