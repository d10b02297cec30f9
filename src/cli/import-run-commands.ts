import { readVersion } from '../composition/service.ts';
import type { App } from '../core/app.ts';
import { loadEnv } from '../core/env.ts';
import { requireUnused } from '../domain/import/apply-import.ts';
import { checkSource, type SourceFindings } from '../domain/import/check-source.ts';
import { ImportRefused, type ImportSource } from '../domain/import/import-source.ts';
import { type FinishedPass, isUnderWay, type RunOptions, runImport } from '../domain/import/run-import.ts';
import {
  alignColumns,
  type Command,
  type CommandCall,
  CommandError,
  type CommandResult,
  EXIT,
  UsageError,
  wholeNumber,
} from './command.ts';
import { describeFailure } from './describe-failure.ts';
import { ACCEPT_INCOMPLETE, ACCEPT_LINES, ADDRESS, withSource } from './import-commands.ts';
import { printProgress } from './import-progress.ts';
import { passData, passText } from './import-report.ts';
import { writeReportFiles, writtenInto } from './import-report-files.ts';
import { hasEmbeddedData, withApp } from './open-service.ts';

/** Of every pass; what is chosen for the first one is given again for each later one. */
const PASS_OPTIONS: NonNullable<Command['options']> = {
  ...{ restart: { type: 'boolean' }, 'with-logs': { type: 'boolean' }, throttle: { type: 'string' } },
  ...{ subscriptions: { type: 'string' }, 'provider-subscriptions': { type: 'string' }, negative: { type: 'string' } },
  ...ACCEPT_INCOMPLETE,
};

const CHOICES =
  '[--with-logs] [--subscriptions CHOICE] [--provider-subscriptions CHOICE] [--negative CHOICE] [--accept-incomplete] [--throttle ROWS]';

const CHOICE_LINES = [
  '--with-logs    keep the technical logs of the bot aside, too',
  '--subscriptions refuse|keep-latest',
  '               of several live subscriptions of a user the one that ends last stays, the others are kept aside; without it refused',
  '--provider-subscriptions refuse|leave',
  '               subscriptions that a provider charges by itself are kept aside; without it refused',
  '--negative list|refuse',
  '               a balance below zero becomes 0 and is listed, or the import is refused; without it list',
  ...ACCEPT_LINES,
  '--throttle ROWS',
  '               rows a second at most while the source is read',
];

const EXIT_LINE =
  'Exit code 0 = done, 2 = refused: one sentence says why, one what to do, 3 = stopped: the same command goes on.';

/** `import check`: whether and how a source would be imported, without writing (spec 07 section 9). */
export const importCheckCommand: Command = {
  name: 'import check',
  parameters: `SOURCE [--quick] ${CHOICES}`,
  summary:
    'Say whether the database of an existing bot can be imported, what is in it and what would become of it; changes nothing.',
  details: [
    ...ADDRESS,
    '',
    '--quick        what can be known without reading every row; else, where the database of the service is there and empty, everything',
    '               is prepared as import run --dry-run does it, with the same report',
    ...CHOICE_LINES,
    '',
    EXIT_LINE,
  ].join('\n'),
  options: { quick: { type: 'boolean' }, ...PASS_OPTIONS },
  words: [1, 1],
  run: (call) => {
    const options = readOptions(call, { isDryRun: true, isDelta: false });
    return withSource(call, async (source) => {
      const quick = answerOf(await checkSource(source), options);
      if (call.options.quick === true || quick.exitCode === EXIT.usage) return quick;
      const tried = await tryWhole(call, source, options);
      return { ...tried, text: `${quick.text}\n\n${tried.text}`, data: { ...(quick.data as object), ...(tried.data as object) } };
    });
  },
};

const NOT_TRIED = 'What would become of each row was not tried: ';

async function tryWhole(call: CommandCall, source: ImportSource, options: PassOptions): Promise<CommandResult> {
  const { databaseUrl, dataDir } = loadEnv(call.terminal.source);
  if (databaseUrl === null && !(await hasEmbeddedData(dataDir)))
    return { text: `${NOT_TRIED}no database of the service is set up (DATABASE_URL).`, data: { dry_run: null } };
  return withApp(call, async (app) => {
    try {
      await requireUnused(app.db.sql);
    } catch (error) {
      if (!(error instanceof ImportRefused)) throw error;
      return { text: `${NOT_TRIED}${error.message}`, data: { dry_run: null } };
    }
    if (await isUnderWay(app.db))
      return { text: `${NOT_TRIED}an import was interrupted, which goes on by import run.`, data: { dry_run: null } };
    const { text, data, exitCode } = await runPass(call, app, source, options);
    return { text, data: { dry_run: data }, ...(exitCode === undefined ? {} : { exitCode }) };
  });
}

/** `import run`: the import itself (spec 07 section 9). */
export const importRunCommand: Command = {
  name: 'import run',
  parameters: `SOURCE [--dry-run] [--restart] ${CHOICES}`,
  summary: 'Import the database of an existing bot into this empty service; all or nothing.',
  details: [
    ...ADDRESS,
    '',
    '--dry-run      prepare everything and print the report; nothing reaches the service, which need not be empty',
    '--restart      begin again instead of going on where an interrupted run ended',
    ...CHOICE_LINES,
    '',
    'Stop the service first. The same command goes on after an interruption; until it has ended the service stays empty.',
    'The report is written into the data folder, too, as import-report-*; people who lose a subscription as import-lost-subscriptions-*.csv.',
    EXIT_LINE,
  ].join('\n'),
  options: { 'dry-run': { type: 'boolean' }, ...PASS_OPTIONS },
  words: [1, 1],
  run: (call) => {
    const options = readOptions(call, { isDryRun: call.options['dry-run'] === true, isDelta: false });
    return withSource(call, (source) => withApp(call, (app) => runPass(call, app, source, options)));
  },
};

/** `import delta`: the last pass before the switch-over. */
export const importDeltaCommand: Command = {
  name: 'import delta',
  parameters: `SOURCE [--restart] ${CHOICES}`,
  summary:
    'Take over what changed in the database of an existing bot since it was imported; the service must not have been started.',
  details: [
    ...ADDRESS,
    '',
    'The options are those of import run. A row that was changed here meanwhile stops it, and nothing is changed.',
    EXIT_LINE,
  ].join('\n'),
  options: PASS_OPTIONS,
  words: [1, 1],
  run: (call) => {
    const options = readOptions(call, { isDryRun: false, isDelta: true });
    return withSource(call, (source) => withApp(call, (app) => runPass(call, app, source, options)));
  },
};

type PassOptions = Omit<RunOptions, 'progress' | 'position' | 'signal' | 'serviceVersion'>;

const MAX_THROTTLE = 10_000_000;

/** @throws UsageError */
function readOptions(call: CommandCall, pass: { isDryRun: boolean; isDelta: boolean }): PassOptions {
  const { throttle } = call.options;
  return {
    ...{ ...pass, restarts: call.options.restart === true, withLogs: call.options['with-logs'] === true },
    subscriptions: choiceOf(call, 'subscriptions', ['refuse', 'keep-latest']),
    providerSubscriptions: choiceOf(call, 'provider-subscriptions', ['refuse', 'leave']),
    negative: choiceOf(call, 'negative', ['list', 'refuse']),
    acceptIncomplete: call.options['accept-incomplete'] === true,
    throttle: typeof throttle === 'string' ? wholeNumber(throttle, '--throttle', MAX_THROTTLE) : null,
  };
}

/** What an option chooses; the first choice without it. */
function choiceOf<Choice extends string>(
  { options }: CommandCall,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const given = options[name] ?? choices[0];
  const choice = choices.find((known) => known === given);
  if (choice === undefined) throw new UsageError(`--${name} is ${choices.join(' or ')}, not "${String(given)}".`);
  return choice;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

async function runPass(call: CommandCall, app: App, source: ImportSource, options: PassOptions): Promise<CommandResult> {
  const startMs = performance.now();
  const stop = new AbortController();
  const onSignal = () => {
    call.progress('Stopping before the next rows or step …');
    stop.abort();
    // The next one ends the process at once, which loses the step that is under way.
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const { move, end } = printProgress(call.progress);
  try {
    const watch = { progress: call.progress, position: move, signal: stop.signal };
    const pass = await runImport(app, source, { ...options, ...watch, serviceVersion: await readVersion() });
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    const text = passText(pass, { kind: source.kind, seconds });
    const data = passData(pass, { kind: source.kind, seconds });
    const files = await reportFiles(app.env.dataDir, pass, { text, data });
    return { text: `${text}\n\n${files.text}`, data: { ...data, files: files.paths } };
  } catch (error) {
    // Any failure: the answer says which, and the same command goes on.
    if (error instanceof ImportRefused || error instanceof UsageError) throw error;
    return stopped(call, error);
  } finally {
    end();
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

/** Whatever ended it, nothing has reached the service, and the steps that were over are kept. */
function stopped(call: CommandCall, error: unknown): CommandResult {
  if (call.isVerbose && error instanceof Error) call.progress(String(error.stack));
  const message = `${describeFailure(error)}\nNothing of this pass has reached the service. The same command goes on where it was.`;
  return { text: message, data: { code: 'import_stopped', message }, exitCode: EXIT.stopped };
}

/** The rows are in the service by now: files that cannot be written must not look like a failure of the import. */
async function reportFiles(
  folder: string,
  pass: FinishedPass,
  report: { text: string; data: unknown },
): Promise<{ text: string; paths: string[] }> {
  try {
    const paths = await writeReportFiles(folder, { pass, ...report });
    return { text: writtenInto(paths).join('\n'), paths };
  } catch (error) {
    // Any failure: a folder that cannot be written, a full disk; no database is asked.
    const why = error instanceof CommandError ? error.message : String((error as NodeJS.ErrnoException).code ?? error);
    return { text: `The files of the report could not be written: ${why}`, paths: [] };
  }
}

/** What an import does on two cores and 4 GB at least (spec 07 section 9). */
const ROWS_PER_SECOND = 9_000;

function answerOf(findings: SourceFindings, options: PassOptions): CommandResult {
  const { kind, snapshotAt, revision, tables, liveSubscriptions } = findings;
  const chosen = new Set([
    ...(options.subscriptions === 'keep-latest' ? ['source_has_multiple_subscriptions'] : []),
    ...(options.providerSubscriptions === 'leave' ? ['source_has_provider_subscriptions'] : []),
  ]);
  const refusals = findings.refusals.filter(({ code }) => !chosen.has(code));
  const filled = tables.filter(({ rows }) => rows > 0);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const minutes = Math.max(1, Math.ceil(rows / ROWS_PER_SECOND / 60));
  const data = {
    source: kind,
    revision: revision.text,
    releases: revision.releases,
    snapshot_at: snapshotAt.toISOString(),
    live_subscriptions: liveSubscriptions,
    minutes_at_most: minutes,
    tables: Object.fromEntries(tables.map(({ name, rows: count, fate }) => [name, { rows: count, fate }])),
    refusals: refusals.map(({ code, message, details }) => ({ code, message, details })),
  };
  const verdict =
    refusals.length === 0
      ? [`It can be imported, on two cores in about ${minutes} min at most.`]
      : ['It cannot be imported as it is:', ...refusals.map(({ message }) => `- ${message}`)];
  const text = [
    `Revision ${revision.text} (${revision.releases}), as of ${snapshotAt.toISOString()}; ${liveSubscriptions} live subscriptions.`,
    '',
    alignColumns([['TABLE', 'ROWS', 'BECOMES'], ...filled.map(({ name, rows: count, fate }) => [name, String(count), fate])]),
    '',
    ...verdict,
  ].join('\n');
  return { text, data, exitCode: refusals.length === 0 ? EXIT.ok : EXIT.usage };
}
