/** The first start of a service on an imported database, without its server: what it seeds, and rounds of all its jobs. */
import { seedInstallation, seedLate } from '../../src/composition/start-service.ts';
import type { App, Ports } from '../../src/core/app.ts';
import { type JobDefinition, runJob } from '../../src/core/jobs/define-job.ts';
import { allJobs } from '../../src/jobs/all-jobs.ts';

/** A call of an outside system: `panel.updateUser`, with what it was called with. */
export interface RecordedCall {
  name: string;
  given: unknown[];
}

/** Outside systems that a person or money may notice. */
const WATCHED = ['panel', 'messenger', 'mail', 'receipts', 'webhooks'] as const satisfies readonly (keyof Ports)[];
/** What a test cannot reach: lists, rates and releases of the internet. */
const UNREACHABLE = ['exchangeRates', 'publicLists', 'releases', 'banSystem'] as const satisfies readonly (keyof Ports)[];
/** Questions about settings of the service, which call nobody. */
const LOCAL = new Set(['panel.configurationError', 'receipts.isConfigured', 'messenger.isConfigured', 'mail.isConfigured']);

/** The app with each call of its outside systems recorded, and of the providers of payments. */
export function watchedApp(app: App): { app: App; calls: RecordedCall[] } {
  const calls: RecordedCall[] = [];
  const watched = <T extends object>(name: string, port: T, isReachable = true): T =>
    new Proxy(port, {
      get: (of, key) => {
        const member = Reflect.get(of, key);
        const call = `${name}.${String(key)}`;
        if (typeof member !== 'function' || LOCAL.has(call)) return member;
        return (...given: unknown[]) => {
          if (!isReachable) return Promise.reject(new Error(`${call} leads outside of the test`));
          calls.push({ name: call, given });
          return member.apply(of, given);
        };
      },
    });
  const ports: Ports = { ...app.ports };
  for (const name of WATCHED) Object.assign(ports, { [name]: watched(name, ports[name]) });
  for (const name of UNREACHABLE) Object.assign(ports, { [name]: watched(name, ports[name], false) });
  return { app: { ...app, ports }, calls };
}

/** Copies of the database: files of this machine, which nobody gets. */
const isOfBackups = (name: string) => name.startsWith('backups.');
/** Jobs whose outside system a test cannot reach. */
const isUnreachable = (name: string) => ['updates.check', 'rates.fetch', 'safety.refresh-disposable-domains'].includes(name);

const MAX_ROUNDS = 50;

/** Starts the service: its seeds, then one round of its jobs. */
export async function startFirst(app: App): Promise<void> {
  await seedInstallation(app);
  await seedLate(app);
  await runRound(app);
}

/** Runs each scheduled job once, and then every job that waits until none does. A job that fails ends the test, unlike the queue. */
export async function runRound(app: App): Promise<void> {
  const jobs = (allJobs() as JobDefinition<string, never>[]).filter(({ name }) => !isOfBackups(name) && !isUnreachable(name));
  const signal = new AbortController().signal;
  for (const job of jobs) if (job.every !== null) await runJob(app, job, { id: 'round', data: {}, signal });
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const waiting = await app.db.sql<{ id: string; name: string; data: unknown }>(
      `DELETE FROM jobs.job WHERE state = 'created' AND name = ANY($1::text[]) AND start_after <= greatest(now(), $2::timestamptz)
       RETURNING id, name, data`,
      [jobs.map(({ name }) => name), app.clock.now()],
    );
    if (waiting.length === 0) return;
    for (const { id, name, data } of waiting) await runJob(app, jobs.find((job) => job.name === name)!, { id, data, signal });
  }
  throw new Error('the jobs do not end');
}
