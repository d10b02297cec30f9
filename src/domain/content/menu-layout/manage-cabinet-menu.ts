import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import {
  type CabinetMenu,
  DEFAULT_CABINET_MENU,
  type FilledRow,
  fillRows,
  readCabinetMenu,
  withRows,
} from './cabinet-menu-rules.ts';
import { findLayout, lockLayout, storeLayout } from './repo.ts';

/** Name of the document of the cabinet mode's menu. */
const CABINET_LAYOUT = 'cabinet';

/** The menu of the cabinet mode, cleaned (spec 05 section 8). */
export async function readCabinetLayout(app: App): Promise<FilledRow[]> {
  const row = await findLayout(app.db, CABINET_LAYOUT);
  return fillRows(row ? readCabinetMenu(JSON.parse(row.document)) : DEFAULT_CABINET_MENU);
}

/** Reads, changes and writes under the document's lock, so that parallel changes are sequential. */
function edit(app: App, change: (menu: CabinetMenu) => CabinetMenu): Promise<FilledRow[]> {
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    const stored = await lockLayout(t.db, CABINET_LAYOUT, JSON.stringify(DEFAULT_CABINET_MENU), now);
    const before = readCabinetMenu(JSON.parse(stored));
    const after = change(before);
    await storeLayout(t.db, CABINET_LAYOUT, JSON.stringify(after), now);
    t.audit?.record({ resourceId: 'menu-layout', before: { rows: fillRows(before) }, after: { rows: fillRows(after) } });
    return fillRows(after);
  });
}

/**
 * Replaces the rows; sections that they do not contain keep their looks.
 * @throws AppError 400 for the first error
 */
export function saveCabinetLayout(app: App, rows: readonly FilledRow[]): Promise<FilledRow[]> {
  return edit(app, (menu) => withRows(menu, rows));
}

/** Restores the default layout and looks. */
export function resetCabinetLayout(app: App): Promise<FilledRow[]> {
  return edit(app, () => DEFAULT_CABINET_MENU);
}
