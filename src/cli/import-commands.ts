import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { openImportSource } from '../composition/open-import-source.ts';
import { ImportRefused, type ImportSource, rowsOf } from '../domain/import/import-source.ts';
import type { ImportResult } from '../domain/import/run-import.ts';
import { environmentLine, translateEnvironment } from '../domain/import/source-settings.ts';
import { type VerifyResult, verifyImport } from '../domain/import/verify-import.ts';
import { alignColumns, type Command, CommandError, type CommandResult, EXIT, openNewFile, UsageError } from './command.ts';
import { withApp } from './open-service.ts';

/** What every command says of its first word. */
export const ADDRESS = [
  'SOURCE is one of',
  '  postgresql://user:password@host:5432/name    a role that can only read is enough',
  '  a file *.db, *.sqlite or *.sqlite3           stop the bot first',
  '  backup_*.tar.gz or backup_*.tar              as the bot writes them',
];

/** Rows of each table of the source that has some. */
export function fatesTable(source: ImportResult['source']): string {
  const filled = Object.entries(source).filter(([, { read }]) => read > 0);
  return alignColumns([
    ['TABLE', 'READ', 'KEPT', 'MERGED', 'PARKED', 'DROPPED'],
    ...filled.map(([name, { read, kept, merged, parked, dropped }]) => [
      name,
      ...[read, kept, merged, parked, dropped].map(String),
    ]),
  ]);
}

export function fatesData(source: ImportResult['source']): unknown {
  const fates = Object.entries(source).map(([name, { parkedColumns, ...rows }]) => [
    name,
    { ...rows, parked_columns: parkedColumns },
  ]);
  return Object.fromEntries(fates);
}

/** `import verify`: compares source and service again (spec 07 section 10). */
export const importVerifyCommand: Command = {
  name: 'import verify',
  parameters: 'SOURCE',
  summary: 'Compare the database of an existing bot with what was imported of it, row by row; changes nothing.',
  details: [...ADDRESS, '', 'Exit code 1 when a row differs that no deviation of the import explains.'].join('\n'),
  words: [1, 1],
  run: (call) =>
    withSource(call.words[0]!, (source) => withApp(call, async (app) => verifyAnswer(await verifyImport(app, source)))),
};

function verifyAnswer({ snapshotAt, differences, differing, explained, sums, checks }: VerifyResult): CommandResult {
  const isRight = differing === 0 && checks.every(({ isOk }) => isOk);
  const data = {
    snapshot_at: snapshotAt.toISOString(),
    ...{ equal: isRight, differing, explained, differences },
    sums: sums.map(({ name, rows }) => ({
      name,
      rows: rows.map(({ key, sourceRows, targetRows, sourceKopeks, targetKopeks }) => ({
        ...{ key, source_rows: sourceRows, target_rows: targetRows, source_kopeks: sourceKopeks, target_kopeks: targetKopeks },
      })),
    })),
    checks: checks.map(({ name, isOk, finding }) => ({ name, ok: isOk, finding })),
  };
  const text = [
    isRight
      ? `Every row is as in the source; ${explained} differ as a deviation of the import says.`
      : `${differing} rows differ, and no deviation of the import says why:`,
    ...differences.slice(0, SHOWN).map(({ table, id, source, target }) => `  ${table} ${id}: ${changesBetween(source, target)}`),
    ...sums.flatMap(({ name, rows }) => [
      '',
      `${name}:`,
      alignColumns([
        ['', 'KEY', 'ROWS THERE', 'HERE', 'KOPEKS THERE', 'HERE'],
        ...rows.map((row) => ['', row.key, ...[row.sourceRows, row.targetRows, row.sourceKopeks, row.targetKopeks].map(String)]),
      ]),
    ]),
    '',
    ...checks.map(({ name, isOk, finding }) => `${name}: ${isOk ? 'ok' : finding}`),
  ].join('\n');
  return { text, data, exitCode: isRight ? EXIT.ok : EXIT.failed };
}

const SHOWN = 20;

/** The values of one row that differ, without those that are equal. */
function changesBetween(
  source: Readonly<Record<string, unknown>> | null,
  target: Readonly<Record<string, unknown>> | null,
): string {
  if (source === null) return 'is not in the source';
  if (target === null) return 'is missing here';
  const names = Object.keys(source).filter((name) => JSON.stringify(source[name]) !== JSON.stringify(target[name]));
  return names.map((name) => `${name} ${JSON.stringify(source[name])} there, ${JSON.stringify(target[name])} here`).join('; ');
}

/** `import env`: the environment of an old bot in the words of this service (spec 07 section 5). */
export const importEnvCommand: Command = {
  name: 'import env',
  parameters: 'FILE [--source SOURCE] [--output FILE]',
  summary: 'Translate the environment file of an existing bot for this service; says what is left out and why.',
  details: [
    '--output FILE      a new file that only its owner can read; without it service.env beside the old one',
    '--source SOURCE    the bot’s database: names the settings of which it holds another value, which its environment overrides',
    '',
    'Variables of the installation (database, logs, backups, addresses) are left out: set those of this service. No value is printed.',
  ].join('\n'),
  options: { source: { type: 'string' }, output: { type: 'string' } },
  words: [1, 1],
  run: async ({ words, options }) => {
    const path = words[0]!;
    const variables = parseEnv(await textOf(path)) as Record<string, string>;
    if (typeof options.source !== 'string') return writeEnvironment(path, options.output, variables, new Map());
    return withSource(options.source, async (source) =>
      writeEnvironment(path, options.output, variables, await storedSettings(source)),
    );
  },
};

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CommandError(`${path} cannot be read.`, { cause: error });
  }
}

async function storedSettings(source: ImportSource): Promise<Map<string, string>> {
  const settings = new Map<string, string>();
  for await (const content of source.contents())
    if (content.table.name === 'system_settings')
      for await (const { key, value } of rowsOf(content, ['key', 'value'])) if (key !== null) settings.set(key, value ?? '');
  return settings;
}

const REASONS = {
  setting_unknown: 'no setting of this service',
  setting_refused: 'of the old installation',
  setting_value_invalid: 'its value is not valid here',
};

async function writeEnvironment(
  path: string,
  output: unknown,
  variables: Readonly<Record<string, string>>,
  rows: ReadonlyMap<string, string>,
): Promise<CommandResult> {
  const { kept, leftOut, toReview, staleRows } = translateEnvironment(variables, rows);
  const lines: string[] = [];
  for (const [key, text] of kept) {
    const line = environmentLine(key, text);
    if (line === null) leftOut.push({ key, reason: 'setting_value_invalid' });
    else lines.push(line);
  }
  const file = typeof output === 'string' ? output : join(dirname(resolve(path)), 'service.env');
  const handle = await openNewFile(file);
  await handle.writeFile(`${lines.join('\n')}\n`).finally(() => handle.close());
  const text = [
    `${lines.length} variables are in ${file}.`,
    ...section(
      'Left out:',
      leftOut.map(({ key, reason }) => [key, REASONS[reason]]),
    ),
    ...section(
      'Look at these before the switch-over; they decide who signs in and where money goes:',
      toReview.map((key) => [key]),
    ),
    ...section(
      'The database holds another value, which the environment overrides:',
      staleRows.map((key) => [key]),
    ),
  ].join('\n');
  return { text, data: { file, variables: lines.length, left_out: leftOut, to_review: toReview, stale_rows: staleRows } };
}

const section = (title: string, rows: string[][]) =>
  rows.length === 0 ? [] : ['', title, alignColumns(rows.map((row) => ['', ...row]))];

/** Opens the source, and closes it after the work; a refusal is the answer. */
export async function withSource(
  address: string,
  work: (source: ImportSource) => Promise<CommandResult>,
): Promise<CommandResult> {
  try {
    const source = await openImportSource(address, new Date());
    if (source === null)
      throw new UsageError(`SOURCE is a postgresql:// address, a SQLite file or an archive, not "${withoutPassword(address)}".`);
    try {
      return await work(source);
    } finally {
      await source.close();
    }
  } catch (error) {
    if (error instanceof ImportRefused) return refusal(error);
    throw error;
  }
}

const withoutPassword = (address: string) => address.replace(/:[^:@/]*@/, ':***@');

function refusal({ code, message, details }: ImportRefused): CommandResult {
  return { text: message, data: { code, message, details }, exitCode: EXIT.usage };
}
