/**
 * npm run demo [-- --provider NAME]: starts the service on a new embedded database (or DATABASE_URL), runs all steps, checks the ledger, stops.
 * With --provider the top-up goes through the adapter of that payment method to the sandbox's fake, which speaks its wire.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readArguments } from '../read-arguments.ts';
import { runDemo } from './run-demo.ts';
import { startServiceProcess } from './service-process.ts';

const provider = readArguments((args) => {
  const { values } = parseArgs({ args: [...args], options: { provider: { type: 'string' }, help: { type: 'boolean' } } });
  return values.help ? 'help' : (values.provider ?? 'sandbox');
}, 'npm run demo -- [--provider yookassa|cryptobot|…]');
const databaseUrl = process.env.DATABASE_URL;
const dataDir = await mkdtemp(join(tmpdir(), 'subscription-demo-'));
const environment: Record<string, string> = {
  ...(databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
  ...(provider === 'sandbox' ? {} : { SANDBOX_PROVIDERS: provider }),
};
const service = await startServiceProcess({ dataDir, environment });
console.log(
  `Service at ${service.url} after ${(service.startMs / 1000).toFixed(1)} s, on ${databaseUrl ? 'PostgreSQL' : 'a new embedded database'}\n`,
);
let failed = false;
try {
  const apiToken = service.apiToken ?? process.env.DEMO_API_TOKEN;
  if (!apiToken) throw new Error('This database already has API tokens: give one of them in DEMO_API_TOKEN');
  let number = 0;
  await runDemo({
    url: service.url,
    apiToken,
    provider,
    onStep: (name, ms, detail) => {
      number += 1;
      console.log(`${String(number).padStart(2)}. ${name.padEnd(58)} ${String(Math.round(ms)).padStart(6)} ms   ${detail}`);
    },
  });
} catch (error) {
  failed = true;
  console.error(`\nFAILED: ${(error as Error).message}\n\n${service.log.slice(-20).join('\n')}`);
} finally {
  await service.stop();
}
if (!failed) {
  const check = spawnSync(
    process.execPath,
    [join(import.meta.dirname, '..', '..', '..', '..', 'dist', 'cli.js'), 'ledger', 'check'],
    {
      encoding: 'utf8',
      env: { ...process.env, ...environment, DATA_DIR: dataDir, LOG_LEVEL: 'error' },
    },
  );
  console.log(`\nledger check: ${check.stdout.trim() || check.stderr.trim()}`);
  failed = check.status !== 0;
}
await rm(dataDir, { recursive: true, force: true });
console.log(failed ? '\nThe demo failed.' : '\nEverything holds.');
process.exit(failed ? 1 : 0);
