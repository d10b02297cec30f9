/** Gifts, purchases, renewals, withdrawals and rewards: each done once, and every movement of money has its cause. */
import type { ProofResult } from './credit-proof.ts';
import type { MovementRow, ServiceFacts, WithdrawalRow } from './service-facts.ts';

export function proveGifts(facts: ServiceFacts): ProofResult {
  const rows = new Map(facts.gifts.map((gift) => [gift.code, gift]));
  const violations: string[] = [];
  const counts = { claimed: 0, refunded: 0 };
  for (const gift of facts.deeds.gifts) {
    const row = rows.get(gift.code);
    if (!row) {
      violations.push(`gift ${gift.code} was sold and is not stored`);
      continue;
    }
    const text = `gift ${row.id} (${row.status})`;
    const claimers = [...gift.claimedBy];
    if (claimers.length > 1) violations.push(`${text} was claimed by users ${claimers.join(' and ')}`);
    if (claimers.length === 1) {
      counts.claimed += 1;
      if (row.userId !== claimers[0] || row.status !== 'delivered')
        violations.push(`${text} was claimed by user ${claimers[0]}, and is of user ${row.userId}`);
    }
    if (gift.isRefunded !== (row.refundTransactionId !== null))
      violations.push(
        `${text}: its refund ${gift.isRefunded ? 'was' : 'was not'} acknowledged, transaction ${row.refundTransactionId}`,
      );
    if (row.refundTransactionId !== null) {
      counts.refunded += 1;
      if (row.userId !== null || row.status !== 'failed')
        violations.push(`${text} was refunded and claimed by user ${row.userId}`);
    }
  }
  for (const { id } of facts.people.claimers) {
    const delivered = facts.gifts.filter((gift) => gift.userId === id && gift.status === 'delivered').length;
    const starts = facts.giftStarts.get(id) ?? 0;
    if (delivered !== starts) violations.push(`user ${id} has ${delivered} gifts, which started ${starts} subscriptions`);
  }
  return {
    title: 'each gift claimed or refunded at most once',
    facts: `${facts.deeds.gifts.length} gifts, ${counts.claimed} claimed, ${counts.refunded} refunded`,
    violations,
  };
}

export function provePurchases(facts: ServiceFacts): ProofResult {
  const violations: string[] = [];
  let total = 0;
  for (const [userId, { acknowledged, unknown }] of facts.deeds.purchases) {
    const paid = facts.movements.filter((row) => row.userId === userId && isSale(row)).length;
    total += acknowledged;
    if (paid < acknowledged || paid > acknowledged + unknown)
      violations.push(`user ${userId}: ${acknowledged} purchases acknowledged, ${unknown} without an answer, ${paid} paid`);
  }
  return { title: 'each purchase paid once', facts: `${total} acknowledged`, violations };
}

const isSale = ({ type, paymentMethod }: MovementRow) => type === 'subscription_payment' && paymentMethod === 'balance';

/** A renewer does nothing but renew: every charge of the card pays for exactly one renewal. */
export function proveRenewals(facts: ServiceFacts): ProofResult {
  const violations: string[] = [];
  const orders = new Map(facts.payments.map((payment) => [payment.orderId, payment]));
  const charged = Map.groupBy(
    facts.invoices.filter(({ metadata, paidAt }) => metadata.purpose === 'recurrent_topup' && paidAt !== null),
    ({ metadata }) => Number(metadata.user_id),
  );
  for (const { id, status, paidPayments, isUnclear } of facts.charges) {
    const isRight = paidPayments <= 1 && (status === 'paid' ? paidPayments === 1 : paidPayments === 0 || isUnclear);
    if (!isRight) violations.push(`charge ${id} is ${status} with ${paidPayments} paid payments`);
  }
  let charges = 0;
  let renewals = 0;
  for (const { id } of facts.people.renewers) {
    const mine = charged.get(id) ?? [];
    const sales = facts.movements.filter((row) => row.userId === id && isSale(row)).length - 1;
    const credited = mine.filter(({ orderId }) => orders.get(orderId)?.transactionId != null).length;
    charges += mine.length;
    renewals += sales;
    // The money of the last charge may wait on the balance for the autopay job, which renews later.
    const waiting = (facts.balances.get(id) ?? 0) / facts.tariffs.shortKopeks;
    if (credited !== mine.length)
      violations.push(`user ${id}: the card was charged ${mine.length} times, and credited ${credited} times`);
    if (mine.length !== sales + waiting || waiting > 1)
      violations.push(
        `user ${id}: the card was charged ${mine.length} times for ${sales} renewals; ${waiting} prices are on the balance`,
      );
  }
  return {
    title: 'saved cards charged once a renewal',
    facts: `${charges} charges at the provider, ${renewals} renewals, ${facts.people.renewers.length} users`,
    violations,
  };
}

export function proveWithdrawals(facts: ServiceFacts): ProofResult {
  const movements = new Map(facts.movements.map((movement) => [movement.id, movement]));
  const violations: string[] = [];
  let payable = 0;
  for (const row of facts.withdrawals) {
    const { id, status, amountKopeks, userId } = row;
    const text = `request ${id} (${status}, ${amountKopeks} kopeks)`;
    const isDebited = status === 'approved' || status === 'completed';
    const debit = row.transactionId === null ? null : movements.get(row.transactionId);
    const payout = row.payoutTransactionId === null ? null : movements.get(row.payoutTransactionId);
    if (isDebited ? debit?.amountKopeks !== -amountKopeks || debit.userId !== userId : debit !== null)
      violations.push(`${text}: debit ${debit?.id} of ${debit?.amountKopeks} kopeks`);
    if (status === 'completed' ? payout?.amountKopeks !== -amountKopeks : payout !== null)
      violations.push(`${text}: payout ${payout?.id} of ${payout?.amountKopeks} kopeks`);
    compareReserve(row, movements, violations);
    if (status === 'approved') payable += amountKopeks;
    for (const [name, states] of Object.entries(STATES_AFTER)) {
      if (facts.deeds.decisions.includes(`${name} ${id}`) && !states.includes(status))
        violations.push(`${text}: "${name}" was acknowledged`);
    }
  }
  if (facts.payableKopeks !== payable)
    violations.push(`withdrawal_payable has ${facts.payableKopeks} kopeks, approved requests sum to ${payable}`);
  const statuses = Map.groupBy(facts.withdrawals, ({ status }) => status);
  const counts = [...statuses].map(([name, list]) => `${list.length} ${name}`).join(', ');
  return { title: 'withdrawals equal their movements', facts: counts || 'none', violations };
}

/** What a request has held went back with every end but the approval. */
function compareReserve(row: WithdrawalRow, movements: ReadonlyMap<number, MovementRow>, violations: string[]): void {
  const { id, status, amountKopeks } = row;
  const amountOf = (transactionId: number | null) =>
    transactionId === null ? null : (movements.get(transactionId)?.amountKopeks ?? null);
  const released = status === 'rejected' || status === 'cancelled' ? amountKopeks : null;
  if (amountOf(row.reserveTransactionId) !== -amountKopeks || amountOf(row.releaseTransactionId) !== released)
    violations.push(
      `request ${id} (${status}, ${amountKopeks} kopeks): transactions ${row.reserveTransactionId} and ${row.releaseTransactionId} of its hold`,
    );
}

const STATES_AFTER: Readonly<Record<string, readonly string[]>> = {
  approve: ['approved', 'completed'],
  complete: ['completed'],
  reject: ['rejected'],
  cancel: ['cancelled'],
};

/** From this amount on every top-up of an invited user earns its referrer something. */
const SURE_KOPEKS = 20_000;

export function proveRewards(facts: ServiceFacts): ProofResult {
  const earned = Map.groupBy(facts.earnings, ({ referralTransactionId }) => referralTransactionId);
  const violations: string[] = [];
  const payments = new Map(facts.payments.map((payment) => [payment.transactionId, payment]));
  const isReversedWhole = (movement: MovementRow): boolean => {
    const mine = facts.reversals.filter(
      ({ paymentId, status }) => status === 'done' && paymentId === payments.get(movement.id)?.id,
    );
    return mine.reduce((sum, row) => sum + row.amountKopeks, 0) >= movement.amountKopeks;
  };
  for (const movement of facts.movements) {
    if (movement.type !== 'deposit' || !facts.referred.has(movement.userId)) continue;
    const count = earned.get(movement.id)?.length ?? 0;
    // What went back as a whole before it was accrued earns nothing.
    if (count > 1 || (count === 0 && movement.amountKopeks >= SURE_KOPEKS && !isReversedWhole(movement)))
      violations.push(`top-up ${movement.id} of user ${movement.userId} (${movement.amountKopeks} kopeks) earned ${count} times`);
  }
  for (const { id } of facts.people.earners) {
    const rows = facts.earnings.filter(({ userId }) => userId === id).reduce((sum, row) => sum + row.amountKopeks, 0);
    const paid = facts.movements
      .filter(({ userId, type }) => userId === id && type === 'referral_reward')
      .reduce((sum, row) => sum + row.amountKopeks, 0);
    const takenBack = facts.rewardReversals
      .filter(({ earningUserId }) => earningUserId === id)
      .reduce((sum, row) => sum + row.amountKopeks, 0);
    if (rows + takenBack !== paid)
      violations.push(`referrer ${id} earned ${rows} kopeks besides ${takenBack} taken back, and was paid ${paid}`);
  }
  return { title: 'each top-up earned its referrer once', facts: `${facts.earnings.length} earnings`, violations };
}

/** Every movement is the effect of one record; what no record names was posted by mistake, for example twice. */
export function proveCauses(facts: ServiceFacts): ProofResult {
  const named = new Set<number | null>([
    ...facts.payments.map(({ transactionId }) => transactionId),
    ...facts.cases.map(({ transactionId }) => transactionId),
    ...facts.reversals.map(({ transactionId }) => transactionId),
    ...facts.gifts.flatMap(({ transactionId, refundTransactionId }) => [transactionId, refundTransactionId]),
    ...facts.withdrawals.flatMap((row) => [row.transactionId, row.payoutTransactionId]),
    ...facts.withdrawals.flatMap((row) => [row.reserveTransactionId, row.releaseTransactionId]),
    ...facts.rewardReversals.flatMap(({ transactionId, debtTransactionId }) => [transactionId, debtTransactionId]),
    ...facts.debtPayments,
  ]);
  // Counted by other proofs.
  const isCounted = (row: MovementRow) =>
    row.type === 'referral_reward' || isSale(row) || row.externalId?.startsWith('refund-failed:');
  const violations = facts.movements
    .filter((row) => !named.has(row.id) && !isCounted(row))
    .map(
      ({ id, type, userId, amountKopeks, paymentMethod, externalId }) =>
        `transaction ${id} (${type}, user ${userId}, ${amountKopeks} kopeks, ${paymentMethod} ${externalId}) has no record`,
    );
  return { title: 'every movement has its cause', facts: `${facts.movements.length} movements`, violations };
}
