import type { App } from '../../core/app.ts';

/** One payment in the export of a provider; hundredths of the currency. */
export interface ExportedPayment {
  /** The provider's id of the payment, or ours of the order. */
  id: string;
  amountKopeks: number;
  /** ISO 4217, in capitals; null = the export does not say it, so that it is rubles. */
  currency: string | null;
}

/** A credited payment of ours, by the ids that an export may name it by. */
interface CreditedPayment {
  paymentId: number;
  orderId: string;
  externalId: string | null;
  chargeId: string | null;
  amountKopeks: number;
}

/**
 * A payment in which the export and the ledger differ. `different`: in both, with different amounts. `missingHere`: the provider has it, we
 * credited nothing. `missingThere`: we credited it, the export has it not. `otherCurrency`: not compared, because balances are in rubles.
 */
export interface Discrepancy {
  state: 'different' | 'missingHere' | 'missingThere' | 'otherCurrency';
  /** Ours; null where we have none. */
  payment: CreditedPayment | null;
  /** The provider's; null where the export has none. */
  exported: ExportedPayment | null;
}

export interface Reconciliation {
  /** In both, with the same amount. */
  matched: number;
  matchedKopeks: number;
  discrepancies: number;
}

const BATCH = 1_000;
const CURRENCY = 'RUB';

/**
 * Compares the export of a provider with the payments that were credited in [from, to), by the time of their ledger rows, UTC. An export of
 * the same period may have payments from just before and after it: those are found here whatever their time is.
 * @param exported in any order; the same payment twice is one
 * @param report gets each discrepancy when it is found, those of the export first; nothing of them is kept
 */
export async function reconcilePayments(
  app: App,
  method: string,
  { from, to }: { from: Date; to: Date },
  exported: AsyncIterable<ExportedPayment> | Iterable<ExportedPayment>,
  report: (found: Discrepancy) => void,
): Promise<Reconciliation> {
  const result: Reconciliation = { matched: 0, matchedKopeks: 0, discrepancies: 0 };
  const add = (found: Discrepancy) => {
    result.discrepancies += 1;
    report(found);
  };
  const seen = new Set<number>();
  let batch = new Map<string, ExportedPayment>();
  const compare = async () => {
    const found = await findCredited(app, method, [...batch.keys()]);
    const byId = new Map(found.flatMap((payment) => idsOf(payment).map((id) => [id, payment] as const)));
    for (const payment of batch.values()) comparePayment(result, add, seen, payment, byId.get(payment.id) ?? null);
    batch = new Map();
  };
  for await (const payment of exported) {
    batch.set(payment.id, payment);
    if (batch.size === BATCH) await compare();
  }
  await compare();
  for (let after = 0; ; ) {
    const page = await listCredited(app, method, { from, to, after });
    for (const payment of page) {
      if (!seen.has(payment.paymentId)) add({ state: 'missingThere', payment, exported: null });
    }
    if (page.length < BATCH) return result;
    after = page.at(-1)!.paymentId;
  }
}

function comparePayment(
  result: Reconciliation,
  add: (found: Discrepancy) => void,
  seen: Set<number>,
  exported: ExportedPayment,
  payment: CreditedPayment | null,
): void {
  if (payment && seen.has(payment.paymentId)) return;
  if (payment) seen.add(payment.paymentId);
  if ((exported.currency ?? CURRENCY) !== CURRENCY) add({ state: 'otherCurrency', payment, exported });
  else if (!payment) add({ state: 'missingHere', payment, exported });
  else if (payment.amountKopeks !== exported.amountKopeks) add({ state: 'different', payment, exported });
  else {
    result.matched += 1;
    result.matchedKopeks += payment.amountKopeks;
  }
}

const idsOf = ({ orderId, externalId, chargeId }: CreditedPayment) =>
  [orderId, externalId, chargeId].filter((id): id is string => id !== null);

const CREDITED = `SELECT p.id AS payment_id, p.order_id, p.external_id, p.charge_id, p.amount_kopeks
  FROM payments p JOIN transactions t ON t.id = p.transaction_id WHERE p.method = $1`;

type Row = Omit<CreditedPayment, 'amountKopeks'> & { amountKopeks: bigint };
const toPayment = (row: Row): CreditedPayment => ({ ...row, amountKopeks: Number(row.amountKopeks) });

async function findCredited(app: App, method: string, ids: readonly string[]): Promise<CreditedPayment[]> {
  if (ids.length === 0) return [];
  const rows = await app.db.sql<Row>(
    `${CREDITED} AND (p.external_id = ANY($2::text[]) OR p.order_id = ANY($2::text[]) OR p.charge_id = ANY($2::text[]))`,
    [method, ids],
  );
  return rows.map(toPayment);
}

async function listCredited(
  app: App,
  method: string,
  { from, to, after }: { from: Date; to: Date; after: number },
): Promise<CreditedPayment[]> {
  const rows = await app.db.sql<Row>(
    `${CREDITED} AND t.completed_at >= $2::timestamptz AND t.completed_at < $3::timestamptz AND p.id > $4::int
     ORDER BY p.id LIMIT $5::int`,
    [method, from, to, after, BATCH],
  );
  return rows.map(toPayment);
}

/** What one provider paid in and took back in a period; amounts are kopeks. */
interface ProviderTurnover {
  method: string;
  payments: number;
  paidKopeks: number;
  /** Fees of the payments whose fee the provider reports. */
  feeKopeks: number;
  paymentsWithFee: number;
  reversals: number;
  reversedKopeks: number;
}

type CountedRow = Record<Exclude<keyof ProviderTurnover, 'method'>, bigint> & { method: string };

/** Credited payments and reversals of [from, to) by provider, by the time of their ledger rows. Times are UTC. */
export async function sumProviderTurnover(app: App, from: Date, to: Date): Promise<ProviderTurnover[]> {
  const rows = await app.db.sql<CountedRow>(
    `WITH paid AS (
       SELECT p.method, count(*) AS payments, sum(p.amount_kopeks) AS paid_kopeks, coalesce(sum(p.fee_kopeks), 0) AS fee_kopeks,
         count(p.fee_kopeks) AS payments_with_fee
       FROM transactions t JOIN payments p ON p.transaction_id = t.id
       WHERE t.completed_at >= $1::timestamptz AND t.completed_at < $2::timestamptz GROUP BY 1),
     reversed AS (
       SELECT r.method, count(*) AS reversals, sum(r.amount_kopeks) AS reversed_kopeks
       FROM payment_reversals r WHERE r.status = 'done' AND r.finished_at >= $1::timestamptz AND r.finished_at < $2::timestamptz GROUP BY 1)
     SELECT method, coalesce(payments, 0)::bigint AS payments, coalesce(paid_kopeks, 0)::bigint AS paid_kopeks,
       coalesce(fee_kopeks, 0)::bigint AS fee_kopeks, coalesce(payments_with_fee, 0)::bigint AS payments_with_fee,
       coalesce(reversals, 0)::bigint AS reversals, coalesce(reversed_kopeks, 0)::bigint AS reversed_kopeks
     FROM paid FULL JOIN reversed USING (method) ORDER BY method`,
    [from, to],
  );
  return rows.map(({ method, ...counts }) => {
    const numbers = Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, Number(value)]));
    return { method, ...(numbers as unknown as Omit<ProviderTurnover, 'method'>) };
  });
}
