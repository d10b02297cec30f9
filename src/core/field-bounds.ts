import { countCharacters } from './characters.ts';
import { ValidationError, type ValidationIssue } from './errors.ts';

/** The largest number that a column can store. */
const MAX_INTEGER = 2_147_483_647;

/** A request field whose bounds the contract leaves open but the database does not. */
export interface BoundField {
  name: string;
  value: string | number | null | undefined;
  /** Of a text, in characters as the contract and the database count them: an emoji is one. */
  maxLength?: number;
  /** Of a text; leading and trailing blanks do not count. */
  minLength?: number;
  /** Of a number. */
  min?: number;
  /** Of a number; left out: what a column can store. */
  max?: number;
}

/** @throws ValidationError 422 that names every field out of bounds, as the schema layer would (spec 00, HTTP) */
export function checkBounds(fields: readonly BoundField[]): void {
  const issues = fields.map(issueOf).filter((issue) => issue !== null);
  if (issues.length > 0) throw new ValidationError(issues);
}

function issueOf({ name, value, maxLength, minLength, min, max = MAX_INTEGER }: BoundField): ValidationIssue | null {
  const issue = (type: string, msg: string, ctx: Record<string, unknown>) => ({
    loc: ['body', name],
    type,
    msg,
    input: value,
    ctx,
  });
  if (typeof value === 'number') {
    if (min !== undefined && value < min) {
      return issue('greater_than_equal', `Input should be greater than or equal to ${min}`, { ge: min });
    }
    return Math.abs(value) > max ? issue('less_than_equal', `Input should be less than or equal to ${max}`, { le: max }) : null;
  }
  if (typeof value !== 'string') return null;
  if (minLength !== undefined && value.trim().length < minLength) {
    return issue('string_too_short', `String should have at least ${minLength} character`, { min_length: minLength });
  }
  return maxLength !== undefined && countCharacters(value) > maxLength
    ? issue('string_too_long', `String should have at most ${maxLength} characters`, { max_length: maxLength })
    : null;
}
