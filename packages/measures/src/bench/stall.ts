/** Effect of a panel and a webhook receiver that take 15 s for each answer on all other requests. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Lab } from './lab.ts';
import type { DatabaseKind } from './options.ts';
import { growth, median, percentileMs } from './statistics.ts';

export interface StallResult {
  database: DatabaseKind;
  /** p99 in ms of reads at a steady rate: medians of the rounds. */
  usualP99Ms: number;
  stalledP99Ms: number;
  /** Share by which the stall raises it; 0.2 = 20 %. */
  growth: number;
  failures: number;
  /** Status codes of the failures; 0 = no answer. */
  statuses: Record<string, number>;
  /** Requests that reached panel and receiver while both stalled. */
  reached: { panel: number; receiver: number };
}

const READS_PER_SECOND = 200;
const READERS = 8;
/** Money movements and purchases a second, for deliveries and panel pushes. */
const WRITES_PER_SECOND = 10;
const EVENT = 'payment.completed';

export async function measureStall(lab: Lab, pace: { rounds: number; seconds: number }): Promise<StallResult> {
  const { service, outside } = lab;
  service.resume();
  const hook = await fetch(`${service.url}/webhooks`, {
    method: 'POST',
    headers: lab.operator,
    body: JSON.stringify({ name: 'benchmark', url: `${lab.receiverUrl}/hook`, event_type: EVENT, secret: 'benchmark-secret' }),
  });
  if (!hook.ok) throw new Error(`no webhook: ${hook.status} ${await hook.text()}`);
  const usual: number[] = [];
  const stalled: number[] = [];
  const reached = { panel: 0, receiver: 0 };
  const statuses: Record<string, number> = {};
  const countStatus = (status: number | string, count = 1) => {
    statuses[status] = (statuses[status] ?? 0) + count;
  };
  const measure = async () => {
    const writing = new AbortController();
    const writes = keepWriting(lab, writing.signal, countStatus);
    // The first second fills the queues.
    await wait(1_000);
    const result = await lab.load({
      url: service.url,
      connections: READERS,
      rate: READS_PER_SECOND,
      seconds: pace.seconds,
      requests: {
        method: 'GET',
        items: lab.userIds.map((id) => ({ path: `/users/${id}`, headers: { 'x-api-key': lab.operator['x-api-key']! } })),
      },
    });
    writing.abort();
    await writes;
    for (const [status, count] of Object.entries(result.statuses)) countStatus(status, count);
    const unanswered = result.failures - Object.values(result.statuses).reduce((sum, count) => sum + count, 0);
    if (unanswered > 0) countStatus(0, unanswered);
    return percentileMs(result.latencies, 0.99);
  };
  await measure();
  for (let round = 0; round < pace.rounds; round += 1) {
    await outside.ask({ stall: false });
    usual.push(await measure());
    await outside.ask({ stall: true });
    stalled.push(await measure());
    const { seen } = await outside.ask({ stall: false });
    reached.panel += seen.panel;
    reached.receiver += seen.receiver;
    // Delayed answers arrive within the duration of the stall.
    await wait(2_000);
  }
  const [usualP99Ms, stalledP99Ms] = [median(usual), median(stalled)];
  const failures = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { database: lab.kind, usualP99Ms, stalledP99Ms, growth: growth(usualP99Ms, stalledP99Ms), failures, statuses, reached };
}

async function keepWriting(lab: Lab, signal: AbortSignal, countStatus: (status: number) => void): Promise<void> {
  for (let n = 0; !signal.aborted; n += 1) {
    const id = lab.userIds[n % lab.userIds.length]!;
    const send = async (path: string, headers: Record<string, string>, body: object) => {
      const response = await fetch(`${lab.service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }).catch(
        () => null,
      );
      if (!response?.ok) countStatus(response?.status ?? 0);
      await response?.arrayBuffer();
    };
    await Promise.all([
      send(`/users/${id}/balance`, lab.operator, { amount_kopeks: 100, description: 'Benchmark' }),
      send('/cabinet/subscription/purchase-tariff', lab.asUser(id), { tariff_id: lab.tariffId, period_days: 30 }),
      wait(1_000 / WRITES_PER_SECOND),
    ]);
  }
}
