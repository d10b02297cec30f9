import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { processCallback } from '../../src/domain/payments/process-callback.ts';
import { topupBalance } from '../../src/domain/payments/topup-balance.ts';
import { advanceErasure, eraseNow, erasePerson } from '../../src/domain/personal-data/erase-person.ts';
import { requestExportOf } from '../../src/domain/personal-data/requests.ts';
import { anAdmin } from '../support/admins.ts';
import { aUser } from '../support/builders.ts';
import { refusals, settled, won } from '../support/parallel.ts';
import { callback, callbackJobs, paymentFacts } from '../support/payment-samples.ts';
import { rowOf } from '../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

const ALL = { forfeitsBalance: true, endsSubscription: true };

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('erasures raced', () => {
  const provider = new ScriptedProvider();
  let app: App;
  let admin: AdminActor;
  beforeAll(async () => {
    const t = await testApp();
    app = await withProvider(t.app, provider);
    admin = await anAdmin(app, 900);
  });

  test('of ten erasures of one person one is executed, and what follows ends once', async () => {
    const { id: userId } = await aUser(app);
    const results = await settled(10, () => erasePerson(app, admin, userId, ALL));
    expect(won(results)).toHaveLength(1);
    expect(new Set(refusals(results))).toEqual(new Set(['User not found']));
    const [request] = won(results);
    await Promise.all(Array.from({ length: 5 }, () => advanceErasure(app, request!.id)));
    const steps = await app.db.sql(
      `SELECT id FROM admin_audit_log WHERE resource_type = 'personal_data' AND resource_id = $1 AND details -> 'after' ->> 'step' = 'done'`,
      [String(userId)],
    );
    expect(steps).toHaveLength(1);
  });

  test('ten requests for an archive are one', async () => {
    const { id: userId } = await aUser(app);
    const results = await settled(10, () => requestExportOf(app, admin, userId));
    expect(new Set(won(results).map(({ id }) => id)).size).toBe(1);
    expect(won(results)).toHaveLength(10);
  });

  test('a top-up that is credited meanwhile is credited before the erasure, and given up by it, or not erased', async () => {
    for (let round = 0; round < 8; round++) {
      const { id: userId } = await aUser(app);
      const actor = { kind: 'user', userId } as const;
      const { paymentId } = await topupBalance(
        app,
        actor,
        { amountKopeks: 50_000, method: 'sandbox', option: null },
        { idempotencyKey: null },
      );
      const externalId = (await paymentFacts(app, paymentId)).externalId!;
      provider.set(externalId, 'paid');
      await callback(app, externalId);
      const [callbackId] = await callbackJobs(app, externalId);
      const [, ...erasures] = await Promise.allSettled([
        processCallback(app, { callbackId: callbackId! }),
        ...Array.from({ length: 5 }, () => eraseNow(app, { kind: 'system', name: 'test' }, userId, ALL)),
      ]);
      const isErased = won(erasures).length === 1;
      const { balance, status } = await rowOf<{ balance: number; status: string }>(
        app,
        'SELECT balance_kopeks AS balance, status FROM users WHERE id = $1::int',
        [userId],
      );
      expect({ balance, status }).toEqual(isErased ? { balance: 0, status: 'deleted' } : { balance: 50_000, status: 'active' });
      expect(await paymentFacts(app, paymentId)).toMatchObject({ outcome: 'paid', isPaid: true });
    }
    expect(await checkLedger(app)).toEqual([]);
  });
});
