/** Fifty people sign in by password at once: comparing passwords must leave the event loop free for everybody else. */
import type { Lab } from './lab.ts';
import type { DatabaseKind } from './options.ts';
import { logins } from './paths.ts';
import { percentileMs } from './statistics.ts';

export interface SignInBurstResult {
  database: DatabaseKind;
  /** Delay of the service's event loop while they sign in, p99. */
  loopDelayP99Ms: number;
  perSecond: number;
  /** Time of one sign-in, p99. */
  p99Ms: number;
  failures: number;
  statuses: Record<string, number>;
}

export const SIGN_INS_AT_ONCE = 50;

/** @param lab with a service behind a proxy, so that each sign-in comes from an address of its own */
export async function measureSignInBurst(lab: Lab, seconds: number): Promise<SignInBurstResult> {
  const { service } = lab;
  service.resume();
  const requests = logins(lab, '/cabinet/auth/email/login');
  // The first comparison starts the threads.
  await lab.load({ url: service.url, connections: 1, seconds: 1, requests });
  await service.readLoop();
  const result = await lab.load({ url: service.url, connections: SIGN_INS_AT_ONCE, seconds, requests });
  const { delayMs } = await service.readLoop();
  return {
    database: lab.kind,
    loopDelayP99Ms: delayMs,
    perSecond: result.requests / result.seconds,
    p99Ms: percentileMs(result.latencies, 0.99),
    failures: result.failures,
    statuses: result.statuses,
  };
}
