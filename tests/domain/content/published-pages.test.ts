import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { DatabaseSharedCache } from '../../../src/core/cache/shared-cache.ts';
import {
  createFaqPage,
  deleteFaqPage,
  deleteRules,
  reorderFaqPages,
  restoreRules,
  updateFaqPage,
  writeDocument,
  writeFaqStatus,
  writeRules,
} from '../../../src/domain/content/pages/manage-pages.ts';
import {
  listQuestions,
  readInfoDocument,
  readInfoRules,
  readMiniappPages,
  readQuestion,
} from '../../../src/domain/content/service-info.ts';
import { putSetting, resetSetting } from '../../../src/domain/settings/change-setting.ts';
import { eventually } from '../../support/eventually.ts';
import { recordingApp } from '../../support/sent-statements.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let one: TestApp;
let two: TestApp;
let app: App;

beforeAll(async () => {
  one = await testApp();
  two = await testApp({ clock: one.clock });
  app = one.app;
});
beforeEach(async () => {
  for (const table of ['legal_documents', 'faq_pages', 'faq_settings', 'service_rules'])
    await app.db.sql(`DELETE FROM ${table} WHERE true RETURNING 1 AS deleted`);
  one.cache.clear();
  two.cache.clear();
});

const question = (language: string, title: string, fields: object = {}) =>
  createFaqPage(app, { language, title, content: `${title}!`, ...fields });
const titles = async (of: App, language: string) => (await listQuestions(of, language)).map(({ title }) => title);

describe('public reads are cheap (spec 05 section 5.2)', () => {
  /** With a cache that follows no changes: notices of earlier ones may still be on their way, and would make it read again. */
  const counted = () => recordingApp({ ...app, cache: new DatabaseSharedCache() });

  it('reads the database once for each kind of page, and not again for any other language', async () => {
    await question('ru', 'one');
    await writeDocument(app, 'public_offer', { language: 'ru', content: 'offer' });
    const recorded = counted();
    const readAll = async (language: string) => {
      await listQuestions(recorded.app, language);
      await readInfoRules(recorded.app, language);
      await readInfoDocument(recorded.app, 'public_offer', language);
      await readInfoDocument(recorded.app, 'privacy_policy', language);
      await readMiniappPages(recorded.app, language);
    };
    await readAll('ru');
    expect(recorded.sent).toHaveLength(5);
    expect(recorded.sent.filter((statement) => !statement.startsWith('SELECT'))).toEqual([]);
    for (let n = 0; n < 100; n += 1) await readAll(`x${n}`);
    expect(recorded.sent).toHaveLength(5);
  });

  it('two requests at once read once', async () => {
    const recorded = counted();
    await Promise.all(Array.from({ length: 10 }, () => readInfoRules(recorded.app, 'ru')));
    expect(recorded.sent).toHaveLength(1);
  });
});

describe('a change is seen at once here and soon on the other instance', () => {
  it.each<[string, (reader: App) => Promise<unknown>, (change: { id: number }) => Promise<unknown>, unknown]>([
    [
      'an offer',
      async (reader) => (await readInfoDocument(reader, 'public_offer', 'ru')).content,
      () => writeDocument(app, 'public_offer', { language: 'ru', content: 'changed' }),
      'changed',
    ],
    [
      'a policy',
      async (reader) => (await readInfoDocument(reader, 'privacy_policy', 'ru')).content,
      () => writeDocument(app, 'privacy_policy', { language: 'ru', content: 'changed' }),
      'changed',
    ],
    [
      'rules',
      async (reader) => (await readInfoRules(reader, 'ru')).content,
      () => writeRules(app, { language: 'ru', content: 'changed' }),
      'changed',
    ],
    ['a new question', (reader) => titles(reader, 'ru'), () => question('ru', 'changed'), ['first', 'changed']],
    [
      'a changed question',
      (reader) => titles(reader, 'ru'),
      ({ id }) => updateFaqPage(app, id, { title: 'changed' }),
      ['changed'],
    ],
    ['a hidden question', (reader) => titles(reader, 'ru'), ({ id }) => updateFaqPage(app, id, { isActive: false }), []],
    ['a deleted question', (reader) => titles(reader, 'ru'), ({ id }) => deleteFaqPage(app, id), []],
    ['the switch', (reader) => titles(reader, 'ru'), () => writeFaqStatus(app, { language: 'ru', isEnabled: false }), []],
  ])('%s', async (_name, read, change, wanted) => {
    const first = await question('ru', 'first');
    const before = [await read(app), await read(two.app)];
    expect(before[0]).toEqual(before[1]);
    expect(before[0]).not.toEqual(wanted);
    await change(first);
    expect(await read(app)).toEqual(wanted);
    await eventually(async () => expect(await read(two.app)).toEqual(wanted));
  });

  it('a new order, and rules that are put out of force and restored', async () => {
    const [a, b] = [await question('ru', 'a'), await question('ru', 'b')];
    const rules = await writeRules(app, { language: 'ru', content: 'ours' });
    expect(await titles(two.app, 'ru')).toEqual(['a', 'b']);
    expect((await readInfoRules(two.app, 'ru')).content).toBe('ours');
    await reorderFaqPages(app, { language: 'ru', items: [b, a].map(({ id }, place) => ({ id, displayOrder: place })) });
    await deleteRules(app, 'ru');
    await eventually(async () => {
      expect(await titles(two.app, 'ru')).toEqual(['b', 'a']);
      expect((await readInfoRules(two.app, 'ru')).updatedAt).toBeNull();
    });
    await restoreRules(app, rules.id, 'ru');
    await eventually(async () => expect((await readInfoRules(two.app, 'ru')).content).toBe('ours'));
  });

  it('a change that is rolled back changes nothing', async () => {
    await writeRules(app, { language: 'ru', content: 'ours' });
    await expect(writeRules(app, { language: 'ru', content: 'x'.repeat(200_001) })).rejects.toMatchObject({ status: 422 });
    expect((await readInfoRules(app, 'ru')).content).toBe('ours');
  });
});

describe('which language is shown', () => {
  it('the default language is a setting, and follows it at once', async () => {
    const editor = { kind: 'token' } as const;
    await writeDocument(app, 'public_offer', { language: 'en', content: 'English offer' });
    await question('en', 'English');
    await writeRules(app, { language: 'en', content: 'English rules' });
    const read = async () => [
      (await readInfoDocument(app, 'public_offer', 'de')).content,
      await titles(app, 'de'),
      (await readInfoRules(app, 'de')).content,
    ];
    expect((await read())[1]).toEqual([]);
    await putSetting(app, editor, 'DEFAULT_LANGUAGE', 'EN-us');
    try {
      expect(await read()).toEqual(['English offer', ['English'], 'English rules']);
    } finally {
      await resetSetting(app, editor, 'DEFAULT_LANGUAGE');
    }
  });

  it('a built-in text is in the requested language, as a placeholder is', async () => {
    for (const language of ['ru', 'en']) {
      const isRussian = language === 'ru';
      const rules = await readInfoRules(app, language);
      expect(rules).toMatchObject({ updatedAt: null });
      expect(rules.content.startsWith(isRussian ? '<b>Правила' : '<b>Rules')).toBe(true);
      expect(rules.content.match(/^\d\./gm)).toHaveLength(6);
      for (const kind of ['public_offer', 'privacy_policy'] as const) {
        const placeholder = await readInfoDocument(app, kind, language);
        expect(placeholder.content).toMatch(/^# \S.*\n\n\S.*$/);
        expect(/[а-я]/i.test(placeholder.content)).toBe(isRussian);
        expect(placeholder.updatedAt).toBeNull();
      }
    }
  });

  it('a question that is switched off is not found by its id either', async () => {
    const page = await question('ru', 'one');
    await question('en', 'two');
    expect((await readQuestion(app, page.id, 'en')).title).toBe('one');
    await writeFaqStatus(app, { language: 'ru', isEnabled: false });
    await expect(readQuestion(app, page.id, 'en')).rejects.toMatchObject({ status: 404 });
    await expect(readQuestion(app, 2 ** 40, 'ru')).rejects.toMatchObject({ status: 404 });
  });

  it('rules without text count as none', async () => {
    await writeRules(app, { language: 'en', content: '  ' });
    await writeRules(app, { language: 'ru', content: 'наши' });
    expect((await readInfoRules(app, 'en')).content).toBe('наши');
  });
});

describe('the pages of the mini-app (spec 02 section 12.3)', () => {
  it('are null where there is nothing to show', async () => {
    expect(await readMiniappPages(app, 'ru')).toEqual({ faq: null, legalDocuments: null });
    await question('ru', 'blank', { content: ' <b> </b> ' });
    await writeDocument(app, 'public_offer', { language: 'ru', content: 'hidden', isEnabled: false });
    expect(await readMiniappPages(app, 'ru')).toEqual({ faq: null, legalDocuments: null });
  });

  it('have the questions with a visible text, and each document in the language it was found in', async () => {
    const shown = await question('ru', 'shown', { displayOrder: 5 });
    const earlier = await question('ru', 'earlier', { displayOrder: 1 });
    await question('ru', 'blank', { content: '<b></b>' });
    await question('ru', 'inactive', { isActive: false });
    await writeDocument(app, 'public_offer', { language: 'ru', content: '<b onclick="x">offer</b>' });
    await writeRules(app, { language: 'en', title: 'Our rules', content: 'rules' });
    const timestamps = { createdAt: expect.any(Date), updatedAt: expect.any(Date) };
    const common = { requestedLanguage: 'en', isEnabled: true, ...timestamps };
    expect(await readMiniappPages(app, 'en')).toEqual({
      faq: {
        requestedLanguage: 'en',
        language: 'ru',
        isEnabled: true,
        total: 2,
        items: [
          { id: earlier.id, title: 'earlier', content: 'earlier!', displayOrder: 1 },
          { id: shown.id, title: 'shown', content: 'shown!', displayOrder: 5 },
        ],
      },
      legalDocuments: {
        publicOffer: { ...common, language: 'ru', title: null, content: '<b>offer</b>' },
        serviceRules: { ...common, language: 'en', title: 'Our rules', content: 'rules' },
        privacyPolicy: null,
      },
    });
    await writeFaqStatus(app, { language: 'ru', isEnabled: false });
    expect((await readMiniappPages(app, 'en')).faq).toBeNull();
  });
});
