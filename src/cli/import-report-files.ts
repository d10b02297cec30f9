import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { csvLine } from '../core/csv.ts';
import type { LostSubscription } from '../domain/import/report-import.ts';
import type { FinishedPass } from '../domain/import/run-import.ts';
import type { Difference } from '../domain/import/verify-import.ts';
import { answerAsJson, openNewFile } from './command.ts';

interface ReportContents {
  pass: Pick<FinishedPass, 'runId' | 'lost'>;
  text: string;
  data: unknown;
}

/**
 * Writes the report of a pass as text and as data, and the list of people who lose a subscription where there are some (spec 07 sections 1.4
 * and 10), which only the owner of the files can read. Those of an earlier pass of that name are replaced.
 * @returns their paths
 */
export async function writeReportFiles(folder: string, { pass, text, data }: ReportContents): Promise<string[]> {
  const name = pass.runId === null ? 'dry-run' : String(pass.runId);
  const files: [file: string, content: string][] = [
    [`import-report-${name}.txt`, `${text}\n`],
    [`import-report-${name}.json`, `${answerAsJson(data)}\n`],
  ];
  const lost = `import-lost-subscriptions-${name}.csv`;
  // A list of before must not stay where nobody loses anything now.
  await rm(join(folder, lost), { force: true });
  if (pass.lost.length > 0) files.push([lost, lostCsv(pass.lost)]);
  return writeFiles(folder, files);
}

/** Writes files that only their owner can read, in place of earlier ones of their names. @returns their paths */
export async function writeFiles(folder: string, files: readonly [name: string, content: string][]): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const paths: string[] = [];
  for (const [file, content] of files) {
    const path = resolve(folder, file);
    await rm(path, { force: true });
    const handle = await openNewFile(path);
    await handle.writeFile(content).finally(() => handle.close());
    paths.push(path);
  }
  return paths;
}

/**
 * Lets `work` write every difference into a file, a line each: they may be more than memory holds.
 * @returns what it returns, and the path unless there was none
 */
export async function withDifferenceFile<T>(
  folder: string,
  work: (add: (differences: readonly Difference[]) => Promise<void>) => Promise<T>,
): Promise<{ result: T; paths: string[] }> {
  const path = resolve(folder, 'import-differences.jsonl');
  await mkdir(folder, { recursive: true });
  await rm(path, { force: true });
  const handle = await openNewFile(path);
  let isNeeded = false;
  try {
    const result = await work(async (differences) => {
      isNeeded = true;
      await handle.writeFile(differences.map((difference) => `${JSON.stringify(difference)}\n`).join(''));
    });
    return { result, paths: isNeeded ? [path] : [] };
  } finally {
    await handle.close();
    if (!isNeeded) await rm(path, { force: true });
  }
}

export const writtenInto = (paths: readonly string[]) => ['The report is in', ...paths.map((path) => `  ${path}`)];

/** As both the report and the list name it. */
export const lostRecord = (one: LostSubscription) => ({
  ...{ user_id: one.userId, subscription_id: one.subscriptionId, tariff_id: one.tariffId, tariff: one.tariff },
  ...{ end_date: one.endDate, days: one.days, kopeks: one.kopeks, traffic_gb: one.trafficGb },
  ...{ panel_user: one.panelUser, autopay: one.autopay },
});

function lostCsv(lost: readonly LostSubscription[]): string {
  const records = lost.map(lostRecord).map((record) => ({ ...record, autopay: record.autopay ? 'yes' : 'no' }));
  return [Object.keys(records[0]!), ...records.map((record) => Object.values(record))].map(csvLine).join('');
}
