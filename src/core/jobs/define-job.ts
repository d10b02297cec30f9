import { z } from 'zod';
import type { App } from '../app.ts';

/**
 * How a queue stores, retries and runs its jobs. The delay before a retry starts at `retryDelaySeconds` and doubles with each retry;
 * a job that failed after `retryLimit` retries stays in the table as failed.
 */
export interface QueuePolicy {
  /** `short`: at most one waiting job for each `singletonKey`; a second one is not stored. */
  policy: 'standard' | 'short';
  retryLimit: number;
  retryDelaySeconds: number;
  /** Upper limit of the delay. Left out: the delay stops growing after the 16th retry. */
  retryDelayMaxSeconds?: number;
  /** A job that has run for longer, or whose process died, is run again. */
  expireSeconds: number;
  /** Jobs of this queue that one instance runs at the same time. */
  concurrency: number;
}

const DEFAULT_POLICY: QueuePolicy = {
  policy: 'standard',
  retryLimit: 10,
  retryDelaySeconds: 2,
  expireSeconds: 120,
  concurrency: 4,
};

/** One waiting job, one running job, and no retries: the next round does what a failed round did not. */
const SCHEDULED_POLICY: QueuePolicy = { ...DEFAULT_POLICY, policy: 'short', retryLimit: 0, concurrency: 1 };

export interface RunningJob<Payload> {
  id: string;
  data: Payload;
  /** Aborted when the process stops or the job has run for longer than `expireSeconds`. */
  signal: AbortSignal;
  /** True on the last try: the queue does not run the job again. Default: false. */
  isLastTry?: boolean;
}

/** A job of a module: its queue, its payload, its schedule and what it does. */
export interface JobDefinition<Name extends string = string, Payload = unknown> {
  /** Name of the queue. It is stored with every job, so it stays when the module is renamed. */
  readonly name: Name;
  readonly payload: z.ZodType<Payload>;
  readonly queue: QueuePolicy;
  /** Milliseconds between two rounds of a scheduled job; null for a job that only runs when it is sent. */
  readonly every: ((app: App) => number) | null;
  /** May run more than once for one job. @throws when the queue is to run the job again */
  handle(app: App, job: RunningJob<Payload>): Promise<unknown>;
}

/** Payload of a job definition, or of the definition that a factory makes. For `JobTypes` in `job-sender.ts`. */
export type PayloadOf<Job> = Job extends (...collaborators: never[]) => infer Made
  ? PayloadOf<Made>
  : Job extends JobDefinition<string, infer Payload>
    ? Payload
    : never;

/**
 * Defines a job: the only place that names its queue, payload, policy, schedule and handler.
 * @param job.payload left out: the job has no payload
 * @param job.queue what differs from the default policy
 * @param job.every milliseconds between two rounds, read before each round, so that a changed setting takes effect. One job a round
 *   is sent in the whole cluster, with an empty payload; the queue then has one waiting and one running job and no retries by default
 */
export function defineJob<const Name extends string, Payload = Record<string, never>>(job: {
  name: Name;
  payload?: z.ZodType<Payload>;
  queue?: Partial<QueuePolicy>;
  every?: (app: App) => number;
  handle: (app: App, job: RunningJob<Payload>) => Promise<unknown>;
}): JobDefinition<Name, Payload> {
  return {
    name: job.name,
    payload: job.payload ?? (z.object({}) as unknown as z.ZodType<Payload>),
    queue: { ...(job.every ? SCHEDULED_POLICY : DEFAULT_POLICY), ...job.queue },
    every: job.every ?? null,
    handle: job.handle,
  };
}

/** A stored payload that does not fit its job's schema, for example one that another release has sent. Names fields, never values. */
export class JobPayloadError extends Error {
  constructor(name: string, error: z.ZodError) {
    const problems = error.issues.map(({ path, message }) => `${path.join('.') || 'payload'}: ${message}`);
    super(`The payload of a job of ${name} does not fit: ${problems.join('; ')}`);
    this.name = 'JobPayloadError';
  }
}

/**
 * Runs a job as read from the queue.
 * @throws JobPayloadError when its payload does not fit the definition; else what the handler throws
 */
export async function runJob<Payload>(
  app: App,
  definition: JobDefinition<string, Payload>,
  job: RunningJob<unknown>,
): Promise<void> {
  const read = definition.payload.safeParse(job.data);
  if (!read.success) throw new JobPayloadError(definition.name, read.error);
  await definition.handle(app, { ...job, data: read.data });
}
