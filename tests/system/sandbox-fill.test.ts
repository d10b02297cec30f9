/** `sandbox fill` as an operator calls it: on a new folder, with what a service then shows of the past. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequester } from '../../packages/measures/src/demo/http.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { type CliAnswer, runCommand } from '../support/run-cli.ts';

const PEOPLE = 40;
const DAYS = 60;
const DAY_MS = 86_400_000;

interface FillReport {
  done: Record<string, number>;
  refused: Record<string, number>;
}

let dataDir: string;
let filled: CliAnswer;
let startedAt: number;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sandbox-fill-'));
  startedAt = Date.now();
  filled = await runCommand(['sandbox', 'fill', '--users', `${PEOPLE}`, '--days', `${DAYS}`, '--json'], { DATA_DIR: dataDir });
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

describe('sandbox fill', () => {
  test('does what people do, and hardly anything is refused', () => {
    expect([filled.code, filled.err.replace(/^day .*\n/gm, '')]).toEqual([0, '']);
    const { done, refused } = JSON.parse(filled.out) as FillReport;
    expect(done.register).toBe(PEOPLE);
    for (const kind of ['trial', 'topup', 'purchase', 'job provisioning.push']) expect(done[kind]).toBeGreaterThan(0);
    const refusals = Object.values(refused).reduce((sum, times) => sum + times, 0);
    expect(refusals).toBeLessThan(PEOPLE / 4);
  });

  test('leaves clean books', async () => {
    const check = await runCommand(['ledger', 'check'], { DATA_DIR: dataDir });
    expect([check.code, check.out]).toEqual([0, expect.stringContaining('The ledger is clean')]);
  });

  test('fills no installation that has users', async () => {
    const again = await runCommand(['sandbox', 'fill', '--users', '1'], { DATA_DIR: dataDir });
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('has users already')]);
  });

  test('fills nothing that could be real', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sandbox-fill-off-'));
    const answer = await runCommand(['sandbox', 'fill'], { DATA_DIR: folder, SANDBOX: 'off' });
    await rm(folder, { recursive: true, force: true });
    expect([answer.code, answer.err]).toEqual([1, expect.stringContaining('all of the sandbox')]);
  });
});

describe('a service on a filled installation', () => {
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startServiceProcess({ dataDir });
  });
  afterAll(() => service.stop());

  test('has users, subscriptions and payments from the first day until today', async () => {
    const { get } = createRequester(service.url, { 'x-api-key': service.apiToken! });
    const { users, subscriptions } = (await get('/stats/overview')).body;
    expect([users.total, subscriptions.active > 0, subscriptions.expired > 0]).toEqual([PEOPLE, true, true]);
    const { items } = (await get('/transactions?limit=200')).body as { items: { created_at: string }[] };
    const days = items.map(({ created_at }) => (startedAt - Date.parse(created_at)) / DAY_MS);
    expect([Math.min(...days) < 10, Math.max(...days) > 15, Math.max(...days) <= DAYS]).toEqual([true, true, true]);
  });

  test('has the subscriptions at the panel', async () => {
    const { users } = (await createRequester(service.url).get('/sandbox/api/state')).body;
    expect(users.length).toBeGreaterThan(PEOPLE / 4);
  });
});
