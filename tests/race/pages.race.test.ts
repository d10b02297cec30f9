import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { createWelcomeText, listWelcomeTexts, updateWelcomeText } from '../../src/domain/content/chat-texts/welcome-texts.ts';
import {
  createFaqPage,
  deleteRules,
  listFaqPages,
  listRulesHistory,
  reorderFaqPages,
  restoreRules,
  writeDocument,
  writeRules,
} from '../../src/domain/content/pages/manage-pages.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

const numbers = Array.from({ length: 20 }, (_none, n) => n);
const language = 'en';

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('pages and welcome texts raced', () => {
  let apps: App[];
  beforeAll(async () => {
    const one = await testApp();
    apps = [one.app, (await testApp({ clock: one.clock })).app];
  });
  beforeEach(async () => {
    for (const table of ['legal_documents', 'faq_pages', 'faq_settings', 'service_rules', 'welcome_texts'])
      await apps[0]!.db.sql(`DELETE FROM ${table} WHERE true RETURNING 1 AS deleted`);
  });
  const app = (n: number) => apps[n % 2]!;

  it('one version of the rules is in force after concurrent versions, restorations and deletions, and none is lost (spec 05 section 16, invariant 5)', async () => {
    const first = await writeRules(app(0), { language, content: 'first' });
    await Promise.all(
      numbers.map((n) =>
        n % 4 === 3
          ? deleteRules(app(n), language)
          : n % 4 === 2
            ? restoreRules(app(n), first.id, language)
            : writeRules(app(n), { language, content: `version ${n}` }),
      ),
    );
    const last = await writeRules(app(1), { language, content: 'last' });
    const { items } = await listRulesHistory(app(0), { language, limit: 100 });
    expect(items).toHaveLength(1 + 15 + 1);
    expect(items.filter((rules) => rules.isActive).map((rules) => rules.id)).toEqual([last.id]);
  });

  it('languages do not wait for each other: each has its own version in force', async () => {
    await Promise.all(numbers.map((n) => writeRules(app(n), { language: `l${n % 4}`, content: `${n}` })));
    for (const n of [0, 1, 2, 3]) {
      const { items } = await listRulesHistory(app(0), { language: `l${n}`, limit: 100 });
      expect(items.filter((rules) => rules.isActive)).toHaveLength(1);
      expect(items).toHaveLength(5);
    }
  });

  it('one welcome text is active after concurrent additions and activations (spec 05 section 16, invariant 5)', async () => {
    const draft = { text: 'hello', isActive: true, isEnabled: true };
    const texts = await Promise.all(numbers.map((n) => createWelcomeText(app(n), draft, null)));
    const read = () => listWelcomeTexts(app(0), { limit: 200, offset: 0, includeInactive: false });
    expect((await read()).total).toBe(1);
    await Promise.all(
      texts.map(({ id }, n) => updateWelcomeText(app(n), id, n % 3 === 0 ? { text: 'changed' } : { isActive: true }, null)),
    );
    expect((await read()).total).toBe(1);
  });

  it('concurrent new questions get different numbers, and an order among them loses none', async () => {
    const draft = { language, title: 'q', content: 'a' };
    const first = await createFaqPage(app(0), draft);
    const added = await Promise.all(
      numbers.map((n) =>
        n % 5 === 4
          ? reorderFaqPages(app(n), { language, items: [{ id: first.id, displayOrder: 1 }] }).then(() => null)
          : createFaqPage(app(n), draft),
      ),
    );
    const { pages } = await listFaqPages(app(0), { language, includeInactive: true, fallback: false });
    expect(pages).toHaveLength(1 + added.filter((page) => page !== null).length);
    expect(new Set(pages.map((page) => page.displayOrder)).size).toBe(pages.length);
    expect(pages[0]!.id).toBe(first.id);
  });

  it('one document of a language, whoever writes it first', async () => {
    await Promise.all(numbers.map((n) => writeDocument(app(n), 'public_offer', { language, content: `${n}` })));
    const rows = await app(0).db.sql("SELECT id FROM legal_documents WHERE kind = 'public_offer'");
    expect(rows).toHaveLength(1);
  });
});
