import { UsageError } from './command.ts';

/** A day, and optionally a time with or without zone. */
const FORM = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/;

/** An option that is a day (its midnight UTC) or a date with time, without a zone in UTC. @throws UsageError also for a day that does not exist */
export function momentOf(value: string | boolean | undefined, name: string): Date {
  const [, day, time = '00:00', zone = 'Z'] = FORM.exec(String(value ?? '')) ?? [];
  const moment = new Date(`${day}T${time}${zone}`);
  // The 31st of a shorter month would be a day of the next one.
  const isDay = day !== undefined && new Date(`${day}T00:00Z`).toJSON()?.startsWith(day);
  if (!isDay || Number.isNaN(moment.getTime())) throw new UsageError(`${name} needs a date, for example 2026-11-01`);
  return moment;
}
