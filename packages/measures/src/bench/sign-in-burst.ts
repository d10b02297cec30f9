/** Fifty people sign in by password at once: comparing passwords must leave the event loop free for everybody else. */
import type { Lab } from './lab.ts';
import type { DatabaseKind } from './options.ts';
import { logins } from './paths.ts';

export interface SignInBurstResult {
  database: DatabaseKind;
  /** Delay of the service's event loop while they sign in, p99. */
  loopDelayP99Ms: number;
  perSecond: number;
  /** Time of the sign-in that waited longest. */
  slowestMs: number;
  failures: number;
  statuses: Record<string, number>;
}

export const SIGN_INS_AT_ONCE = 50;

/**
 * Sends them together and waits for all, however long the machine needs to compare their passwords.
 * @param lab with a service behind a proxy, so that each sign-in comes from an address of its own
 */
export async function measureSignInBurst(lab: Lab, bursts: number): Promise<SignInBurstResult> {
  const { service } = lab;
  service.resume();
  const { items } = logins(lab.emails, '/cabinet/auth/email/login');
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  let sent = 0;
  const signIn = async (): Promise<void> => {
    const { path, headers, body } = items[sent++ % items.length]!;
    const startedAt = performance.now();
    const response = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: body! }).catch(() => null);
    await response?.arrayBuffer();
    latencies.push(performance.now() - startedAt);
    const status = response?.status ?? 0;
    if (status !== 200) statuses[status] = (statuses[status] ?? 0) + 1;
  };
  // The first comparison starts the threads.
  await signIn();
  latencies.length = 0;
  await service.readLoop();
  const startedAt = performance.now();
  for (let burst = 0; burst < bursts; burst += 1) await Promise.all(Array.from({ length: SIGN_INS_AT_ONCE }, signIn));
  const seconds = (performance.now() - startedAt) / 1_000;
  const { delayMs } = await service.readLoop();
  return {
    database: lab.kind,
    loopDelayP99Ms: delayMs,
    perSecond: latencies.length / seconds,
    slowestMs: Math.max(...latencies),
    failures: Object.values(statuses).reduce((sum, count) => sum + count, 0),
    statuses,
  };
}
