import { afterEach, describe, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../../src/core/clock.ts';
import { checkLedger } from '../../../../src/domain/ledger/check-ledger.ts';
import { PROVIDER_CASES } from '../../../support/providers/all-cases.ts';
import { FORGERIES, type ForgeryId } from '../../../support/providers/provider-case.ts';
import {
  aProviderStage,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderStage,
} from '../../../support/providers/provider-stage.ts';

/** The twelve callbacks of 03a section 0.10 for every provider: none of them moves money, and the genuine one still credits once. */
let stage: ProviderStage | null = null;
afterEach(async () => {
  await stage?.close();
  stage = null;
});

const AMOUNT = 50_000;

describe.each(PROVIDER_CASES.map((provider) => [provider.method, provider] as const))('%s', (_method, provider) => {
  const cases = (Object.keys(FORGERIES) as ForgeryId[]).map((id) => [id, FORGERIES[id], provider.forgeries[id]] as const);

  test.each(cases.filter(([, , forgery]) => !('notApplicable' in forgery)))('03a %s: %s', async (_id, _title, forgery) => {
    if ('notApplicable' in forgery) throw new Error('filtered above');
    stage = await aProviderStage(provider);
    if (forgery.afterCredit) {
      for (const genuine of await stage.act('pay')) await stage.deliver(genuine);
      expect((await factsOf(stage)).balance).toBe(AMOUNT);
    }
    const [before, lastCase] = [await factsOf(stage), await lastCaseId(stage)];
    const forged = await forgery.make(stage);
    const reply = await stage.deliver(forged);
    expect(reply.status).toBe(forgery.status);
    if (forgery.body !== undefined) expect(reply.body).toBe(forgery.body);
    const after = await factsOf(stage);
    expect({ ...after, payment: null }).toEqual({ ...before, payment: null });
    expect(after.payment).toMatchObject({ isPaid: before.payment.isPaid, transactionId: before.payment.transactionId });
    expect(await openCasesOf(stage, lastCase)).toEqual(forgery.opens ? [forgery.opens] : []);

    stage.intercept(null);
    await creditGenuinely(stage);
    expect(await factsOf(stage)).toMatchObject({ balance: AMOUNT, deposits: 1, payment: { isPaid: true } });
    expect(await checkLedger(stage.app)).toEqual([]);
  });

  test('every callback that the provider has is in the table, the others say why not', () => {
    for (const forgery of Object.values(provider.forgeries)) {
      if ('notApplicable' in forgery) expect(forgery.notApplicable).toMatch(/\w+ \w+/);
    }
  });
});

/** Delivers the callbacks of the payment that the fake really posted, twice each. */
async function creditGenuinely(staged: ProviderStage): Promise<void> {
  // A repeat of the same body is processed again after a minute.
  staged.t.clock.advance(MINUTE_MS + 1);
  if (staged.current.invoice.paidAt === null || staged.current.invoice.status !== 'paid') await staged.act('pay');
  for (const genuine of staged.posted('pay')) {
    for (let copy = 0; copy < 2; copy++) expect((await staged.deliver(genuine)).status).toBe(200);
  }
}
