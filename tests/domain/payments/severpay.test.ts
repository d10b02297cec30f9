import { afterEach, beforeEach, expect, test } from 'vitest';
import { aProviderStage, factsOf, lastCaseId, openCasesOf, type ProviderStage } from '../../support/providers/provider-stage.ts';
import { answerPayin, payinCallback, severpayCase } from '../../support/providers/severpay-case.ts';

let stage: ProviderStage;
beforeEach(async () => {
  stage = await aProviderStage(severpayCase);
});
afterEach(() => stage.close());

test('03a 0.6: an invoice whose answer was lost is found by its callback, through the order id of the answer', async () => {
  const lost = 'UPDATE payments SET external_id = NULL, outcome = $2 WHERE id = $1::int RETURNING id';
  await stage.app.db.sql(lost, [stage.current.paymentId, 'failed']);
  expect(await stage.deliver(await stage.callbackOf('pay'))).toMatchObject({ status: 200, body: '{"status":true}' });
  expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1, payment: { isPaid: true } });
});

test('03a F3: the report of another merchant is a case, and credits nothing', async () => {
  const lastCase = await lastCaseId(stage);
  answerPayin(stage, { mid: 999 });
  await stage.deliver(payinCallback(stage));
  expect((await factsOf(stage)).balance).toBe(0);
  expect(await openCasesOf(stage, lastCase)).toEqual(['other_merchant']);
});

test('03a 0.6: money on a second invoice of the same order is a case after the first was credited', async () => {
  await stage.deliver(await stage.callbackOf('pay'));
  const lastCase = await lastCaseId(stage);
  answerPayin(stage, { id: 990_003 });
  await stage.deliver(payinCallback(stage, { id: 990_003 }));
  expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
  expect(await openCasesOf(stage, lastCase)).toEqual(['second_payment']);
});
