import type { ComparedSum } from '../domain/import/compare-sums.ts';
import { type ReportedDeviation, readReport } from '../domain/import/report-import.ts';
import type { FinishedPass, ImportResult } from '../domain/import/run-import.ts';
import { alignColumns, type Command, CommandError, wholeNumber } from './command.ts';
import { lostRecord } from './import-report-files.ts';
import { withApp } from './open-service.ts';

/** `import report`: what a pass has found (spec 07 section 10). */
export const importReportCommand: Command = {
  name: 'import report',
  parameters: '[--pass NUMBER]',
  summary:
    'Print what an import has done and found: rows by table, sums of both sides, deviations, what a person should look at.',
  details:
    'Without --pass the last one. With --json every deviation has its rows, up to a thousand of each code. Ids only, no secret.',
  options: { pass: { type: 'string' } },
  words: [0, 0],
  run: (call) =>
    withApp(call, async (app) => {
      const { pass } = call.options;
      const report = await readReport(app, typeof pass === 'string' ? wholeNumber(pass, '--pass', 1_000) : null);
      if (report === null) throw new CommandError('Nothing was imported into this service, or not by that pass.');
      const { runId, result, deviations, lost, sourceKind: kind, snapshotAt, startedAt, finishedAt } = report;
      const seconds = Math.round((finishedAt.getTime() - startedAt.getTime()) / 1_000);
      const shown = { ...result, runId, snapshotAt, deviations, lost };
      return { text: passText(shown, { kind, seconds }), data: passData(shown, { kind, seconds }) };
    }),
};

interface Head {
  kind: string;
  seconds: number;
}

const KINDS: Readonly<Record<ReportedDeviation['kind'], string>> = {
  listed: 'Look at these before the switch-over:',
  parked: 'Kept aside:',
  repaired: 'Repaired:',
  information: 'For information:',
};

/** The report of a pass for people: ids are in its data only. */
export function passText(result: FinishedPass, { kind, seconds }: Head): string {
  const { runId, pass, revision, versions, leftOut, source, sums, deviations, lost, changes, snapshotAt } = result;
  const changed = Object.entries(changes ?? {}).filter(([, { added, changed: rows, removed }]) => added + rows + removed > 0);
  const done = changed.length === 0 && changes !== null ? 'Nothing has changed since the last pass,' : 'Imported,';
  return [
    runId === null ? 'Nothing was imported; a run would do this:' : `${done} as of ${snapshotAt.toISOString()}:`,
    `Pass ${pass} from a ${kind} source of revision ${revision} (${versions.releases}), in ${seconds} s.`,
    `By version ${versions.service} of this service, whose rules know sources up to revision ${versions.rules}.`,
    ...(changed.length === 0
      ? []
      : [
          '',
          alignColumns([
            ['TABLE', 'ADDED', 'CHANGED', 'REMOVED'],
            ...changed.map(([name, { added, changed: rows, removed }]) => [name, ...[added, rows, removed].map(String)]),
          ]),
        ]),
    '',
    fatesTable(source),
    ...(leftOut.length === 0 ? [] : ['', `Not in the backup, or without a row there: ${leftOut.join(', ')}.`]),
    ...lostLines(lost),
    ...(Object.keys(KINDS) as ReportedDeviation['kind'][]).flatMap((of) => {
      const rows = deviations.filter((deviation) => deviation.kind === of);
      return rows.length === 0 ? [] : ['', KINDS[of], alignColumns(rows.flatMap(deviationLines))];
    }),
    '',
    'Sums there, before any of these rules, and here:',
    ...sumLines(sums),
  ].join('\n');
}

/** Tables are named where the rows are about money: it is settled by them. */
function deviationLines({ count, code, text, tables }: ReportedDeviation): string[][] {
  const money = Object.entries(tables).filter(([, { kopeks }]) => kopeks !== null);
  return [
    ['', String(count), code, text],
    ...money.map(([table, of]) => ['', '', '', `${table}: ${of.count} rows, ${of.kopeks} kopeks`]),
  ];
}

/** Rows of each table of the source that has some. */
function fatesTable(source: ImportResult['source']): string {
  const filled = Object.entries(source).filter(([, { read }]) => read > 0);
  return alignColumns([
    ['TABLE', 'READ', 'KEPT', 'MERGED', 'PARKED', 'DROPPED'],
    ...filled.map(([name, { read, kept, merged, parked, dropped }]) => [
      name,
      ...[read, kept, merged, parked, dropped].map(String),
    ]),
  ]);
}

/** Rows of a sum that a text shows; those that differ come first. */
const SHOWN = 20;

export function sumLines(sums: readonly ComparedSum[]): string[] {
  return sums.flatMap(({ name, rows }) => [
    '',
    `${name}:`,
    alignColumns([
      ['', 'KEY', 'ROWS THERE', 'HERE', 'KOPEKS THERE', 'HERE'],
      ...rows
        .slice(0, SHOWN)
        .map((row) => [
          ...['', row.key ?? '-'],
          ...[row.sourceRows, row.targetRows, row.sourceKopeks, row.targetKopeks].map(String),
        ]),
    ]),
    ...(rows.length > SHOWN ? [`  and ${rows.length - SHOWN} more, which are equal or in the data of --json`] : []),
  ]);
}

export const sumData = (sums: readonly ComparedSum[]) =>
  sums.map(({ name, rows }) => ({
    name,
    rows: rows.map(({ key, sourceRows, targetRows, sourceKopeks, targetKopeks }) => ({
      ...{ key, source_rows: sourceRows, target_rows: targetRows, source_kopeks: sourceKopeks, target_kopeks: targetKopeks },
    })),
  }));

function sumOfLost(lost: FinishedPass['lost']) {
  return {
    users: new Set(lost.map(({ userId }) => userId)).size,
    subscriptions: lost.length,
    days: lost.reduce((sum, { days }) => sum + days, 0),
    kopeks: lost.reduce((sum, { kopeks }) => sum + (kopeks ?? 0), 0),
    without_price: lost.filter(({ kopeks }) => kopeks === null).length,
  };
}

function lostLines(lost: FinishedPass['lost']): string[] {
  if (lost.length === 0) return [];
  const { users, subscriptions, days, kopeks, without_price: without } = sumOfLost(lost);
  return [
    '',
    `${users} people lose ${subscriptions} live subscriptions: ${days} days, ${kopeks} kopeks at today's prices, ${without} without a price.`,
  ];
}

/** Lost subscriptions that the data names; the list beside it has all of them. */
const NAMED = 1_000;

export function passData(result: FinishedPass, { kind, seconds }: Head) {
  const { runId, pass, snapshotAt, revision, versions, leftOut, source, tables, issues, sums, changes, deviations, lost } =
    result;
  const fates = Object.entries(source).map(([name, { parkedColumns, ...rows }]) => [
    name,
    { ...rows, parked_columns: parkedColumns },
  ]);
  return {
    ...{ run_id: runId, pass, source_kind: kind, revision, versions, snapshot_at: snapshotAt, seconds },
    ...{
      left_out: leftOut,
      source: Object.fromEntries(fates) as unknown,
      tables,
      sums: sumData(sums),
      issues,
      changes,
      deviations,
    },
    lost: sumOfLost(lost),
    lost_subscriptions: lost.slice(0, NAMED).map(lostRecord),
  };
}
