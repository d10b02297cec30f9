import { expect, test } from 'vitest';
import { checkOutside, type OutsideFacts } from '../../../src/cli/doctor/outside-checks.ts';
import { loadEnv } from '../../../src/core/env.ts';
import { MessengerError, type MessengerFailure } from '../../../src/domain/messaging/ports.ts';

/** What `doctor` says when the messenger answers `getMe` like this. */
async function adviceAfter(failure: MessengerFailure) {
  const getMe = async () => {
    throw new MessengerError(failure, 'getMe was answered');
  };
  const facts = {
    env: loadEnv({}),
    settings: { get: () => null },
    ports: { payments: { all: () => [] }, messenger: { isConfigured: () => true, getMe } },
    fakes: ['vpnpanel', 'payments', 'mail'],
    sales: null,
  };
  const findings = await checkOutside(facts as unknown as OutsideFacts);
  return findings.find(({ check }) => check === 'messenger')?.next;
}

test.each<[MessengerFailure, RegExp]>([
  [{ kind: 'unavailable', isTokenRefused: true }, /refuses the token: copy BOT_TOKEN anew/],
  [{ kind: 'rejected' }, /refuses the token/],
  [{ kind: 'unavailable' }, /reaches the messenger/],
  [{ kind: 'rate_limited', retryAfterSeconds: 5 }, /reaches the messenger/],
])('after %o doctor names what to do', async (failure, advice) => {
  expect(await adviceAfter(failure)).toMatch(advice);
});
