/** Each paid invoice is credited once with its amount, nothing else is credited, and each reversal takes the money back once. */
import type { SandboxInvoice } from '../../../../sandbox/src/payments/invoice.ts';
import type { PaymentRow, ReversalRow, ServiceFacts } from './service-facts.ts';

export interface ProofResult {
  title: string;
  facts: string;
  violations: string[];
}

/** The link of all donations at the fake of Tribute. */
const DONATION_LINK = 1_042;

/** Reversals that the provider reports by a callback; others may stay unknown here. `whole` = only those of a whole payment. */
const REPORTED: Readonly<Record<string, Partial<Record<'refund' | 'chargeback', 'any' | 'whole'>>>> = {
  yookassa: { refund: 'any' },
  pal24: { refund: 'any', chargeback: 'any' },
  cloudpayments: { refund: 'any' },
  wata: { refund: 'any' },
  heleket: { refund: 'whole' },
  platega: { refund: 'whole', chargeback: 'whole' },
  riopay: { refund: 'whole', chargeback: 'whole' },
};

/** Providers whose state of a payment shows that the whole was refunded; a refund that was requested here has read it. */
const SHOWING: ReadonlySet<string> = new Set(['yookassa', 'heleket', 'freekassa', 'platega', 'riopay', 'wata']);

/** The record of an invoice: by our order id; a donation has none, and is known by what it consists of. */
function paymentFinder(facts: ServiceFacts): (invoice: SandboxInvoice) => PaymentRow | undefined {
  const byOrder = new Map(facts.payments.map((payment) => [payment.orderId, payment]));
  const donations = new Map(
    facts.payments.filter(({ method }) => method === 'tribute').map((payment) => [payment.externalId, payment]),
  );
  return (invoice) => {
    if (invoice.wire !== 'tribute') return byOrder.get(invoice.orderId);
    const { metadata, paidKopeks, paidAt } = invoice;
    return donations.get([DONATION_LINK, metadata.messengerId, paidKopeks, 'rub', paidAt].join(':'));
  };
}

const reversedOf = ({ reversals }: SandboxInvoice) => reversals.reduce((sum, { amountKopeks }) => sum + amountKopeks, 0);

/** The provider has the whole sum, or had it. */
const wasPaid = ({ paidAt, paidKopeks, amountKopeks }: SandboxInvoice) => paidAt !== null && paidKopeks >= amountKopeks;

export function proveCredits(facts: ServiceFacts): ProofResult {
  const findPayment = paymentFinder(facts);
  const movements = new Map(facts.movements.map((movement) => [movement.id, movement]));
  const byCase = new Set(facts.cases.flatMap(({ transactionId }) => transactionId ?? []));
  const gifts = new Map(facts.gifts.map((gift) => [gift.paymentId, gift]));
  const violations: string[] = [];
  const counts = { paid: 0, credited: 0, reversedBefore: 0, unpaid: 0, byCase: 0 };
  for (const invoice of facts.invoices) {
    const text = invoiceText(invoice);
    const payment = findPayment(invoice);
    const movement = payment?.transactionId == null ? undefined : movements.get(payment.transactionId);
    if (movement && byCase.has(movement.id)) {
      counts.byCase += 1;
      continue;
    }
    if (!wasPaid(invoice)) {
      counts.unpaid += 1;
      if (movement) violations.push(`${text}: never paid, but credited by transaction ${movement.id}`);
      continue;
    }
    counts.paid += 1;
    if (!payment) {
      violations.push(`${text}: paid, but there is no record of it`);
    } else if (!movement) {
      if (reversedOf(invoice) >= invoice.paidKopeks) counts.reversedBefore += 1;
      else violations.push(`${text}: paid, but payment ${payment.id} (${payment.outcome}) was not credited`);
    } else {
      counts.credited += 1;
      const isGift = gifts.has(payment.id);
      const expected = isGift ? -invoice.amountKopeks : invoice.amountKopeks;
      if (movement.amountKopeks !== expected)
        violations.push(`${text}: transaction ${movement.id} is of ${movement.amountKopeks} kopeks`);
      if (!isGift && movement.userId !== payment.userId) violations.push(`${text}: credited to user ${movement.userId}`);
    }
  }
  return {
    title: 'each paid invoice credited once with its amount',
    facts: `${facts.invoices.length} invoices: ${counts.paid} paid, ${counts.credited} credited, ${counts.byCase} by a case, ${counts.reversedBefore} given back before, ${counts.unpaid} unpaid`,
    violations,
  };
}

export function proveStars(facts: ServiceFacts): ProofResult {
  const byOrder = new Map(facts.payments.map((payment) => [payment.orderId, payment]));
  const violations: string[] = [];
  let paid = 0;
  for (const invoice of facts.stars) {
    const payment = byOrder.get(invoice.payload);
    const isPaid = invoice.status === 'paid' || invoice.status === 'refunded';
    if (isPaid) paid += 1;
    if (isPaid !== (payment?.transactionId != null))
      violations.push(
        `invoice ${invoice.payload} is ${invoice.status}, payment ${payment?.id} has transaction ${payment?.transactionId}`,
      );
    const isGivenBack = facts.reversals.some((row) => row.paymentId === payment?.id && row.status === 'done');
    if (isGivenBack !== (invoice.status === 'refunded'))
      violations.push(
        `invoice ${invoice.payload} is ${invoice.status}, payment ${payment?.id} ${isGivenBack ? 'was' : 'was not'} given back`,
      );
  }
  return {
    title: 'each invoice in Stars credited and given back once',
    facts: `${facts.stars.length} invoices, ${paid} paid`,
    violations,
  };
}

export function proveReversals(facts: ServiceFacts): ProofResult {
  const findPayment = paymentFinder(facts);
  const byPayment = Map.groupBy(facts.reversals, ({ paymentId }) => paymentId);
  const byOthers = Map.groupBy(facts.deeds.reversals, ({ invoiceId }) => invoiceId);
  const movements = new Map(facts.movements.map((movement) => [movement.id, movement]));
  const returned = new Map(
    facts.movements.flatMap(({ externalId, amountKopeks }) =>
      externalId?.startsWith('refund-failed:')
        ? [[Number(externalId.slice('refund-failed:'.length)), amountKopeks] as const]
        : [],
    ),
  );
  const paidTwice = new Set(facts.deeds.paidTwice.map(({ orderId }) => orderId));
  const violations: string[] = [];
  for (const invoice of facts.invoices) {
    // Which of their charges went back is a proof of its own.
    if (paidTwice.has(invoice.orderId)) continue;
    const payment = findPayment(invoice);
    const known = (payment && byPayment.get(payment.id)) ?? [];
    compareCounts(invoice, known, byOthers.get(invoice.id)?.length ?? 0, violations);
    if (payment && wasPaid(invoice)) compareAmounts(invoice, payment, known, violations);
  }
  for (const [paymentId, list] of byPayment) {
    const movementOf = ({ transactionId }: ReversalRow) => (transactionId === null ? undefined : movements.get(transactionId));
    const taken = list.reduce((sum, row) => sum - (movementOf(row)?.amountKopeks ?? 0), 0);
    const back = list.reduce((sum, row) => sum + (returned.get(row.id) ?? 0), 0);
    const debited = list.reduce((sum, row) => sum + (row.status === 'done' ? row.debitedKopeks : 0), 0);
    // One of several reversals of a payment may have what another one had debited.
    if (taken - back !== debited)
      violations.push(
        `payment ${paymentId}: its reversals say ${debited} kopeks were taken, the movements ${taken} less ${back} returned`,
      );
  }
  const statuses = Map.groupBy(
    facts.reversals,
    ({ status, requestedBy }) => `${requestedBy === null ? 'reported' : 'requested'} ${status}`,
  );
  const counts = [...statuses].map(([name, list]) => `${list.length} ${name}`).join(', ');
  return { title: 'each reversal applied once, each refund carried out once', facts: counts || 'none', violations };
}

/**
 * What the provider gave back is what payers and the provider itself did, and one for each refund that was requested here and is done. A
 * request that finds the money given back already takes that for its own.
 */
function compareCounts(invoice: SandboxInvoice, known: readonly ReversalRow[], byOthers: number, violations: string[]): void {
  const requested = known.filter(({ requestedBy, status }) => requestedBy !== null && status === 'done').length;
  const count = invoice.reversals.length;
  if (count > byOthers + requested || count < Math.max(byOthers, requested))
    violations.push(
      `${invoiceText(invoice)}: the provider gave money back ${count} times: ${byOthers} by itself, ${requested} requested`,
    );
}

function compareAmounts(invoice: SandboxInvoice, payment: PaymentRow, known: readonly ReversalRow[], violations: string[]): void {
  const here = known.filter(({ status }) => status === 'done').reduce((sum, row) => sum + row.amountKopeks, 0);
  const there = Math.min(reversedOf(invoice), payment.amountKopeks);
  const isWhole = reversedOf(invoice) >= invoice.paidKopeks;
  const isReported = invoice.reversals.every(({ kind }) => {
    const rule = REPORTED[invoice.wire]?.[kind];
    return rule === 'any' || (rule === 'whole' && isWhole);
  });
  const isShown = isWhole && SHOWING.has(invoice.wire) && invoice.reversals.every(({ kind }) => kind === 'refund');
  const isRead = isShown && known.some(({ requestedBy }) => requestedBy !== null);
  if (here > there || ((isReported || isRead) && here < there))
    violations.push(`${invoiceText(invoice)}: ${there} kopeks went back, payment ${payment.id} has reversals of ${here}`);
}

function invoiceText({ wire, orderId, status, amountKopeks, paidKopeks }: SandboxInvoice): string {
  return `${wire} invoice ${orderId} (${status}, ${amountKopeks} kopeks, paid ${paidKopeks})`;
}
