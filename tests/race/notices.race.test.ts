import { beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { reportFault } from '../../src/domain/ops/report-fault.ts';
import { notifyLowBalances } from '../../src/domain/users/notifications/notify-low-balances.ts';
import { aUser } from '../support/builders.ts';
import { settled } from '../support/parallel.ts';
import { topUp } from '../support/sale-samples.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';
import { takeMessages } from '../support/ticket-fixture.ts';

const PARALLEL = 20;
const CHAT = -1_003_000_000_781;

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('notices raced by two instances', () => {
  let instances: [App, App];
  beforeAll(async () => {
    const environment = { ADMIN_NOTIFICATIONS_ENABLED: 'true', ADMIN_NOTIFICATIONS_CHAT_ID: String(CHAT) };
    const { app, clock } = await testApp({ environment });
    instances = [app, (await testApp({ environment, clock })).app];
  });
  const atOnce = (work: (app: App) => Promise<unknown>) => settled(PARALLEL, (n) => work(instances[n % 2]!));

  it('a fault is notified once (spec 06 section 14)', async () => {
    await atOnce((app) => reportFault(app, { kind: 'job_failed', source: 'raced.queue', detail: 'Error' }));
    expect(await takeMessages(instances[0], CHAT)).toHaveLength(1);
  });

  it('a low balance is notified once (spec 05 section 9.1)', async () => {
    const [app] = instances;
    await notifyLowBalances(app);
    const user = await aUser(app);
    await topUp(app, user.id, 500);
    await postMovement(app, {
      userId: user.id,
      type: 'subscription_payment',
      amountKopeks: -450,
      contra: { kind: 'sales_revenue', product: 'tariff' },
      paymentMethod: null,
      description: 'spent',
    });
    const runs = await atOnce((instance) => notifyLowBalances(instance));
    expect(runs.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(await takeMessages(app, user.messengerId)).toHaveLength(1);
  });
});
