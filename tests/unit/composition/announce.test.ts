import { expect, test } from 'vitest';
import type { Sandbox } from '../../../src/composition/sandbox.ts';
import { announce } from '../../../src/composition/start-service.ts';
import type { App } from '../../../src/core/app.ts';

const REAL = 'SANDBOX: BOT_TOKEN is set, so the messenger is the real one: its users get real messages';

/** What the log warns of when a service with these fakes has started. */
async function warnings(fakes: string[]): Promise<unknown[]> {
  const warned: unknown[] = [];
  const log = { info: () => undefined, warn: (...line: unknown[]) => warned.push(line.at(-1)) };
  const app = { log, env: { nodeEnv: 'test', isDocsEnabled: true } } as unknown as App;
  const sandbox = { kinds: () => fakes, clock: { describe: () => null } } as unknown as Sandbox;
  const service = { url: 'http://127.0.0.1:8080', version: '1.0.0', migrated: [], firstToken: null, startedAt: 0 };
  await announce({ app, sandbox, databaseKind: 'embedded', ...service });
  return warned;
}

test('spec 10 U9: a sandbox whose messenger is the real one says so at the start', async () => {
  expect(await warnings(['panel', 'payments'])).toContain(REAL);
  expect(await warnings(['panel', 'payments', 'messenger'])).not.toContain(REAL);
  expect(await warnings([])).toEqual([]);
});
