import { sqlState } from '../core/db/db-errors.ts';
import { EnvError } from '../core/env.ts';
import { isAppError } from '../core/errors.ts';
import { createRedactor } from '../core/redaction.ts';
import { CommandError, UsageError } from './command.ts';

const redactor = createRedactor();

/** Any failure as sentences for the person at the terminal: what is wrong and what to do. Contains no secret. */
export function describeFailure(error: unknown): string {
  if (error instanceof CommandError || error instanceof UsageError) return error.message;
  if (error instanceof EnvError) return `${error.message}\n\nEvery variable is explained in .env.example.`;
  if (isAppError(error)) return error.message;
  if (error instanceof Error && error.name === 'FolderInUseError') return describeLock(error);
  const database = describeDatabaseFailure(error);
  if (database) return database;
  const message = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return redactor.text(`${message}${cause}\nRun the command again with --verbose to see where it happened.`);
}

/** One process at a time can use the embedded database, usually the running service. */
export function describeLock(error: Error): string {
  const pid = /process (\d+)/.exec(error.message)?.[1] ?? '?';
  return [
    `The embedded database is in use by process ${pid}, most likely the running service; it takes one process at a time.`,
    'Stop the service (Ctrl+C, or SIGTERM to that process) and run this command again. Commands for administrators, tokens, cases, the ledger and reports run beside it. Or leave it running and use the HTTP API with an API token:',
    '  POST /tokens makes a token, GET /tokens lists them, POST /tokens/{id}/revoke revokes one, GET /health/database shows the state of the database.',
    'With DATABASE_URL (PostgreSQL) the commands work beside a running service.',
  ].join('\n');
}

/** What a failed connection or a refused statement means; null when the error is not from the database. */
export function describeDatabaseFailure(error: unknown): string | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code = (current as { code?: unknown }).code;
    const text = SENTENCES[String(sqlState(current) ?? code)];
    if (text) return text;
    if (/timeout exceeded when trying to connect|Connection terminated/i.test(current.message)) return SENTENCES.ETIMEDOUT!;
    if (/client password must be a string/i.test(current.message))
      return 'The database requires a password and DATABASE_URL has none.';
    if (current instanceof AggregateError) {
      const nested = current.errors.map(describeDatabaseFailure).find((sentence) => sentence !== null);
      if (nested) return nested;
    }
  }
  return null;
}

const SENTENCES: Record<string, string> = {
  ECONNREFUSED: 'Nothing answers at the address of the database. Start the PostgreSQL server, or correct host and port.',
  ENOTFOUND: 'The host name of the database is not known. Correct it, or look at the name service.',
  EAI_AGAIN: 'The host name of the database cannot be looked up now. Correct it, or look at the name service.',
  ETIMEDOUT: 'The database did not answer in time. Look at host, port and firewall, and at how busy the server is.',
  ECONNRESET: 'The database closed the connection. Look at its log; perhaps it demands TLS (add ?sslmode=require to the URL).',
  '28P01': 'The database refused the password. Correct user name and password in the URL.',
  '28000': 'The database does not let this user in from here. Look at the user name and at pg_hba.conf of the server.',
  '3D000': 'There is no database of that name on the server. Make it first: CREATE DATABASE name OWNER user.',
  '42501':
    'The database user may not do this. Make it the owner: ALTER DATABASE name OWNER TO user; and GRANT ALL ON SCHEMA public TO user.',
  '53300': 'The server has no free connection. Raise max_connections, or lower DATABASE_POOL_SIZE of the instances.',
  '57P03': 'The database server is starting or stopping. Try again in a moment.',
  '57014': 'The statement took longer than DATABASE_STATEMENT_TIMEOUT_MS. Raise it for this command, for example to 600000.',
  '55P03':
    'Another program has locked the tables. Stop every instance of the service that uses this database and run the command again.',
  ENOSPC: 'The disk is full.',
};
