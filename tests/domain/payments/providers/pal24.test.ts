import { afterEach, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../../src/core/clock.ts';
import { pal24Signature } from '../../../../src/integrations/payments/pal24-provider.ts';
import { pal24Case } from '../../../support/providers/pal24-case.ts';
import {
  aProviderFixture,
  factsOf,
  lastCaseId,
  openCasesOf,
  type ProviderFixture,
} from '../../../support/providers/provider-fixture.ts';

let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.close();
  fixture = null;
});

/** Counts the requests of the adapter, which the fake answers. */
function counted(prepared: ProviderFixture): () => number {
  let requests = 0;
  prepared.intercept(() => {
    requests++;
    return null;
  });
  return () => requests;
}

test('03a section 7, V:status-swapped: a postback of a failed bill that was made a success credits nothing', async () => {
  fixture = await aProviderFixture(pal24Case);
  const failed = await fixture.callbackOf('fail');
  const swapped = { ...failed, body: String(failed.body).replace('Status=FAIL', 'Status=SUCCESS') };
  expect(await fixture.deliver(swapped)).toMatchObject(pal24Case.acknowledges);
  expect(await factsOf(fixture)).toMatchObject({ balance: 0, payment: { outcome: 'failed', isPaid: false } });
});

test('03a section 0.3: unknown and credited orders cause no request', async () => {
  fixture = await aProviderFixture(pal24Case);
  const paid = await fixture.callbackOf('pay');
  await fixture.deliver(paid);
  const requests = counted(fixture);
  fixture.t.clock.advance(MINUTE_MS + 1);
  await fixture.deliver(paid);
  await fixture.deliver({ ...paid, body: `${paid.body}&more=1` });
  const unknown = { InvId: 'an-order-of-nobody', OutSum: '1', Status: 'SUCCESS' };
  const signature = pal24Signature(['1', unknown.InvId], fixture.secret);
  await fixture.deliver({ ...paid, body: new URLSearchParams({ ...unknown, SignatureValue: signature }).toString() });
  expect(requests()).toBe(0);
  expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
});

test('a postback about another bill of our order is one case, however often it comes, and our bill decides', async () => {
  fixture = await aProviderFixture(pal24Case);
  const lastCase = await lastCaseId(fixture);
  const paid = await fixture.callbackOf('pay');
  for (const other of ['other-bill-1', 'other-bill-2']) {
    await fixture.deliver({ ...paid, body: String(paid.body).replace(fixture.current.invoice.id, other) });
  }
  expect(await openCasesOf(fixture, lastCase)).toEqual(['order_mismatch']);
  expect(await factsOf(fixture)).toMatchObject({ balance: 50_000, deposits: 1 });
});

test('a refund of a part is taken from the balance, and the payment stays paid', async () => {
  fixture = await aProviderFixture(pal24Case);
  await fixture.deliver(await fixture.callbackOf('pay'));
  for (const refund of await fixture.act('refund', 10_000)) {
    for (let copy = 0; copy < 2; copy++) await fixture.deliver(refund);
  }
  expect(await factsOf(fixture)).toMatchObject({ balance: 40_000, payment: { outcome: 'paid' } });
});
