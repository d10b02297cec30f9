import { describe, expect, it } from 'vitest';
import { fakeKinds } from '../../../src/composition/sandbox.ts';
import { loadEnv } from '../../../src/core/env.ts';
import { createLogger } from '../../../src/core/log.ts';
import { createSettingsStore } from '../../../src/domain/settings/settings-store.ts';

const ALL = ['vpnpanel', 'payments', 'messenger', 'mail'];

function kindsOf(environment: Record<string, string>): string[] {
  const env = loadEnv({ NODE_ENV: 'development', ...environment });
  const log = createLogger({ level: 'silent', format: 'json' });
  return fakeKinds(env, createSettingsStore({ environment: env.raw, log }));
}

describe('which systems the sandbox stands in for', () => {
  it('all of them while nothing real is set up', () => {
    expect(kindsOf({})).toEqual(ALL);
  });

  // With a fake panel, real money would buy access that does not exist.
  it.each([
    ['YooKassa', { YOOKASSA_ENABLED: 'true', YOOKASSA_SHOP_ID: '1', YOOKASSA_SECRET_KEY: 'k' }],
    ['CryptoBot', { CRYPTOBOT_ENABLED: 'true', CRYPTOBOT_API_TOKEN: '1:t' }],
    ['WATA', { WATA_ENABLED: 'true', WATA_ACCESS_TOKEN: 't' }],
    ['Tribute', { TRIBUTE_ENABLED: 'true', TRIBUTE_API_KEY: 'k' }],
  ])('none once %s is set up, unless it is asked for the rest', (_name, environment) => {
    expect(kindsOf(environment)).toEqual([]);
    expect(kindsOf({ ...environment, SANDBOX: 'on' })).toEqual(ALL.filter((kind) => kind !== 'payments'));
  });

  it('a provider that is on without its credentials is not set up', () => {
    expect(kindsOf({ CRYPTOBOT_ENABLED: 'true' })).toEqual(ALL);
  });
});
