import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { type LookChanges, type SectionLooks, withLooks } from './button-look-rules.ts';
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
  return fillRows(await readMenu(app));
}

/** The looks of the sections. */
export async function readButtonLooks(app: App): Promise<SectionLooks> {
  return (await readMenu(app)).styles;
}

async function readMenu(app: App): Promise<CabinetMenu> {
  const row = await findLayout(app.db, CABINET_LAYOUT);
  return row ? readCabinetMenu(JSON.parse(row.document)) : DEFAULT_CABINET_MENU;
}

/**
 * Reads, changes and writes under the document's lock, so that parallel changes are sequential.
 * @param recorded what the audit log shows of the menu before and after
 */
function edit(
  app: App,
  change: (menu: CabinetMenu) => CabinetMenu,
  recorded: { resourceId: string; part: (menu: CabinetMenu) => Record<string, unknown> },
): Promise<CabinetMenu> {
  return inTransaction(app, async (t) => {
    const now = t.clock.now();
    const stored = await lockLayout(t.db, CABINET_LAYOUT, JSON.stringify(DEFAULT_CABINET_MENU), now);
    const before = readCabinetMenu(JSON.parse(stored));
    const after = change(before);
    await storeLayout(t.db, CABINET_LAYOUT, JSON.stringify(after), now);
    t.audit?.record({ resourceId: recorded.resourceId, before: recorded.part(before), after: recorded.part(after) });
    return after;
  });
}

const LAYOUT = { resourceId: 'menu-layout', part: (menu: CabinetMenu) => ({ rows: fillRows(menu) }) };
const LOOKS = { resourceId: 'button-styles', part: ({ styles }: CabinetMenu) => ({ styles }) };

/**
 * Replaces the rows; sections that they do not contain keep their looks.
 * @throws AppError 400 for the first error
 */
export async function saveCabinetLayout(app: App, rows: readonly FilledRow[]): Promise<FilledRow[]> {
  return fillRows(await edit(app, (menu) => withRows(menu, rows), LAYOUT));
}

/** Restores the default layout and looks. */
export async function resetCabinetLayout(app: App): Promise<FilledRow[]> {
  return fillRows(await edit(app, () => DEFAULT_CABINET_MENU, LAYOUT));
}

/**
 * Changes the given fields of the given sections.
 * @throws AppError 400 for the first error; nothing is changed then
 */
export async function changeButtonLooks(app: App, changes: LookChanges): Promise<SectionLooks> {
  return (await edit(app, (menu) => ({ ...menu, styles: withLooks(menu.styles, changes) }), LOOKS)).styles;
}

/** Restores the default looks of all sections, that of the language button too; rows and custom buttons remain. */
export async function resetButtonLooks(app: App): Promise<SectionLooks> {
  return (await edit(app, (menu) => ({ ...menu, styles: DEFAULT_CABINET_MENU.styles }), LOOKS)).styles;
}
