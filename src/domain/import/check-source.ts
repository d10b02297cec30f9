import { ImportRefused, type ImportSource, rowsOf, type TableContent, timestampOf } from './import-source.ts';
import { liveEnd, severalSubscriptions } from './several-subscriptions.ts';
import { hasHome, recogniseSource, type SourceRevision } from './source-revision.ts';

export interface SourceFindings {
  kind: ImportSource['kind'];
  snapshotAt: Date;
  revision: SourceRevision;
  /** `imported`: has a place here. `parked`: kept aside as it is. `dropped`: a technical log. */
  tables: { name: string; rows: number; fate: 'imported' | 'parked' | 'dropped' }[];
  /** What stops the import until the operator chooses; empty = it can begin. */
  refusals: ImportRefused[];
  liveSubscriptions: number;
}

/** The revision from which a user may have several subscriptions (spec 07 section 1.4). */
export const SEVERAL_SUBSCRIPTIONS_SINCE = 50;

/**
 * Reads what can be known of a source without loading it (spec 07 section 9): revision, shape, counts, and what the operator has to
 * choose. Memory depends on the number of live subscriptions only.
 * @throws ImportRefused when the source cannot be imported whatever the operator chooses
 */
export async function checkSource(source: ImportSource): Promise<SourceFindings> {
  const revision = await recogniseSource(source);
  const findings: SourceFindings = {
    ...{ kind: source.kind, snapshotAt: source.snapshotAt, revision },
    ...{ tables: [], refusals: [], liveSubscriptions: 0 },
  };
  const byUser = new Map<string, number>();
  for await (const content of source.contents()) {
    const { name } = content.table;
    let rows: number;
    if (name === 'subscriptions') rows = await readSubscriptions(content, source.snapshotAt, byUser);
    else if (name in PROVIDER_SUBSCRIPTIONS) rows = await readProviderSubscriptions(content, findings);
    else rows = await content.count();
    const fate = name === 'monitoring_logs' ? 'dropped' : hasHome(name) ? 'imported' : 'parked';
    if (name !== 'alembic_version') findings.tables.push({ name, rows, fate });
  }
  findings.liveSubscriptions = [...byUser.values()].reduce((sum, count) => sum + count, 0);
  const several = new Set([...byUser].filter(([, count]) => count > 1).map(([user]) => user));
  if (revision.number < SEVERAL_SUBSCRIPTIONS_SINCE || several.size === 0) return findings;
  const refusal = await severalSubscriptions(source, several);
  if (refusal) findings.refusals.unshift(refusal);
  return findings;
}

/** Counts live subscriptions by user. */
async function readSubscriptions(content: TableContent, snapshotAt: Date, byUser: Map<string, number>): Promise<number> {
  let rows = 0;
  for await (const { user_id: user, status, end_date: end } of rowsOf(content, ['user_id', 'status', 'end_date'])) {
    rows += 1;
    if (user !== null && liveEnd(status, end, snapshotAt) !== null) byUser.set(user, (byUser.get(user) ?? 0) + 1);
  }
  return rows;
}

/** Tables of subscriptions that a provider charges by itself, with its name (spec 07 section 4.6). */
const PROVIDER_SUBSCRIPTIONS: Readonly<Record<string, string>> = {
  platega_subscriptions: 'platega',
  lava_subscriptions: 'lava',
};
const CHARGING = new Set(['ACTIVE', 'PAST_DUE']);

async function readProviderSubscriptions(content: TableContent, findings: SourceFindings): Promise<number> {
  let rows = 0;
  let [count, kopeks] = [0, 0];
  let nextMs = Number.POSITIVE_INFINITY;
  for await (const row of rowsOf(content, ['status', 'amount_kopeks', 'next_charge_at'])) {
    rows += 1;
    if (!CHARGING.has((row.status ?? '').trim().toUpperCase())) continue;
    count += 1;
    kopeks += Number(row.amount_kopeks ?? 0);
    nextMs = Math.min(nextMs, timestampOf(row.next_charge_at) ?? nextMs);
  }
  if (count > 0) {
    const method = PROVIDER_SUBSCRIPTIONS[content.table.name]!;
    const nextChargeAt = Number.isFinite(nextMs) ? new Date(nextMs).toISOString() : null;
    const what = `Subscriptions that ${method} charges by itself: ${count} (${kopeks} kopeks in all, the next at ${nextChargeAt ?? 'an unknown time'}). It would go on after the move.`;
    const todo = `Cancel them at ${method} first, or choose --provider-subscriptions leave.`;
    const details = { method, count, kopeks, next_charge_at: nextChargeAt };
    findings.refusals.push(new ImportRefused('source_has_provider_subscriptions', `${what} ${todo}`, { details }));
  }
  return rows;
}
