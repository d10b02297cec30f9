import type { BanSetting } from '../../domain/ban-system/types.ts';
import { type Fields, fieldsOf, flag, integerOr, isFields, textOr } from './read-values.ts';

/** Of `{settings: {key: value}}`, in its order. */
export function readSettings(answer: unknown): BanSetting[] {
  return Object.entries(fieldsOf(fieldsOf(answer).settings)).map(([key, value]) => readSetting(key, value));
}

/**
 * A setting: an object that describes it, or a bare value, whose type is read from it.
 * @param typeOtherwise of an object that does not name the type
 */
export function readSetting(key: string, answer: unknown, typeOtherwise = 'str'): BanSetting {
  const row: Fields = isFields(answer) ? answer : { value: answer, type: typeOf(answer) };
  return {
    key,
    value: row.value ?? null,
    type: textOr(row.type, typeOtherwise),
    minValue: integerOr(row.min, null),
    maxValue: integerOr(row.max, null),
    editable: flag(row.editable, true),
    description: textOr(row.description, null),
    category: textOr(row.category, null),
  };
}

/** Whether the answer to a change says what the value is now. */
export function hasValue(answer: unknown): boolean {
  return isFields(answer) ? 'value' in answer : answer !== null;
}

function typeOf(value: unknown): string {
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return Array.isArray(value) ? 'list' : 'str';
}
