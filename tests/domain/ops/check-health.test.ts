import { afterAll, beforeAll, expect, test } from 'vitest';
import { probeDatabase, requireReady } from '../../../src/domain/ops/check-health.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { freshDatabase, type TestDatabase } from '../../support/test-database.ts';

let database: TestDatabase;
let t: TestApp;
beforeAll(async () => {
  database = await freshDatabase({ poolSize: 1 });
  t = await testApp({ database });
});
afterAll(() => database.drop());

const setReadOnly = (value: 'on' | 'off') => t.app.db.sql(`SET default_transaction_read_only = ${value}`);

test('spec 08 S2: an instance whose database accepts no writes is not ready, and is ready again when it does', async () => {
  await expect(requireReady(t.app)).resolves.toBeUndefined();
  await setReadOnly('on');
  await expect(requireReady(t.app)).rejects.toMatchObject({ status: 503, code: 'not_ready' });
  expect(await probeDatabase(t.app)).toMatchObject({ status: 'healthy' });
  await setReadOnly('off');
  await expect(requireReady(t.app)).resolves.toBeUndefined();
});
