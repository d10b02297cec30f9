import { repeatedIn, setText } from './edits.ts';
import { buttonOf } from './rules.ts';
import type { LayoutProblem, MenuDocument } from './types.ts';

/** Errors and warnings of a layout (spec 05 section 7.3). */
export function validateLayout(document: Pick<MenuDocument, 'rows' | 'buttons'>): {
  errors: LayoutProblem[];
  warnings: LayoutProblem[];
} {
  const errors: LayoutProblem[] = [];
  const warnings: LayoutProblem[] = [];
  const repeated = repeatedIn(document.rows.map((row) => row.id));
  if (repeated.length > 0) errors.push({ field: 'rows', message: `Duplicate row IDs: ${setText(repeated)}`, severity: 'error' });
  for (const row of document.rows) {
    if (row.buttons.length === 0) warnings.push({ field: `rows.${row.id}`, message: 'Row has no buttons', severity: 'warning' });
    for (const id of row.buttons.filter((each) => !buttonOf(document, each))) {
      errors.push({ field: `rows.${row.id}.buttons`, message: `Button '${id}' not found`, severity: 'error' });
    }
  }
  const disabled = Object.values(document.buttons).filter((button) => !button.enabled).length;
  if (disabled > 0) warnings.push({ field: 'buttons', message: `${disabled} buttons are disabled`, severity: 'warning' });
  return { errors, warnings };
}
