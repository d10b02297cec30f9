import { UsageError } from './command.ts';

/** An option that is a day (its midnight UTC) or a date with time. @throws UsageError */
export function momentOf(value: string | boolean | undefined, name: string): Date {
  const text = String(value ?? '');
  const moment = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(moment.getTime()))
    throw new UsageError(`${name} needs a date, for example 2026-11-01`);
  return moment;
}
