import { ValidationError } from '../../../core/errors.ts';
import type { TrafficResetMode } from '../types.ts';

const RESET_MODES: readonly TrafficResetMode[] = ['DAY', 'WEEK', 'MONTH', 'NO_RESET'];

/** @throws ValidationError 422 for a value that the panel does not support */
export function checkResetMode(value: string | null | undefined): TrafficResetMode | null | undefined {
  if (value === null || value === undefined) return value;
  const mode = RESET_MODES.find((known) => known === value.trim().toUpperCase());
  if (mode) return mode;
  const expected = "'DAY', 'WEEK', 'MONTH' or 'NO_RESET'";
  const msg = `Input should be ${expected}`;
  throw new ValidationError([
    { loc: ['body', 'traffic_reset_mode'], type: 'literal_error', msg, input: value, ctx: { expected } },
  ]);
}
