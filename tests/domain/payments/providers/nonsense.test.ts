import { afterEach, describe, expect, test } from 'vitest';
import type { LoopbackReply } from '../../../../packages/sandbox/src/loopback-server.ts';
import { checkLedger } from '../../../../src/domain/ledger/check-ledger.ts';
import { checkMyPayment, refreshPayment } from '../../../../src/domain/payments/check-payments.ts';
import { findPayment } from '../../../../src/domain/payments/repo.ts';
import { PROVIDER_CASES, sampledProviders } from '../../../support/providers/all-cases.ts';
import { aProviderFixture, factsOf, type ProviderFixture } from '../../../support/providers/provider-fixture.ts';

let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.close();
  fixture = null;
});

const answer = (body: string, contentType = 'application/json'): LoopbackReply => ({ status: 200, contentType, body });
const LONG = 'a'.repeat(10_000_000);
/** A page of a network, values that are no answer, an answer that is cut, and one of ten megabytes. */
const NO_ANSWER = [
  answer('<html><body>Sign in to the network</body></html>', 'text/html'),
  ...['', 'null', '[]', '"ok"', '1', '{"ok":true,"result":{"'].map((body) => answer(body)),
  answer(`{"ok":true,"state":0,"status":true,"result":{"text":"${LONG}"}}`),
].map((reply) => ({ reply, refusal: { status: 502, code: 'payment_creation_failed' } }));
/** Some providers say by an absent field that they refuse, which is answered as the contract has it. */
const WITHOUT_CONTENT = ['{}', '{"ok":true,"result":null,"data":[],"state":0}'].map((body) => ({
  reply: answer(body),
  refusal: { code: 'payment_creation_failed' },
}));

/** Tribute is never called. */
const CALLED = PROVIDER_CASES.filter(({ pays }) => !pays);

describe.each(sampledProviders(CALLED))('%s', (method, provider) => {
  test('whose answers are nonsense is an absent one: no invoice, nothing credited, and it is asked again', async () => {
    const prepared = await aProviderFixture(provider);
    fixture = prepared;
    const { user, paymentId } = prepared.current;
    const reports = await prepared.act('pay');
    for (const { reply, refusal } of [...NO_ANSWER, ...WITHOUT_CONTENT]) {
      prepared.intercept(() => reply);
      await expect(prepared.open(), String(reply.body).slice(0, 60)).rejects.toMatchObject(refusal);
      // As somebody else's question, since one that follows at once is not sent (03 section 2.5).
      await prepared.app.db.sql('UPDATE payments SET last_checked_at = NULL WHERE id = $1 RETURNING id', [paymentId]);
      const checked = await checkMyPayment(prepared.app, { kind: 'user', userId: user.id }, method, paymentId);
      expect(checked, String(reply.body).slice(0, 60)).toMatchObject({ statusChanged: false });
    }
    expect((await factsOf(prepared)).balance).toBe(0);
    prepared.current = { ...prepared.current, user, paymentId };
    prepared.intercept(null);
    for (const report of reports) await prepared.deliver(report);
    if (reports.length === 0) await refreshPayment(prepared.app, (await findPayment(prepared.app.db, paymentId))!);
    expect(await factsOf(prepared)).toMatchObject({ balance: 50_000, deposits: 1 });
    expect(await checkLedger(prepared.app)).toEqual([]);
  });
});
