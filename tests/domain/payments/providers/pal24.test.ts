import { afterEach, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../../src/core/clock.ts';
import { pal24Signature } from '../../../../src/integrations/payments/pal24-provider.ts';
import { pal24Case } from '../../../support/providers/pal24-case.ts';
import {
  aProviderStage,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderStage,
} from '../../../support/providers/provider-stage.ts';

let stage: ProviderStage | null = null;
afterEach(async () => {
  await stage?.close();
  stage = null;
});

/** Counts the requests of the adapter, which the fake answers. */
function counted(staged: ProviderStage): () => number {
  let requests = 0;
  staged.intercept(() => {
    requests++;
    return null;
  });
  return () => requests;
}

test('03a section 7, V:status-swapped: a postback of a failed bill that was made a success credits nothing', async () => {
  stage = await aProviderStage(pal24Case);
  const failed = await stage.callbackOf('fail');
  const swapped = { ...failed, body: String(failed.body).replace('Status=FAIL', 'Status=SUCCESS') };
  expect(await stage.deliver(swapped)).toMatchObject(pal24Case.acknowledges);
  expect(await factsOf(stage)).toMatchObject({ balance: 0, payment: { outcome: 'failed', isPaid: false } });
});

test('03a section 0.3: unknown and credited orders cause no request', async () => {
  stage = await aProviderStage(pal24Case);
  const paid = await stage.callbackOf('pay');
  await stage.deliver(paid);
  const requests = counted(stage);
  stage.t.clock.advance(MINUTE_MS + 1);
  await stage.deliver(paid);
  await stage.deliver({ ...paid, body: `${paid.body}&more=1` });
  const unknown = { InvId: 'an-order-of-nobody', OutSum: '1', Status: 'SUCCESS' };
  const signature = pal24Signature(['1', unknown.InvId], stage.secret);
  await stage.deliver({ ...paid, body: new URLSearchParams({ ...unknown, SignatureValue: signature }).toString() });
  expect(requests()).toBe(0);
  expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
});

test('a postback about another bill of our order is one case, however often it comes, and our bill decides', async () => {
  stage = await aProviderStage(pal24Case);
  const lastCase = await lastCaseId(stage);
  const paid = await stage.callbackOf('pay');
  for (const other of ['other-bill-1', 'other-bill-2']) {
    await stage.deliver({ ...paid, body: String(paid.body).replace(stage.current.invoice.id, other) });
  }
  expect(await openCasesOf(stage, lastCase)).toEqual(['order_mismatch']);
  expect(await factsOf(stage)).toMatchObject({ balance: 50_000, deposits: 1 });
});

test('a refund of a part is taken from the balance, and the payment stays paid', async () => {
  stage = await aProviderStage(pal24Case);
  await stage.deliver(await stage.callbackOf('pay'));
  for (const refund of await stage.act('refund', 10_000)) {
    for (let copy = 0; copy < 2; copy++) await stage.deliver(refund);
  }
  expect(await factsOf(stage)).toMatchObject({ balance: 40_000, payment: { outcome: 'paid' } });
});
