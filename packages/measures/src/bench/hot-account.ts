/** All connections credit one account at the same time: the worst case for locks. */
import { countDeadlocks, countLedgerProblems } from './database-facts.ts';
import type { Lab } from './lab.ts';
import type { DatabaseKind } from './options.ts';
import { percentileMs } from './statistics.ts';

export interface HotAccountResult {
  database: DatabaseKind;
  perSecond: number;
  p99Ms: number;
  failures: number;
  statuses: Record<string, number>;
  /** Deadlocks that the database broke meanwhile; null where it does not count them. */
  deadlocks: number | null;
  /** Violations of the ledger in the whole database afterwards. */
  ledgerProblems: number | null;
}

const WRITERS = 32;

export async function measureHotAccount(lab: Lab, seconds: number): Promise<HotAccountResult> {
  const { service } = lab;
  service.resume();
  const path = `/users/${lab.userIds[0]}/balance`;
  const body = JSON.stringify({ amount_kopeks: 100, description: 'Benchmark' });
  const order = {
    url: service.url,
    connections: WRITERS,
    requests: { method: 'POST' as const, withKey: true, items: [{ path, headers: lab.operator, body }] },
  };
  await lab.load({ ...order, seconds: 1 });
  const before = await deadlocks(lab);
  const result = await lab.load({ ...order, seconds });
  const after = await deadlocks(lab);
  return {
    database: lab.kind,
    perSecond: result.requests / result.seconds,
    p99Ms: percentileMs(result.latencies, 0.99),
    failures: result.failures,
    statuses: result.statuses,
    deadlocks: before === null || after === null ? null : after - before,
    ledgerProblems: lab.kind === 'postgres' ? await countLedgerProblems(lab.database) : null,
  };
}

/** The embedded database runs one statement at a time and has no deadlocks; and only the service can open its folder. */
async function deadlocks(lab: Lab): Promise<number | null> {
  return lab.kind === 'embedded' ? null : countDeadlocks(lab.database);
}
