import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { namedElsewhere } from '../../../../src/composition/interface-words.ts';
import { EnvError, loadEnv } from '../../../../src/core/env.ts';
import { wordForms } from '../../../../src/core/word-forms.ts';
import { IDENTIFIER_POSITIONS } from '../../../../src/rest/interface-words/identifier-positions.ts';
import { makeInterfaceWords } from '../../../../src/rest/interface-words/interface-words.ts';
import { makeRenamer } from '../../../../src/rest/interface-words/rename-values.ts';
import { type JsonObject, makeVocabulary } from '../../../../src/rest/interface-words/vocabulary.ts';
import { writtenDocument } from '../../../../src/rest/served-document.ts';

const document = writtenDocument() as JsonObject;
const USUAL = 'telegram=messenger,remnawave=vpnpanel';
const OTHERS = 'acme=messenger,panelco=vpnpanel';

const envOf = (environment: Record<string, string>) => loadEnv({ NODE_ENV: 'test', ...environment }).interfaceWords;
const pairsOf = (words: string) => envOf({ INTERFACE_WORDS: words })!.pairs;
const vocabularyOf = (words: string) => makeVocabulary(pairsOf(words), document, namedElsewhere);

describe('options', () => {
  it('are off without words', () => {
    expect(envOf({ INTERFACE_WORDS_PREFIX: '/old' })).toBeNull();
  });

  it('have a prefix unless it is none', () => {
    expect(envOf({ INTERFACE_WORDS: USUAL })).toEqual({
      pairs: [
        { client: 'telegram', ours: 'messenger' },
        { client: 'remnawave', ours: 'vpnpanel' },
      ],
      prefix: '/compat',
      hosts: [],
    });
    expect(
      envOf({ INTERFACE_WORDS: USUAL, INTERFACE_WORDS_PREFIX: 'none', INTERFACE_WORDS_HOSTS: 'Old.example:8443' }),
    ).toMatchObject({
      prefix: null,
      hosts: ['old.example:8443'],
    });
  });

  it.each([
    ['INTERFACE_WORDS', 'telegram', 'not a pair client=messenger or client=vpnpanel: telegram'],
    ['INTERFACE_WORDS', 'Telegram=messenger', 'not a pair client=messenger or client=vpnpanel: Telegram=messenger'],
    ['INTERFACE_WORDS', 'tg=messenger', 'not a pair client=messenger or client=vpnpanel: tg=messenger'],
    ['INTERFACE_WORDS', 'telegram=panel', 'not a pair client=messenger or client=vpnpanel: telegram=panel'],
    ['INTERFACE_WORDS', 'one=messenger,two=messenger', 'a word occurs twice'],
    ['INTERFACE_WORDS', 'one=messenger,one=vpnpanel', 'a word occurs twice'],
    ['INTERFACE_WORDS_PREFIX', 'compat', 'must be one to three segments of a-z, 0-9 and -, such as /compat, or none'],
    ['INTERFACE_WORDS_PREFIX', '/a/b/c/d', 'must be one to three segments of a-z, 0-9 and -, such as /compat, or none'],
    ['INTERFACE_WORDS_PREFIX', '/Compat/', 'must be one to three segments of a-z, 0-9 and -, such as /compat, or none'],
    ['INTERFACE_WORDS_HOSTS', 'https://old.example', 'must be host names, each with an optional port'],
  ])('refuse %s=%s', (name, value, problem) => {
    expect(() => envOf({ [name]: value })).toThrow(`${name}: ${problem}`);
  });
});

describe('forms of a name', () => {
  it.each([
    ['messenger_id', 'telegram_id', 'acme_id'],
    ['messengerId', 'telegramId', 'acmeId'],
    ['by-messenger-id', 'by-telegram-id', 'by-acme-id'],
    ['X-Messenger-Init-Data', 'X-Telegram-Init-Data', 'X-Acme-Init-Data'],
    ['vpnpanel:*', 'remnawave:*', 'panelco:*'],
    ['VPNPANEL_API_URL', 'REMNAWAVE_API_URL', 'PANELCO_API_URL'],
    ['isVpnpanel', 'isRemnawave', 'isPanelco'],
    ['Cabinet Admin VpnPanel', 'Cabinet Admin RemnaWave', 'Cabinet Admin Panelco'],
    ['CABINET_VPNPANEL_SUB_CONFIG', 'CABINET_REMNA_SUB_CONFIG', 'CABINET_PANELCO_SUB_CONFIG'],
    ['LOG_ROTATION_SEND_TO_MESSENGER', 'LOG_ROTATION_SEND_TO_TELEGRAM', 'LOG_ROTATION_SEND_TO_ACME'],
    ['balance_kopeks', 'balance_kopeks', 'balance_kopeks'],
  ])('%s is %s or %s', (ours, usual, other) => {
    expect([wordForms(pairsOf(USUAL)).rename(ours), wordForms(pairsOf(OTHERS)).rename(ours)]).toEqual([usual, other]);
  });

  it('are of the given pair alone', () => {
    const { rename } = wordForms(pairsOf('telegram=messenger'));
    expect([rename('messenger_id'), rename('vpnpanel_uuid')]).toEqual(['telegram_id', 'vpnpanel_uuid']);
  });
});

describe.each([USUAL, OTHERS])('the names with %s', (words) => {
  const { inward, outward, documentNames } = vocabularyOf(words);

  it('are all of the interface that have one of our words', () => {
    const fields = [...outward.keys.keys()];
    expect(fields).toEqual(expect.arrayContaining(['messenger_id', 'messengerId', 'user_messenger_id', 'vpnpanel_short_uuid']));
    expect(
      fields.filter((name) => /^(?:VPNPANEL_|MESSENGER_|LOG_ROTATION_SEND_TO_|CABINET_VPNPANEL_)/.test(name)).length,
    ).toBeGreaterThanOrEqual(28);
    expect([...outward.patterns.keys()].sort()).toEqual(['^(all|messenger|email)$', '^(email|messenger)$']);
    expect([...documentNames.values()].filter((name) => /messenger|vpnpanel/i.test(name))).toEqual([]);
  });

  it('have a way back', () => {
    for (const [ours, client] of outward.keys) expect(inward.keys.get(client)).toBe(ours);
    for (const [kind, names] of outward.values)
      for (const [ours, client] of names) expect(inward.values.get(kind)?.get(client)).toBe(ours);
  });
});

describe('words that cannot be used', () => {
  it.each([
    ['user=messenger', '"user_id" and', '"messenger_id"'],
    ['node=vpnpanel', '"node_uuid"', '"vpnpanel_uuid"'],
  ])('%s is refused with both names', (words, one, other) => {
    const [problem = ''] = problemsOf(() => vocabularyOf(words));
    expect(problem).toMatch(/^INTERFACE_WORDS: /);
    expect(problem).toContain(one.replace(' and', ''));
    expect(problem).toContain(other);
  });

  it.each(['/cabinet', '/old/users', '/trpc'])('the prefix %s is refused', (prefix) => {
    const env = envOf({ INTERFACE_WORDS: USUAL, INTERFACE_WORDS_PREFIX: prefix })!;
    const taken = prefix.split('/').at(-1);
    expect(problemsOf(() => makeInterfaceWords({ env, trustedProxies: [], document, elsewhere: namedElsewhere }))).toEqual([
      `INTERFACE_WORDS_PREFIX: "${taken}" is the first segment of a path of the interface`,
    ]);
  });
});

/** Problems of a configuration error, as every other one has them. */
function problemsOf(call: () => unknown): readonly string[] {
  try {
    call();
  } catch (error) {
    if (error instanceof EnvError) return error.problems;
    throw error;
  }
  return [];
}

describe.each([USUAL, OTHERS])('values with %s', (words) => {
  const { inward, outward } = vocabularyOf(words);
  const positions = IDENTIFIER_POSITIONS;
  const out = makeRenamer(outward, positions, { isInward: false });
  const back = makeRenamer(inward, positions, { isInward: true });
  const { telegram, remnawave } = Object.fromEntries(
    [...outward.values.get('accounts')!].map(([ours, client]) => [ours === 'messenger' ? 'telegram' : 'remnawave', client]),
  ) as { telegram: string; remnawave: string };

  it('are renamed in fields, identifiers, dictionaries and lists', () => {
    const ours = {
      id: 5,
      messenger_id: 7,
      payment_method: 'messenger_stars_99',
      by_method: { messenger_stars: 1, cash: 2 },
      method_ids: ['messenger_stars', 'cash'],
      auth_methods: ['messenger', 'email'],
      permissions: ['vpnpanel:read', 'users:read', 'vpnpanel:*'],
      users: [{ auth_type: 'messenger', vpnpanel_uuid: 'a' }],
    };
    const theirs = {
      id: 5,
      [`${telegram}_id`]: 7,
      payment_method: `${telegram}_stars_99`,
      by_method: { [`${telegram}_stars`]: 1, cash: 2 },
      method_ids: [`${telegram}_stars`, 'cash'],
      auth_methods: [telegram, 'email'],
      permissions: [`${remnawave}:read`, 'users:read', `${remnawave}:*`],
      users: [{ auth_type: telegram, [`${remnawave}_uuid`]: 'a' }],
    };
    expect(out.value(ours)).toEqual(theirs);
    expect(Object.keys(out.value(ours) as object)).toEqual(Object.keys(theirs));
    expect(back.value(theirs)).toEqual(ours);
  });

  it('are the same object where nothing changes', () => {
    const value = {
      username: 'messenger',
      comment: 'messenger_stars',
      html: '<b title="messenger">',
      list: ['vpnpanel'],
      at: new Date(0),
    };
    expect(out.value(value)).toBe(value);
    expect(back.value(value)).toBe(value);
  });

  it('come back from any JSON in our names (spec 09 W3)', () => {
    const names = [...outward.keys.keys(), 'provider', 'permissions', 'sort_by', 'username', 'comment', '', 'toString'];
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('messenger', 'messenger_stars', 'messenger_stars_1', 'vpnpanel:sync', 'vpnpanel'),
    );
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.constant(null), fc.array(tie('json')), tie('object')),
      object: fc.dictionary(fc.constantFrom(...names), tie('json')),
    }));
    fc.assert(
      fc.property(json, (value) => {
        expect(back.value(out.value(value))).toEqual(value);
      }),
    );
  });

  it.each([
    [`{"${telegram}_id":1,"messenger_id":2}`, { messenger_id: 1 }],
    [`{"messenger_id":2,"${telegram}_id":1}`, { messenger_id: 1 }],
    ['{"messenger_id":2}', { messenger_id: 2 }],
  ])('of the client win over ours in %s (spec 09 W8)', (text, value) => {
    expect(back.value(JSON.parse(text))).toEqual(value);
  });

  it('keep both fields of an answer that has ours and the one of the client', () => {
    const both = { messenger: 1, [telegram]: 2 };
    expect(out.value(both)).toEqual(both);
  });

  it('cannot set a prototype (spec 09 W8)', () => {
    const sent = JSON.parse(`{"__proto__":{"admin":true},"${telegram}_id":1}`);
    const read = back.value(sent) as Record<string, unknown>;
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(read.admin).toBeUndefined();
    expect(Object.keys(read)).toEqual(['__proto__', 'messenger_id']);
  });

  it('of an answer of 5 MB are copied only where something below them changes (spec 09 W9)', () => {
    const users = Array.from({ length: 5_000 }, (_value, index) => ({
      id: index,
      messenger_id: index % 2 === 0 ? index : undefined,
      texts: ['x'.repeat(1_000)],
      tariff: { id: 1 },
    }));
    const answer = JSON.parse(JSON.stringify({ items: users, filters: { status: ['active'] } }));
    const renamed = out.value(answer) as typeof answer;
    const text = JSON.stringify(answer);
    expect(text.length).toBeGreaterThan(5_000_000);
    expect(JSON.stringify(renamed)).toBe(text.replaceAll('"messenger_id"', `"${telegram}_id"`));
    expect(renamed.filters).toBe(answer.filters);
    expect(renamed.items[1]).toBe(answer.items[1]);
    expect(renamed.items[0].texts).toBe(answer.items[0].texts);
  });

  it('may be nested deeper than the stack (spec 09 W9)', () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    expect(back.value(deep)).toBe(deep);
  });
});
