import { afterEach, expect, test } from 'vitest';
import { processCallback } from '../../../src/domain/payments/process-callback.ts';
import { moneyFacts } from '../../support/payment-samples.ts';
import { cryptobotCase } from '../../support/providers/cryptobot-case.ts';
import { aProviderFixture, type ProviderFixture } from '../../support/providers/provider-fixture.ts';
import { yookassaCase } from '../../support/providers/yookassa-case.ts';

let fixture: ProviderFixture | null = null;
afterEach(async () => {
  await fixture?.close();
  fixture = null;
});

const AMOUNT = 50_000;
/** As many callbacks of one provider may wait for its answers, of the eight that the queue runs. */
const AT_ONCE = 3;

test('callbacks of a provider that does not answer take a part of the workers, while its others are put off, uncounted', async () => {
  fixture = await aProviderFixture(yookassaCase, { neighbour: cryptobotCase });
  const { app } = fixture;
  const payers: number[] = [];
  for (let payment = 0; payment < 5; payment++) {
    const { user } = await fixture.open();
    payers.push(user.id);
    for (const report of await fixture.act('pay')) await fixture.store(report);
  }
  const waiting = await app.db.sql<{ id: number }>(
    "SELECT id FROM provider_callbacks WHERE provider = 'yookassa' AND processed_at IS NULL ORDER BY id",
  );
  expect(waiting).toHaveLength(5);
  const stall = fixture.stall();
  const asking = waiting.slice(0, AT_ONCE).map(({ id }) => processCallback(app, { callbackId: id }).catch((error) => error));
  await expect.poll(() => stall.requests()).toBe(AT_ONCE);

  const putOff = waiting.slice(AT_ONCE).map(({ id }) => id);
  for (const callbackId of putOff) await processCallback(app, { callbackId });
  expect(stall.requests()).toBe(AT_ONCE);
  const rows = await app.db.sql('SELECT processed_at, attempts FROM provider_callbacks WHERE id = ANY($1::int[])', [putOff]);
  expect(rows).toEqual(putOff.map(() => ({ processedAt: null, attempts: 0 })));
  const jobs = await app.db.sql<{ callbackId: number }>(
    `SELECT (data ->> 'callbackId')::int AS callback_id FROM jobs.job WHERE name = 'payments.callback'
       AND (data ->> 'callbackId')::int = ANY($1::int[]) AND start_after >= created_on + interval '2 seconds' ORDER BY callback_id`,
    [putOff],
  );
  expect(jobs.map(({ callbackId }) => callbackId)).toEqual(putOff);

  const { user } = await fixture.open(AMOUNT, cryptobotCase);
  for (const report of await fixture.act('pay')) await fixture.deliver(report, cryptobotCase);
  expect(await moneyFacts(app, user.id)).toMatchObject({ balance: AMOUNT, deposits: 1 });

  stall.end();
  // A lost answer is tried again by the adapter, and by the queue.
  await Promise.all(asking);
  await fixture.process();
  for (const payer of payers) expect(await moneyFacts(app, payer)).toMatchObject({ balance: AMOUNT, deposits: 1 });
});
