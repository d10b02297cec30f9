import { describe, expect, it } from 'vitest';
import { declaredNames } from '../../../scripts/checks/declared-names.ts';
import { wordsOf } from '../../../scripts/checks/name-words.ts';
import { sqlNames } from '../../../scripts/checks/sql-names.ts';
import { refusal, refusedPhrases } from '../../../scripts/refused-names.ts';

describe('wordsOf', () => {
  it.each([
    ['listOwnTickets', ['list', 'own', 'tickets']],
    ['PanelWish', ['panel', 'wish']],
    ['user_figures', ['user', 'figures']],
    ['tell-user', ['tell', 'user']],
    ['MAX_ROOMS', ['max', 'rooms']],
    ['toHTTPError', ['to', 'http', 'error']],
    ['sha256Of', ['sha256', 'of']],
    ['#tell', ['tell']],
    ['placeholder', ['placeholder']],
  ])('%s', (name, words) => {
    expect(wordsOf(name)).toEqual(words);
  });
});

describe('declaredNames', () => {
  const names = (source: string): string[] => declaredNames(source).map(({ name }) => name);

  it('finds constants, functions, types, parameters, members and taken out properties', () => {
    expect(
      names(`
        const a = 1; function b(c: string, { d }: E) { let f = c; }
        interface G { h: string; i?: number; readonly j: 1; k(l: string): void }
        class M { #n = 1; async o(p: number): Promise<void> {} }
        type Q = { r: 1 };
        const { s, t: u } = v; const [w, x] = y;
        z((aa) => aa, bb => bb);
      `),
    ).toEqual(['a', 'b', 'c', 'f', 'G', 'h', 'i', 'j', 'k', 'l', 'M', 'o', 'p', 'Q', 'r', 's', 't', 'u', 'w', 'x', 'aa', 'bb']);
  });

  it('leaves uses, calls, imports, strings and comments alone', () => {
    expect(names("import { type A, b } from './c.ts'; // const d = 1\ne.f(g, 'const h'); if (i) j(k ? l : m);")).toEqual([]);
  });

  it('knows the names of types', () => {
    expect(
      declaredNames('interface A { b: 1 } class C {} type D = 1;')
        .filter(({ isType }) => isType)
        .map(({ name }) => name),
    ).toEqual(['A', 'C', 'D']);
  });
});

it('finds the names of a schema and of SQL functions', () => {
  const prisma = 'model User {\n  id Int @id\n  firstName String @map("first_name") // told\n\n  @@map("users")\n}';
  expect(sqlNames(prisma).map(({ name }) => name)).toEqual(['User', 'id', 'firstName', 'first_name', 'users']);
  expect(
    sqlNames('CREATE OR REPLACE FUNCTION add_one(a int)\n-- CREATE FUNCTION b\nCREATE TRIGGER c BEFORE').map(({ name }) => name),
  ).toEqual(['add_one', 'c']);
});

describe('refusal', () => {
  const path = 'src/domain/a/b.ts';

  it.each([
    'tellUser',
    'isTold',
    'PanelWish',
    'user_tallies',
    'workOff',
    'lackOfMoney',
    'counterAccount',
    'OwnDoors',
    'listOwnTickets',
    'own-discount',
    'judge-state',
    'MomentInput',
    'wallTime',
    'ProviderStage',
    'startsAnew',
    'readShop',
  ])('%s', (name) => {
    expect(refusal(name, path)).toEqual(expect.any(String));
  });

  it.each([
    'placeholder',
    'threshold',
    'notification',
    'workOffset',
    'isLeft',
    'endedAt',
    'configure',
    'tellerless',
    'owner',
    'ownedColumns',
    'wallet',
    'firewall',
    'stagedFiles',
    'shopId',
    'YOOKASSA_SHOP_ID',
  ])('%s is fine', (name) => {
    expect(refusal(name, path)).toBe(null);
  });

  it('refuses some words in the names of types only', () => {
    expect([refusal('EndedSession', path, true), refusal('endedSession', path, false)]).toEqual([expect.any(String), null]);
  });

  it('allows names that others have fixed', () => {
    expect(['subject', 'email_subject', 'YOOKASSA_PAYMENT_SUBJECT', 'admin_notes'].map((name) => refusal(name, path))).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect([refusal('note', 'packages/sandbox/src/panel/a.ts'), refusal('note', path)]).toEqual([null, expect.any(String)]);
    expect(refusal('isTestShop', 'src/integrations/payments/a.ts')).toBe(null);
  });
});

describe('refusedPhrases', () => {
  it.each([
    ['/** Since a moment. */', ['moment']],
    ['// The wall clock of the zone.', ['wall clock']],
    ['/** Begins anew, and everybody is told. */', ['told', 'anew']],
    ['/**\n * Stays as it\n * was.\n */', ['as it was']],
    ['/** Takes a slot. */', ['Takes']],
    ['/**\n * Gives the prize.\n */', ['Gives']],
  ])('%s', (comment, phrases) => {
    expect(refusedPhrases(comment).map(({ phrase }) => phrase)).toEqual(phrases);
  });

  it.each(['/** Takes effect with the commit. */', '/** Momentary; the wallet is stored. */', '// One stage, no shop takes it.'])(
    '%s is fine',
    (comment) => {
      expect(refusedPhrases(comment)).toEqual([]);
    },
  );
});
