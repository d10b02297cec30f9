/** What clients were answered, and what the instances wrote to their logs. */

import type { Fixture } from './fixture.ts';
import { countsText, type DrillReport, textTable } from './report.ts';
import type { WriteBook } from './write-book.ts';

/** 503 is allowed: it means "try again". Any other answer of 500 or above is a fault of the service. @returns how many of those */
export function proveAnswers(book: WriteBook, report: DrillReport): number {
  const faults = book.unexpected.filter((answer) => answer.status >= 500);
  const refusals = book.unexpected.filter((answer) => answer.status < 500);
  const text = (answer: (typeof faults)[number]) => `${answer.at} ${answer.operation} ${answer.status} ${answer.body}`;
  const others = book.total((status) => status >= 500 && status !== 503);
  report.add(
    'no 500 of the service',
    `${faults.length} not provoked of ${others} answers of 500 and above except 503`,
    faults.map(text),
  );
  report.add(
    'no refusal of a correct request',
    `${refusals.length} answers from 300 to 499 except 409 and 429`,
    refusals.map(text),
  );
  report.add(
    '503 has Retry-After',
    `${book.total((status) => status === 503)} answers of 503`,
    [...book.withoutRetryAfter].map(([operation, count]) => `${operation}: ${count} without`),
  );
  return faults.length;
}

/** An instance may be ended by the drill, never by itself. */
export function proveInstances(fixture: Pick<Fixture, 'instances'>, report: DrillReport): void {
  const crashes = fixture.instances.flatMap((instance) => instance.crashes);
  report.add('no instance ended by itself', `${fixture.instances.length} instances, ${crashes.length} crashes`, crashes);
}

/** Answers by operation and status. */
export function renderAnswers(book: WriteBook): string {
  const rows = [...book.statuses].map(([operation, byStatus]) => [operation, countsText(byStatus)]);
  const lost = book.problems.size === 0 ? [] : [`Requests without an answer: ${countsText(book.problems)}`];
  return [textTable(['operation', 'answers by status (0 = none)'], rows), ...lost].join('\n');
}

/** Errors in the logs by message, the most frequent first. */
export function renderErrors(fixture: Pick<Fixture, 'instances' | 'logFolder'>): string {
  const counts = new Map<string, number>();
  for (const line of fixture.instances.flatMap((instance) => instance.errors)) {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string; code?: string } };
    const key = `${msg ?? ''}: ${err?.code ?? ''} ${(err?.message ?? '').split('\n').at(-1)!.slice(0, 140)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  if (counts.size === 0) return `No errors in the logs (${fixture.logFolder}).`;
  const rows = [...counts].sort(([, a], [, b]) => b - a).map(([key, count]) => [String(count), key]);
  return [`Errors in the logs (${fixture.logFolder}):`, textTable(['count', 'error'], rows.slice(0, 30))].join('\n');
}
