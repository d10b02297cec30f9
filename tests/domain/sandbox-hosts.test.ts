/** Two instances and the fakes that one of them hosts (spec 10 F9). */
import { expect, it } from 'vitest';
import { SandboxHost } from '../../src/composition/sandbox-host.ts';
import { systemClock } from '../../src/core/clock.ts';
import { testApp } from '../support/test-app.ts';
import { workerDatabase } from '../support/worker-database.ts';

const SECRETS = { panelApiKey: 'panel', botToken: '1:bot', webhookSecret: 'hook', paymentSecret: 'pay' };

async function twoHosts() {
  const { app } = await testApp();
  const database = await workerDatabase();
  const make = () =>
    new SandboxHost({
      database,
      clock: systemClock,
      log: app.log,
      secrets: SECRETS,
      messengerWebhookPath: '/messenger-webhook',
      panelWebhook: () => null,
      callbackPath: () => null,
    });
  const [first, second] = [make(), make()];
  await first.start('http://127.0.0.1:9');
  await second.start('http://127.0.0.1:9');
  return { first, second };
}

/** An answer of the fake that no host is needed to understand. */
const answerOf = async (url: string) => (await fetch(`${url}/nothing`, { headers: { connection: 'close' } })).status;

it('spec 10 F9: a call that comes between two hosts waits for the next one and is answered', async () => {
  const { first, second } = await twoHosts();
  expect([first.servers() !== null, second.servers()]).toEqual([true, null]);
  const { paymentsUrl } = second.addresses();
  expect(await answerOf(paymentsUrl)).toBe(404);

  await first.close();
  expect(await answerOf(paymentsUrl)).toBe(404);
  expect(second.servers()).not.toBeNull();
  // Of before the hand-over and of after it.
  for (const url of [paymentsUrl, second.addresses().paymentsUrl]) expect(await answerOf(url)).toBe(404);
  await second.close();
});
