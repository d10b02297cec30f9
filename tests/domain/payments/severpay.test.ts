import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  aProviderFixture,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderFixture,
} from '../../support/providers/provider-fixture.ts';
import { answerPayin, payinCallback, severpayCase } from '../../support/providers/severpay-case.ts';

let fixture: ProviderFixture;
beforeEach(async () => {
  fixture = await aProviderFixture(severpayCase);
});
afterEach(() => fixture.close());

test('03a 0.6: an invoice whose answer was lost is found by its callback, through the order id of the answer', async () => {
  const lost = 'UPDATE payments SET external_id = NULL, outcome = $2 WHERE id = $1::int RETURNING id';
  await fixture.app.db.sql(lost, [fixture.current.paymentId, 'failed']);
  expect(await fixture.deliver(await fixture.callbackOf('pay'))).toMatchObject({ status: 200, body: '{"status":true}' });
  expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1, payment: { isPaid: true } });
});

test('03a F3: the report of another merchant is a case, and credits nothing', async () => {
  const lastCase = await lastCaseId(fixture);
  answerPayin(fixture, { mid: 999 });
  await fixture.deliver(payinCallback(fixture));
  expect((await factsOf(fixture)).balance).toBe(0);
  expect(await openCasesOf(fixture, lastCase)).toEqual(['other_merchant']);
});

test('03a 0.6: money on a second invoice of the same order is a case after the first was credited', async () => {
  await fixture.deliver(await fixture.callbackOf('pay'));
  const lastCase = await lastCaseId(fixture);
  answerPayin(fixture, { id: 990_003 });
  await fixture.deliver(payinCallback(fixture, { id: 990_003 }));
  expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
  expect(await openCasesOf(fixture, lastCase)).toEqual(['second_payment']);
});
