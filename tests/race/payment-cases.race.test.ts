import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { type CaseDecision, readCase, resolveCase } from '../../src/domain/payments/resolve-case.ts';
import { aUser } from '../support/builders.ts';
import { anInvoice, anUnknownPayment, auditOfCase, lastCaseId, OPERATOR } from '../support/case-samples.ts';
import { lost, settled, won } from '../support/parallel.ts';
import { callback, creditedOnce, moneyFacts, paymentFacts, runCallbackJobs } from '../support/payment-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

const ROUNDS = 12;

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('cases of payments raced', () => {
  let app: App;
  let provider: ScriptedProvider;
  beforeAll(async () => {
    provider = new ScriptedProvider();
    app = await withProvider((await testApp()).app, provider);
  });
  beforeEach(() => app.db.sql('DELETE FROM payment_cases RETURNING id'));

  const credit = (userId: number): CaseDecision => ({ resolution: 'credit', userId, kopeks: null, comment: null });
  const resolve = (caseId: number, decision: CaseDecision) => resolveCase(app, OPERATOR, caseId, decision);
  const deliver = async (externalId: string) => {
    await callback(app, externalId);
    await runCallbackJobs(app, externalId);
  };

  test('of many administrators one resolves a case, and its money is credited once', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const users = [await aUser(app), await aUser(app), await aUser(app)];
      const { caseId } = await anUnknownPayment(app);
      const decisions: CaseDecision[] = [
        ...users.map(({ id }) => credit(id)),
        credit(users[0]!.id),
        { resolution: 'refund', comment: null },
        { resolution: 'ignore', comment: 'race' },
      ];
      const results = await settled(decisions.length, (n) => resolve(caseId, decisions[(n + round) % decisions.length]!));
      expect(won(results)).toHaveLength(1);
      for (const error of lost(results)) expect(error).toMatchObject({ status: 409 });
      const { found } = await readCase(app, caseId);
      const deposits = await Promise.all(users.map(async ({ id }) => (await moneyFacts(app, id)).deposits));
      expect(deposits.reduce((sum, count) => sum + count, 0)).toBe(found.resolution === 'credit' ? 1 : 0);
      expect(await auditOfCase(app, caseId)).toHaveLength(1);
    }
    expect(await app.db.sql('SELECT * FROM ledger_check()')).toEqual([]);
  });

  test('a genuine callback and a credit by hand of one payment credit it once', async () => {
    const results = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const { user, paymentId, externalId } = await anInvoice(app);
      await app.db.sql('UPDATE payments SET user_id = NULL WHERE id = $1::int RETURNING id', [paymentId]);
      provider.set(externalId, 'paid');
      await deliver(externalId);
      const caseId = await lastCaseId(app);
      expect((await readCase(app, caseId)).found).toMatchObject({ kind: 'no_user', paymentId });
      // The payer's account is back.
      await app.db.sql('UPDATE payments SET user_id = $2::int WHERE id = $1::int RETURNING id', [paymentId, user.id]);
      await callback(app, externalId);
      const outcomes = await settled<unknown>(4, (n) =>
        n % 2 === 0 ? runCallbackJobs(app, externalId) : resolve(caseId, credit(user.id)),
      );
      expect(await moneyFacts(app, user.id)).toEqual(creditedOnce(50_000));
      expect(await paymentFacts(app, paymentId)).toMatchObject({ isPaid: true, outcome: 'paid' });
      const { found } = await readCase(app, caseId);
      results.add(found.status);
      for (const error of lost(outcomes)) expect(error).toMatchObject({ status: 409 });
    }
    expect(await app.db.sql('SELECT * FROM ledger_check()')).toEqual([]);
  });

  test('money without an invoice: its credit and the callback of an invoice that became known credit it once', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { user, paymentId, externalId } = await anInvoice(app);
      const other = await aUser(app);
      const { caseId } = await anUnknownPayment(app, { externalId, amountKopeks: 50_000 });
      // The record does not know its external id yet, as after a lost answer: the case does not find it.
      await app.db.sql('UPDATE payments SET external_id = NULL WHERE id = $1::int RETURNING id', [paymentId]);
      provider.set(externalId, 'paid');
      await callback(app, externalId);
      await settled<unknown>(2, (n) => (n === 0 ? runCallbackJobs(app, externalId) : resolve(caseId, credit(other.id))));
      const balances = [(await moneyFacts(app, user.id)).balance, (await moneyFacts(app, other.id)).balance];
      expect([...balances].sort()).toEqual([0, 50_000]);
    }
    expect(await app.db.sql('SELECT * FROM ledger_check()')).toEqual([]);
  });
});
