/** A run to the panel whose process is killed in the middle, as by `kill -9` (spec 10 section 2, to show). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { listAbandonedRuns } from '../../src/domain/provisioning/long-runs/repo.ts';
import { run, startEmpty } from '../domain/provisioning/panel-sync/setup.ts';
import { aSubscription, type ProvisioningTest } from '../support/provisioning-setup.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

const USERS = 60;
/** How many users the panel has when the process is killed. */
const KILLS = [5, 21, 44];
const SCRIPT = join(import.meta.dirname, '..', 'support', 'panel-run-worker.ts');

// The worker is another process: it needs a server.
describe.runIf(serverUrl)('a run to a new empty panel, killed three times', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 5 });
  });
  afterAll(() => database.drop());

  function startWorker({ panel }: ProvisioningTest, runId?: number): ChildProcess {
    const of = runId === undefined ? [] : [String(runId)];
    const worker = spawn(process.execPath, [SCRIPT, database.url!, panel.url, panel.apiKey, ...of], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    onTestFinished(() => void worker.kill('SIGKILL'));
    return worker;
  }

  /** As if the time of the leases that the killed process had taken were over. */
  async function endLeases({ app }: ProvisioningTest): Promise<void> {
    await app.db.sql("UPDATE panel_sync_runs SET lease_until = now() - interval '1 second'");
    await app.db.sql(
      "UPDATE subscriptions SET provision_lease_until = now() - interval '1 second' WHERE provision_lease_until IS NOT NULL",
    );
  }

  it.each(['uuid', 'number'] as const)(
    'generation %s: another process ends it, each has one panel user',
    async (generation) => {
      const t = await startEmpty({ database, generation });
      const ids: number[] = [];
      for (let made = 0; made < USERS; made++) ids.push((await aSubscription(t.app)).id);
      t.panel.faults.set({ delayMs: 20 });
      let worker = startWorker(t);
      const begun = async () => (await t.app.db.sql<{ id: number }>('SELECT id FROM panel_sync_runs'))[0]?.id;
      for (const count of KILLS) {
        const ended = once(worker, 'exit');
        await vi.waitFor(() => expect(t.panel.listUsers().length).toBeGreaterThanOrEqual(count), {
          timeout: 60_000,
          interval: 2,
        });
        worker.kill('SIGKILL');
        expect((await ended)[1]).toBe('SIGKILL');
        expect(t.panel.listUsers().length).toBeLessThan(USERS);
        await endLeases(t);
        expect(await listAbandonedRuns(t.app.db, 'panel_sync_runs')).toEqual([await begun()]);
        worker = startWorker(t, await begun());
      }
      t.panel.faults.set({});
      expect(await once(worker, 'exit')).toEqual([0, null]);

      expect(await t.app.db.sql("SELECT status, stats->'counts'->>'errors' AS errors FROM panel_sync_runs")).toEqual([
        { status: 'completed', errors: '0' },
      ]);
      const users = t.panel.listUsers();
      expect(users).toHaveLength(USERS);
      const linked = await t.app.db.sql<{ subscriptionUrl: string }>(
        `SELECT s.subscription_url FROM subscriptions s JOIN users u ON u.id = s.user_id
       WHERE s.id = ANY($1::int[]) AND s.provision_state = 'synced' AND u.vpnpanel_uuid IS NOT NULL`,
        [ids],
      );
      expect(linked.map((row) => row.subscriptionUrl).sort()).toEqual(users.map((user) => user.subscriptionUrl).sort());

      const calls = t.panel.calls().length;
      await run(t.app, 'to_panel');
      const changes = t.panel.calls().slice(calls);
      expect(changes.filter((call) => call.method !== 'GET')).toEqual([]);
    },
    180_000,
  );
});
