import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { openImportSource } from '../composition/open-import-source.ts';
import { ImportRefused, type ImportSource, rowsOf } from '../domain/import/import-source.ts';
import { environmentLine, translateEnvironment } from '../domain/import/source-settings.ts';
import { type Difference, type VerifyResult, verifyImport } from '../domain/import/verify-import.ts';
import {
  alignColumns,
  answerAsJson,
  type Command,
  type CommandCall,
  CommandError,
  type CommandResult,
  EXIT,
  openNewFile,
  UsageError,
} from './command.ts';
import { sumData, sumLines } from './import-report.ts';
import { withDifferenceFile, writeFiles, writtenInto } from './import-report-files.ts';
import { withApp } from './open-service.ts';

/** What every command says of its first word. */
export const ADDRESS = [
  'SOURCE is one of',
  '  postgresql://user:password@host:5432/name    a role that can only read is enough',
  '  a file *.db, *.sqlite or *.sqlite3           stop the bot first',
  '  backup_*.tar.gz or backup_*.tar              as the bot writes them',
];

export const ACCEPT_INCOMPLETE = { 'accept-incomplete': { type: 'boolean' } } as const;
export const ACCEPT_LINES = [
  '--accept-incomplete',
  '               read a backup that was made without pg_dump, too; the report names the tables that it leaves out',
];

/** `import verify`: compares source and service again (spec 07 section 10). */
export const importVerifyCommand: Command = {
  name: 'import verify',
  parameters: 'SOURCE [--accept-incomplete]',
  summary: 'Compare the database of an existing bot with what was imported of it, row by row; changes nothing.',
  details: [
    ...ADDRESS,
    '',
    ...ACCEPT_LINES,
    '',
    'Exit code 1 when a row differs that no deviation of the import explains.',
    'The answer is written into the data folder, too, as import-verify.txt and .json, with every difference in import-differences.jsonl.',
  ].join('\n'),
  options: ACCEPT_INCOMPLETE,
  words: [1, 1],
  run: (call) =>
    withSource(call, (source) =>
      withApp(call, async (app) => {
        const folder = app.env.dataDir;
        const { result, paths } = await withDifferenceFile(folder, (add) => verifyImport(app, source, add));
        const { text, data, ...answer } = verifyAnswer(result);
        const files = await writeFiles(folder, [
          ['import-verify.txt', `${text}\n`],
          ['import-verify.json', `${answerAsJson(data)}\n`],
        ]);
        files.push(...paths);
        return { ...answer, text: [text, '', ...writtenInto(files)].join('\n'), data: { ...data, files } };
      }),
    ),
};

function verifyAnswer({ runId, snapshotAt, differences, differing, explained, sums, checks }: VerifyResult) {
  const isRight = differing === 0 && checks.every(({ isOk }) => isOk);
  const data = {
    ...{ run_id: runId, snapshot_at: snapshotAt.toISOString() },
    ...{ equal: isRight, differing, explained, differences },
    sums: sumData(sums),
    checks: checks.map(({ name, isOk, finding }) => ({ name, ok: isOk, finding })),
  };
  const text = [
    isRight
      ? `Every row is as in the source; ${explained} differ as a deviation of the import says.`
      : `${differing} rows differ, and no deviation of the import says why:`,
    ...differences.slice(0, SHOWN).map((difference) => `  ${difference.table} ${difference.id}: ${whatDiffers(difference)}`),
    ...sumLines(sums),
    '',
    ...checks.map(({ name, isOk, finding }) => `${name}: ${isOk ? 'ok' : finding}`),
  ].join('\n');
  return { text, data, exitCode: isRight ? EXIT.ok : EXIT.failed };
}

const SHOWN = 20;

/** Names only: the values are of persons, and in the data. */
function whatDiffers({ source, target }: Difference): string {
  if (source === null) return 'is not in the source';
  if (target === null) return 'is missing here';
  return Object.keys(source)
    .filter((name) => JSON.stringify(source[name]) !== JSON.stringify(target[name]))
    .join(', ');
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
    return withSource({ words: [options.source], options: {} }, async (source) =>
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

/** Opens the source that a command names, and closes it after the work; a refusal is the answer. */
export async function withSource(
  { words, options }: Pick<CommandCall, 'words' | 'options'>,
  work: (source: ImportSource) => Promise<CommandResult>,
): Promise<CommandResult> {
  const address = words[0]!;
  try {
    const source = await openImportSource(address, new Date(), options['accept-incomplete'] === true);
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
