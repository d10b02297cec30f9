/** Asks each node of a replicated PostgreSQL directly whether it is the primary, so that a drill knows since when there is one. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

export interface PrimaryChange {
  /** `performance.now()` */
  at: number;
  node: string;
  /** False: it stopped to be the primary, or does not answer. */
  isPrimary: boolean;
}

export interface PrimaryWatch {
  /** Times at which a new connection to the common address came to a primary. */
  readonly reached: readonly number[];
  /** Each time that a node became the primary or was it no more; one that does not answer within a second is not. */
  readonly changes: readonly PrimaryChange[];
  close(): Promise<void>;
}

const LOOK_MS = 50;
const ANSWER_MS = 1_000;

/**
 * @param nodes addresses by name
 * @param address that which leads to whichever is the primary, as the service uses it
 */
export function watchPrimary(nodes: ReadonlyMap<string, string>, address: string): PrimaryWatch {
  const changes: PrimaryChange[] = [];
  const reached: number[] = [];
  let isClosed = false;
  const watch = async (node: string, url: string): Promise<void> => {
    let wasPrimary = false;
    const enter = (isPrimary: boolean): void => {
      if (isPrimary !== wasPrimary) changes.push({ at: performance.now(), node, isPrimary });
      wasPrimary = isPrimary;
    };
    while (!isClosed) {
      // Any failure: a node that is away or hangs is not the primary.
      await withClient(url, async (isPrimary) => {
        while (!isClosed) {
          enter(await isPrimary());
          await wait(LOOK_MS);
        }
      }).catch(() => enter(false));
      await wait(LOOK_MS);
    }
  };
  const watchAddress = async (): Promise<void> => {
    while (!isClosed) {
      const asked = withClient(address, async (isPrimary) => {
        if (await isPrimary()) reached.push(performance.now());
      });
      // Any failure: it does not lead to a primary now.
      await asked.catch(() => undefined);
      await wait(LOOK_MS);
    }
  };
  const watching = [...[...nodes].map(([node, url]) => watch(node, url)), watchAddress()];
  return {
    reached,
    changes,
    close: async () => {
      isClosed = true;
      await Promise.all(watching);
    },
  };
}

async function withClient(url: string, work: (isPrimary: () => Promise<boolean>) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: ANSWER_MS, query_timeout: ANSWER_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(async () => {
      const { rows } = await client.query<{ primary: boolean }>('SELECT NOT pg_is_in_recovery() AS primary');
      return rows[0]!.primary;
    });
  } finally {
    // Not awaited: what it waits for may never come.
    void client.end().catch(() => undefined);
  }
}

/** The time without a primary in a fault; null when there was one all the time. */
export interface PrimaryGap {
  lostAt: number;
  /** Another node became the primary, or, when none did, the old one answered again. */
  foundAt: number;
}

/** @param from to: the time of the fault, by `performance.now()` */
export function primaryGap(changes: readonly PrimaryChange[], from: number, to: number): PrimaryGap | null {
  const old = changes.findLast(({ at, isPrimary }) => at < from && isPrimary)?.node;
  const during = changes.filter(({ at }) => at >= from && at <= to);
  const lost = during.find(({ node, isPrimary }) => node === old && !isPrimary);
  const found = during.filter(({ isPrimary }) => isPrimary);
  const next = found.find(({ node }) => node !== old) ?? found[0];
  if (lost === undefined || next === undefined) return null;
  // A new primary may be there before the old one was given up as silent.
  return { lostAt: Math.min(lost.at, next.at), foundAt: next.at };
}
