import { UsageError } from './command.ts';

/** Reads a whole number from 1 to `max` of a command. @throws UsageError */
export function wholeNumber(text: string, name: string, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max) throw new UsageError(`${name} must be a whole number from 1 to ${max}, not "${text}".`);
  return value;
}
