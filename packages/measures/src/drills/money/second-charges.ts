/** Invoices that are paid twice, whose charges are reported in any order beside reversals of either and of another merchant (spec 10 M1, M2). */
import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { SandboxInvoice } from '../../../../sandbox/src/payments/invoice.ts';
import { signAsWata } from '../../../../sandbox/src/payments/wires/wata-wire.ts';
import type { ProofResult } from './credit-proof.ts';
import { countOne, type DrillContext, perform } from './drill-context.ts';
import { openTopup } from './payers.ts';
import type { ServiceFacts } from './service-facts.ts';

/** Their callbacks are signed over the whole body and name the charge. WATA signs for every merchant with one key. */
const METHODS = ['wata', 'cloudpayments'] as const;
type Method = (typeof METHODS)[number];

const KOPEKS = { min: 20_000, max: 90_000 };
const MAX_DELAY_MS = 1_500;
const ANOTHER_MERCHANT = { wata: '3a16a4ef-0000-4000-8000-0000000000ff', cloudpayments: '999999999' };

/** What was done with one invoice: its two charges, and the ids of refunds that another merchant made in its name. */
export interface PaidTwice {
  method: Method;
  userId: number;
  orderId: string;
  amountKopeks: number;
  charges: { id: string; isReturned: boolean }[];
  /** One of the charges was given back by a refund that does not say of which it is. */
  hasUnnamedRefund: boolean;
  foreignRefunds: string[];
}

/**
 * An invoice is paid at the fake, and by a second charge that the fake does not know. Then, or before, one of both is given back, or none; another
 * merchant refunds a payment of its own with our order id.
 */
export async function payTwice(drill: DrillContext): Promise<void> {
  const { random, fixture, deeds } = drill;
  const person = random.pick(fixture.people.doublePayers);
  const [method, amountKopeks] = [random.pick([...METHODS]), random.between(KOPEKS.min, KOPEKS.max)];
  const invoiceId = await openTopup(drill, person, method, amountKopeks);
  const invoice = (await fixture.fakes.payments.list()).find(({ id }) => id === invoiceId);
  if (!invoice) return;
  const [first, second] = [firstCharge(method, invoice), String(7_000_000_000 + invoice.number)];
  const [refund, foreign] = [String(8_000_000_000 + invoice.number), String(8_500_000_000 + invoice.number)];
  const returned = random.pick([first, second, second, null]);
  const deed: PaidTwice = {
    ...{ method, userId: person.id, orderId: invoice.orderId, amountKopeks, foreignRefunds: [] },
    // WATA documents no field that names the payment of a refund.
    hasUnnamedRefund: method === 'wata' && returned === first,
    charges: [first, second].map((id) => ({ id, isReturned: id === returned })),
  };
  deeds.paidTwice.push(deed);
  const report = (facts: ReportedCharge) => post(drill, method, invoice, facts);
  const steps: (() => Promise<void>)[] = [
    async () => {
      await perform(drill, invoice.id, 'pay');
      if (returned === first) await perform(drill, invoice.id, 'refund');
    },
    async () => report({ id: second }),
    ...(returned === second ? [async () => report({ id: refund, refunds: second })] : []),
    async () => {
      deed.foreignRefunds.push(foreign);
      report({ id: foreign, refunds: first, isForeign: true });
    },
  ];
  for (const step of steps.toSorted(() => random.next() - 0.5)) {
    drill.inBackground(async () => {
      await wait(random.between(0, MAX_DELAY_MS));
      await step();
    });
  }
  countOne(deeds.actions, `${method} paid twice`);
}

interface ReportedCharge {
  id: string;
  /** The charge that this one gives back; none = it is a payment. */
  refunds?: string;
  isForeign?: boolean;
}

/** The id of the charge that the fake makes of an invoice. */
const firstCharge = (method: Method, { id, number }: SandboxInvoice) =>
  method === 'wata' ? `7a6a${id.slice(4)}` : `${5_000_000 + number}`;

/**
 * Has a signed callback posted as the provider would, until an instance acknowledges it. Nobody waits for that: it may be a day late, and the
 * day ends only when everything else has.
 */
function post(drill: DrillContext, method: Method, invoice: SandboxInvoice, charge: ReportedCharge): void {
  const { callbacks, paymentSecret } = drill.fixture.fakes;
  const { path, body, headers } =
    method === 'wata' ? wataCallback(invoice, charge) : cloudpaymentsCallback(invoice, charge, paymentSecret);
  // Refused only when the drill ends early, by an error of its own.
  callbacks.request({ method: 'POST', url: `http://service.invalid${path}`, headers, body }).catch(() => undefined);
}

function wataCallback({ id, orderId, amountKopeks }: SandboxInvoice, { id: charge, refunds, isForeign = false }: ReportedCharge) {
  const body = JSON.stringify({
    ...{ transactionType: 'SBP', kind: refunds ? 'Refund' : 'Payment', transactionStatus: 'Paid', transactionId: charge },
    ...{ amount: amountKopeks / 100, currency: 'RUB', orderId, paymentLinkId: isForeign ? `foreign-${id}` : id },
    terminalPublicId: isForeign ? ANOTHER_MERCHANT.wata : '3a16a4ef-0000-4000-8000-000000000001',
    ...(refunds && !isForeign ? { originalTransactionId: refunds } : {}),
  });
  return { path: '/wata-webhook', body, headers: { 'content-type': 'application/json', 'x-signature': signAsWata(body) } };
}

function cloudpaymentsCallback(
  { orderId, amountKopeks, metadata }: SandboxInvoice,
  { id, refunds, isForeign = false }: ReportedCharge,
  secret: string,
) {
  const body = new URLSearchParams({
    ...{ TransactionId: id, Amount: (amountKopeks / 100).toFixed(2), DateTime: '2026-10-02 10:00:00', TestMode: '0' },
    ...{ InvoiceId: orderId, AccountId: isForeign ? ANOTHER_MERCHANT.cloudpayments : String(metadata.accountId) },
    ...(refunds
      ? { PaymentTransactionId: refunds, OperationType: 'Refund' }
      : { Status: 'Completed', OperationType: 'Payment', GatewayName: 'Sandbox', Currency: 'RUB' }),
  }).toString();
  const signature = createHmac('sha256', secret).update(body).digest('base64');
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-hmac': signature };
  return { path: `/cloudpayments-webhook/${refunds ? 'refund' : 'pay'}`, body, headers };
}

/**
 * Of each invoice one charge is credited and the other one is a case; what was given back of either is back of that one alone, and what another
 * merchant gave back of nothing. The balances say the same: nothing else moves the money of these users.
 */
export function proveSecondCharges(facts: ServiceFacts): ProofResult {
  const byOrder = new Map(facts.payments.map((payment) => [payment.orderId, payment]));
  const violations: string[] = [];
  const expected = new Map<number, number>();
  const counts = { returned: 0, byHand: 0 };
  const add = (userId: number, kopeks: number) => expected.set(userId, (expected.get(userId) ?? 0) + kopeks);
  for (const deed of facts.deeds.paidTwice) {
    const { method, userId, orderId, amountKopeks, charges, foreignRefunds, hasUnnamedRefund } = deed;
    const text = `${method} invoice ${orderId} of user ${userId}`;
    const payment = byOrder.get(orderId);
    if (hasUnnamedRefund) {
      counts.returned += 1;
      add(userId, proveUnnamed(facts, deed, text, violations));
    }
    const isCredit = (id: string) => payment?.transactionId != null && payment.chargeId === id;
    if (!charges.some(({ id }) => isCredit(id))) violations.push(`${text}: neither charge is its credit`);
    for (const { id, isReturned } of hasUnnamedRefund ? [] : charges) {
      const cases = facts.cases.filter((row) => row.method === method && row.chargeId === id && row.kind !== 'reversal_unknown');
      const byHand = cases.filter(({ resolution }) => resolution === 'credit').length;
      counts.byHand += byHand;
      if (isReturned) counts.returned += 1;
      else add(userId, (isCredit(id) ? amountKopeks : 0) + byHand * amountKopeks);
      if (!isReturned && !isCredit(id) && cases.length === 0) violations.push(`${text}: charge ${id} is nowhere`);
      if (isReturned && cases.some(({ status }) => status === 'open'))
        violations.push(`${text}: charge ${id} was given back and waits for a decision`);
      if (!isReturned && cases.some(({ resolution }) => resolution === 'reversed'))
        violations.push(`${text}: the case of charge ${id} says that it was given back`);
    }
    for (const id of foreignRefunds) {
      if (facts.reversals.some((row) => row.method === method && row.reversalId === id))
        violations.push(`${text}: the refund ${id} of another merchant was applied`);
      if (!facts.cases.some((row) => row.kind === 'reversal_unknown' && row.method === method && row.reference === id))
        violations.push(`${text}: the refund ${id} of another merchant is no case`);
    }
  }
  for (const { id } of facts.people.doublePayers) {
    const [balance, wanted] = [facts.balances.get(id) ?? 0, expected.get(id) ?? 0];
    if (balance !== wanted) violations.push(`user ${id} has ${balance} kopeks, and ${wanted} were paid and not given back`);
  }
  return {
    title: 'of an invoice paid twice each charge on its own',
    facts: `${facts.deeds.paidTwice.length} invoices, ${counts.returned} charges given back, ${counts.byHand} credited by hand`,
    violations,
  };
}

/**
 * A refund that names no charge is either applied to the credit, or is a case while it may be of the other charge, never both.
 * @returns what the invoice must have left on the balance, kopeks
 */
function proveUnnamed(
  facts: ServiceFacts,
  { method, orderId, amountKopeks, charges }: PaidTwice,
  text: string,
  violations: string[],
): number {
  const refund = facts.invoices.find((invoice) => invoice.orderId === orderId)?.reversals[0]?.id;
  const payment = facts.payments.find((known) => known.orderId === orderId);
  const applied = facts.reversals.filter((row) => row.method === method && row.reversalId === refund);
  const cases = facts.cases.filter((row) => row.method === method && row.kind === 'reversal_unknown' && row.reference === refund);
  if (applied.length + cases.length !== 1)
    violations.push(`${text}: the refund ${refund} was applied ${applied.length} times, and is ${cases.length} cases`);
  const ids = charges.map(({ id }) => id);
  const ofCharges = facts.cases.filter(({ kind, chargeId }) => kind !== 'reversal_unknown' && ids.includes(chargeId ?? ''));
  const credits = ofCharges.filter(({ resolution }) => resolution === 'credit').length + (payment?.transactionId == null ? 0 : 1);
  return credits * amountKopeks - applied.reduce((sum, row) => sum + row.debitedKopeks, 0);
}
