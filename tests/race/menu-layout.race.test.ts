import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { saveCabinetLayout } from '../../src/domain/content/menu-layout/cabinet-menu.ts';
import { editLayout, rollbackLayout } from '../../src/domain/content/menu-layout/edit-layout.ts';
import { addButton, moveButtonToRow } from '../../src/domain/content/menu-layout/edits.ts';
import { listHistory, readButton, readLayout } from '../../src/domain/content/menu-layout/layout.ts';
import type { MenuDocument } from '../../src/domain/content/menu-layout/types.ts';
import { won } from '../support/parallel.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

const PARALLEL = 20;
const actor = { kind: 'token', tokenId: 1, name: 'racer' } as const;
const button = readButton({ type: 'callback', text: { ru: 'x' }, action: 'x' });

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('menu layout raced', () => {
  let apps: App[];
  beforeAll(async () => {
    const one = await testApp();
    apps = [one.app, (await testApp({ clock: one.clock })).app];
  });
  beforeEach(() => apps[0]!.db.sql('DELETE FROM menu_layouts'));
  const edit = (n: number, change: (document: MenuDocument) => MenuDocument) =>
    editLayout(apps[n % 2]!, actor, { action: 'update', summary: `edit ${n}`, change });
  const add = (n: number) => edit(n, (document) => addButton(document, `b${n}`, button, 'balance_row'));
  const numbers = Array.from({ length: PARALLEL }, (_none, n) => n);

  it('loses no concurrent edit of two instances, the first of which creates the row', async () => {
    await Promise.all(numbers.map(add));
    const { document } = await readLayout(apps[0]!);
    const row = document.rows.find((each) => each.id === 'balance_row')!;
    expect(new Set(row.buttons)).toEqual(new Set(['balance', ...numbers.map((n) => `b${n}`)]));
    const { items, total } = await listHistory(apps[0]!, { limit: 200, offset: 0 });
    expect(total).toBe(PARALLEL);
    expect(new Set(items.map((entry) => entry.changesSummary)).size).toBe(PARALLEL);
  });

  it('gives one id to one of many new buttons', async () => {
    const results = await Promise.allSettled(
      numbers.map((n) => edit(n, (document) => addButton(document, 'wanted', button, 'balance_row'))),
    );
    expect(won(results)).toHaveLength(1);
    expect((await listHistory(apps[0]!, { limit: 200, offset: 0 })).total).toBe(1);
  });

  it('keeps each button in one place during concurrent edits and rollbacks (spec 05 section 16, invariant 6)', async () => {
    await Promise.all(numbers.slice(0, 5).map(add));
    const [entry] = (await listHistory(apps[0]!, { limit: 1, offset: 0 })).items;
    const targets = ['happ_row', 'trial_buy_row', 'contests_row'];
    await Promise.all(
      numbers.map((n) =>
        n % 4 === 3
          ? rollbackLayout(apps[n % 2]!, actor, entry!.id)
          : edit(n, (document) => moveButtonToRow(document, `b${n % 5}`, targets[n % 3]!, 0)),
      ),
    );
    const { document } = await readLayout(apps[1]!);
    const placed = document.rows.flatMap((row) => row.buttons);
    expect(new Set(placed).size).toBe(placed.length);
    expect(placed.toSorted()).toEqual(Object.keys(document.buttons).toSorted());
    const { items } = await listHistory(apps[0]!, { limit: 200, offset: 0 });
    for (const [index, { action }] of items.entries()) {
      if (action === 'rollback') expect(items[index + 1]!.action).toBe('rollback_backup');
    }
  });

  it('keeps all concurrent changes of styles in different sections of the cabinet menu', async () => {
    const sections = ['home', 'subscription', 'balance', 'referral', 'support', 'info', 'admin', 'language'];
    const fields = { type: 'builtin', style: 'default', enabled: false, labels: {}, url: null, open_in: 'external' } as const;
    await Promise.all(
      sections.map((id, n) =>
        saveCabinetLayout(apps[n % 2]!, [
          { id: 'r', max_per_row: 1, buttons: [{ id, icon_custom_emoji_id: `icon-${id}`, ...fields }] },
        ]),
      ),
    );
    const [row] = await apps[0]!.db.sql<{ document: { styles: Record<string, { icon_custom_emoji_id: string }> } }>(
      "SELECT document FROM menu_layouts WHERE name = 'cabinet'",
    );
    for (const id of sections) expect(row!.document.styles[id]!.icon_custom_emoji_id).toBe(`icon-${id}`);
  });
});
