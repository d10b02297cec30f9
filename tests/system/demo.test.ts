import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runDemo } from '../../packages/measures/src/demo/run-demo.ts';
import { startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { sampleOf } from '../support/matrix-sample.ts';
import { emptyDatabaseOnServer, serverUrl } from '../support/test-database.ts';

async function demoOn(environment: Record<string, string>, provider = 'sandbox'): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'demo-test-'));
  const service = await startServiceProcess({ dataDir, environment });
  const steps: string[] = [];
  try {
    const result = await runDemo({ url: service.url, apiToken: service.apiToken!, provider, onStep: (name) => steps.push(name) });
    expect(result.balanceKopeks).toBeGreaterThanOrEqual(0);
  } finally {
    // Every line of the log is JSON and none holds the token.
    expect(service.log.filter((line) => line.includes(service.apiToken!) && line.startsWith('{'))).toEqual([]);
    expect(await service.stop()).toBe(0);
  }
  expect(steps).toHaveLength(12);
  const check = spawnSync(process.execPath, [join(import.meta.dirname, '..', '..', 'dist', 'cli.js'), 'ledger', 'check'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, ...environment, DATA_DIR: dataDir },
  });
  expect(check.stderr + check.stdout).toMatch(/clean/i);
  expect(check.status).toBe(0);
  await rm(dataDir, { recursive: true, force: true });
}

describe('from sign-up to a working link', () => {
  test('on a new embedded database', () => demoOn({}));

  // One that only the provider's API confirms, one signed over the whole body, and one whose acknowledgement has its own form.
  const wires = ['yookassa', 'cryptobot', 'severpay'];
  test.each(sampleOf(wires, (provider) => provider))('through the wire of %s', (provider) =>
    demoOn({ SANDBOX_PROVIDERS: provider }, provider),
  );

  test.skipIf(!serverUrl)('on PostgreSQL (left out without a server: TEST_DATABASE_URL)', async () => {
    const database = await emptyDatabaseOnServer();
    try {
      await demoOn({ DATABASE_URL: database.url });
    } finally {
      await database.drop();
    }
  });
});
