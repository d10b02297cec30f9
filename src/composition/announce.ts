import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../core/app.ts';
import type { Sandbox } from './sandbox.ts';

export interface Announcement {
  app: App;
  url: string;
  version: string;
  migrated: readonly string[];
  /** Text of the token made by the first start; shown here and never again. */
  firstToken: string | null;
  sandbox: Sandbox | null;
  startedAt: number;
  databaseKind: 'embedded' | 'postgres';
}

/** Writes the addresses and first steps of a started service: plain text for people, in addition to the log. */
export async function announce(facts: Announcement): Promise<void> {
  const { app, url, sandbox, firstToken, databaseKind } = facts;
  const { env, log } = app;
  const ms = Math.round(performance.now() - facts.startedAt);
  log.info({ url, version: facts.version, database: databaseKind, migrated: facts.migrated.length, ms }, 'ready');
  const fakes = sandbox?.kinds() ?? [];
  if (fakes.length > 0) log.warn({ fakes }, 'SANDBOX: these systems are fakes; nothing reaches a real one of them');
  if (fakes.length > 0 && !fakes.includes('messenger')) {
    log.warn('SANDBOX: BOT_TOKEN is set, so the messenger is the real one: its users get real messages');
  }
  const moved = sandbox?.clock.describe();
  if (moved) log.warn(moved);
  // The console is for the person who typed `npm start`; a production log holds no token.
  if (env.nodeEnv === 'test') return;
  const lines = [
    '',
    `  Subscription Service ${facts.version} is ready after ${(ms / 1000).toFixed(1)} s`,
    `  Address             ${url}`,
    ...(env.isDocsEnabled ? [`  API documentation   ${url}/docs`] : []),
    ...(fakes.length > 0 ? [`  Sandbox             ${url}/sandbox   (fake ${fakes.join(', ')})`] : []),
    ...(firstToken === null ? [] : [`  First API token     ${firstToken}   (shown once; send it as X-API-Key)`]),
    '  Administrator       npm run cli -- admin create you@example.com',
    ...(databaseKind === 'embedded'
      ? ['  Use PostgreSQL      DATABASE_URL=postgresql://user:password@host:5432/database npm start']
      : []),
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** The sandbox also leaves the first token in `DATA_DIR/api-token`, readable by its owner alone. */
export async function saveTokenFile(dataDir: string, token: string): Promise<void> {
  await writeFile(join(dataDir, 'api-token'), `${token}\n`, { mode: 0o600 });
}
