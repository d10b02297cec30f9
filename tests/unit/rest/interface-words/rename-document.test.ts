import { describe, expect, it } from 'vitest';
import { namedElsewhere } from '../../../../src/composition/interface-words.ts';
import { loadEnv } from '../../../../src/core/env.ts';
import { renameDocument } from '../../../../src/rest/interface-words/rename-document.ts';
import { type Json, type JsonObject, makeVocabulary } from '../../../../src/rest/interface-words/vocabulary.ts';
import { writtenDocument } from '../../../../src/rest/served-document.ts';

const document = writtenDocument() as JsonObject;

const OUR_WORD = /messenger|vpnpanel/i;
/** Fields whose text is for people. */
const PROSE = new Set(['description', 'summary', 'title', 'msg']);

interface Difference {
  place: string;
  ours: string;
  client: string;
}

/** What is another text or key in the second; the rest must be the same. */
function differences(ours: Json, client: Json, place: string): Difference[] {
  if (Array.isArray(ours) && Array.isArray(client)) {
    expect(client.length, place).toBe(ours.length);
    return ours.flatMap((each, index) => differences(each, client[index]!, `${place}/${index}`));
  }
  if (isObject(ours) && isObject(client)) {
    const [before, after] = [Object.entries(ours), Object.entries(client)];
    expect(after.length, place).toBe(before.length);
    return before.flatMap(([key, value], index) => {
      const [name, other] = after[index]!;
      const inside = differences(value, other, `${place}/${key}`);
      return name === key ? inside : [{ place, ours: key, client: name }, ...inside];
    });
  }
  if (ours === client) return [];
  expect([typeof ours, typeof client], place).toEqual(['string', 'string']);
  return [{ place, ours: ours as string, client: client as string }];
}

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

describe.each([
  ['telegram=messenger,remnawave=vpnpanel', { messenger: 'telegram', vpnpanel: 'remnawave' }],
  ['acme=messenger,panelco=vpnpanel', { messenger: 'acme', vpnpanel: 'panelco' }],
])('the document with %s', (words, wordOf: Record<string, string>) => {
  const { pairs } = loadEnv({ NODE_ENV: 'test', INTERFACE_WORDS: words }).interfaceWords!;
  const renamed = renameDocument(document, makeVocabulary(pairs, document, namedElsewhere), '/compat');
  const { servers: _ours, ...before } = document;
  const { servers, ...after } = renamed;
  const found = differences(before, after, '');

  it('has the prefix as its server', () => {
    expect(servers).toEqual([expect.objectContaining({ url: '/compat' })]);
  });

  it('differs in names only, each of which is ours with the words of the client', () => {
    expect(found.length).toBeGreaterThan(300);
    for (const { ours, client, place } of found) {
      const regular = ours.replace(/messenger|vpnpanel/gi, (word) => wordOf[word.toLowerCase()]!);
      expect(client.toLowerCase(), place).toBe(regular.toLowerCase());
    }
  });

  it('can be turned back (spec 09 W3): one name of the client stands for one of ours', () => {
    const oursOf = new Map<string, string>();
    for (const { ours, client } of found) {
      expect([client, oursOf.get(client) ?? ours]).toEqual([client, ours]);
      oursOf.set(client, ours);
    }
  });

  it('leaves the prose as it is', () => {
    expect(
      found.filter(({ place }) => PROSE.has(place.slice(place.lastIndexOf('/') + 1)) && !place.endsWith('/properties/title')),
    ).toEqual([]);
  });

  it('has none of our words in a path, a name or a reference', () => {
    const left: string[] = [];
    const visit = (node: Json, key: string): void => {
      if (Array.isArray(node)) for (const each of node) visit(each, key);
      else if (isObject(node)) {
        for (const [name, value] of Object.entries(node)) {
          if (OUR_WORD.test(name) && key !== 'examples') left.push(name);
          visit(value, name);
        }
      } else if (
        typeof node === 'string' &&
        ['$ref', 'operationId', 'pattern', 'required', 'enum', 'x-permissions'].includes(key)
      ) {
        if (OUR_WORD.test(node)) left.push(`${key}: ${node}`);
      }
    };
    visit(after, '');
    expect(left).toEqual([]);
  });

  it('refers to schemas that it has', () => {
    const schemas = Object.keys((renamed.components as JsonObject).schemas as JsonObject);
    const references = [...JSON.stringify(renamed).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]!);
    expect([...new Set(references)].filter((name) => !schemas.includes(name))).toEqual([]);
  });
});
