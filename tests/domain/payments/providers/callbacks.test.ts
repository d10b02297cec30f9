import { afterEach, describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../../src/core/clock.ts';
import { checkLedger } from '../../../../src/domain/ledger/check-ledger.ts';
import { changedTables, databaseDigests } from '../../../support/database-digests.ts';
import { sampledProviders } from '../../../support/providers/all-cases.ts';
import { FORGERIES, type ForgeryExpectation, type ForgeryId, notApplicable } from '../../../support/providers/provider-case.ts';
import {
  aProviderFixture,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderFixture,
} from '../../../support/providers/provider-fixture.ts';

/**
 * The twelve callbacks of 03a section 0.10 for every provider: a refused one leaves no row in any table, an acknowledged one leaves nothing but
 * its raw row, its job and its case; none of them moves money, and the genuine one still credits once.
 */
let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.close();
  fixture = null;
});

const AMOUNT = 50_000;

/** They sign too little to say whose payment it is; all others cause no call for an order that is not ours (03a section 0.3). */
const ASK_ABOUT_UNKNOWN: readonly string[] = ['yookassa', 'severpay'];

describe.each(sampledProviders())('%s', (method, provider) => {
  const cases = (Object.keys(FORGERIES) as ForgeryId[]).map((id) => [id, FORGERIES[id], provider.forgeries[id]] as const);

  test.each(cases)('03a %s: %s', async (id, _title, forgery) => {
    if ('notApplicable' in forgery) return notApplicable(forgery.notApplicable);
    fixture = await aProviderFixture(provider);
    if (forgery.afterCredit) {
      for (const genuine of await fixture.act('pay')) await fixture.deliver(genuine);
      expect((await factsOf(fixture)).balance).toBe(AMOUNT);
    }
    const lastCase = await lastCaseId(fixture);
    const forged = await forgery.make(fixture);
    const [record, tables] = [await recordOf(fixture), await databaseDigests(fixture.app)];
    let asked = 0;
    const counting = ({ path }: { path: string }) => {
      // Of no payment: the key that verifies the callback.
      if (!path.endsWith('/public-key')) asked += 1;
      return null;
    };
    if (id === 'F7') fixture.intercept(counting);
    const reply = await fixture.deliver(forged);
    if (id === 'F7') expect(asked).toBe(ASK_ABOUT_UNKNOWN.includes(method) ? 1 : 0);
    expect(reply.status).toBe(forgery.status);
    if (forgery.body !== undefined) expect(reply.body).toBe(forgery.body);
    const isAcknowledged = reply.status === provider.acknowledges.status && reply.body === provider.acknowledges.body;
    const changed = changedTables(tables, await databaseDigests(fixture.app));
    const mayChange = isAcknowledged ? mayBeWritten(id, forgery) : [];
    expect(changed.filter((table) => !mayChange.includes(table))).toEqual([]);
    expect(await openCasesOf(fixture, lastCase)).toEqual(forgery.opens ? [forgery.opens] : []);
    const isState = mayChange.includes('payment_day_counters');
    expect(withoutState(await recordOf(fixture), isState)).toEqual(withoutState(record, isState));
    if (forgery.opens === 'amount_mismatch' && current(fixture)) expect(await recordOf(fixture)).toMatchObject(MISMATCH);
    if (changed.includes('provider_callbacks')) expect(await lastStored(fixture)).toEqual({ body: String(forged.body) });

    fixture.intercept(null);
    await creditGenuinely(fixture);
    expect(await factsOf(fixture)).toMatchObject({ balance: AMOUNT, deposits: 1, payment: { isPaid: true } });
    expect(await checkLedger(fixture.app)).toEqual([]);
  });
});

/**
 * Tables in which an acknowledged callback may leave something: itself with its job, its case, the answer of the provider where it is asked,
 * and the number of that question.
 */
function mayBeWritten(id: ForgeryId, { opens, afterCredit = false }: ForgeryExpectation & { afterCredit?: boolean }): string[] {
  const asked = ['provider_callbacks', 'job', 'provider_nonces', ...(opens === undefined ? [] : ['payment_cases'])];
  if (afterCredit) return asked;
  const isState = opens === 'amount_mismatch' || id === 'F12';
  return [...asked, 'payments', ...(isState ? ['payment_day_counters'] : [])];
}

/** A record without the provider's last answer and, where the callback may have changed it, without the state of a record that is not paid. */
function withoutState(record: object, isState: boolean): object {
  const state = isState ? { outcome: null, status: null } : {};
  return { ...record, ...state, callbackPayload: null, updatedAt: null };
}

/** The record of the current invoice, every column; empty where there is none. */
async function recordOf({ app, method, current }: ProviderFixture): Promise<object> {
  const { paymentId, user } = current;
  const where = paymentId === 0 ? { method, userId: user.id } : { id: paymentId };
  return (await app.db.prisma.payment.findFirst({ where, orderBy: { id: 'desc' } })) ?? {};
}

/** Spec 03 H10. */
const MISMATCH = { outcome: 'amount_mismatch', isPaid: false, paidAt: null, transactionId: null };

/** Whether there is an invoice, whose record shows the mismatch. */
const current = (prepared: ProviderFixture) => prepared.current.paymentId !== 0;

/** The newest stored callback. */
async function lastStored({ app, method }: ProviderFixture): Promise<object | undefined> {
  const [row] = await app.db.sql('SELECT body FROM provider_callbacks WHERE provider = $1 ORDER BY id DESC LIMIT 1', [method]);
  return row;
}

/** Delivers the callbacks of the payment that the fake really posted, twice each. */
async function creditGenuinely(prepared: ProviderFixture): Promise<void> {
  // A repeat of the same body is processed again after a minute.
  prepared.t.clock.advance(MINUTE_MS + 1);
  if (prepared.current.invoice.paidAt === null || prepared.current.invoice.status !== 'paid') await prepared.act('pay');
  for (const genuine of prepared.posted('pay')) {
    for (let copy = 0; copy < 2; copy++) expect((await prepared.deliver(genuine)).status).toBe(200);
  }
}
