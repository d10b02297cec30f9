/** A measured value beside its aim, for the table of aims and for `--strict`. */
import { type Aim, meets } from './statistics.ts';

export interface Verdict {
  subject: string;
  value: number;
  text: string;
  aim: Aim;
  isMet: boolean;
}

export function verdictOf(subject: string, value: number, aim: Aim, show: (value: number) => string): Verdict {
  return { subject, value, text: show(value), aim, isMet: meets(value, aim) };
}

export function describeAim(aim: Aim): string {
  return aim.atLeast === undefined ? `<= ${aim.atMost}` : `>= ${aim.atLeast}`;
}

/** Shows a value with a number of digits and a unit. */
export const withUnit = (digits: number, unit: string) => (value: number) => `${value.toFixed(digits)}${unit}`;

export const asMs = withUnit(1, ' ms');
export const asMultiple = withUnit(2, ' x');
/** A share of 0 to 1 as per cent. */
export const asPercent = (value: number) => `${(value * 100).toFixed(1)} %`;

/** A table in Markdown. */
export function table(head: string[], rows: string[][]): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n');
}
