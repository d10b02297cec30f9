import { type HistoryOptions, type PlannedAction, planHistory } from '@subscription-service/sandbox/history/plan-history';
import type { App } from '../core/app.ts';
import { DAY_MS } from '../core/clock.ts';
import type { Db } from '../core/db/db.ts';
import { AppError } from '../core/errors.ts';
import { type JobDefinition, runJob } from '../core/jobs/define-job.ts';
import { SANDBOX_METHOD } from '../domain/payments/payment-methods.ts';
import { type HistoryState, pastProvider, performAction } from '../domain/sandbox/perform-history.ts';
import { setUpCatalogue } from '../domain/sandbox/set-up-catalogue.ts';
import type { AssembledService } from './assemble-service.ts';
import { SANDBOX_KINDS, type Sandbox } from './sandbox.ts';
import { seedInstallation, seedLate } from './start-service.ts';

/** Scheduled work without which a past would not be one; once a day of it. */
const DAILY_JOBS = ['subscriptions.expire', 'subscriptions.autopay', 'subscriptions.daily', 'promo.expire'];
/** Messages of the past reach nobody any more. */
const DROPPED_JOBS = new Set(['messenger.send', 'mail.send']);
/** The panel gets each subscription once, in its last state. */
const LAST_JOBS = new Set(['provisioning.push']);
const JOBS_AT_ONCE = 500;
/** Pushes under way together. */
const PUSHES = 4;
/** No callback is expected: the service does not listen. */
const NOWHERE = 'http://127.0.0.1:9';

export interface FillReport {
  people: number;
  days: number;
  /** What was done, by kind. */
  done: Record<string, number>;
  /** What a use case refused, by its code. */
  refused: Record<string, number>;
}

/** The installation is not one that may be filled; the message says why. */
export class NotFillable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotFillable';
  }
}

/**
 * Fills a new sandbox installation with a past (issue 32): each action by its use case, at its time by the sandbox's clock, and between the
 * days the jobs. A process that is killed leaves a part of the past and the right time.
 * @throws NotFillable
 */
export async function fillSandbox(
  { service, sandbox }: AssembledService,
  options: Omit<HistoryOptions, 'end'>,
  progress: (text: string) => void,
): Promise<FillReport> {
  if (!sandbox || !SANDBOX_KINDS.every((kind) => sandbox.isFake(kind)))
    throw new NotFillable('Only an installation whose panel, payments, messenger and mail are all of the sandbox is filled.');
  const [row] = await service.database.db.sql<{ users: number }>(
    'SELECT count(*)::int AS users FROM (SELECT FROM users LIMIT 1) u',
  );
  if (row?.users !== 0) throw new NotFillable('This installation has users already; only a new one is filled.');
  await sandbox.host.start(NOWHERE);
  await seedInstallation(service.app);
  return new Filling(service, sandbox, progress).run(options);
}

class Filling {
  readonly #app: App;
  readonly #db: Db;
  readonly #jobs: ReadonlyMap<string, JobDefinition>;
  readonly #clock: Sandbox['clock'];
  readonly #progress: (text: string) => void;
  readonly #report: FillReport = { people: 0, days: 0, done: {}, refused: {} };

  constructor({ app, database, jobs }: AssembledService['service'], { clock }: Sandbox, progress: (text: string) => void) {
    const provider = app.ports.payments.byMethod(SANDBOX_METHOD.id)!;
    const past = pastProvider(app, provider);
    const payments = {
      ...app.ports.payments,
      byMethod: (method: string) => (method === past.method ? past : app.ports.payments.byMethod(method)),
    };
    this.#app = { ...app, ports: { ...app.ports, payments } };
    this.#db = database.db;
    this.#jobs = new Map(jobs.map((job) => [job.name, job]));
    this.#clock = clock;
    this.#progress = progress;
  }

  async run(options: Omit<HistoryOptions, 'end'>): Promise<FillReport> {
    const end = this.#app.clock.now();
    const plan = planHistory({ ...options, end });
    Object.assign(this.#report, { people: options.people, days: options.days });
    this.#clock.setHere(new Date(end.getTime() - options.days * DAY_MS));
    const tariffIds = await setUpCatalogue(this.#app, plan);
    // Afterwards, so that there is no tariff of the first start beside those of the plan.
    await seedLate(this.#app);
    const state: HistoryState = { plan, tariffIds, userIds: new Map(), ticketIds: new Map() };
    let [day, done] = [0, 0];
    for (const action of plan.actions) {
      for (; action.at.getTime() >= end.getTime() - (options.days - day - 1) * DAY_MS; day++) await this.#endDay(action.at);
      this.#clock.setHere(action.at);
      await this.#perform(state, action);
      done += 1;
      if (done % 250 === 0) this.#progress(`day ${day + 1} of ${options.days}, ${done} of ${plan.actions.length} actions`);
    }
    this.#clock.setHere(end);
    await this.#endDay(end);
    await this.#drain(LAST_JOBS);
    return this.#report;
  }

  async #perform(state: HistoryState, action: PlannedAction): Promise<void> {
    try {
      await performAction(this.#app, state, action);
      count(this.#report.done, action.kind);
    } catch (error) {
      // A person who finds that something is not possible; the past goes on.
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      count(this.#report.refused, `${action.kind}: ${error.code}`);
    }
  }

  async #endDay(at: Date): Promise<void> {
    this.#clock.setHere(at);
    await this.#drain();
    for (const name of DAILY_JOBS) await this.#runJob(name, {});
    await this.#drain();
  }

  /** Runs what waits, until nothing does: jobs of events, of sales, and those that they send. */
  async #drain(only: ReadonlySet<string> | null = null): Promise<void> {
    for (;;) {
      const jobs = await this.#db.sql<{ name: string; data: unknown }>(
        `DELETE FROM jobs.job WHERE id IN (SELECT id FROM jobs.job WHERE state < 'active' AND (name = ANY($1::text[])) = $2::boolean
           ORDER BY created_on LIMIT $3::bigint) RETURNING name, data`,
        [[...LAST_JOBS], only !== null, JOBS_AT_ONCE],
      );
      if (jobs.length === 0) return;
      const waiting = jobs.values();
      const work = async () => {
        for (const { name, data } of waiting) {
          if (DROPPED_JOBS.has(name)) continue;
          await this.#runJob(name, data);
        }
      };
      await Promise.all(Array.from({ length: only === null ? 1 : PUSHES }, work));
    }
  }

  async #runJob(name: string, data: unknown): Promise<void> {
    const job = this.#jobs.get(name);
    if (!job) return;
    await runJob(this.#app, job, { id: 'fill', data, signal: new AbortController().signal });
    count(this.#report.done, `job ${name}`);
  }
}

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
