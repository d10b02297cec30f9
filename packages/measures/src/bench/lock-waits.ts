/**
 * How much of their time the service's sessions wait for `Lock: object`. PostgreSQL takes such a lock for NOTIFY, from the notice to the
 * end of the commit, one transaction of the whole server after the other.
 */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

/** One look at the sessions: how many did something, and how many of them waited for the lock. */
export interface LockSample {
  busy: number;
  waiting: number;
}

export interface LockWaits {
  samples: number;
  /** Of the sessions that did something, the share that waited, 0 to 1; over all samples. */
  share: number;
}

const SAMPLE_MS = 20;

/** Sessions that run a statement or hold a transaction open; the baseline has a database of its own. */
const SAMPLE = `SELECT count(*)::int AS busy, count(*) FILTER (WHERE wait_event_type = 'Lock' AND wait_event = 'object')::int AS waiting
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'`;

export function lockWaitsOf(samples: readonly LockSample[]): LockWaits {
  const sum = (key: keyof LockSample) => samples.reduce((total, sample) => total + sample[key], 0);
  const busy = sum('busy');
  return { samples: samples.length, share: busy === 0 ? 0 : sum('waiting') / busy };
}

/** Samples on a connection of its own while the measured work runs. */
export class LockWaitMeter {
  readonly #client: pg.Client;
  readonly #samples: LockSample[] = [];

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  /** @param url of the database whose sessions are sampled */
  static async open(url: string): Promise<LockWaitMeter> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return new LockWaitMeter(client);
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    const isOver = new AbortController();
    const sampling = this.#sample(isOver.signal);
    try {
      return await work();
    } finally {
      isOver.abort();
      await sampling;
    }
  }

  async #sample(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { rows } = await this.#client.query<LockSample>({ name: 'sample', text: SAMPLE });
      this.#samples.push(rows[0]!);
      await wait(SAMPLE_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  waits(): LockWaits {
    return lockWaitsOf(this.#samples);
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
