import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { OperationMeta } from '../../../src/routers/operation-meta.ts';
import { appRouter } from '../../../src/routers/root.ts';

const snapshot = join(import.meta.dirname, 'procedure-names.json');
const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, { _def: { meta?: OperationMeta } }>);

/** "Cabinet Admin Promo Groups" is `admin.promoGroups`, "menu-layout" `web.menuLayout`. */
function groupOf(meta: OperationMeta): string {
  const tag = meta.openapi!.tags[0];
  if (tag === 'miniapp') return 'miniapp';
  const area = meta.area === 'web' && meta.openapi!.path.startsWith('/cabinet/') ? 'cabinet' : meta.area;
  const [first, ...rest] = tag.replace(/^(?:Cabinet )?(?:Admin )?/, '').split(/[ -]/);
  return `${area}.${first!.toLowerCase()}${rest.map((word) => word[0]!.toUpperCase() + word.slice(1).toLowerCase()).join('')}`;
}

test('a procedure is found under the tag of its operation', () => {
  const misplaced = procedures.filter(([name, { _def }]) => !name.startsWith(`${groupOf(_def.meta!)}.`)).map(([name]) => name);
  expect(misplaced).toEqual([]);
});

// Clients call these names: one that is gone breaks them. A new one is added by UPDATE_NAMES=1 npm test -- <this file>.
test('no name that clients know has changed', () => {
  const names = procedures.map(([name]) => name).sort();
  if (process.env.UPDATE_NAMES) writeFileSync(snapshot, `${JSON.stringify(names, null, 2)}\n`);
  expect(names).toEqual(JSON.parse(readFileSync(snapshot, 'utf8')));
});
