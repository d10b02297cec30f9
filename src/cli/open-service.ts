import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { type AssembledService, assembleService } from '../composition/assemble-service.ts';
import type { App } from '../core/app.ts';
import { type Env, loadEnv } from '../core/env.ts';
import { createLogger, type Logger, loadLogFormat } from '../core/log.ts';
import { createMetrics } from '../core/metrics.ts';
import { closePasswordHasher } from '../core/password-hasher.ts';
import { createRedactor, type Redactor, secretValuesIn } from '../core/redaction.ts';
import type { CommandCall } from './command.ts';

/** The operator of the command line, as use cases and lists name this actor. */
export const OPERATOR = { kind: 'system', name: 'command line' } as const;

export interface CommandBase {
  env: Env;
  log: Logger;
  redactor: Redactor;
}

/** Environment and logger of a command. @throws EnvError with every problem at once */
export async function openBase(call: CommandCall): Promise<CommandBase> {
  const env = loadEnv(call.terminal.source);
  const redactor = createRedactor(secretValuesIn(env.raw));
  return { env, redactor, log: await commandLog(call, redactor) };
}

/** No log lines unless requested: the command's answer says what a person needs to know. */
export async function commandLog(call: CommandCall, redactor: Redactor = createRedactor()): Promise<Logger> {
  const stream: Pick<Writable, 'write'> & { write(line: string): boolean } = {
    write: (line: string) => {
      call.terminal.err(line);
      return true;
    },
  };
  const format = await loadLogFormat('pretty');
  return createLogger({ level: call.isVerbose ? 'debug' : 'silent', format, redactor, stream });
}

/**
 * Runs `work` on the assembled service: migrated database, settings; it serves no requests and runs no jobs. In the running service
 * (`runsInService`) it is that one.
 * @throws EnvError, FolderInUseError, or an error of the database
 */
export async function withApp<T>(call: CommandCall, work: (app: App) => Promise<T>): Promise<T> {
  return call.app ? work(call.app) : withAssembledService(call, ({ service }) => work(service.app));
}

/** The same with everything that is assembled; never in the running service. @throws as `withApp` */
export async function withAssembledService<T>(call: CommandCall, work: (assembled: AssembledService) => Promise<T>): Promise<T> {
  const { env, log, redactor } = await openBase(call);
  const metrics = createMetrics();
  try {
    const assembled = await assembleService({ env, log, metrics, redactor, isReady: () => true });
    const { service, sandbox } = assembled;
    try {
      return await work(assembled);
    } finally {
      await sandbox?.close();
      await service.runner.stop(0);
      await service.close();
    }
  } finally {
    await closePasswordHasher();
    metrics.close();
  }
}

/** Whether this folder has an embedded database. */
export function hasEmbeddedData(dataDir: string): Promise<boolean> {
  return access(join(dataDir, 'database', 'PG_VERSION')).then(
    () => true,
    () => false,
  );
}

/** Where the data is, without passwords. */
export function describeDatabase(env: Env): string {
  if (env.databaseUrl === null) return `embedded database in ${env.dataDir}`;
  const url = new URL(env.databaseUrl);
  const host = url.hostname || url.searchParams.get('host') || 'the local socket';
  return `database "${decodeURIComponent(url.pathname.slice(1))}" on ${host}${url.port ? `:${url.port}` : ''}`;
}

/** The URL with `***` for its password, also for one given as a query value. */
export function hideUrlPassword(url: string): string {
  const address = new URL(url);
  if (address.password) address.password = '***';
  if (address.searchParams.has('password')) address.searchParams.set('password', '***');
  return address.href;
}
