import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildMenu } from '../../../src/domain/content/menu-layout/build-menu.ts';
import * as edits from '../../../src/domain/content/menu-layout/edits.ts';
import {
  BUILTIN_BUTTONS,
  DEFAULT_LAYOUT,
  readButton,
  readDocument,
  validateLayout,
} from '../../../src/domain/content/menu-layout/layout.ts';
import { areConditionsMet, isVisibleTo } from '../../../src/domain/content/menu-layout/rules.ts';
import {
  BOUND_CONDITIONS,
  BUTTON_TYPES,
  FLAG_CONDITIONS,
  type MenuContext,
  type MenuDocument,
  VISIBILITIES,
} from '../../../src/domain/content/menu-layout/types.ts';

const flags = (value: boolean) => Object.fromEntries(FLAG_CONDITIONS.map((name) => [name, value])) as MenuContext['flags'];
const person = (fields: Partial<MenuContext> = {}): MenuContext => ({
  language: 'ru',
  flags: flags(true),
  isTrafficTopupOffered: true,
  balanceKopeks: 5_000,
  registrationDays: 10,
  referralCount: 3,
  subscriptionDaysLeft: 7,
  promoGroupId: 4,
  placeholders: { balance: '50 ₽' },
  ...fields,
});
const button = (fields: object = {}) => readButton({ type: 'callback', text: { en: 'Go' }, action: 'go', ...fields });
const small = (rows: [string, string[]][], width = 2): MenuDocument => ({
  version: 1,
  rows: rows.map(([id, buttons]) => ({ id, buttons, conditions: null, max_per_row: width })),
  buttons: Object.fromEntries(rows.flatMap(([, ids]) => ids).map((id) => [id, button()])),
});
const shape = (document: MenuDocument) => document.rows.map((row) => [row.id, ...row.buttons].join(' '));

/** Documents as clients can send them, before they are brought into the stored form. */
const conditions = fc.record(
  {
    ...Object.fromEntries(FLAG_CONDITIONS.map((name) => [name, fc.option(fc.boolean())])),
    ...Object.fromEntries(BOUND_CONDITIONS.map((name) => [name, fc.option(fc.nat())])),
    promo_group_ids: fc.option(fc.array(fc.string())),
    exclude_promo_group_ids: fc.option(fc.array(fc.string())),
  },
  { requiredKeys: [] },
);
const someButton = fc.record(
  {
    type: fc.constantFrom(...BUTTON_TYPES),
    text: fc.dictionary(fc.string(), fc.string()),
    action: fc.string(),
    builtin_id: fc.option(fc.string()),
    icon: fc.option(fc.string({ maxLength: 10 })),
    enabled: fc.boolean(),
    visibility: fc.constantFrom(...VISIBILITIES),
    conditions: fc.option(conditions),
    dynamic_text: fc.boolean(),
    open_mode: fc.constantFrom('callback', 'direct'),
    webapp_url: fc.option(fc.string()),
    description: fc.option(fc.string()),
    sort_order: fc.option(fc.integer()),
    unknown_key: fc.string(),
  },
  { requiredKeys: ['type', 'text', 'action'] },
);
const someRow = fc.record(
  {
    id: fc.string({ minLength: 1, maxLength: 50 }),
    buttons: fc.array(fc.string()),
    conditions: fc.option(conditions),
    max_per_row: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: ['id', 'buttons'] },
);
const someDocument = fc.record({
  version: fc.nat(),
  rows: fc.array(someRow, { maxLength: 6 }),
  buttons: fc.dictionary(fc.string(), someButton, { maxKeys: 6 }),
});

describe('documents', () => {
  it('are given back unchanged by an export that is imported again, byte by byte', () => {
    fc.assert(
      fc.property(someDocument, (sent) => {
        const stored = JSON.stringify(readDocument(sent));
        const exported = { ...JSON.parse(stored), exported_at: '2026-01-01T00:00:00Z', bot_version: '1' };
        const incoming = readDocument(exported)!;
        const { document, warnings } = edits.importLayout(DEFAULT_LAYOUT, incoming, 'replace');
        expect(JSON.stringify(document)).toBe(stored);
        expect(warnings).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('merge adds unknown ids only, and merging again changes nothing', () => {
    fc.assert(
      fc.property(someDocument, someDocument, (one, two) => {
        const [before, incoming] = [readDocument(one)!, readDocument(two)!];
        const first = edits.importLayout(before, incoming, 'merge');
        for (const [id, kept] of Object.entries(before.buttons)) expect(first.document.buttons[id]).toEqual(kept);
        expect(first.document.rows.slice(0, before.rows.length)).toEqual(before.rows);
        expect(edits.importLayout(first.document, incoming, 'merge').document).toEqual(first.document);
      }),
    );
  });

  it('the default is in the stored form, complete and valid', () => {
    expect(readDocument(JSON.parse(JSON.stringify(DEFAULT_LAYOUT)))).toEqual(DEFAULT_LAYOUT);
    expect(validateLayout(DEFAULT_LAYOUT)).toEqual({ errors: [], warnings: [] });
    expect(BUILTIN_BUTTONS).toHaveLength(17);
    expect(new Set(DEFAULT_LAYOUT.rows.flatMap((row) => row.buttons))).toEqual(new Set(Object.keys(DEFAULT_LAYOUT.buttons)));
    for (const { text } of Object.values(DEFAULT_LAYOUT.buttons)) {
      for (const language of ['ru', 'en']) expect(text[language]).toMatch(/^\p{Extended_Pictographic}/u);
    }
  });

  it('drops unknown keys and unreadable parts', () => {
    const read = readDocument({
      version: 2,
      rows: [],
      buttons: { x: { ...button(), conditions: { traffic_topup_enabled: true, has_traffic_limit: true } } },
    });
    expect(read?.buttons.x?.conditions).toEqual({ has_traffic_limit: true });
    for (const bad of [null, 'x', [], {}, { rows: [] }, { rows: {}, buttons: {} }]) expect(readDocument(bad)).toBeNull();
  });
});

describe('conditions', () => {
  it.each(FLAG_CONDITIONS)('%s is a requirement only when it is true', (name) => {
    const without = person({ flags: { ...flags(true), [name]: false } });
    expect(areConditionsMet({ [name]: true }, person())).toBe(true);
    expect(areConditionsMet({ [name]: true }, without)).toBe(false);
    expect(areConditionsMet({ [name]: false }, without)).toBe(true);
  });

  it.each([
    ['min_balance_kopeks', 5_000, 5_001],
    ['max_balance_kopeks', 5_000, 4_999],
    ['min_registration_days', 10, 11],
    ['max_registration_days', 10, 9],
    ['min_referrals', 3, 4],
    ['has_subscription_days_left', 7, 8],
    ['max_subscription_days_left', 7, 6],
  ] as const)('%s includes its bound', (name, inside, outside) => {
    expect(areConditionsMet({ [name]: inside }, person())).toBe(true);
    expect(areConditionsMet({ [name]: outside }, person())).toBe(false);
  });

  it('compares promo groups as text, and a user without a group is in no list', () => {
    const [member, loner] = [person(), person({ promoGroupId: null })];
    expect(areConditionsMet({ promo_group_ids: ['4', '9'] }, member)).toBe(true);
    expect(areConditionsMet({ promo_group_ids: ['9'] }, member)).toBe(false);
    expect(areConditionsMet({ promo_group_ids: ['4'] }, loner)).toBe(false);
    expect(areConditionsMet({ promo_group_ids: [] }, loner)).toBe(true);
    expect(areConditionsMet({ exclude_promo_group_ids: ['4'] }, member)).toBe(false);
    expect(areConditionsMet({ exclude_promo_group_ids: ['4'] }, loner)).toBe(true);
  });

  it('must all be met', () => {
    expect(areConditionsMet({ is_admin: true, min_referrals: 3, has_referrals: true }, person())).toBe(true);
    expect(areConditionsMet({ is_admin: true, min_referrals: 4, has_referrals: true }, person())).toBe(false);
    expect(areConditionsMet(null, person())).toBe(true);
  });

  it('shows to subscribers only while the subscription is active', () => {
    const expired = person({ flags: { ...flags(true), subscription_is_active: false } });
    expect([isVisibleTo('subscribers', person()), isVisibleTo('subscribers', expired)]).toEqual([true, false]);
    expect(isVisibleTo('admins', person({ flags: { ...flags(true), is_admin: false } }))).toBe(false);
    expect(isVisibleTo('moderators', person({ flags: { ...flags(true), is_moderator: false } }))).toBe(false);
    expect(isVisibleTo('all', person({ flags: flags(false) }))).toBe(true);
  });
});

describe('the menu', () => {
  it('cuts rows to their width and drops empty ones', () => {
    const document = small([
      ['a', ['1', '2', '3']],
      ['b', ['gone']],
      ['c', ['4']],
    ]);
    const { gone: _gone, ...buttons } = document.buttons;
    expect(buildMenu({ ...document, buttons }, person()).map((row) => row.length)).toEqual([2, 1, 1]);
  });

  it('takes the exact language, then English, then any, and leaves out a button without text', () => {
    const texts = [{ ru: 'Р', en: 'E' }, { en: 'E', fa: 'F' }, { fa: 'F' }, { ru: '' }, {}];
    const document: MenuDocument = {
      version: 1,
      rows: [{ id: 'r', buttons: texts.map((_text, index) => `b${index}`), conditions: null, max_per_row: 4 }],
      buttons: Object.fromEntries(texts.map((text, index) => [`b${index}`, button({ text })])),
    };
    expect(
      buildMenu(document, person())
        .flat()
        .map((item) => item.text),
    ).toEqual(['Р', 'E', 'F']);
  });

  it('fills placeholders of dynamic texts only', () => {
    const text = { ru: 'Баланс {balance} {other}' };
    const document = small([['r', ['fixed', 'dynamic']]]);
    const buttons = { fixed: button({ text }), dynamic: button({ text, dynamic_text: true }) };
    expect(
      buildMenu({ ...document, buttons }, person())
        .flat()
        .map((item) => item.text),
    ).toEqual(['Баланс {balance} {other}', 'Баланс 50 ₽ {other}']);
  });

  it('offers traffic only where it is sold', () => {
    const texts = (context: MenuContext) =>
      buildMenu(DEFAULT_LAYOUT, context)
        .flat()
        .map((item) => item.action);
    expect(texts(person())).toContain('buy_traffic');
    expect(texts(person({ isTrafficTopupOffered: false }))).not.toContain('buy_traffic');
  });
});

describe('edits', () => {
  const document = small([
    ['a', ['1', '2']],
    ['b', ['3']],
    ['c', ['4', '5']],
  ]);

  it('move a button to the row above or below, and drop the row that it leaves empty', () => {
    expect(shape(edits.moveButton(document, '4', 'up'))).toEqual(['a 1 2', 'b 3 4', 'c 5']);
    expect(shape(edits.moveButton(document, '3', 'up'))).toEqual(['a 1 2 3', 'c 4 5']);
    expect(shape(edits.moveButton(document, '3', 'down'))).toEqual(['a 1 2', 'c 4 5 3']);
    expect(() => edits.moveButton(document, '1', 'up')).toThrow('Button is already in the top row');
    expect(() => edits.moveButton(document, '5', 'down')).toThrow('Button is already in the bottom row');
    expect(() => edits.moveButton(document, 'x', 'up')).toThrow("Button 'x' not found in any row");
  });

  it('move a button to a place that is counted without it', () => {
    expect(shape(edits.moveButtonToRow(document, '1', 'c', 1))).toEqual(['a 2', 'b 3', 'c 4 1 5']);
    expect(shape(edits.moveButtonToRow(document, '1', 'a', 1))).toEqual(['a 2 1', 'b 3', 'c 4 5']);
    expect(shape(edits.moveButtonToRow(document, '3', 'b', 9))).toEqual(['a 1 2', 'b 3', 'c 4 5']);
    expect(shape(edits.moveButtonToRow(document, '3', 'a', null))).toEqual(['a 1 2 3', 'c 4 5']);
    expect(() => edits.moveButtonToRow(document, '1', 'x', 0)).toThrow("Row 'x' not found");
    expect(() => edits.moveButtonToRow(document, 'constructor', 'a', 0)).toThrow("Button 'constructor' not found");
  });

  it('keep every reference and every button over any sequence of moves', () => {
    const ids = ['1', '2', '3', '4', '5'];
    const step = fc.record({
      id: fc.constantFrom(...ids),
      other: fc.constantFrom(...ids),
      row: fc.constantFrom('a', 'b', 'c'),
      position: fc.option(fc.nat({ max: 6 })),
      kind: fc.constantFrom('up', 'down', 'to-row', 'swap', 'rows'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let current = document;
        for (const { id, other, row, position, kind } of steps) {
          try {
            if (kind === 'up' || kind === 'down') current = edits.moveButton(current, id, kind);
            else if (kind === 'to-row') current = edits.moveButtonToRow(current, id, row, position);
            else if (kind === 'swap') current = edits.swapButtons(current, id, other);
            else current = edits.reorderRows(current, [row]);
          } catch (error) {
            expect(error).toMatchObject({ status: expect.toSatisfy((status) => status === 400 || status === 404) });
          }
        }
        expect(current.rows.flatMap((row) => row.buttons).toSorted()).toEqual(ids);
        expect(current.rows.every((row) => row.buttons.length > 0)).toBe(true);
        expect(validateLayout(current).errors).toEqual([]);
      }),
    );
    expect(shape(document)).toEqual(['a 1 2', 'b 3', 'c 4 5']);
  });

  it('reorder rows and buttons by complete and unrepeated ids', () => {
    expect(shape(edits.reorderRows(document, ['c', 'a']))).toEqual(['c 4 5', 'a 1 2', 'b 3']);
    expect(() => edits.reorderRows(document, ['c', 'c'])).toThrow("Duplicate row IDs: {'c'}");
    expect(() => edits.reorderRows(document, ['x'])).toThrow("Row 'x' not found");
    expect(shape(edits.reorderButtons(document, 'a', ['2', '1']))[0]).toBe('a 2 1');
    expect(() => edits.reorderButtons(document, 'a', ['2', '9'])).toThrow("Button mismatch: missing: {'1'}, extra: {'9'}");
    expect(() => edits.reorderButtons(document, 'a', ['2', '1', '1'])).toThrow("Duplicate button IDs: {'1'}");
  });

  it('check what a new button does', () => {
    const add = (fields: object, row: string | null = null) => edits.addButton(document, 'new', button(fields), row);
    expect(shape(add({ type: 'url', action: 'https://example.com' }, 'b'))[1]).toBe('b 3 new');
    expect(add({ type: 'callback', action: 'x'.repeat(64) }).buttons.new).toBeDefined();
    for (const fields of [
      { type: 'url', action: 'ftp://example.com' },
      { type: 'url', action: 'javascript:alert(1)' },
      { type: 'mini_app', action: 'http://example.com' },
      { type: 'callback', action: 'я'.repeat(33) },
    ]) {
      expect(() => add(fields)).toThrow(expect.objectContaining({ status: 400 }));
    }
    expect(() => add({ type: 'builtin' })).toThrow("Only ('url', 'mini_app', 'callback') buttons can be added");
    expect(() => edits.addButton(document, '1', button(), null)).toThrow("Button with id '1' already exists");
    expect(() => add({}, 'x')).toThrow("Row 'x' not found");
  });

  it('do not change the action of a built-in button, unless it opens directly', () => {
    const change = (changes: edits.ButtonChanges) => edits.updateButton(DEFAULT_LAYOUT, 'connect', changes).buttons.connect!;
    expect(change({ action: 'https://example.com' }).action).toBe('subscription_connect');
    expect(change({ action: 'https://example.com', open_mode: 'direct' })).toMatchObject({
      action: 'https://example.com',
      open_mode: 'direct',
    });
    expect(change({ text: null, enabled: null, visibility: null, action: null })).toEqual(DEFAULT_LAYOUT.buttons.connect);
    expect(change({ conditions: null }).conditions).toBeNull();
    const described = edits.updateButton(document, '1', {
      icon: '🔥',
      description: 'd',
      sort_order: 3,
      webapp_url: 'https://e.com',
    });
    const cleared = edits.updateButton(described, '1', { icon: null, description: null, sort_order: null, webapp_url: null });
    expect(cleared).toEqual(document);
    expect(() => edits.updateButton(DEFAULT_LAYOUT, 'connect_2', {})).toThrow("Button 'connect_2' not found");
  });

  it('notice placeholders when the buttons are replaced', () => {
    const buttons = { a: button({ text: { ru: 'Осталось {subscription_days}' } }), b: button({ text: { ru: '{x}' } }) };
    const replaced = edits.replaceParts(document, { rows: null, buttons });
    expect([replaced.buttons.a?.dynamic_text, replaced.buttons.b?.dynamic_text]).toEqual([true, false]);
    expect(replaced.rows).toBe(document.rows);
  });
});
