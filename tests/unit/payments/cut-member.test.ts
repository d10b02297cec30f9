import { describe, expect, it } from 'vitest';
import { cutMember } from '../../../src/integrations/payments/heleket-provider.ts';

describe('a member is cut out of the text of an object, and nothing else changes (spec 03 H17)', () => {
  it.each([
    ['the last', '{"a":1e2,"sign":"x"}', '{"a":1e2}'],
    ['the first', '{"sign":"x","a":100.00}', '{"a":100.00}'],
    ['between others', '{"b":1,"sign":"x","a":2}', '{"b":1,"a":2}'],
    ['the only one', '{"sign":"x"}', '{}'],
    ['its name escaped', '{"a":1,"\\u0073ign":"x"}', '{"a":1}'],
    ['blanks around it', '{ "a" : 1 , "sign" : "x" }', '{ "a" : 1 }'],
    ['brackets, quotes and commas in strings', '{"a":"},\\"{[","sign":"x","b":[","]}', '{"a":"},\\"{[","b":[","]}'],
    ['one of the same name deeper', '{"a":{"sign":"y"},"sign":"x"}', '{"a":{"sign":"y"}}'],
    ['a nested value', '{"a":1,"sign":{"b":[1,{"c":2}]},"d":3}', '{"a":1,"d":3}'],
    ['the word as a value', '{"a":"sign","sign":"x"}', '{"a":"sign"}'],
  ])('%s', (_name, text, expected) => expect(cutMember(text, 'sign')).toBe(expected));

  it.each(['{}', '{"a":{"sign":"y"}}', '{"a":["sign"]}'])('none in %s', (text) => expect(cutMember(text, 'sign')).toBeNull());
});
