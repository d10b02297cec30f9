import { expect, test } from 'vitest';
import { checkOutside, type OutsideFacts } from '../../../src/cli/doctor/outside-checks.ts';
import { loadEnv } from '../../../src/core/env.ts';

/** What `doctor` says of configured providers. */
async function findingOf(...methods: string[]) {
  const all = () => methods.map((method) => ({ method, isConfigured: () => true }));
  const facts = {
    env: loadEnv({}),
    settings: {},
    ports: { payments: { all } },
    fakes: ['vpnpanel', 'messenger', 'mail'],
    shop: null,
  };
  const findings = await checkOutside(facts as unknown as OutsideFacts);
  return findings.find(({ check }) => check === 'payments');
}

test('03a section 11: Kassa.ai is shown as unconfirmed, also beside other providers', async () => {
  expect(await findingOf('freekassa', 'kassa_ai')).toMatchObject({
    verdict: 'warning',
    detail: 'freekassa, kassa_ai; unconfirmed by public documents: kassa_ai',
  });
  expect(await findingOf('freekassa', 'severpay')).toMatchObject({ verdict: 'ok', detail: 'freekassa, severpay' });
});
